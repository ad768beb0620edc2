public import BeaconFrames
public import BluetoothTypes
public import Configuration
public import HCI

/// Advertising data with its frames, its AD structures, and the rules that it breaks.
public struct PayloadDescription: Sendable {
    /// The data that is described.
    public let data: AdvertisingData
    private let decoded: DecodedAdvertisingData
    private let opener: TelemetryOpener?
    private let container: AdvertisingContainer
    /// The fault of the command with the data.
    private let commandFault: String?
    private let problems: [LintProblem]

    /// Describes data from a packet of a known kind.
    ///
    /// - Parameter opener: Decrypts encrypted frames; `nil` without a key.
    public init(
        _ data: AdvertisingData, in container: AdvertisingContainer = .legacyPDU, opener: TelemetryOpener? = nil
    ) {
        self.init(data, container, opener, isCut: false, commandFault: nil)
    }

    /// Describes data in a capture.
    ///
    /// - Parameter opener: Decrypts encrypted frames; `nil` without a key.
    public init(_ payload: CapturedPayload, opener: TelemetryOpener? = nil) {
        self.init(
            payload.data, payload.container, opener, isCut: payload.isCut, commandFault: payload.commandFault)
    }

    private init(
        _ data: AdvertisingData, _ container: AdvertisingContainer, _ opener: TelemetryOpener?, isCut: Bool,
        commandFault: String?
    ) {
        self.data = data
        self.container = container
        self.opener = opener
        self.commandFault = commandFault
        decoded = DecodedAdvertisingData(data, in: container)
        // If the receiver lost the end of the data, the sender has broken no rule.
        problems =
            decoded.problems.filter { !isCut || $0.rule != .truncatedStructure }
            + (commandFault.map { [LintProblem(.hciCommandLength, at: data.octets.count, $0)] } ?? [])
    }

    /// True if the data breaks no rule.
    public var isClean: Bool { problems.isEmpty }

    /// The members of a JSON object: octets, structures, frames and problems.
    public var members: [(String, JSONValue)] {
        PayloadJSON.members(decoded, of: data, problems: problems, opener: opener)
    }

    /// Returns the description as lines of text.
    ///
    /// - Parameters:
    ///   - lint: True to list all broken rules instead of the frames.
    ///   - explain: True to add a row for each byte.
    public func lines(lint: Bool = false, explain: Bool = false) -> [String] {
        var lines = lint ? [] : summary
        if explain { lines += Self.table(of: data).split(separator: "\n").map(String.init) }
        if lint {
            let limit =
                container == .legacyPDU ? "" : " (judged as \(container.name), at most \(container.limit) bytes)"
            lines += isClean ? ["no rule is broken" + limit] : problems.map { "\($0)" }
        } else if !isClean {
            if let commandFault { lines.append(commandFault) }
            let count = problems.count
            lines.append(count == 1 ? "1 rule is broken (see --lint)" : "\(count) rules are broken (see --lint)")
        }
        return lines
    }

    /// The frames as sentences; if there are none, the AD structures.
    private var summary: [String] {
        var lines = decoded.frames.map(\.sentence)
        for frame in decoded.frames {
            guard let opener, opener.fits(frame) else { continue }
            var wrongValue = "key, time or exponent"
            if case .btHome = frame { wrongValue = "key or address" }
            lines.append(
                "decrypted: " + (opener.open(frame)?.sentence ?? "the integrity check fails: wrong \(wrongValue)"))
        }
        if decoded.frames.isEmpty {
            lines += decoded.structures.map(Self.line)
            // A command without data has no structures either.
            if lines.isEmpty, commandFault == nil { lines.append("no AD structure") }
        } else {
            lines += decoded.structures.filter { $0.localName != nil }.map(Self.line)
        }
        if decoded.remainder.contains(where: { $0 != 0 }) { lines.append(undecodedLine) }
        if let header = Self.missingHeader(data.octets) {
            lines.append("these bytes look like an iBeacon without its first bytes: put \(header) in front of them")
        }
        return lines
    }

    /// The bytes after the last whole AD structure, and the reason why they are not an AD structure.
    private var undecodedLine: String {
        let reason = problems.first { $0.rule == .truncatedStructure }.map { " (\($0.message))" } ?? ""
        return "not decoded: \(Hexadecimal.text(decoded.remainder, separator: " "))\(reason)"
    }

    /// If `octets` are an iBeacon structure whose first bytes are missing, returns the missing bytes; otherwise `nil`.
    private static func missingHeader(_ octets: [UInt8]) -> String? {
        let company: [UInt8] = [0x4C, 0x00, 0x02, 0x15]
        if octets.count == 25, octets.starts(with: company) { return "1aff" }
        return octets.count == 26 && octets.starts(with: [0xFF] + company) ? "1a" : nil
    }

    /// Returns a structure in words: a name as text, and other data as bytes.
    private static func line(_ structure: ADStructure) -> String {
        if let name = structure.localName { return "\(structure.type.name): \(TerminalText.quoted(name, to: 254))" }
        return structure.findHubSentence
            ?? "\(structure.type.name): \(Hexadecimal.text(structure.data, separator: " "))"
    }

    /// Returns a table with a row for each byte: offset, byte, field and meaning.
    public static func table(of data: AdvertisingData) -> String {
        var table = Table(["offset", "hex", "field", "meaning"], alignment: [.right, .right])
        for note in data.explained() {
            table.add(
                [String(note.offset), Hexadecimal.text(note.octet), note.field, note.meaning].map(TerminalText.line))
        }
        return table.text
    }
}

/// An output format of a payload.
public enum PayloadFormat: String, CaseIterable, Sendable {
    /// Lower-case hexadecimal digits without separators.
    case hex
    /// The JSON object of ``PayloadJSON``.
    case json
    /// Commands for BlueZ's hcitool that send the payload.
    case hcitool
    /// A C array.
    case c
    /// A Swift array.
    case swift

    /// Returns the payload in this format, without a final line feed.
    ///
    /// - Parameters:
    ///   - data: At most 31 bytes for ``hcitool``.
    ///   - interval: The advertising interval that the commands of ``hcitool`` set, 20 ms...10.24 s.
    /// - Throws: An error if the payload is too long for the commands of hcitool, or the interval is out of range.
    public func text(
        _ data: AdvertisingData, interval: AdvertisingInterval = .nonconnectableMinimumBefore5
    ) throws(HCIParameterError) -> String {
        let octets = data.octets
        switch self {
        case .hex: return Hexadecimal.text(octets)
        case .json: return PayloadJSON.describe(data).line
        case .hcitool: return try Self.commands(octets, interval).map { Self.line($0) }.joined(separator: "\n")
        case .c: return "static const uint8_t advertising_data[\(octets.count)] = {\n" + Self.rows(octets) + "};"
        case .swift: return "let advertisingData: [UInt8] = [\n" + Self.rows(octets) + "]"
        }
    }

    /// Returns the commands that send the payload. The data is set before advertising is enabled.
    private static func commands(
        _ octets: [UInt8], _ interval: AdvertisingInterval
    ) throws(HCIParameterError) -> [any HCICommand] {
        [
            try LESetAdvertisingParameters(
                intervalMinimum: interval, intervalMaximum: interval, type: .nonconnectable,
                ownAddressType: .publicDevice),
            try LESetAdvertisingData(octets), LESetAdvertisingEnable(true),
        ]
    }

    private static func line(_ command: some HCICommand) -> String {
        let opcode = type(of: command).opcode
        let number = Hexadecimal.text([UInt8(opcode.command >> 8), UInt8(truncatingIfNeeded: opcode.command)])
        return "hcitool -i hci0 cmd 0x\(Hexadecimal.text([opcode.group])) 0x\(number) "
            + Hexadecimal.text(command.parameters, separator: " ")
    }

    private static func rows(_ octets: [UInt8]) -> String {
        stride(from: 0, to: octets.count, by: 8).map { start in
            let row = octets[start..<min(start + 8, octets.count)]
            return "    " + row.map { "0x" + Hexadecimal.text($0) }.joined(separator: ", ") + ",\n"
        }.joined()
    }
}
