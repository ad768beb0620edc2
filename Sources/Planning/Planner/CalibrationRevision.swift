internal import BluetoothTypes
internal import Configuration

/// The text of a beacon profile with a new calibration value. All other bytes are unchanged.
public struct CalibrationRevision: Sendable {
    /// The new text.
    public let text: [UInt8]
    /// The key of the value in `calibration`: a radio power in dBm, or `default`.
    public let key: String
    /// The measured power at 1 m in dBm.
    public let dBm: Int

    /// - Parameters:
    ///   - text: The text of the profile.
    ///   - radioPower: The radio power of the transmitter in dBm; nil if it is unknown. In this case the key is
    ///     `default`.
    ///   - measuredPower: The measured power at 1 m in dBm; rounded to the nearest whole number.
    ///   - receiver: The name of the receiver that measured the power.
    ///
    /// Throws for values that no frame can carry, and for a text that is not a profile.
    public init(
        of text: [UInt8], radioPower: Int?, measuredPower: Double, receiver: String
    ) throws(PlanError) {
        dBm = Int(min(1000, max(-1000, measuredPower)).rounded())
        key = radioPower.map { "\($0)" } ?? "default"
        guard MeasuredPowerAtOneMeter.range.contains(dBm) else {
            throw PlanError(.data, "\(dBm) dBm at 1 m is out of range \(MeasuredPowerAtOneMeter.range)")
        }
        guard let root = JSONDocument.parse(text).root, root["advertisements"] != nil else {
            throw PlanError(.data, "the file has no advertisements, so it is not a profile: choose another file")
        }
        let name = JSONValue.string(receiver).line
        var edit = TextEdit(text)
        guard let calibration = root["calibration"] else {
            // The new member is inserted before the first member, so that no existing comma changes.
            edit.insert("\n  \"calibration\": { \"\(key)\": \(dBm), \"receiver\": \(name) },", behindBraceOf: root)
            self.text = edit.text
            return
        }
        if let old = calibration[key] {
            edit.replaceNumber(at: old.position, with: "\(dBm)")
        } else {
            edit.insert(" \"\(key)\": \(dBm),", behindBraceOf: calibration)
        }
        if let old = calibration["receiver"] {
            edit.replaceString(at: old.position, with: name)
        } else {
            edit.insert(" \"receiver\": \(name),", behindBraceOf: calibration)
        }
        self.text = edit.text
    }
}

/// Changes of a text. They are made from the end to the beginning, so that the offsets of the other changes remain
/// valid.
private struct TextEdit {
    private let original: [UInt8]
    private var changes: [(range: Range<Int>, text: [UInt8])] = []

    init(_ text: [UInt8]) { original = text }

    var text: [UInt8] {
        var result = original
        // If two insertions have the same offset, the later insertion is made first.
        for change in changes.enumerated().sorted(by: {
            ($0.element.range.lowerBound, $0.offset) > ($1.element.range.lowerBound, $1.offset)
        }) {
            result.replaceSubrange(change.element.range, with: change.element.text)
        }
        return result
    }

    mutating func insert(_ text: String, behindBraceOf node: JSONNode) {
        guard let offset = ProfileRevision.offsets(of: [node.position], in: original).first else { return }
        // In an empty object no member follows the insertion, so its comma is dropped.
        let nextOctet = original[(offset + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isEmpty = nextOctet == UInt8(ascii: "}")
        let hasEarlierInsertion = changes.contains { $0.range.lowerBound == offset + 1 }
        let octets = Array((isEmpty && !hasEarlierInsertion ? String(text.dropLast()) + " " : text).utf8)
        changes.append((offset + 1..<offset + 1, octets))
    }

    mutating func replaceNumber(at position: JSONPosition, with text: String) {
        replace(position, text) { rest in rest.prefix { "-+.eE0123456789".utf8.contains($0) }.count }
    }

    mutating func replaceString(at position: JSONPosition, with text: String) {
        replace(position, text) { rest in
            var isEscaped = false
            for (count, octet) in rest.enumerated().dropFirst() {
                if octet == UInt8(ascii: "\""), !isEscaped { return count + 1 }
                isEscaped = octet == UInt8(ascii: "\\") && !isEscaped
            }
            return rest.count
        }
    }

    private mutating func replace(
        _ position: JSONPosition, _ text: String, length: (ArraySlice<UInt8>) -> Int
    ) {
        guard let offset = ProfileRevision.offsets(of: [position], in: original).first else { return }
        changes.append((offset..<offset + length(original[offset...]), Array(text.utf8)))
    }
}
