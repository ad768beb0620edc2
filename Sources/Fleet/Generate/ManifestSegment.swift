internal import BluetoothTypes
internal import Configuration

/// A piece of a manifest's line: always the same for a shape, or what fills a slot.
enum ManifestSegment: Sendable {
    case literal([UInt8])
    case slot(Int, Form)

    /// How a slot's value is written.
    enum Form: Sendable {
        case plain
        /// Lower-case digits.
        case hexadecimal
        /// Lower-case digits with a UUID's dashes.
        case uuid
        /// As a JSON string.
        case quoted
        /// As a cell of a table.
        case cell
    }

    static func append(_ segments: [ManifestSegment], _ reader: BeaconReader, to text: inout [UInt8]) {
        for segment in segments {
            switch segment {
            case .literal(let octets): text.append(contentsOf: octets)
            case .slot(let slot, let form): append(slot, form, reader, to: &text)
            }
        }
    }

    static func append(_ slot: Int, _ form: Form, _ reader: BeaconReader, to text: inout [UInt8]) {
        let range = reader.range(slot)
        switch form {
        case .plain: text.append(contentsOf: reader.values[range])
        case .quoted: text.append(quoted: reader.values, range)
        case .hexadecimal, .uuid:
            var digits = 0
            for octet in reader.values[range] where octet != UInt8(ascii: "-") {
                if form == .uuid, digits == 8 || digits == 12 || digits == 16 || digits == 20 {
                    text.append(UInt8(ascii: "-"))
                }
                text.append(octet >= UInt8(ascii: "A") && octet <= UInt8(ascii: "F") ? octet | 0x20 : octet)
                digits += 1
            }
        case .cell:
            // Most need no quotes, and a URL begins with a letter.
            let value = reader.values[range]
            let isPlain = !range.isEmpty && NameRule.isLetterOrDigit(reader.values[range.lowerBound])
            if isPlain, !value.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 < 0x20 }) {
                text.append(contentsOf: value)
            } else {
                text.append(contentsOf: FleetManifest.cell(String(decoding: value, as: UTF8.self)).utf8)
            }
        }
    }

    /// Literals that follow each other become one.
    static func joined(_ segments: [ManifestSegment]) -> [ManifestSegment] {
        var result: [ManifestSegment] = []
        for segment in segments {
            if case .literal(let more) = segment, case .literal(let text) = result.last {
                result[result.count - 1] = .literal(text + more)
            } else {
                result.append(segment)
            }
        }
        return result
    }

    private static func text(_ text: String) -> ManifestSegment { .literal(Array(text.utf8)) }

    private static func value(_ source: Shape.Source, _ name: String, _ slots: [FleetTemplate.Slot]) -> ManifestSegment
    {
        switch source {
        case .constant(let octets): return .literal(octets)
        case .slot(let slot):
            let isHexadecimal = slots[slot].kind == .hexadecimal
            return .slot(slot, isHexadecimal ? name == "uuid" ? .uuid : .hexadecimal : .plain)
        }
    }

    private static func quoted(_ source: Shape.Source) -> ManifestSegment {
        switch source {
        case .constant(let octets): text(JSONValue.string(String(decoding: octets, as: UTF8.self)).line)
        case .slot(let slot): .slot(slot, .quoted)
        }
    }

    private static func cell(_ source: Shape.Source?) -> ManifestSegment {
        switch source {
        case .constant(let octets): text(FleetManifest.cell(String(decoding: octets, as: UTF8.self)))
        case .slot(let slot): .slot(slot, .cell)
        case nil: .literal([])
        }
    }

    /// The list of advertisements in `manifest.json`.
    static func json(_ advertisements: [ShapeAdvertisement], _ slots: [FleetTemplate.Slot]) -> [ManifestSegment] {
        var result = [text(",\"advertisements\":[")]
        for (index, advertisement) in advertisements.enumerated() {
            result.append(text((index > 0 ? "," : "") + "{\"type\":\"\(advertisement.type)\""))
            for (name, source, isNumber) in advertisement.identity {
                result.append(text(",\"\(name)\":" + (isNumber ? "" : "\"")))
                result.append(value(source, name, slots))
                if !isNumber { result.append(text("\"")) }
            }
            if let url = advertisement.url { result += [text(",\"url\":"), quoted(url)] }
            var rest = ",\"intervalMs\":" + DecimalText.thousandths(advertisement.requestedMicroseconds)
            if let power = advertisement.radioPower { rest += ",\"radioPowerDbm\":\(power)" }
            if let power = advertisement.measuredPower { rest += ",\"measuredPowerDbm\":\(power)" }
            result.append(text(rest))
            if let file = advertisement.keyFile { result += [text(",\"identityKeyFile\":"), quoted(file)] }
            if let exponent = advertisement.rotationExponent {
                result.append(text(",\"rotationExponent\":\(exponent)"))
            }
            if let octets = advertisement.unusualOctets { result.append(text(",\"payloadOctets\":\(octets)")) }
            result.append(text("}"))
        }
        return result + [text("]}")]
    }

    /// The columns from `advertisement` on, in `manifest.csv`.
    static func row(
        _ advertisement: ShapeAdvertisement, _ index: Int, _ slots: [FleetTemplate.Slot]
    ) -> [ManifestSegment] {
        var result = [text("\(index + 1),\(advertisement.type),")]
        let first =
            switch advertisement.type {
            case "ibeacon": 0
            case "altbeacon": 3
            case "eddystone-uid": 5
            default: 7
            }
        for column in 0..<8 {
            if column >= first, column - first < advertisement.identity.count {
                let (name, source, _) = advertisement.identity[column - first]
                result.append(value(source, name, slots))
            } else if column == 7 {
                result.append(cell(advertisement.url))
            }
            result.append(text(","))
        }
        result.append(text(DecimalText.thousandths(advertisement.requestedMicroseconds) + ","))
        result.append(text((advertisement.radioPower.map { "\($0)" } ?? "") + ","))
        result.append(text((advertisement.measuredPower.map { "\($0)" } ?? "") + ","))
        result.append(cell(advertisement.keyFile))
        result.append(text("," + (advertisement.rotationExponent.map { "\($0)" } ?? "") + ","))
        result.append(text((advertisement.unusualOctets.map { "\($0)" } ?? "") + "\r\n"))
        return result
    }
}
