internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost

/// Prints one payload in the way that was asked for.
struct PayloadPrinter {
    let json: Bool
    let lint: Bool
    let explain: Bool
    let opener: TelemetryOpener?

    /// Returns whether no rule is broken.
    ///
    /// - Parameter facts: what is known of the packet that it came in, for JSON.
    func print(_ data: AdvertisingData, facts: [(String, JSONValue)] = [], indent: String = "") -> Bool {
        let decoded = DecodedAdvertisingData(data)
        let text =
            json
            ? JSONValue.record(facts + PayloadJSON.members(data, opener: opener)).line + "\n"
            : lines(decoded, data).map { indent + $0 + "\n" }.joined()
        Terminal.write(text)
        return decoded.problems.isEmpty
    }

    private func lines(_ decoded: DecodedAdvertisingData, _ data: AdvertisingData) -> [String] {
        var lines: [String] = []
        if !lint { lines += summary(decoded) }
        if explain { lines += Explanation.table(data).split(separator: "\n").map(String.init) }
        if lint {
            lines += decoded.problems.isEmpty ? ["no rule is broken"] : decoded.problems.map { "\($0)" }
        } else if !decoded.problems.isEmpty {
            let count = decoded.problems.count
            lines.append(count == 1 ? "1 rule is broken (--lint tells)" : "\(count) rules are broken (--lint tells)")
        }
        return lines
    }

    /// The frames in words; what belongs to no frame as AD structures.
    private func summary(_ decoded: DecodedAdvertisingData) -> [String] {
        var lines = decoded.frames.map(FrameText.sentence)
        for case .eddystoneEncryptedTLM(let frame) in decoded.frames {
            guard let opener else { continue }
            let opened = opener.open(frame).map { FrameText.sentence(.eddystoneTLM($0)) }
            lines.append("decrypted: " + (opened ?? "the check does not hold: another key, time or exponent"))
        }
        if decoded.frames.isEmpty {
            lines += decoded.structures.map { "\($0.type.name): \(Hexadecimal.text($0.data, separator: " "))" }
            if lines.isEmpty { lines.append("no AD structure") }
        }
        return lines
    }
}

/// A frame in one line of words.
enum FrameText {
    static func sentence(_ frame: BeaconFrame) -> String {
        switch frame {
        case .iBeacon(let frame):
            "iBeacon \(frame.uuid), major \(frame.major), minor \(frame.minor), \(frame.measuredPower)"
        case .altBeacon(let frame):
            "AltBeacon \(frame.beaconID), company \(Hexadecimal.number(frame.companyID, width: 4)), "
                + "\(frame.measuredPower)"
        case .eddystoneUID(let frame):
            "Eddystone-UID \(frame.namespace) \(frame.instance), \(frame.measuredPower)"
        case .eddystoneURL(let frame):
            "Eddystone-URL \(frame.url.text), \(frame.measuredPower)"
        case .eddystoneTLM(let frame):
            "Eddystone-TLM \(battery(frame)), \(temperature(frame)), \(frame.advertisements) advertisements, "
                + "up \(tenths(frame.uptimeDeciseconds)) s"
        case .eddystoneEncryptedTLM(let frame):
            "Eddystone-TLM, encrypted: \(frame.encrypted), salt \(hex(frame.salt)), MIC \(hex(frame.mic))"
        case .eddystoneEID(let frame):
            "Eddystone-EID \(frame.id), \(frame.measuredPower)"
        }
    }

    /// Tenths of a second as seconds.
    static func tenths(_ deciseconds: UInt32) -> String { DecimalText.thousandths(Int(deciseconds) * 100) }

    private static func battery(_ frame: EddystoneTLM) -> String {
        frame.batteryMillivolts.map { "\($0) mV" } ?? "battery unknown"
    }

    private static func temperature(_ frame: EddystoneTLM) -> String {
        frame.temperature.map { "\($0)" } ?? "temperature unknown"
    }

    private static func hex(_ number: UInt16) -> String { Hexadecimal.number(number, width: 4) }
}

/// `--explain`: a row for every octet.
enum Explanation {
    static func table(_ data: AdvertisingData) -> String {
        var table = Table(["offset", "octet", "field", "meaning"], alignment: [.right, .right])
        for note in data.explained() {
            table.add([String(note.offset), Hexadecimal.text(note.octet), note.field, note.meaning])
        }
        return table.text
    }
}
