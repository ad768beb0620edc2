internal import BluetoothTypes
internal import Configuration

/// A beacon profile with another value in its calibration, and every other octet of its text as it was.
public struct CalibrationRevision: Sendable {
    /// The new text.
    public let text: [UInt8]
    /// Under which key the value stands: a radio power, or `default`.
    public let key: String
    /// The value, in whole dBm at 1 m.
    public let dBm: Int

    /// - Parameters:
    ///   - text: The profile's.
    ///   - radioPower: What the transmitter emitted, in dBm; `nil` where nobody knows: then the value is the default.
    ///   - measuredPower: At 1 m, in dBm; rounded to the nearest whole number.
    ///   - receiver: Whose value it is.
    ///
    /// Throws for values that no frame can carry, and a text that is no profile.
    public init(
        of text: [UInt8], radioPower: Int?, measuredPower: Double, receiver: String
    ) throws(PlanError) {
        dBm = Int(min(1000, max(-1000, measuredPower)).rounded())
        key = radioPower.map { "\($0)" } ?? "default"
        guard MeasuredPowerAtOneMeter.range.contains(dBm) else {
            throw PlanError(.data, "\(dBm) dBm at 1 m is out of range \(MeasuredPowerAtOneMeter.range)")
        }
        guard let root = JSONDocument.parse(text).root, root["advertisements"] != nil else {
            throw PlanError(.data, "the profile has no advertisements: there is nowhere to put the calibration")
        }
        let name = JSONValue.string(receiver).line
        var edit = TextEdit(text)
        guard let calibration = root["calibration"] else {
            // Before the first member, so that no comma of somebody else's is touched.
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

/// Changes at places of a text, made from its end on, so that the places of the others stay what they are.
private struct TextEdit {
    private let original: [UInt8]
    private var changes: [(range: Range<Int>, text: [UInt8])] = []

    init(_ text: [UInt8]) { original = text }

    var text: [UInt8] {
        var result = original
        // Of two at one place the one that was asked for last stands first.
        for change in changes.enumerated().sorted(by: {
            ($0.element.range.lowerBound, $0.offset) > ($1.element.range.lowerBound, $1.offset)
        }) {
            result.replaceSubrange(change.element.range, with: change.element.text)
        }
        return result
    }

    mutating func insert(_ text: String, behindBraceOf node: JSONNode) {
        guard let offset = ProfileRevision.offsets(of: [node.position], in: original).first else { return }
        // An object that was empty has no member for the comma.
        let rest = original[(offset + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isEmpty = rest == UInt8(ascii: "}")
        let earlier = changes.contains { $0.range.lowerBound == offset + 1 }
        let octets = Array((isEmpty && !earlier ? String(text.dropLast()) + " " : text).utf8)
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
