internal import BluetoothTypes

/// The frames of github google/eddystone.
extension OctetExplainer {
    mutating func explainEddystone() {
        guard let octet = peek() else { return }
        let frame: String
        switch Eddystone.FrameType(rawValue: octet & 0xF0) {
        case .uid: frame = "Eddystone-UID"
        case .url: frame = "Eddystone-URL"
        case .tlm: frame = "Eddystone-TLM"
        case .eid: frame = "Eddystone-EID"
        case nil: frame = "unknown to Eddystone"
        }
        note("frame type", frame + (octet & 0x0F == 0 ? "" : ", but the low four bits must be 0"))
        switch Eddystone.FrameType(rawValue: octet) {
        case .uid: explainUID()
        case .url: explainURL()
        case .tlm: explainTLM()
        case .eid: explainEID()
        case nil: restAsData("frame data")
        }
    }

    private mutating func explainPowerAtZeroMeters() {
        guard let octet = peek() else { return }
        let power = MeasuredPowerAtZeroMeters(octet: octet)
        note("measured power", power.isInRange ? power.description : "\(power), out of range -100...20 dBm")
    }

    private mutating func explainUID() {
        explainPowerAtZeroMeters()
        row("namespace", count: 10, value: peek(count: 10).map { Hexadecimal.text($0) } ?? "")
        row("instance", count: 6, value: peek(count: 6).map { Hexadecimal.text($0) } ?? "")
        for _ in 0..<2 {
            note("reserved", peek() == 0 ? "reserved for future use, 0" : "reserved for future use, must be 0")
        }
    }

    private mutating func explainURL() {
        explainPowerAtZeroMeters()
        if let scheme = peek() {
            let text = Int(scheme) < CompressedURL.schemes.count ? CompressedURL.schemes[Int(scheme)] : nil
            note("URL scheme", text ?? "reserved")
        }
        while let octet = peek() {
            let text = CompressedURL.text(of: octet)
            if CompressedURL.literals.contains(octet) {
                note("URL text", "\"\(text ?? "")\"")
            } else {
                note("URL code", text ?? "reserved")
            }
        }
    }

    private mutating func explainEID() {
        explainPowerAtZeroMeters()
        row("ephemeral id", count: 8, value: peek(count: 8).map { Hexadecimal.text($0) } ?? "")
    }

    private mutating func explainTLM() {
        switch peek() {
        case 0x00:
            note("TLM version", "0, not encrypted")
            explainTelemetry()
        case 0x01:
            note("TLM version", "1, encrypted")
            row("encrypted telemetry", count: 12, value: peek(count: 12).map { Hexadecimal.text($0) } ?? "")
            number16("salt", bigEndian: true) { Hexadecimal.number($0, width: 4) }
            number16("message integrity check", bigEndian: true) { Hexadecimal.number($0, width: 4) }
        default:
            note("TLM version", "unknown")
            restAsData("frame data")
        }
    }

    private mutating func explainTelemetry() {
        number16("battery", bigEndian: true) { $0 == 0 ? "unknown" : "\($0) mV" }
        number16("temperature", bigEndian: true) {
            FixedPointTemperature(rawValue: Int16(bitPattern: $0))?.description ?? "unknown"
        }
        number32("advertisements", { "\($0) advertising events since power-on" })
        number32("uptime", { "\(DecimalText.thousandths(Int($0) * 100)) s since power-on" })
    }
}
