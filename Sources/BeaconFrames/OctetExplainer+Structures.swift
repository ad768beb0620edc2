internal import BluetoothTypes

/// The formats of the Core Specification Supplement, Part A.
extension OctetExplainer {
    mutating func explainData(of type: ADType) {
        switch type {
        case .flags: explainFlags()
        case .incomplete16BitUUIDs, .complete16BitUUIDs:
            while left > 0 { number16("service UUID", bigEndian: false, AssignedNames.service) }
        case .incomplete32BitUUIDs, .complete32BitUUIDs:
            while left > 0 { explainUUID(count: 4) }
        case .incomplete128BitUUIDs, .complete128BitUUIDs:
            while left > 0 { explainUUID(count: 16) }
        case .shortenedLocalName, .completeLocalName: explainText("local name")
        case .txPowerLevel: explainRadioPower()
        case .appearance:
            number16("appearance", bigEndian: false) { Hexadecimal.number($0, width: 4) }
        case .serviceData16: explainServiceData16()
        case .serviceData32:
            explainUUID(count: 4)
            restAsData("service data")
        case .serviceData128:
            explainUUID(count: 16)
            restAsData("service data")
        case .manufacturerData: explainManufacturerData()
        default: restAsData("data")
        }
    }

    private mutating func explainFlags() {
        guard let octet = peek() else { return }
        let names = [
            "LE limited discoverable", "LE general discoverable", "BR/EDR not supported",
            "simultaneous LE and BR/EDR (controller)", "simultaneous LE and BR/EDR (host)",
            "reserved bit 5", "reserved bit 6", "reserved bit 7",
        ]
        let set = names.enumerated().filter { octet & 1 << UInt8($0.offset) != 0 }.map(\.element)
        note("flags", set.isEmpty ? "none" : set.joined(separator: ", "))
        rest("flags", "reserved for future use")
    }

    /// The next UUID of 4 or 16 octets, least significant octet first.
    private mutating func explainUUID(count: Int) {
        let uuid = peek(count: count).flatMap { BluetoothUUID(bigEndian: $0.reversed()) }
        row("service UUID", count: count, value: uuid.map { "\($0), least significant octet first" } ?? "")
    }

    private mutating func explainText(_ field: String) {
        let octets = peek(count: left) ?? []
        let text = String(validating: octets, as: UTF8.self)
        let whole = text.map { " of \"\(Self.harmless($0))\"" } ?? ", of a text that is not UTF-8"
        for octet in octets {
            let part = (0x20...0x7E).contains(octet) ? "\"\(UnicodeScalar(octet))\"" : "an octet"
            note(field, part + whole)
        }
    }

    /// Received text that a terminal does not obey: characters that control it, or the direction of writing or the
    /// line, are written as `\u{1B}`.
    private static func harmless(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar.value {
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
                "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: String(scalar)
            }
        }.joined()
    }

    private mutating func explainRadioPower() {
        guard let octet = peek() else { return }
        note("TX power level", "\(Int8(bitPattern: octet)) dBm, what the radio emits")
    }

    private mutating func explainServiceData16() {
        let isEddystone = peek() == 0xAA && peek(1) == 0xFE
        number16("service UUID", bigEndian: false, AssignedNames.service)
        if isEddystone { explainEddystone() } else { restAsData("service data") }
    }
}
