internal import BluetoothTypes
internal import Configuration

/// A fleet as a table for spreadsheets, with a line for each advertisement. Cells are written so that a spreadsheet
/// does not compute, split or round them.
public enum FleetSpreadsheet {
    private static let columns = [
        "name", "site", "floor", "room", "host", "serial", "controller", "adapter", "address", "x m", "y m", "z m",
        "latitude", "longitude", "type", "uuid", "major", "minor", "namespace", "instance", "beacon id", "url",
        "interval ms", "radio power dBm", "measured power dBm", "rotation s", "epoch", "profile hash",
    ]

    /// The mark at the start of a file for spreadsheets, which need it to detect UTF-8. Other programs would read the
    /// mark as part of the first column's name.
    public static let byteOrderMark = "\u{FEFF}"

    /// Returns the whole table, without ``byteOrderMark``.
    ///
    /// - Parameter names: The names of the columns in the fleet's own table. The keys are the values that the columns
    ///   contain, such as `host`.
    public static func text(_ manifest: FleetManifest, names: [String: String] = [:]) -> String {
        // Only fleets with titles have the column "title".
        let hasTitles = manifest.beacons.contains { $0.title != nil }
        var columns = columns
        if hasTitles { columns.insert("title", at: 1) }
        let header = columns.map { column in
            let key = ["x m", "y m", "z m"].contains(column) ? String(column.prefix(1)) : column
            guard let name = names[key], !columns.contains(name) else { return column }
            return SpreadsheetText.text(name)
        }
        var text = SpreadsheetText.line(header)
        for beacon in manifest.beacons {
            for advertisement in beacon.advertisements {
                text += line(beacon, advertisement, hasTitle: hasTitles)
            }
        }
        return text
    }

    private static func line(
        _ beacon: FleetManifest.Beacon, _ advertisement: FleetManifest.Advertisement, hasTitle: Bool
    ) -> String {
        let names = hasTitle ? [beacon.name, beacon.title] : [beacon.name]
        let nameCells =
            (names + [
                beacon.site, beacon.floor, beacon.room, beacon.host, beacon.serial, beacon.controller,
                beacon.adapter,
            ])
            .map { $0.map(SpreadsheetText.text) ?? "" }
        let rotationSeconds = advertisement.rotationExponent.map { (0...15).contains($0) ? String(1 << $0) : "" }
        let numberCells = [
            DecimalText.thousandths(advertisement.intervalMicroseconds),
            advertisement.radioPower.map { String($0) }, advertisement.measuredPower.map { String($0) },
            rotationSeconds,
        ]
        .map { $0 ?? "" }
        var cells: [String] = nameCells
        cells.append(beacon.address?.description ?? "")
        cells += position(beacon.position)
        cells.append(SpreadsheetText.text(advertisement.type))
        cells += identity(advertisement.identity)
        cells += numberCells
        cells += [beacon.eidEpoch?.description ?? "", fingerprint(beacon.profileHash)]
        return SpreadsheetText.line(cells)
    }

    // A manifest that Pharos did not write may contain any text instead of the hash.
    private static func fingerprint(_ text: String) -> String {
        let isHexadecimal = !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isHexDigit }
        return isHexadecimal ? SpreadsheetText.hexadecimal(text) : SpreadsheetText.text(text)
    }

    private static func position(_ position: FleetManifest.Position?) -> [String] {
        switch position {
        case .plan(let x, let y, let z): [x.text, y.text, z?.text ?? "", "", ""]
        case .geographic(let latitude, let longitude): ["", "", "", latitude.text, longitude.text]
        case nil: ["", "", "", "", ""]
        }
    }

    /// Returns the cells of the columns uuid, major, minor, namespace, instance, beacon id and url.
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

/// The advertisements of beacons, as a table and as lines of JSON.
public struct BeaconTable: Sendable {
    /// The beacons with their advertisements of the listed types. Beacons without such advertisements are left out.
    public let beacons: [FleetManifest.Beacon]

    /// - Parameter types: The types of advertisements to list, such as `ibeacon`. If it is empty, all types are listed.
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

    /// A table with a header and a row for each advertisement.
    ///
    /// Control characters are escaped, because a manifest that Pharos did not write may contain any text.
    public var text: String {
        // As in ``FleetSpreadsheet``, only fleets with titles have the column "title".
        let hasTitles = beacons.contains { $0.title != nil }
        var header = ["beacon", "group", "adapter", "type", "identity", "interval ms"]
        var alignment: [Table.Alignment] = [.left, .left, .left, .left, .left, .right]
        if hasTitles {
            header.insert("title", at: 1)
            alignment.insert(.left, at: 1)
        }
        var table = Table(header, alignment: alignment)
        for beacon in beacons {
            for advertisement in beacon.advertisements {
                let identity = advertisement.identity.text
                var row = [
                    beacon.name, beacon.group.isEmpty ? "-" : beacon.group.joined(separator: "/"),
                    TerminalText.line(beacon.adapter ?? "-"), advertisement.type,
                    identity.isEmpty ? "-" : TerminalText.line(identity),
                    DecimalText.thousandths(advertisement.intervalMicroseconds),
                ]
                if hasTitles { row.insert(TerminalText.line(beacon.title ?? "-"), at: 1) }
                table.add(row)
            }
        }
        return table.text
    }

    /// A line with a JSON object for each beacon, with the keys of `manifest.json`.
    public var lines: String {
        beacons.map { $0.json.line + "\n" }.joined()
    }
}
