internal import BeaconFrames
public import BluetoothTypes
public import Configuration

/// Advertising data with what is in it: frames, AD structures, and the rules that it breaks.
public struct PayloadDescription: Sendable {
    /// What was described.
    public let data: AdvertisingData
    private let decoded: DecodedAdvertisingData
    private let opener: TelemetryOpener?

    /// - Parameter opener: Decrypts encrypted frames, where a key was given.
    public init(_ data: AdvertisingData, opener: TelemetryOpener? = nil) {
        self.data = data
        self.opener = opener
        decoded = DecodedAdvertisingData(data)
    }

    /// Whether no rule is broken.
    public var isClean: Bool { decoded.problems.isEmpty }

    /// The members of its object in JSON: octets, structures, frames and problems.
    public var members: [(String, JSONValue)] { PayloadJSON.members(decoded, of: data, opener: opener) }

    /// For people, a sentence a line.
    ///
    /// - Parameters:
    ///   - lint: Lists every broken rule, in place of the frames.
    ///   - explain: Adds a row for each octet.
    public func lines(lint: Bool = false, explain: Bool = false) -> [String] {
        var lines = lint ? [] : summary
        if explain { lines += Self.table(of: data).split(separator: "\n").map(String.init) }
        if lint {
            lines += isClean ? ["no rule is broken"] : decoded.problems.map { "\($0)" }
        } else if !isClean {
            let count = decoded.problems.count
            lines.append(count == 1 ? "1 rule is broken (--lint tells)" : "\(count) rules are broken (--lint tells)")
        }
        return lines
    }

    /// The frames in words; what belongs to no frame as AD structures.
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

    /// A row for every octet of a payload: offset, octet, field and meaning.
    public static func table(of data: AdvertisingData) -> String {
        var table = Table(["offset", "octet", "field", "meaning"], alignment: [.right, .right])
        for note in data.explained() {
            table.add([String(note.offset), Hexadecimal.text(note.octet), note.field, note.meaning])
        }
        return table.text
    }
}
