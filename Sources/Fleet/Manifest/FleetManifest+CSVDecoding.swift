internal import BluetoothTypes
public import Configuration

extension FleetManifest {
    /// Reads `manifest.csv`, which does not say the fleet's name.
    ///
    /// - Returns: `nil` where there is an error, and every problem in the order of the file.
    public static func decodeCSV(
        _ octets: [UInt8], fleet: String
    ) -> (manifest: FleetManifest?, problems: [FileProblem]) {
        var (table, problems) = CSVTable.open(octets, file: "")
        guard let table, problems.isEmpty else { return (nil, problems) }
        guard table.header == columns else {
            let message = "the columns are not those of a manifest: " + columns.joined(separator: ",")
            return (nil, [.init(message, at: .init(line: 1, column: 1), path: .root)])
        }
        var manifest = FleetManifest(fleet: fleet)
        var rows = table.rows
        var row = CSVRow()
        var names: Set<String> = []
        while rows.next(&row), problems.count < JSONDocument.problemLimit {
            guard row.fault == nil, row.cells.count == columns.count else {
                let message = row.fault?.message ?? "the row has \(row.cells.count) cells, the header \(columns.count)"
                problems.append(.init(message, at: .init(line: row.line, column: 1), path: .root))
                continue
            }
            var reader = ManifestRow(table: table, row: row)
            let beacon = reader.beacon()
            problems += reader.decoder.decoder.problems
            guard let beacon else { continue }
            if let last = manifest.beacons.last, last.name == beacon.name {
                var joined = last
                joined.advertisements += beacon.advertisements
                var same = beacon
                same.advertisements = last.advertisements
                if same != last || reader.number != joined.advertisements.count {
                    problems.append(reader.problem("this row does not continue the beacon before it"))
                }
                manifest.beacons[manifest.beacons.count - 1] = joined
            } else {
                if !names.insert(beacon.name).inserted || reader.number != 1 {
                    problems.append(reader.problem("this row does not begin a beacon"))
                }
                manifest.beacons.append(beacon)
            }
        }
        return (problems.isEmpty ? manifest : nil, problems)
    }
}

/// One row of `manifest.csv`, read as if it were the JSON of a beacon with one advertisement.
private struct ManifestRow {
    let table: CSVTable
    let row: CSVRow
    var decoder = ManifestDecoder()
    var number: Int?

    init(table: CSVTable, row: CSVRow) {
        self.table = table
        self.row = row
    }

    func problem(_ message: String) -> FileProblem {
        FileProblem(message, at: .init(line: row.line, column: 1), path: .root)
    }

    private func text(_ name: String) -> String {
        guard let column = FleetManifest.columns.firstIndex(of: name), column < row.cells.count else { return "" }
        let text = row.cells[column].string(in: table.octets)
        return text.hasPrefix("'") ? String(text.dropFirst()) : text
    }

    private func node(_ name: String, _ value: JSONNode.Value, key: String? = nil) -> JSONMember {
        let column = FleetManifest.columns.firstIndex(of: name) ?? 0
        let offset = column < row.cells.count ? Int(row.cells[column].start) : row.start
        let position = table.position(of: offset, in: row)
        let node = JSONNode(value, at: position, path: JSONPath([.key(name)]))
        return JSONMember(key: key ?? name, keyPosition: position, value: node)
    }

    /// The columns as members of an object, without those that are empty.
    private func object(_ names: [String], numbers: Set<String>) -> [JSONMember] {
        names.compactMap { name in
            let text = text(name)
            if text.isEmpty { return nil }
            if numbers.contains(name), let number = JSONNumber(text) { return node(name, .number(number)) }
            return node(name, .string(text))
        }
    }

    mutating func beacon() -> FleetManifest.Beacon? {
        let start = JSONPosition(line: row.line, column: 1)
        number = Int(text("advertisement"))
        var members = object(
            ["name", "host", "serial", "controller", "adapter", "address", "profileHash", "eidEpoch"], numbers: [])
        let group = ["site", "floor", "room"].map(text).filter { !$0.isEmpty }
        if !group.isEmpty { members.append(node("site", .string(group.joined(separator: "/")), key: "group")) }
        let coordinates = object(
            ["x", "y", "z", "latitude", "longitude"], numbers: ["x", "y", "z", "latitude", "longitude"])
        if !coordinates.isEmpty {
            let place = JSONNode(.object(coordinates), at: start, path: JSONPath([.key("position")]))
            members.append(JSONMember(key: "position", keyPosition: start, value: place))
        }
        let advertisement = JSONNode(
            .object(
                object(
                    Array(ManifestDecoder.advertisementKeys),
                    numbers: [
                        "major", "minor", "intervalMs", "radioPowerDbm", "measuredPowerDbm", "rotationExponent",
                        "payloadOctets",
                    ])),
            at: start, path: .root)
        members.append(
            JSONMember(
                key: "advertisements", keyPosition: start,
                value: JSONNode(.array([advertisement]), at: start, path: .root)))
        return decoder.beacon(JSONNode(.object(members), at: start, path: .root))
    }
}
