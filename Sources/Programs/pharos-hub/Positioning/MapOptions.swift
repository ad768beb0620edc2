internal import Airtime
internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Positioning

/// How levels in surveys are read.
struct SurveyReadingOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("This number in a table stands for \"not heard\", such as 100.", valueName: "value"),
        transform: MapValue.absent)
    var absent: Double?

    @Flag(help: "Take 0 dBm for a level. Many sources mean \"unknown\" by it.")
    var acceptZero = false

    var reading: SurveyFiles.Reading { .init(absent: absent, acceptsZero: acceptZero) }

    /// Reads surveys, and says what is strange about them.
    ///
    /// - Parameter keepsPackets: Whether single packets are wanted: a map needs the mean of each second only.
    func read(_ paths: [String], keepsPackets: Bool = false) throws -> SurveyFiles {
        if paths.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input is one survey, not several.") }
        let files = try SurveyFiles(paths, reading: reading, keepsPackets: keepsPackets)
        try files.refuseEmpty()
        for sentence in files.sentences { Terminal.writeError("pharos: \(sentence)\n") }
        return files
    }
}

/// The parameters of the algorithms; each belongs to some of them.
struct AlgorithmOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("What relative is relative in: db, amplitude or power (default: db).", valueName: "reading"),
        completion: .list(RelativeReading.allCases.map(\.rawValue)), transform: MapValue.named)
    var reading: RelativeReading?

    @Option(
        help: ArgumentHelp(
            "What relative adds for a beacon that only one side has (default: 0.5, 0.25 or 0.5).", valueName: "number"),
        transform: { try MapValue.number($0, in: 0...1000) })
    var penalty: Double?

    @Option(
        help: ArgumentHelp("What relative compares with: vectors or slices (default: slices).", valueName: "prints"),
        completion: .list(LocatorSettings.Prints.allCases.map(\.rawValue)), transform: MapValue.named)
    var prints: LocatorSettings.Prints?

    @Option(
        help: ArgumentHelp("How many vectors wknn takes (default: as fitted).", valueName: "k"),
        transform: { try OptionValue.integer($0, in: 1...100_000) })
    var neighbors: Int?

    @Option(
        help: ArgumentHelp("How many seconds count (default: the algorithm's own).", valueName: "s"),
        transform: { try OptionValue.integer($0, in: 1...100_000) })
    var windowS: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How much stronger the receiver is than the surveyor's: auto, or so many dB.", valueName: "auto|dB"),
        transform: MapValue.offset)
    var receiverOffset: LocatorSettings.ReceiverOffset?

    /// Puts what was given into `settings`.
    func apply(to settings: inout LocatorSettings) {
        if let reading { settings.reading = reading }
        if let penalty { settings.penalty = penalty }
        if let prints { settings.prints = prints }
        if let neighbors { settings.neighbors = neighbors }
        if let windowS { settings.window = windowS }
        if let receiverOffset { settings.receiverOffset = receiverOffset }
    }
}

/// Values of the options of `map` and `locate`.
enum MapValue {
    /// One of the words of a list.
    static func named<Value: RawRepresentable & CaseIterable>(_ text: String) throws -> Value
    where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw Mistake("use " + Value.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return value
    }

    static func number(_ text: String, in range: ClosedRange<Double>) throws -> Double {
        guard let value = Double(text), value.isFinite else { throw Mistake("it is not a number") }
        guard range.contains(value) else { throw Mistake("\(text) is out of range \(span(range))") }
        return value
    }

    private static func span(_ range: ClosedRange<Double>) -> String {
        func text(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
        return text(range.lowerBound) + "..." + text(range.upperBound)
    }

    /// A number, or `nan`.
    static func absent(_ text: String) throws -> Double {
        guard let value = Double(text) else { throw Mistake("it is not a number, such as 100, -200 or nan") }
        return value
    }

    /// Metres east and north.
    static func position(_ text: String) throws -> FloorPosition {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Double($0.trimmingPrefix(" "))
        }
        guard parts.count == 2, let x = parts[0], let y = parts[1], abs(x) <= Survey.extent, abs(y) <= Survey.extent
        else { throw Mistake("a position is two numbers, metres east and north, such as 4,6") }
        return FloorPosition(x: x, y: y)
    }

    /// Where a front points; no degrees where nobody knows.
    struct Heading {
        let degrees: Double?
    }

    static func heading(_ text: String) throws -> Heading {
        guard text != "unknown" else { return Heading(degrees: nil) }
        let degrees = try number(text, in: -360...360)
        return Heading(degrees: degrees < 0 ? degrees + 360 : degrees == 360 ? 0 : degrees)
    }

    /// A place on a way, and when it was passed.
    struct Mark {
        let place: String
        let seconds: Double?
    }

    static func walk(_ text: String) throws -> [Mark] {
        try text.split(separator: " ").map { word in
            guard let at = word.lastIndex(of: "@") else { return Mark(place: String(word), seconds: nil) }
            let text = word[word.index(after: at)...]
            guard let seconds = Double(text), (0...1_000_000).contains(seconds) else {
                throw Mistake("what follows @ in \(word) is no time in seconds, such as \(word[..<at])@12")
            }
            return Mark(place: String(word[..<at]), seconds: seconds)
        }
    }

    static func offset(_ text: String) throws -> LocatorSettings.ReceiverOffset {
        text == "auto" ? .unknown : .known(try number(text, in: -40...40))
    }
}
