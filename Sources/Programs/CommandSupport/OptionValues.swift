package import ArgumentParser
package import BluetoothTypes
internal import Configuration
internal import LinuxHost
package import VirtualController

/// Parses the values of options. The argument parser prints a thrown ``Mistake`` after the name of the option.
package enum OptionValue {
    /// Parses the value of an enumeration by its name.
    package static func named<Value: RawRepresentable & CaseIterable>(_ text: String) throws -> Value
    where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw Mistake("use " + Value.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return value
    }

    /// Returns the message for a name that is not in a list.
    package static func unknown(_ text: String, _ names: [String], otherwise: String = "") -> Mistake {
        let advice = NearestWord.find(text, among: names).map { "did you mean \($0)? Known names: " } ?? "use one of "
        return Mistake(advice + names.joined(separator: ", ") + otherwise)
    }

    /// Checks that the parsed value of an option is in a range.
    ///
    /// - Throws: A `ValidationError` with the name of the option if the value is out of range.
    package static func check<Value: Comparable>(
        _ option: String, _ value: Value, in range: ClosedRange<Value>
    ) throws {
        // Writes a whole number without decimals, as in 1...6.
        func text(_ bound: Value) -> String {
            let text = "\(bound)"
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        guard range.contains(value) else {
            let limits = text(range.lowerBound) + "..." + text(range.upperBound)
            throw ValidationError("\(option) \(value) is out of range \(limits).")
        }
    }

    package static func octets(_ text: String) throws -> [UInt8] {
        do { return try Hexadecimal.octets(text) } catch { throw Mistake("\(error)") }
    }

    /// Parses the name of a web page file, which ends in `.html` or `.htm`, or is `-` or a device. A name such as
    /// `a.pdf` is refused, because the file would not be a PDF document. A name such as `site.json` or `table.csv` is
    /// refused, because it probably names another file, which the page would replace.
    package static func page(_ text: String) throws -> String {
        if text == "-" || text.hasPrefix("/dev/") { return text }
        let otherKinds = [
            "pdf": "a PDF document", "png": "a picture", "jpg": "a picture", "jpeg": "a picture", "svg": "a drawing",
        ]
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let fileName = text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let hasEnding = fileName.dropFirst().contains(".")
        let ending = hasEnding ? (parts.last ?? "").lowercased() : ""
        if ["html", "htm"].contains(ending) { return text }
        let name = hasEnding ? parts.dropLast().joined(separator: ".") : text
        guard let kind = otherKinds[ending] else {
            let example = fileName.isEmpty ? name + "page" : name
            throw Mistake("the file will be a web page: give it a name that ends in .html, such as \(example).html")
        }
        throw Mistake(
            "the ending is that of \(kind), but the file will be a web page: use \(name).html; for a PDF, open the page "
                + "in a browser and print it")
    }

    package static func uuid(_ text: String) throws -> FixedOctets<16> {
        try fixed(text, what: "a UUID")
    }

    package static func namespace(_ text: String) throws -> FixedOctets<10> {
        try fixed(text, what: "an Eddystone namespace")
    }

    package static func instance(_ text: String) throws -> FixedOctets<6> {
        try fixed(text, what: "an Eddystone instance")
    }

    package static func beaconID(_ text: String) throws -> FixedOctets<20> {
        try fixed(text, what: "an AltBeacon id")
    }

    package static func key(_ text: String) throws -> FixedOctets<16> {
        try fixed(text, what: "the key")
    }

    /// Returns a text with plain spaces in place of no-break and narrow spaces, which pasted texts contain, and without
    /// spaces at its ends.
    package static func plainSpaces(_ text: String) -> String {
        let spaces: Set<Character> = ["\u{A0}", "\u{2007}", "\u{2009}", "\u{202F}"]
        let plain = text.map { spaces.contains($0) ? " " : $0 }
        return String(plain.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Returns the text of the number in a text such as `2.5 dB`, without the unit if it is one of `units`, and without
    /// spaces at the ends. A number such as `.5` becomes `0.5`. Any other unit stays in the text, so the text does not
    /// parse as a number.
    package static func number(of text: String, units: [String]) -> String {
        var number = plainSpaces(text)
        let lowercased = number.lowercased()
        let longestFirst = units.sorted { $0.count > $1.count }
        if let unit = longestFirst.first(where: { lowercased.hasSuffix($0.lowercased()) }) {
            number = plainSpaces(String(number.dropLast(unit.count)))
        }
        return number.hasPrefix(".") ? "0" + number : number
    }

    /// Parses a number that may have one of the given units.
    package static func number(_ text: String, units: [String]) throws -> Double {
        let digits = number(of: text, units: units)
        guard let value = Double(digits), value.isFinite else {
            let example = units.first.map { " or 2.5 \($0)" } ?? ""
            throw Mistake("write a number, such as 2.5\(example)" + plainNumberAdvice(digits))
        }
        return value
    }

    /// Other spellings of units.
    private static let spellings = [
        "m": ["meter", "meters", "metre", "metres"], "m/s": ["mps"], "µC": ["uC", "μC"], "µA": ["uA", "μA"],
        "degrees": ["degree", "deg", "°"],
    ]

    /// Parses a number in a range, which may have its unit, such as `4 dBm`.
    package static func number(_ text: String, in range: ClosedRange<Double>, _ unit: String) throws -> Double {
        let value = try number(text, units: [unit] + (spellings[unit] ?? []))
        guard range.contains(value) else {
            let (low, high) = (range.lowerBound, range.upperBound)
            throw Mistake(
                "\(text) is out of range \(NumberFormat.significant(low, 7))...\(NumberFormat.significant(high, 7)) \(unit)"
            )
        }
        return value
    }

    /// Returns a question to append to a message, such as `; did you mean 2.5?`, for a number with a decimal comma or a
    /// typographic minus sign; empty for any other text.
    package static func plainNumberAdvice(_ text: String) -> String {
        let plain = plainNumber(text)
        return plain != text && Double(plain) != nil ? "; did you mean \(plain)?" : ""
    }

    /// Returns the text with decimal points in place of commas, and with minus signs in place of typographic dashes.
    private static func plainNumber(_ text: String) -> String {
        let dashes: Set<Character> = ["\u{2212}", "\u{2013}", "\u{2014}"]
        return String(text.map { $0 == "," ? "." : dashes.contains($0) ? "-" : $0 })
    }

    /// Parses a whole number: decimal, or hexadecimal after 0x.
    package static func integer(_ text: String) throws -> Int {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        let value = digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits, radix: 10)
        guard let value, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else {
            throw Mistake(
                "it is not a whole number (decimal, or hexadecimal after 0x)" + wholeNumberAdvice(text))
        }
        return isNegative ? -value : value
    }

    /// Returns a question to append to a message about a whole number, such as `; did you mean -4 or -3?` for `-3,5`,
    /// or `; did you mean 2000?` for `2,000`; empty for a text that is not a number.
    private static func wholeNumberAdvice(_ text: String) -> String {
        let groups = text.split(separator: ",", omittingEmptySubsequences: false)
        if groups.count > 2 || groups.count == 2 && groups[1].count > 2 {
            // With several commas, or with more than two digits after a comma, the commas are not decimal commas.
            let areThousands = groups.dropFirst().allSatisfy { $0.count == 3 && Int($0) != nil } && groups[0].count <= 3
            return areThousands && Int(groups[0]) != nil
                ? "; did you mean \(groups.joined())?" : "; write one number, without a comma"
        }
        let plain = plainNumber(text)
        guard plain.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }),
            let number = Double(plain), number.magnitude < 1e15
        else { return "" }
        let (lower, upper) = (Int(number.rounded(.down)), Int(number.rounded(.up)))
        if lower != upper { return "; did you mean \(lower) or \(upper)?" }
        return "\(lower)" == text ? "" : "; did you mean \(lower)?"
    }

    /// Parses a whole number in `range`: decimal, or hexadecimal after 0x.
    package static func integer(_ text: String, in range: ClosedRange<Int>) throws -> Int {
        let value = try integer(text)
        guard range.contains(value) else {
            throw Mistake("\(value) is out of range \(range.lowerBound)...\(range.upperBound)")
        }
        return value
    }

    package static func uint8(_ text: String) throws -> UInt8 {
        UInt8(try integer(text, in: 0...255))
    }

    package static func uint16(_ text: String) throws -> UInt16 {
        UInt16(try integer(text, in: 0...65535))
    }

    package static func uint32(_ text: String) throws -> UInt32 {
        UInt32(try integer(text, in: 0...4_294_967_295))
    }

    /// The value of an option for the Flags structure: its byte, or no structure at all.
    package enum Flags {
        case octet(ADFlags)
        case none

        package var value: ADFlags? {
            switch self {
            case .octet(let flags): flags
            case .none: nil
            }
        }
    }

    package static func flags(_ text: String) throws -> Flags {
        text == "none" ? .none : .octet(ADFlags(rawValue: try uint8(text)))
    }

    package static func rotationExponent(_ text: String) throws -> UInt8 {
        UInt8(try integer(text, in: 0...15))
    }

    package static func salt(_ text: String) throws -> UInt16 {
        let octets: FixedOctets<2> = try fixed(text, what: "a salt")
        return UInt16(octets[0]) << 8 | UInt16(octets[1])
    }

    /// Parses an interval such as `100`, `100ms`, `152.5` or `1.28s`.
    ///
    /// - Parameter limits: The range as text for the error message.
    package static func interval(
        _ text: String, in range: ClosedRange<AdvertisingInterval>, called limits: String
    ) throws -> RequestedInterval {
        let (number, unit) = timeParts(text)
        let plainText =
            switch unit {
            case nil, 1: number
            case 1000: number + "s"
            default: text
            }
        do throws(IntervalTextError) {
            return try RequestedInterval(plainText, in: range)
        } catch {
            throw Mistake(error == .outOfRange ? "\(error) \(limits)" : "\(error)" + plainNumberAdvice(number))
        }
    }

    /// Parses an interval of extended advertising.
    package static func interval(_ text: String) throws -> RequestedInterval {
        try interval(text, in: AdvertisingInterval.extendedRange, called: "20 ms...10485.759 s")
    }

    /// The units of a time span with their lengths in milliseconds.
    private static let timeUnits: [(names: [String], length: Int)] = [
        (["ms", "msec", "millisecond", "milliseconds"], 1),
        (["s", "sec", "secs", "second", "seconds"], 1000),
        (["min", "mins", "minute", "minutes"], 60_000),
        (["h", "hr", "hrs", "hour", "hours"], 3_600_000),
        (["d", "day", "days"], 86_400_000),
    ]

    /// Divides a time span such as `1.5 min`, `15s` or `10 seconds` into its number and the length of its unit in
    /// milliseconds. A number without a unit is in seconds.
    package static func timeSpan(_ text: String) -> (number: String, unitMilliseconds: Int) {
        let (number, length) = timeParts(text)
        return (number, length ?? 1000)
    }

    /// Divides a time span into its number and the length of its unit in milliseconds; the length is `nil` without a
    /// unit.
    private static func timeParts(_ text: String) -> (number: String, length: Int?) {
        let plain = plainSpaces(text)
        let unit = String(plain.reversed().prefix { $0.isLetter }.reversed())
        for (names, length) in timeUnits where names.contains(unit) {
            return (number(of: plain, units: [unit]), length)
        }
        return (number(of: plain, units: []), nil)
    }

    /// The longest permitted time span: 100 years in microseconds. Sums and small multiples of it do not overflow.
    private static let longestDuration = 3_155_760_000_000_000

    /// Parses a time span such as `15`, `15s` or `1.5 min`, with up to three decimals; returns microseconds.
    package static func duration(_ text: String) throws -> Int {
        let (number, unit) = timeSpan(text)
        guard let thousandths = DecimalText.thousandths(number), thousandths >= 0 else {
            throw Mistake(
                "write a number of seconds such as 15, or with a unit: 15s, 1.5 min, 2 h" + plainNumberAdvice(number))
        }
        let (microseconds, isTooLong) = thousandths.multipliedReportingOverflow(by: unit)
        guard !isTooLong, microseconds <= longestDuration else {
            throw Mistake("that is too long: a hundred years is the longest time")
        }
        return microseconds
    }

    /// Parses a time span of whole seconds such as `15`, `15s` or `2 min`.
    package static func seconds(_ text: String, in range: ClosedRange<Int>) throws -> Int {
        let seconds: Int
        if let plain = try? integer(text) {
            seconds = plain
        } else {
            let microseconds = try duration(text)
            guard microseconds % 1_000_000 == 0 else { throw Mistake("write whole seconds, such as 15") }
            seconds = microseconds / 1_000_000
        }
        guard range.contains(seconds) else {
            throw Mistake("\(seconds) s is out of range \(range.lowerBound)...\(range.upperBound) s")
        }
        return seconds
    }

    /// Parses a time such as `60`, `60ms` or `0.1s`; returns milliseconds.
    package static func milliseconds(_ text: String) throws -> Double {
        let (digits, unit) = timeParts(text)
        guard let number = Double(digits) else {
            throw Mistake(
                "write a number of milliseconds such as 60, or with a unit: 60ms, 0.1s" + plainNumberAdvice(digits))
        }
        return number * Double(unit ?? 1)
    }

    /// Parses a time such as `512`, `512ms` or `5.12s`; returns microseconds, rounded, or `nil` for another text.
    package static func microseconds(ofMilliseconds text: String) -> Int? {
        let (digits, unit) = timeParts(text)
        guard let thousandths = DecimalText.thousandths(digits) else { return nil }
        let (microseconds, isTooLong) = thousandths.multipliedReportingOverflow(by: unit ?? 1)
        return isTooLong ? nil : microseconds
    }

    /// Parses the length of a round in seconds, at least 0.1 s; returns microseconds.
    package static func round(_ text: String) throws -> Int {
        let microseconds = try duration(text)
        guard microseconds >= 100_000 else { throw Mistake("a round takes at least 0.1 s") }
        return microseconds
    }

    package static func radioPower(_ text: String) throws -> RadioPower {
        let value = try integer(text)
        do { return try RadioPower(dBm: value) } catch { throw Mistake("\(error)") }
    }

    package static func powerAtOneMeter(_ text: String) throws -> MeasuredPowerAtOneMeter {
        let value = try integer(text)
        do { return try MeasuredPowerAtOneMeter(dBm: value) } catch { throw Mistake("\(error)") }
    }

    package static func powerAtZeroMeters(_ text: String) throws -> MeasuredPowerAtZeroMeters {
        let value = try integer(text)
        do { return try MeasuredPowerAtZeroMeters(dBm: value) } catch { throw Mistake("\(error)") }
    }

    package static func channels(_ text: String) throws -> AdvertisingChannels {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let words = part.split(separator: " ")
            return words.count == 1 ? Int(words[0]) ?? 0 : 0
        }
        guard let channels = AdvertisingChannels(numbers: numbers) else {
            throw Mistake("name one or more of 37,38,39")
        }
        return channels
    }

    package static let phyNames = ExtendedPHY.allCases.map(\.rawValue)

    package static func phy(_ text: String) throws -> ExtendedPHY {
        guard let phy = ExtendedPHY(rawValue: text) else {
            throw Mistake("use " + phyNames.joined(separator: ", ") + "; without the option, legacy PDUs are sent")
        }
        return phy
    }

    package static let modelNames = VirtualControllerModel.all.map(\.name).joined(separator: ", ")

    package static func model(_ text: String) throws -> VirtualControllerModel {
        guard let model = VirtualControllerModel(named: text) else { throw Mistake("use one of \(modelNames)") }
        return model
    }

    package static func adapter(_ text: String) throws -> AdapterName {
        do { return try AdapterName(text) } catch { throw Mistake("\(error)") }
    }

    private static func fixed<let count: Int>(_ text: String, what: String) throws -> FixedOctets<count> {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        let octets: [UInt8]
        do {
            octets = try Hexadecimal.octets(digits)
        } catch {
            throw Mistake("\(what) has \(2 * count) hexadecimal digits: \(error)")
        }
        guard let value = FixedOctets<count>(octets) else {
            throw Mistake("\(what) has \(2 * count) hexadecimal digits, not \(2 * octets.count)")
        }
        return value
    }
}

/// A sentence about the value of an option, printed after the name of the option.
package struct Mistake: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The help of options that several commands have.
extension ArgumentHelp {
    /// The help for the adapter of a command that cannot use the kernel's management interface.
    package static let hciAdapter = ArgumentHelp(
        "hci0, hci0:user, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.", valueName: "name")

    /// The help for the adapter of a command that sends.
    package static let sendingAdapter = ArgumentHelp(
        "hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.", valueName: "name")

    /// The help for the adapter of a command that receives. It may be `hciN:mgmt`, which reports only which beacons are
    /// present.
    package static let receivingAdapter = ArgumentHelp(
        "hci0, hci0:user, hci0:mgmt (presence only), tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.",
        valueName: "name")

    package static let recording = ArgumentHelp(
        "Read a btsnoop, pcap or pcapng file, or - for standard input.", valueName: "file")

    package static let knownBeacons = ArgumentHelp(
        "Profile, fleet, output of `pharos fleet generate` or listener file that names beacons. May be repeated.",
        valueName: "file")

    package static let timeLimit = ArgumentHelp("Stop after this time.", valueName: "seconds")
    package static let timeLimitInSeconds = ArgumentHelp("Stop after this many seconds.", valueName: "seconds")
}

/// Completions for values of several options.
extension CompletionKind {
    /// The names of adapters; for names that contain an address or a path, only the beginning. Colons are escaped for
    /// zsh, which reads the text after a colon as a description.
    package static var adapters: CompletionKind {
        let forms = [
            "hci0", "hci0:user", "hci0:mgmt", "hci1", "hci1:user", "hci1:mgmt", "virtual", "virtual?path=tour", "tcp:",
            "unix:",
            "serial:/dev/",
        ]
        guard CompletionShell.requesting == .zsh else { return .list(forms) }
        return .list(forms.map { $0.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:") })
    }

    /// The models of the virtual controller.
    package static let models = CompletionKind.list(VirtualControllerModel.all.map(\.name))
}

/// The option --force of commands that write a new configuration file.
package struct ReplaceOption: ParsableArguments {
    @Flag(help: "Replace the file if it exists.")
    package var force = false

    package init() {}

    /// Writes the file. With --force, an existing file is replaced, and its owner and mode are kept.
    ///
    /// - Throws: A ``Failure`` with the path if the file exists and --force is missing, or if it cannot be written.
    package func write(_ text: String, to path: String) throws {
        let octets = Array(text.utf8)
        guard force, Files.exists(path) else { return try NewFile.write(octets, to: path, canReplace: true) }
        do throws(SystemError) {
            try Files.replace(path, with: octets, keepsRights: true)
        } catch {
            throw Failure(.osError, "\(path): \(error.text)")
        }
    }
}
