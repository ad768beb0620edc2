internal import BluetoothTypes
internal import Configuration
internal import TextEscaping

/// Beacons and what they send, as a table for people and as lines of JSON for programs.
public struct BeaconTable: Sendable {
    /// Beacons without an advertisement that is listed are left out.
    public let beacons: [FleetManifest.Beacon]

    /// - Parameter types: Which advertisements are listed, such as `ibeacon`; all where it is empty.
    public init(_ beacons: [FleetManifest.Beacon], types: [String] = []) {
        guard !types.isEmpty else {
            self.beacons = beacons
            return
        }
        let types = Set(types)
        self.beacons = beacons.compactMap { beacon in
            var beacon = beacon
            beacon.advertisements.removeAll { !types.contains($0.type) }
            return beacon.advertisements.isEmpty ? nil : beacon
        }
    }

    /// A row for each advertisement, below a header.
    ///
    /// A manifest may have been written by anybody: nothing of it gets to a terminal as a control character.
    public var text: String {
        var table = Table(
            ["beacon", "group", "adapter", "type", "identity", "interval ms"],
            alignment: [.left, .left, .left, .left, .left, .right])
        for beacon in beacons {
            for advertisement in beacon.advertisements {
                table.add([
                    beacon.name, beacon.group.isEmpty ? "-" : beacon.group.joined(separator: "/"),
                    TerminalText.line(beacon.adapter ?? "-"), advertisement.type,
                    TerminalText.line(Self.text(advertisement.identity)),
                    DecimalText.thousandths(advertisement.intervalMicroseconds),
                ])
            }
        }
        return table.text
    }

    /// One object a line for each beacon, with the keys of `manifest.json`.
    public var lines: String {
        beacons.map { String(decoding: $0.line, as: UTF8.self) + "\n" }.joined()
    }

    private static func text(_ identity: FleetManifest.Identity) -> String {
        switch identity {
        case .iBeacon(let uuid, let major, let minor): "\(uuid.uuidText) \(major) \(minor)"
        case .altBeacon(_, let id): id.description
        case .eddystoneUID(let namespace, let instance): "\(namespace) \(instance)"
        case .eddystoneURL(let url): url
        case .none: "-"
        }
    }
}
