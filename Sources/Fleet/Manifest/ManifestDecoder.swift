internal import BluetoothTypes
public import Configuration

/// Reads the values of a manifest.
struct ManifestDecoder {
    var decoder = ConfigurationDecoder()

    static let keys = ["version", "fleet", "beacons"]
    static let beaconKeys = [
        "name", "group", "host", "serial", "controller", "adapter", "address", "position", "profileHash", "eidEpoch",
        "advertisements",
    ]
    static let advertisementKeys = [
        "type", "uuid", "major", "minor", "companyId", "id", "namespace", "instance", "url", "intervalMs",
        "radioPowerDbm", "measuredPowerDbm", "identityKeyFile", "rotationExponent", "payloadOctets",
    ]
    static let types = [
        "ibeacon", "altbeacon", "eddystone-uid", "eddystone-url", "eddystone-tlm", "eddystone-eid", "raw",
    ]

    mutating func manifest(_ node: JSONNode) -> FleetManifest? {
        guard let root = decoder.object(node, keys: Self.keys) else { return nil }
        decoder.version(decoder.required("version", in: root, "\(FleetManifest.version)"))
        let fleet = decoder.name(decoder.required("fleet", in: root, "the fleet's name"))
        guard let list = decoder.required("beacons", in: root, "the beacons") else { return nil }
        guard case .array(let elements) = list.value else {
            decoder.wrongKind(list, expected: "a list of beacons")
            return nil
        }
        var names: Set<String> = []
        let beacons = elements.compactMap { beacon($0) }
        for (element, beacon) in zip(elements, beacons) where !names.insert(beacon.name).inserted {
            decoder.error("the beacon \"\(beacon.name)\" is there twice", at: element)
        }
        return fleet.map { FleetManifest(fleet: $0, beacons: beacons) }
    }

    mutating func beacon(_ node: JSONNode) -> FleetManifest.Beacon? {
        guard let object = decoder.object(node, keys: Self.beaconKeys) else { return nil }
        let name = decoder.name(decoder.required("name", in: object, "the beacon's name"))
        let group =
            decoder.text(object["group"]).map { $0.split(separator: "/", omittingEmptySubsequences: false) } ?? []
        for part in group where NameRule.fault(String(part)) != nil || group.count > Fleet.depthLimit {
            decoder.error("this is no path of a group", at: object["group"] ?? object)
            break
        }
        let hash = decoder.text(decoder.required("profileHash", in: object, "the profile's fingerprint"))
        let list = decoder.list(
            decoder.required("advertisements", in: object, "what the beacon sends"), of: "advertisements")
        let host = word(object["host"])
        let serial = word(object["serial"])
        let controller = decoder.text(object["controller"])
        let adapter = decoder.text(object["adapter"])
        let address = address(object["address"])
        let position = position(object["position"])
        let epoch = time(object["eidEpoch"])
        let advertisements = list?.compactMap { advertisement($0) } ?? []
        guard let name, let hash else { return nil }
        return FleetManifest.Beacon(
            name: name, group: group.map(String.init), host: host, serial: serial, controller: controller,
            adapter: adapter, address: address, position: position, profileHash: hash, eidEpoch: epoch,
            advertisements: advertisements)
    }

    mutating func word(_ node: JSONNode?) -> String? {
        guard let node, let text = decoder.text(node) else { return nil }
        if NameRule.isWord(Array(text.utf8), 0..<text.utf8.count) { return text }
        decoder.error("\(ProblemText.quoted(text)) is no host and no serial number", at: node)
        return nil
    }

    mutating func address(_ node: JSONNode?) -> DeviceAddress? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let address = DeviceAddress(text) { return address }
        decoder.error("\(ProblemText.quoted(text)) is no address", at: node)
        return nil
    }

    mutating func time(_ node: JSONNode?) -> RFC3339Time? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let time = RFC3339Time(text) { return time }
        decoder.error("\(ProblemText.quoted(text)) is no time (RFC 3339)", at: node)
        return nil
    }

    private mutating func position(_ node: JSONNode?) -> FleetManifest.Position? {
        guard let node else { return nil }
        if node["latitude"] != nil || node["longitude"] != nil {
            guard let object = decoder.object(node, keys: ["latitude", "longitude"]) else { return nil }
            let latitude = decoder.number(decoder.required("latitude", in: object, "degrees north"))
            let longitude = decoder.number(decoder.required("longitude", in: object, "degrees east"))
            guard let latitude, let longitude else { return nil }
            return .globe(latitude: latitude, longitude: longitude)
        }
        guard let object = decoder.object(node, keys: ["x", "y", "z"]) else { return nil }
        let x = decoder.number(decoder.required("x", in: object, "metres east"))
        let y = decoder.number(decoder.required("y", in: object, "metres north"))
        let z = decoder.number(object["z"])
        guard let x, let y else { return nil }
        return .plan(x: x, y: y, z: z)
    }

    mutating func advertisement(_ node: JSONNode) -> FleetManifest.Advertisement? {
        guard let object = decoder.object(node, keys: Self.advertisementKeys) else { return nil }
        let type = decoder.text(decoder.required("type", in: object, "which frame is sent"))
        if let type, !Self.types.contains(type) { decoder.notAWord(type, Self.types, at: object["type"] ?? object) }
        let identity = identity(type ?? "", object)
        let interval = decoder.number(decoder.required("intervalMs", in: object, "milliseconds"))?.thousandths
        let power = decoder.integer(object["radioPowerDbm"], in: RadioPower.range)
        let measured = decoder.integer(object["measuredPowerDbm"], in: -127...20)
        let keyFile = decoder.text(object["identityKeyFile"])
        let exponent = decoder.integer(object["rotationExponent"], in: 0...15)
        let octets = decoder.integer(object["payloadOctets"], in: PayloadLength.range)
        guard let type, let identity, let interval else { return nil }
        return FleetManifest.Advertisement(
            type: type, identity: identity, intervalMicroseconds: interval, radioPower: power, measuredPower: measured,
            identityKeyFile: keyFile, rotationExponent: exponent, payloadOctets: octets)
    }

    private mutating func identity(_ type: String, _ object: JSONNode) -> FleetManifest.Identity? {
        func required(_ key: String) -> JSONNode? { decoder.required(key, in: object, "part of what the beacon is") }
        switch type {
        case "ibeacon":
            let uuid = decoder.octets(required("uuid"), count: 16).flatMap { FixedOctets<16>($0) }
            let major = decoder.integer(required("major"), in: AllocationRules.numberRange)
            let minor = decoder.integer(required("minor"), in: AllocationRules.numberRange)
            guard let uuid, let major, let minor else { return nil }
            return .iBeacon(
                uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
        case "altbeacon":
            let company = decoder.code(required("companyId"), in: AllocationRules.numberRange, digits: 4)
            let id = decoder.octets(required("id"), count: 20).flatMap { FixedOctets<20>($0) }
            guard let company, let id else { return nil }
            return .altBeacon(companyID: UInt16(truncatingIfNeeded: company), id: id)
        case "eddystone-uid":
            let namespace = decoder.octets(required("namespace"), count: 10).flatMap { FixedOctets<10>($0) }
            let instance = decoder.octets(required("instance"), count: 6).flatMap { FixedOctets<6>($0) }
            guard let namespace, let instance else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case "eddystone-url": return decoder.text(required("url")).map { .eddystoneURL($0) }
        default: return FleetManifest.Identity.none
        }
    }
}

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
