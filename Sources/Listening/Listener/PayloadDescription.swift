internal import BeaconFrames
public import BluetoothTypes
public import Configuration
public import HCI

/// Advertising data with its frames, its AD structures, and the rules that it breaks.
public struct PayloadDescription: Sendable {
    /// The data that is described.
    public let data: AdvertisingData
    private let decoded: DecodedAdvertisingData
    private let opener: TelemetryOpener?

    /// - Parameter opener: Decrypts encrypted frames; `nil` without a key.
    public init(_ data: AdvertisingData, opener: TelemetryOpener? = nil) {
        self.data = data
        self.opener = opener
        decoded = DecodedAdvertisingData(data)
    }

    /// Whether the data breaks no rule.
    public var isClean: Bool { decoded.problems.isEmpty }

    /// The members of a JSON object: octets, structures, frames and problems.
    public var members: [(String, JSONValue)] { PayloadJSON.members(decoded, of: data, opener: opener) }

    /// Returns the description as lines of text.
    ///
    /// - Parameters:
    ///   - lint: List all broken rules instead of the frames.
    ///   - explain: Add a row for each byte.
    public func lines(lint: Bool = false, explain: Bool = false) -> [String] {
        var lines = lint ? [] : summary
        if explain { lines += Self.table(of: data).split(separator: "\n").map(String.init) }
        if lint {
            lines += isClean ? ["no rule is broken"] : decoded.problems.map { "\($0)" }
        } else if !isClean {
            let count = decoded.problems.count
            lines.append(count == 1 ? "1 rule is broken (see --lint)" : "\(count) rules are broken (see --lint)")
        }
        return lines
    }

    /// The frames as sentences; if there are none, the AD structures.
    private var summary: [String] {
        var lines = decoded.frames.map(\.sentence)
        for frame in decoded.frames {
            guard let opener, opener.fits(frame) else { continue }
            var why = "time or exponent"
            if case .btHome = frame { why = "or address" }
            lines.append(
                "decrypted: " + (opener.open(frame)?.sentence ?? "the check does not hold: another key, \(why)"))
        }
        if decoded.frames.isEmpty {
            lines += decoded.structures.map { "\($0.type.name): \(Hexadecimal.text($0.data, separator: " "))" }
            if lines.isEmpty { lines.append("no AD structure") }
        }
        return lines
    }

    /// Returns a table with a row for each byte: offset, byte, field and meaning.
    public static func table(of data: AdvertisingData) -> String {
        var table = Table(["offset", "byte", "field", "meaning"], alignment: [.right, .right])
        for note in data.explained() {
            table.add([String(note.offset), Hexadecimal.text(note.octet), note.field, note.meaning])
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
    /// - Parameter data: At most 31 bytes for ``hcitool``.
    /// - Throws: if the payload is too long for the commands of hcitool.
    public func text(_ data: AdvertisingData) throws(HCIParameterError) -> String {
        let octets = data.octets
        switch self {
        case .hex: return Hexadecimal.text(octets)
        case .json: return PayloadJSON.describe(data).line
        case .hcitool: return try Self.commands(octets).map { Self.line($0) }.joined(separator: "\n")
        case .c: return "static const uint8_t advertising_data[\(octets.count)] = {\n" + Self.rows(octets) + "};"
        case .swift: return "let advertisingData: [UInt8] = [\n" + Self.rows(octets) + "]"
        }
    }

    /// Returns the commands that send the payload. The data is set before advertising is enabled.
    private static func commands(_ octets: [UInt8]) throws(HCIParameterError) -> [any HCICommand] {
        [
            try LESetAdvertisingParameters(
                intervalMinimum: .nonconnectableMinimumBefore5, intervalMaximum: .nonconnectableMinimumBefore5,
                type: .nonconnectable,
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
