internal import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import Profiles

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
    /// `true` for a row of `manifest.csv`, which does not contain the PHY.
    var isTable = false

    private static let manifestKeys = ["version", "fleet", "beacons"]
    private static let beaconKeys = [
        "name", "title", "group", "host", "serial", "controller", "adapter", "address", "position", "profileHash",
        "eidEpoch", "tags", "attachments", "advertisements",
    ]
    private static let positionKeys = ["x", "y", "z", "latitude", "longitude"]
    private static let advertisementKeys = [
        "type", "uuid", "major", "minor", "companyId", "id", "namespace", "instance", "url", "intervalMs",
        "pattern", "phy", "radioPowerDbm", "measuredPowerDbm", "identityKeyFile", "rotationExponent", "payloadOctets",
    ]
    private static let types = FrameKind.allCases.map(\.rawValue)

    mutating func manifest(_ node: JSONNode) -> FleetManifest? {
        guard let root = decoder.object(node, keys: Self.manifestKeys) else { return nil }
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
            decoder.error("the beacon \"\(beacon.name)\" appears twice", at: element)
        }
        return fleet.map { FleetManifest(fleet: $0, beacons: beacons) }
    }

    /// - Parameter path: The names of the group, if `node` does not contain the group.
    mutating func beacon(_ node: JSONNode, group path: [String]? = nil) -> FleetManifest.Beacon? {
        guard let object = decoder.object(node, keys: Self.beaconKeys) else { return nil }
        let name = decoder.name(decoder.required("name", in: object, "name of the beacon"))
        let group: [String] = if let path { path } else { self.group(object["group"]) }
        let hash = decoder.text(decoder.required("profileHash", in: object, "fingerprint of the profile"))
        let list = decoder.list(
            decoder.required("advertisements", in: object, "advertisements of the beacon"), of: "advertisements")
        let advertisements = (list ?? []).compactMap { advertisement($0) }
        let title = decoder.text(object["title"])
        let host = word(object["host"])
        let serial = word(object["serial"])
        let controller = decoder.text(object["controller"])
        let adapter = decoder.text(object["adapter"])
        let address = address(object["address"])
        let position = position(object["position"])
        let epoch = time(object["eidEpoch"])
        let tags = object["tags"].flatMap { decoder.list($0, of: "tags") }?.compactMap { decoder.label($0) }
        let attachments = attachments(object["attachments"])
        guard let name, let hash else { return nil }
        var beacon = FleetManifest.Beacon(
            name: name, title: title, group: group, host: host, serial: serial, controller: controller,
            adapter: adapter,
            address: address, position: position, profileHash: hash, eidEpoch: epoch, advertisements: advertisements)
        (beacon.tags, beacon.attachments) = (tags ?? [], attachments)
        return beacon
    }

    private mutating func attachments(_ node: JSONNode?) -> [BeaconAttachment] {
        guard let node else { return [] }
        guard let members = node.members else {
            decoder.wrongKind(node, expected: "an object with a text under each key")
            return []
        }
        return members.compactMap { member in
            decoder.label(member.value, limit: 1000, isEmptyGood: true).map { .init(key: member.key, text: $0) }
        }
    }

    private mutating func group(_ node: JSONNode?) -> [String] {
        guard let node, let text = decoder.text(node) else { return [] }
        let path = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        checkGroup(path, at: node)
        return path
    }

    mutating func checkGroup(_ path: [String], at node: JSONNode) {
        if path.count > Fleet.depthLimit || path.contains(where: { NameRule.fault($0) != nil }) {
            decoder.error("this is not a path of groups, such as site/floor/room", at: node)
        }
    }

    private mutating func word(_ node: JSONNode?) -> String? {
        guard let node, let text = decoder.text(node) else { return nil }
        if NameRule.isWord(text) { return text }
        decoder.error("\(ProblemText.quoted(text)) is not a host or a serial number", at: node)
        return nil
    }

    private mutating func address(_ node: JSONNode?) -> DeviceAddress? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let address = DeviceAddress(text) { return address }
        decoder.error("\(ProblemText.quoted(text)) is not a device address", at: node)
        return nil
    }

    private mutating func time(_ node: JSONNode?) -> RFC3339Time? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let time = RFC3339Time(text) { return time }
        decoder.error("\(ProblemText.quoted(text)) is not a time (RFC 3339)", at: node)
        return nil
    }

    /// Reads a position: in degrees if a latitude or a longitude is given, otherwise in metres.
    private mutating func position(_ node: JSONNode?) -> FleetManifest.Position? {
        guard let object = decoder.object(node, keys: Self.positionKeys) else { return nil }
        let metres = [object["x"], object["y"], object["z"]].compactMap { $0 }
        if object["latitude"] != nil || object["longitude"] != nil {
            if let node = metres.first {
                decoder.error("a position has either metres or degrees, not both", at: node)
            }
            let latitude = decoder.number(decoder.required("latitude", in: object, "degrees north"))
            let longitude = decoder.number(decoder.required("longitude", in: object, "degrees east"))
            guard let latitude, let longitude else { return nil }
            return .geographic(latitude: latitude, longitude: longitude)
        }
        let x = decoder.number(decoder.required("x", in: object, "metres east"))
        let y = decoder.number(decoder.required("y", in: object, "metres north"))
        let z = decoder.number(object["z"])
        guard let x, let y else { return nil }
        return .plan(x: x, y: y, z: z)
    }

    private mutating func advertisement(_ node: JSONNode) -> FleetManifest.Advertisement? {
        guard let object = decoder.object(node, keys: Self.advertisementKeys) else { return nil }
        let type = decoder.text(decoder.required("type", in: object, "type of the frame"))
        if let type, !Self.types.contains(type) {
            decoder.notAWord(type, Self.types, at: object["type"] ?? object)
        }
        let identity = identity(type ?? "", object)
        let interval = decoder.thousandths(
            decoder.required("intervalMs", in: object, "milliseconds"), in: FleetManifest.intervalRange, unit: "ms")
        let pattern = object["pattern"].flatMap(AdvertisingPattern.init(json:))
        if let node = object["pattern"], pattern == nil {
            decoder.error("this is not a pattern of a profile", at: node)
        }
        let phy = object["phy"].flatMap { decoder.word($0, of: ExtendedPHY.self) }
        let power = decoder.integer(object["radioPowerDbm"], in: RadioPower.range)
        let measured = decoder.integer(object["measuredPowerDbm"], in: -127...20)
        let keyFile = decoder.text(object["identityKeyFile"])
        let exponent = decoder.integer(object["rotationExponent"], in: 0...15)
        let octets = decoder.integer(
            object["payloadOctets"],
            in: phy == nil && !isTable ? FleetManifest.payloadRange : 0...AdvertisingData.extendedLimit)
        guard let type, let identity, let interval else { return nil }
        return FleetManifest.Advertisement(
            type: type, identity: identity, intervalMicroseconds: interval, pattern: pattern, phy: phy,
            radioPower: power,
            measuredPower: measured, identityKeyFile: keyFile, rotationExponent: exponent, payloadOctets: octets)
    }

    private mutating func identity(_ type: String, _ object: JSONNode) -> FleetManifest.Identity? {
        func required(_ key: String) -> JSONNode? {
            decoder.required(key, in: object, "part of the identity of the beacon")
        }
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
    /// The manifest without the values that `manifest.csv` does not contain.
    public var asInTable: FleetManifest {
        var copy = self
        for index in copy.beacons.indices {
            copy.beacons[index].title = nil
            (copy.beacons[index].tags, copy.beacons[index].attachments) = ([], [])
            for advertisement in copy.beacons[index].advertisements.indices {
                copy.beacons[index].advertisements[advertisement].pattern = nil
                copy.beacons[index].advertisements[advertisement].phy = nil
            }
        }
        return copy
    }

    /// Decodes `manifest.csv`, which does not contain the name of the fleet.
    ///
    /// - Returns: The manifest, `nil` when there is an error, and every problem in the order of the file.
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
            var decoder = ManifestDecoder(isTable: true)
            let group = reader.group
            if !group.isEmpty { decoder.checkGroup(group, at: reader[.site] ?? reader.place) }
            let beacon = decoder.beacon(reader.beacon, group: group)
            problems += decoder.decoder.problems.sorted { $0.position < $1.position }
            guard let beacon else { continue }
            if let last = manifest.beacons.last, last.name == beacon.name {
                var continued = last
                continued.advertisements += beacon.advertisements
                var withSameAdvertisements = beacon
                withSameAdvertisements.advertisements = last.advertisements
                if withSameAdvertisements != last || reader.number != continued.advertisements.count {
                    problems.append(
                        reader.problem(
                            "the row has the name of the beacon in the row before it, but it is not the next "
                                + "advertisement of that beacon"))
                }
                manifest.beacons[manifest.beacons.count - 1] = continued
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

/// One row of `manifest.csv`: a beacon with one of its advertisements.
private struct ManifestRow {
    private let table: CSVTable
    private let row: CSVRow
    /// The position of the start of each cell.
    private let positions: [JSONPosition]

    /// - Parameter row: A row with as many cells as there are columns.
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

    /// An empty node at the beginning of the row, as the place of problems.
    var place: JSONNode { JSONNode(.null, at: .init(line: row.line, column: 1), path: .root) }

    /// The number of the advertisement in its beacon, from 1.
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

    /// The names of the site, floor and room, without empty names.
    var group: [String] { [ManifestColumn.site, .floor, .room].map(text).filter { !$0.isEmpty } }

    /// The object that `manifest.json` has for the beacon, with one advertisement and without the group.
    var beacon: JSONNode {
        var members = self.members([
            .name, .host, .serial, .controller, .adapter, .address, .profileHash, .eidEpoch,
        ])
        let position = self.members([.x, .y, .z, .latitude, .longitude])
        if !position.isEmpty { members.append(member("position", .object(position))) }
        let advertisement = self.members(ManifestColumn.allCases.filter { $0.rawValue >= ManifestColumn.type.rawValue })
        members.append(member("advertisements", .array([node(.object(advertisement))])))
        return node(.object(members))
    }

    /// The values of those `columns` that are not empty in this row.
    private func members(_ columns: [ManifestColumn]) -> [JSONMember] {
        columns.compactMap { column in
            self[column].map { JSONMember(key: column.key, keyPosition: $0.position, value: $0) }
        }
    }

    private func member(_ key: String, _ value: JSONNode.Value) -> JSONMember {
        JSONMember(key: key, keyPosition: place.position, value: node(value))
    }

    /// A node at the beginning of the row.
    private func node(_ value: JSONNode.Value) -> JSONNode { JSONNode(value, at: place.position, path: .root) }
}
