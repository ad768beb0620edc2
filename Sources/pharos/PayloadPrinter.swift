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
        var lines = decoded.frames.map(\.sentence)
        for case .eddystoneEncryptedTLM(let frame) in decoded.frames {
            guard let opener else { continue }
            let opened = opener.open(frame).map { BeaconFrame.eddystoneTLM($0).sentence }
            lines.append("decrypted: " + (opened ?? "the check does not hold: another key, time or exponent"))
        }
        if decoded.frames.isEmpty {
            lines += decoded.structures.map { "\($0.type.name): \(Hexadecimal.text($0.data, separator: " "))" }
            if lines.isEmpty { lines.append("no AD structure") }
        }
        return lines
    }
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
