internal import BluetoothTypes
internal import Configuration

/// What a manifest says of one beacon, as text: the one place that knows the keys of `manifest.json` and the columns of
/// `manifest.csv`, for manifests that are values and for those that are written beacon by beacon.
struct BeaconText {
    /// Site, floor and room in both forms.
    struct Group {
        fileprivate let member: [UInt8]
        fileprivate let cells: [UInt8]

        init(_ path: [String]) {
            let cells = (0..<Fleet.depthLimit).map { $0 < path.count ? FleetManifest.cell(path[$0]) : "" }
            member =
                path.isEmpty ? [] : Array((",\"group\":" + JSONValue.string(path.joined(separator: "/")).line).utf8)
            self.cells = Array((cells.joined(separator: ",") + ",").utf8)
        }
    }

    var name: ArraySlice<UInt8>
    var group: Group
    var host: ArraySlice<UInt8>?
    var serial: ArraySlice<UInt8>?
    var controller: ArraySlice<UInt8>?
    var adapter: ArraySlice<UInt8>?
    var address: ArraySlice<UInt8>?
    /// x, y, z, latitude, longitude; empty where the beacon has no place.
    var coordinates: [ArraySlice<UInt8>?] = []
    var profileHash: ArraySlice<UInt8>
    var eidEpoch: ArraySlice<UInt8>?

    init(name: ArraySlice<UInt8>, group: Group, profileHash: ArraySlice<UInt8>) {
        self.name = name
        self.group = group
        self.profileHash = profileHash
    }

    init(_ beacon: FleetManifest.Beacon) {
        func text(_ text: String?) -> ArraySlice<UInt8>? { text.map { Array($0.utf8)[...] } }
        self.init(
            name: Array(beacon.name.utf8)[...], group: Group(beacon.group),
            profileHash: Array(beacon.profileHash.utf8)[...])
        host = text(beacon.host)
        serial = text(beacon.serial)
        controller = text(beacon.controller)
        adapter = text(beacon.adapter)
        address = text(beacon.address?.description)
        switch beacon.position {
        case .plan(let x, let y, let z): coordinates = [text(x.text), text(y.text), text(z?.text), nil, nil]
        case .globe(let latitude, let longitude):
            coordinates = [nil, nil, nil, text(latitude.text), text(longitude.text)]
        case nil: break
        }
        eidEpoch = text(beacon.eidEpoch?.description)
    }

    /// The columns of `manifest.csv` that are the same in all lines of a beacon.
    static let columns =
        [
            "name", "site", "floor", "room", "host", "serial", "controller", "adapter", "address",
        ] + TableColumns.coordinateNames + ["profileHash", "eidEpoch"]

    /// The beacon's object up to its advertisements.
    func appendJSON(to line: inout [UInt8]) {
        line.append(staticText: "{\"name\":")
        line.append(quoted: name)
        line.append(contentsOf: group.member)
        Self.append(",\"host\":", host, to: &line)
        Self.append(",\"serial\":", serial, to: &line)
        Self.append(",\"controller\":", controller, to: &line)
        Self.append(",\"adapter\":", adapter, to: &line)
        Self.append(",\"address\":", address, to: &line)
        if !coordinates.isEmpty { appendPosition(to: &line) }
        Self.append(",\"profileHash\":", profileHash, to: &line)
        Self.append(",\"eidEpoch\":", eidEpoch, to: &line)
    }

    private static func append(_ start: StaticString, _ value: ArraySlice<UInt8>?, to line: inout [UInt8]) {
        guard let value else { return }
        line.append(staticText: start)
        line.append(quoted: value)
    }

    private func appendPosition(to line: inout [UInt8]) {
        var separator: StaticString = ",\"position\":{"
        for (index, value) in coordinates.enumerated() {
            guard let value else { continue }
            line.append(staticText: separator)
            line.append(UInt8(ascii: "\""))
            line.append(contentsOf: TableColumns.coordinateNames[index].utf8)
            line.append(staticText: "\":")
            line.append(contentsOf: value)
            separator = ","
        }
        line.append(UInt8(ascii: "}"))
    }

    /// The cells of ``columns``, each with a comma behind it.
    func appendCells(to line: inout [UInt8]) {
        Self.append(cell: name, to: &line)
        line.append(contentsOf: group.cells)
        Self.append(cell: host, to: &line)
        Self.append(cell: serial, to: &line)
        Self.append(cell: controller, to: &line)
        Self.append(cell: adapter, to: &line)
        Self.append(cell: address, to: &line)
        for index in TableColumns.coordinateNames.indices {
            if !coordinates.isEmpty, let value = coordinates[index] { line.append(contentsOf: value) }
            line.append(UInt8(ascii: ","))
        }
        Self.append(cell: profileHash, to: &line)
        Self.append(cell: eidEpoch, to: &line)
    }

    private static func append(cell value: ArraySlice<UInt8>?, to line: inout [UInt8]) {
        if let value { line.append(cell: value) }
        line.append(UInt8(ascii: ","))
    }
}

extension FleetManifest {
    /// The columns of `manifest.csv`, in order.
    public static let columns = BeaconText.columns + AdvertisementText.columns

    /// The text of `manifest.json`: one beacon a line.
    public var json: String {
        var text = Array(Self.jsonStart(fleet).utf8)
        for (index, beacon) in beacons.enumerated() {
            if index > 0 { text.append(staticText: ",\n") }
            text += beacon.line
        }
        if !beacons.isEmpty { text.append(UInt8(ascii: "\n")) }
        return String(decoding: text, as: UTF8.self) + Self.jsonEnd
    }

    /// The text of `manifest.csv`: one line an advertisement. A cell that a spreadsheet would take for a formula has
    /// an apostrophe before it.
    public var csv: String {
        var text = Array((Self.columns.joined(separator: ",") + "\r\n").utf8)
        for beacon in beacons {
            var start: [UInt8] = []
            BeaconText(beacon).appendCells(to: &start)
            for (index, advertisement) in beacon.advertisements.enumerated() {
                text += start
                text += ManifestSegment.text(AdvertisementText(advertisement).row(index))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func jsonStart(_ fleet: String) -> String {
        "{\"version\":\(version),\"fleet\":\(JSONValue.string(fleet).line),\"beacons\":[\n"
    }

    static let jsonEnd = "]}\n"

    /// How `manifest.json` begins, by which it is told from other files.
    public static let firstOctets = Array("{\"version\":\(version),\"fleet\":\"".utf8)

    /// A cell as CSV and spreadsheets take it.
    static func cell(_ text: String) -> String {
        guard let first = text.utf8.first else { return "" }
        var text = text
        switch first {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "@"), 0x09, 0x0D, UInt8(ascii: "'"):
            text = "'" + text
        case UInt8(ascii: "-") where JSONNumber(text) == nil: text = "'" + text
        default: break
        }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 < 0x20 }) else {
            return text
        }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension FleetManifest.Beacon {
    /// The beacon's line in `manifest.json`, without what separates it from others.
    public var line: [UInt8] {
        var line: [UInt8] = []
        BeaconText(self).appendJSON(to: &line)
        return line + ManifestSegment.text(AdvertisementText.json(advertisements.map { AdvertisementText($0) }))
    }
}
