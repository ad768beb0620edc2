internal import BluetoothTypes
internal import Configuration

/// A fleet as a table for people: one line an advertisement, everything that the manifest knows, and nothing that a
/// spreadsheet would compute, split or round.
public enum FleetSpreadsheet {
    private static let columns = [
        "name", "site", "floor", "room", "host", "serial", "controller", "adapter", "address", "x m", "y m", "z m",
        "latitude", "longitude", "type", "uuid", "major", "minor", "namespace", "instance", "beacon id", "url",
        "interval ms", "radio power dBm", "measured power dBm", "rotation s", "epoch", "profile hash",
    ]

    /// What a file for spreadsheets begins with, because without it they do not take the text for UTF-8. Other programs
    /// would take it for a part of the first column's name.
    public static let byteOrderMark = "\u{FEFF}"

    /// The whole table, without ``byteOrderMark``.
    public static func text(_ manifest: FleetManifest) -> String {
        var text = SpreadsheetText.line(columns)
        for beacon in manifest.beacons {
            for advertisement in beacon.advertisements { text += line(beacon, advertisement) }
        }
        return text
    }

    private static func line(_ beacon: FleetManifest.Beacon, _ advertisement: FleetManifest.Advertisement) -> String {
        let texts = [
            beacon.name, beacon.site, beacon.floor, beacon.room, beacon.host, beacon.serial, beacon.controller,
            beacon.adapter,
        ]
        .map { $0.map(SpreadsheetText.text) ?? "" }
        let period = advertisement.rotationExponent.map { (0...15).contains($0) ? String(1 << $0) : "" }
        let numbers = [
            DecimalText.thousandths(advertisement.intervalMicroseconds),
            advertisement.radioPower.map { String($0) }, advertisement.measuredPower.map { String($0) }, period,
        ]
        .map { $0 ?? "" }
        return SpreadsheetText.line(
            texts + [beacon.address?.description ?? ""] + position(beacon.position)
                + [SpreadsheetText.text(advertisement.type)] + identity(advertisement.identity) + numbers + [
                    beacon.eidEpoch?.description ?? "", fingerprint(beacon.profileHash),
                ])
    }

    /// A manifest may have been written by anybody, and then have any text there.
    private static func fingerprint(_ text: String) -> String {
        let isHexadecimal = !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isHexDigit }
        return isHexadecimal ? SpreadsheetText.hexadecimal(text) : SpreadsheetText.text(text)
    }

    private static func position(_ position: FleetManifest.Position?) -> [String] {
        switch position {
        case .plan(let x, let y, let z): [x.text, y.text, z?.text ?? "", "", ""]
        case .globe(let latitude, let longitude): ["", "", "", latitude.text, longitude.text]
        case nil: ["", "", "", "", ""]
        }
    }

    /// uuid, major, minor, namespace, instance, beacon id, url.
    private static func identity(_ identity: FleetManifest.Identity) -> [String] {
        var cells = [String](repeating: "", count: 7)
        switch identity {
        case .iBeacon(let uuid, let major, let minor):
            cells[0...2] = [uuid.uuidText, String(major), String(minor)]
        case .eddystoneUID(let namespace, let instance):
            cells[3...4] = [SpreadsheetText.hexadecimal(namespace), SpreadsheetText.hexadecimal(instance)]
        case .altBeacon(_, let id): cells[5] = SpreadsheetText.hexadecimal(id)
        case .eddystoneURL(let url): cells[6] = SpreadsheetText.text(url)
        case .none: break
        }
        return cells
    }
}

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
        beacons.map { $0.json.line + "\n" }.joined()
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
