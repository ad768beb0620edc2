internal import Airtime
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Positioning

/// The options for reading levels.
struct SurveyReadingOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number that means \"not received\" in a table, such as 100.", valueName: "value"),
        transform: MapValue.absent)
    var absent: Double?

    @Flag(help: "Use 0 dBm as a level. Many sources use 0 for \"unknown\".")
    var acceptZero = false

    var rules: SurveyFiles.LevelRules { .init(notReceivedLevel: absent, acceptsZeroLevel: acceptZero) }

    /// Reads surveys, and prints their problems to standard error.
    func read(_ paths: [String]) throws -> SurveyFiles {
        if paths.filter({ $0 == "-" }).count > 1 {
            throw ValidationError("Only one survey can come from standard input.")
        }
        let files = try SurveyFiles(paths, rules: rules)
        try files.refuseEmpty()
        for sentence in files.sentences { Terminal.writeMessage(sentence) }
        return files
    }
}

/// The parameters of the algorithms. Each algorithm uses some of them.
struct AlgorithmOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "For the algorithm relative: the unit of relative levels, db, amplitude or power (default: db).",
            valueName: "reading"),
        completion: .list(RelativeReading.allCases.map(\.rawValue)), transform: OptionValue.named)
    var reading: RelativeReading?

    @Option(
        help: ArgumentHelp(
            "For the algorithm relative: the penalty for a beacon that only the survey or only the receiver received, "
                + "0...1000 (default: 0.5, with amplitude 0.25).",
            valueName: "number"),
        transform: { try MapValue.number($0, in: 0...1000) })
    var penalty: Double?

    @Option(
        help: ArgumentHelp(
            "For the algorithm relative: compare the received levels with each second of a stay (vectors), or with the "
                + "means of up to eight parts of a stay (slices) (default: slices).",
            valueName: "prints"),
        completion: .list(LocatorSettings.Fingerprints.allCases.map(\.rawValue)), transform: OptionValue.named)
    var prints: LocatorSettings.Fingerprints?

    @Option(
        help: ArgumentHelp(
            "For the algorithm wknn: the number of nearest vectors, from 1 (default: chosen from the survey).",
            valueName: "k"),
        transform: { try OptionValue.integer($0, in: 1...100_000) })
    var neighbors: Int?

    @Option(
        help: ArgumentHelp(
            "Length of the window: a position is computed from the levels of these last seconds (default: depends on the "
                + "algorithm).",
            valueName: "s"),
        transform: { try OptionValue.seconds($0, in: 1...100_000) })
    var windowS: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The levels of this receiver minus those of the surveyor's receiver: auto, or -40...40 dB (default: auto).",
            valueName: "auto|dB"),
        transform: MapValue.offset)
    var receiverOffset: LocatorSettings.ReceiverOffset?

    /// Applies the options to settings.
    func apply(to settings: inout LocatorSettings) {
        if let reading { settings.reading = reading }
        if let penalty { settings.penalty = penalty }
        if let prints { settings.fingerprints = prints }
        if let neighbors { settings.neighbors = neighbors }
        if let windowS { settings.window = windowS }
        if let receiverOffset { settings.receiverOffset = receiverOffset }
    }
}

/// Parses the values of the options of `map` and `locate`.
enum MapValue {
    static func number(_ text: String, in range: ClosedRange<Double>) throws -> Double {
        guard let value = Double(text), value.isFinite else { throw Mistake("it is not a number") }
        guard range.contains(value) else { throw Mistake("\(text) is out of range \(span(range))") }
        return value
    }

    private static func span(_ range: ClosedRange<Double>) -> String {
        func text(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
        return text(range.lowerBound) + "..." + text(range.upperBound)
    }

    /// Parses a number or `nan`.
    static func absent(_ text: String) throws -> Double {
        guard let value = Double(OptionValue.number(of: text, units: ["dBm"])) else {
            throw Mistake("it is not a number, such as 100, -200 or nan")
        }
        return value
    }

    /// Parses a position: two numbers, in metres east and north.
    static func position(_ text: String) throws -> FloorPosition {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Double(OptionValue.number(of: String($0), units: ["m"]))
        }
        guard parts.count == 2, let x = parts[0], let y = parts[1], abs(x) <= Survey.extent, abs(y) <= Survey.extent
        else { throw Mistake("use two numbers, metres east and north, such as 4,6") }
        return FloorPosition(x: x, y: y)
    }

    /// A heading in degrees clockwise from north; `nil` if it is unknown.
    struct Heading {
        let degrees: Double?
    }

    static func heading(_ text: String) throws -> Heading {
        guard text != "unknown" else { return Heading(degrees: nil) }
        let degrees = try OptionValue.number(text, in: -360...360, "degrees")
        return Heading(degrees: degrees < 0 ? degrees + 360 : degrees == 360 ? 0 : degrees)
    }

    /// Parses the number of a stay such as `3`, or a range of numbers such as `3-6`.
    static func stays(_ text: String) throws -> ClosedRange<Int> {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1],
            first <= last, last - first < 100_000
        else { throw Mistake("use the number of a stay, such as 3, or of several, such as 3-6") }
        return first...last
    }

    /// A place on a walk, and the time at which it was passed, in seconds; `nil` if no time is given.
    struct Mark {
        let place: String
        let seconds: Double?
    }

    static func walk(_ text: String) throws -> [Mark] {
        try text.split(separator: " ").map { word in
            guard let at = word.lastIndex(of: "@") else { return Mark(place: String(word), seconds: nil) }
            let text = word[word.index(after: at)...]
            let time = Double(text) ?? (try? OptionValue.duration(String(text))).map { Double($0) / 1_000_000 }
            guard let seconds = time, (0...1_000_000).contains(seconds) else {
                throw Mistake(
                    "the text after @ in \(word) is not a time in seconds; use, for example, \(word[..<at])@12")
            }
            return Mark(place: String(word[..<at]), seconds: seconds)
        }
    }

    static func offset(_ text: String) throws -> LocatorSettings.ReceiverOffset {
        text == "auto" ? .unknown : .known(try OptionValue.number(text, in: -40...40, "dB"))
    }
}

extension MapFile {
    /// Writes a map, and prints its notices and the report about it. If the map goes to standard output, the report
    /// goes to standard error.
    static func write(
        _ map: SignalMap, to output: String, report text: @autoclosure () -> String,
        or json: @autoclosure () -> JSONValue, asJSON: Bool
    ) throws {
        for notice in map.notices { Terminal.writeMessage(notice) }
        try write(map, to: output)
        if output == "-" { return Terminal.writeError(text()) }
        Terminal.show(text(), or: json(), asJSON: asJSON)
        if !asJSON { Terminal.writeLine("wrote \(output)") }
    }
}
