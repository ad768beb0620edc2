internal import BluetoothTypes
public import Configuration

extension FleetManifest {
    /// Decodes `manifest.json`.
    ///
    /// - Returns: The manifest, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (manifest: FleetManifest?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        guard let root, faults.isEmpty else { return (nil, faults) }
        var decoder = ManifestDecoder()
        let manifest = decoder.manifest(root)
        let problems = decoder.decoder.problems
        return (problems.isEmpty ? manifest : nil, problems.sorted { $0.position < $1.position })
    }
}

/// Decodes the values of a manifest.
struct ManifestDecoder {
    var decoder = ConfigurationDecoder()

    private static let keys = ["version", "fleet", "beacons"]
    private static let beaconKeys = [
        "name", "group", "host", "serial", "controller", "adapter", "address", "position", "profileHash", "eidEpoch",
        "advertisements",
    ]
    fileprivate static let advertisementKeys = [
        "type", "uuid", "major", "minor", "companyId", "id", "namespace", "instance", "url", "intervalMs",
        "radioPowerDbm", "measuredPowerDbm", "identityKeyFile", "rotationExponent", "payloadOctets",
    ]
    private static let types = [
        "ibeacon", "altbeacon", "eddystone-uid", "eddystone-url", "eddystone-tlm", "eddystone-eid", "bthome", "raw",
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
        return beacon(ManifestObject(node: object))
    }

    fileprivate mutating func beacon(_ values: some ManifestBeacon) -> FleetManifest.Beacon? {
        let name = decoder.name(required(.name, in: values, "the beacon's name"))
        let group = values.group(&self)
        let hash = decoder.text(required(.profileHash, in: values, "the profile's fingerprint"))
        let advertisements = values.advertisements(&self)
        let host = word(values[.host])
        let serial = word(values[.serial])
        let controller = decoder.text(values[.controller])
        let adapter = decoder.text(values[.adapter])
        let address = address(values[.address])
        let position = values.position(&self)
        let epoch = time(values[.eidEpoch])
        guard let name, let hash else { return nil }
        return FleetManifest.Beacon(
            name: name, group: group, host: host, serial: serial, controller: controller, adapter: adapter,
            address: address, position: position, profileHash: hash, eidEpoch: epoch, advertisements: advertisements)
    }

    private mutating func required(
        _ column: ManifestColumn, in values: some ManifestValues, _ purpose: String
    ) -> JSONNode? {
        values[column] ?? decoder.required(column.key, in: values.place, purpose)
    }

    fileprivate mutating func checkGroup(_ path: [String], at node: JSONNode) {
        if path.count > Fleet.depthLimit || path.contains(where: { NameRule.fault($0) != nil }) {
            decoder.error("this is no path of a group", at: node)
        }
    }

    private mutating func word(_ node: JSONNode?) -> String? {
        guard let node, let text = decoder.text(node) else { return nil }
        if NameRule.isWord(text) { return text }
        decoder.error("\(ProblemText.quoted(text)) is no host and no serial number", at: node)
        return nil
    }

    private mutating func address(_ node: JSONNode?) -> DeviceAddress? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let address = DeviceAddress(text) { return address }
        decoder.error("\(ProblemText.quoted(text)) is no address", at: node)
        return nil
    }

    private mutating func time(_ node: JSONNode?) -> RFC3339Time? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let time = RFC3339Time(text) { return time }
        decoder.error("\(ProblemText.quoted(text)) is no time (RFC 3339)", at: node)
        return nil
    }

    /// Degrees where either of them is given, metres where any of those is.
    fileprivate mutating func position(_ values: some ManifestValues) -> FleetManifest.Position? {
        if values[.latitude] != nil || values[.longitude] != nil {
            let latitude = decoder.number(required(.latitude, in: values, "degrees north"))
            let longitude = decoder.number(required(.longitude, in: values, "degrees east"))
            guard let latitude, let longitude else { return nil }
            return .globe(latitude: latitude, longitude: longitude)
        }
        let x = decoder.number(required(.x, in: values, "metres east"))
        let y = decoder.number(required(.y, in: values, "metres north"))
        let z = decoder.number(values[.z])
        guard let x, let y else { return nil }
        return .plan(x: x, y: y, z: z)
    }

    fileprivate mutating func advertisement(_ values: some ManifestValues) -> FleetManifest.Advertisement? {
        let type = decoder.text(required(.type, in: values, "which frame is sent"))
        if let type, !Self.types.contains(type) {
            decoder.notAWord(type, Self.types, at: values[.type] ?? values.place)
        }
        let identity = identity(type ?? "", values)
        let interval = decoder.number(required(.intervalMs, in: values, "milliseconds"))?.thousandths
        let power = decoder.integer(values[.radioPowerDbm], in: RadioPower.range)
        let measured = decoder.integer(values[.measuredPowerDbm], in: -127...20)
        let keyFile = decoder.text(values[.identityKeyFile])
        let exponent = decoder.integer(values[.rotationExponent], in: 0...15)
        let octets = decoder.integer(values[.payloadOctets], in: FleetManifest.payloadRange)
        guard let type, let identity, let interval else { return nil }
        return FleetManifest.Advertisement(
            type: type, identity: identity, intervalMicroseconds: interval, radioPower: power, measuredPower: measured,
            identityKeyFile: keyFile, rotationExponent: exponent, payloadOctets: octets)
    }

    private mutating func identity(_ type: String, _ values: some ManifestValues) -> FleetManifest.Identity? {
        func required(_ column: ManifestColumn) -> JSONNode? {
            self.required(column, in: values, "part of what the beacon is")
        }
        switch type {
        case "ibeacon":
            let uuid = decoder.octets(required(.uuid), count: 16).flatMap { FixedOctets<16>($0) }
            let major = decoder.integer(required(.major), in: AllocationRules.numberRange)
            let minor = decoder.integer(required(.minor), in: AllocationRules.numberRange)
            guard let uuid, let major, let minor else { return nil }
            return .iBeacon(
                uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
        case "altbeacon":
            let company = decoder.code(required(.companyId), in: AllocationRules.numberRange, digits: 4)
            let id = decoder.octets(required(.id), count: 20).flatMap { FixedOctets<20>($0) }
            guard let company, let id else { return nil }
            return .altBeacon(companyID: UInt16(truncatingIfNeeded: company), id: id)
        case "eddystone-uid":
            let namespace = decoder.octets(required(.namespace), count: 10).flatMap { FixedOctets<10>($0) }
            let instance = decoder.octets(required(.instance), count: 6).flatMap { FixedOctets<6>($0) }
            guard let namespace, let instance else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case "eddystone-url": return decoder.text(required(.url)).map { .eddystoneURL($0) }
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
            let reader = ManifestRow(row, of: table)
            var decoder = ManifestDecoder()
            let beacon = decoder.beacon(reader)
            problems += decoder.decoder.problems.sorted { $0.position < $1.position }
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

/// The values of a manifest in JSON or CSV.
private protocol ManifestValues {
    /// `nil` for a value that is not given.
    subscript(column: ManifestColumn) -> JSONNode? { get }
    /// Where a missing value is reported.
    var place: JSONNode { get }
}

/// The values of a beacon that JSON and CSV represent in different ways.
private protocol ManifestBeacon: ManifestValues {
    func group(_ decoder: inout ManifestDecoder) -> [String]
    func position(_ decoder: inout ManifestDecoder) -> FleetManifest.Position?
    func advertisements(_ decoder: inout ManifestDecoder) -> [FleetManifest.Advertisement]
}

/// An object in `manifest.json`, whose keys are known to be good.
private struct ManifestObject: ManifestBeacon {
    let node: JSONNode

    var place: JSONNode { node }

    subscript(column: ManifestColumn) -> JSONNode? { node[column.key] }

    func group(_ decoder: inout ManifestDecoder) -> [String] {
        guard let node = node["group"], let text = decoder.decoder.text(node) else { return [] }
        let path = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        decoder.checkGroup(path, at: node)
        return path
    }

    func position(_ decoder: inout ManifestDecoder) -> FleetManifest.Position? {
        guard let node = node["position"] else { return nil }
        let isOnGlobe = node["latitude"] != nil || node["longitude"] != nil
        let keys = isOnGlobe ? ["latitude", "longitude"] : ["x", "y", "z"]
        return decoder.decoder.object(node, keys: keys).flatMap { decoder.position(ManifestObject(node: $0)) }
    }

    func advertisements(_ decoder: inout ManifestDecoder) -> [FleetManifest.Advertisement] {
        let list = decoder.decoder.list(
            decoder.decoder.required("advertisements", in: node, "what the beacon sends"), of: "advertisements")
        return (list ?? []).compactMap { element in
            decoder.decoder.object(element, keys: ManifestDecoder.advertisementKeys)
                .flatMap { decoder.advertisement(ManifestObject(node: $0)) }
        }
    }
}

/// One row of `manifest.csv`: a beacon with one of its advertisements.
private struct ManifestRow: ManifestBeacon {
    private let table: CSVTable
    private let row: CSVRow
    /// Where each cell begins.
    private let positions: [JSONPosition]

    /// - Parameter row: With as many cells as there are columns.
    init(_ row: CSVRow, of table: CSVTable) {
        self.table = table
        self.row = row
        var (offset, last) = (row.start, JSONPosition(line: row.line, column: 1))
        positions = row.cells.map { cell in
            var position = CSVTable.position(of: Int(cell.start), in: table.octets, from: offset, line: last.line)
            if position.line == last.line { position.column += last.column - 1 }
            (offset, last) = (Int(cell.start), position)
            return position
        }
    }

    var place: JSONNode { JSONNode(.object([]), at: .init(line: row.line, column: 1), path: .root) }

    /// Which of the beacon's advertisements this is, from 1.
    var number: Int? { Int(text(.advertisement)) }

    func problem(_ message: String) -> FileProblem {
        FileProblem(message, at: .init(line: row.line, column: 1), path: .root)
    }

    private func text(_ column: ManifestColumn) -> String {
        let text = row.cells[column.rawValue].string(in: table.octets)
        return text.hasPrefix("'") ? String(text.dropFirst()) : text
    }

    subscript(column: ManifestColumn) -> JSONNode? {
        guard !row.cells[column.rawValue].isEmpty else { return nil }
        let text = text(column)
        let number = column.isNumber ? JSONNumber(text) : nil
        return JSONNode(
            number.map { .number($0) } ?? .string(text), at: positions[column.rawValue],
            path: JSONPath([.key(column.key)]))
    }

    func group(_ decoder: inout ManifestDecoder) -> [String] {
        let path = [ManifestColumn.site, .floor, .room].map(text).filter { !$0.isEmpty }
        decoder.checkGroup(path, at: self[.site] ?? place)
        return path
    }

    func position(_ decoder: inout ManifestDecoder) -> FleetManifest.Position? {
        let onPlan = [ManifestColumn.x, .y, .z].compactMap { self[$0] }
        let isOnGlobe = self[.latitude] != nil || self[.longitude] != nil
        guard isOnGlobe || !onPlan.isEmpty else { return nil }
        if isOnGlobe, let node = onPlan.first {
            decoder.decoder.error("metres stand next to degrees; a beacon has one place", at: node)
        }
        return decoder.position(self)
    }

    func advertisements(_ decoder: inout ManifestDecoder) -> [FleetManifest.Advertisement] {
        decoder.advertisement(self).map { [$0] } ?? []
    }
}
