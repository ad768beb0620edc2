internal import Configuration

extension FleetDecoder {
    /// A list of beacons, or a table.
    mutating func beacons(_ node: JSONNode?, in group: Int, table: (String) -> Fleet.TableFile) {
        guard let node else { return }
        switch node.value {
        case .array: list(node, in: group)
        case .object: self.table(node, in: group, read: table)
        default: decoder.wrongKind(node, expected: "a list of beacons, or { \"csv\": FILE },")
        }
    }

    private mutating func list(_ node: JSONNode, in group: Int) {
        for element in decoder.list(node, of: "beacons") ?? [] {
            guard let object = decoder.object(element, keys: Fleet.beaconKeys, hint: Self.beaconHint) else { continue }
            let name = beaconName(decoder.required("name", in: object, "what this beacon is called"))
            var number = group
            if let path = object["group"], let text = decoder.text(path) {
                let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                do throws(GroupFault) {
                    number = try self.group(names, from: group)
                } catch {
                    decoder.error(error.description, at: path)
                }
            }
            let beacon = Fleet.Beacon(
                name: name ?? "", group: number, node: object, host: word(object["host"], "a host's name or address"),
                serial: word(object["serial"], "a serial number"), was: self.name(object["was"]),
                controller: decoder.word(object["controller"], of: ControllerKind.self),
                position: position(object["position"]), variables: variables(object["variables"]))
            if name != nil, let fault = add(beacon) { decoder.error(fault, at: object["name"] ?? object) }
        }
    }

    /// Adds a beacon to the fleet. Returns why it cannot be added: its name is not unique.
    mutating func add(_ beacon: Fleet.Beacon) -> String? {
        if let first = numbers[beacon.name].map({ beacons[$0] }) {
            let place =
                if let row = first.row { "\(row.table.table.file):\(row.line)" } else {
                    first.node.map { "\($0.position)" } ?? ""
                }
            return "the name \"\(beacon.name)\" is there twice, first at \(place)"
        }
        numbers[beacon.name] = beacons.count
        beacons.append(beacon)
        return nil
    }

    private static func beaconHint(_ key: String) -> String? {
        switch key {
        case "site", "floor", "room": "the group is written as \"group\": \"site/floor/room\""
        case "major", "minor", "uuid", "url", "intervalMs", "instance":
            "what differs between beacons stands in \"variables\""
        case "x", "y", "z": "a place is written as \"position\": [3.5, 12]"
        default: nil
        }
    }

    private mutating func beaconName(_ node: JSONNode?) -> String? {
        guard let node, let name = decoder.text(node) else { return nil }
        guard let fault = NameRule.beaconFault(name) else { return name }
        decoder.error(fault, at: node)
        return nil
    }

    private mutating func word(_ node: JSONNode?, _ expected: String) -> String? {
        guard let node, let text = decoder.text(node) else { return nil }
        if NameRule.isWord(text) { return text }
        decoder.error(
            "\(expected) is expected, not \(ProblemText.quoted(text)): letters, digits, \".\", \"_\", \"-\" and \":\"",
            at: node)
        return nil
    }

    private mutating func position(_ node: JSONNode?) -> FleetManifest.Position? {
        guard let node else { return nil }
        switch node.value {
        case .array(let parts) where parts.count == 2 || parts.count == 3:
            let numbers = parts.map { coordinate($0, limit: Fleet.extent, unit: "m") }
            guard let x = numbers[0], let y = numbers[1] else { return nil }
            if parts.count == 3, numbers[2] == nil { return nil }
            return .plan(x: x, y: y, z: parts.count == 3 ? numbers[2] : nil)
        case .object:
            guard let object = decoder.object(node, keys: Fleet.positionKeys) else { return nil }
            let latitude = decoder.required("latitude", in: object, "degrees north")
            let longitude = decoder.required("longitude", in: object, "degrees east")
            guard let north = coordinate(latitude, limit: 90, unit: "degrees"),
                let east = coordinate(longitude, limit: 180, unit: "degrees")
            else { return nil }
            return .globe(latitude: north, longitude: east)
        default:
            decoder.wrongKind(
                node, expected: "a place such as [3.5, 12] in metres, or with \"latitude\" and \"longitude\",")
            return nil
        }
    }

    private mutating func coordinate(_ node: JSONNode?, limit: Double, unit: String) -> JSONNumber? {
        guard let node, let number = decoder.number(node) else { return nil }
        guard let value = Double(number.text), abs(value) <= limit else {
            decoder.error(
                "\(ProblemText.shortened(number.text)) is out of range \(Int(-limit))...\(Int(limit)) \(unit)", at: node
            )
            return nil
        }
        return number
    }
}

extension FleetDecoder {
    /// `{ "csv": FILE }`.
    mutating func table(_ node: JSONNode, in group: Int, read: (String) -> Fleet.TableFile) {
        guard let object = decoder.object(node, keys: Fleet.tableKeys),
            let place = decoder.required("csv", in: object, "the table's file, beside the fleet file"),
            let name = decoder.text(place)
        else { return }
        let mapping = columnMapping(object["columns"])
        guard !name.isEmpty, !name.utf8.contains(0) else {
            decoder.error("the name of a file is expected", at: place)
            return
        }
        let octets: [UInt8]
        switch read(name) {
        case .octets(let contents): octets = contents
        case .unreadable(let reason):
            problems.add(
                FileProblem(
                    "\(name): \(reason)", at: place.position, path: place.path, kind: .missing, in: file))
            return
        }
        let (table, faults) = CSVTable.open(octets, file: name)
        problems.add(faults, in: name)
        guard let table, let columns = columns(of: table, mapping) else { return }
        var rows = TableRows(TableSource(table, columns), group: group)
        rows.read(into: &self)
    }

    /// From our names for columns to the table's own.
    private mutating func columnMapping(_ node: JSONNode?) -> [String: JSONNode] {
        guard let node else { return [:] }
        guard case .object(let members) = node.value else {
            decoder.wrongKind(node, expected: "an object such as { \"name\": \"Asset\" }")
            return [:]
        }
        var mapping: [String: JSONNode] = [:]
        for member in members {
            guard decoder.text(member.value) != nil else { continue }
            if !TableColumns.known.contains(member.key), let fault = nameFault(ofVariable: member.key) {
                decoder.error(fault, at: member)
                continue
            }
            mapping[member.key] = member.value
        }
        return mapping
    }

    private mutating func columns(of table: CSVTable, _ mapping: [String: JSONNode]) -> TableColumns? {
        var found = TableColumns()
        func column(_ name: String) -> Int? { table.header.firstIndex(of: mapping[name]?.string ?? name) }
        for (name, node) in mapping.sorted(by: { $0.key < $1.key }) where column(name) == nil {
            let text = node.string ?? ""
            let advice = NearestWord.find(text, among: table.header).map { "did you mean \"\($0)\"?" }
            decoder.error(
                "\(table.file) has no column \(ProblemText.quoted(text)); "
                    + (advice ?? "it has " + ProblemText.shortened(table.header.joined(separator: ", "), to: 200)),
                at: node)
        }
        guard let name = column("name") else {
            guard mapping["name"] == nil else { return nil }
            let near = NearestWord.find("name", among: table.header).map { ", perhaps \"\($0)\"" } ?? ""
            let message =
                "there is no column \"name\"; name the one that has the beacons' names in \"columns\": "
                + "{ \"name\": … }\(near)"
            problems.add(FileProblem(message, at: .init(line: 1, column: 1), kind: .malformed, in: table.file))
            return nil
        }
        found.name = name
        found.levels = Fleet.levelNames.map(column)
        found.group = column("group")
        if let group = found.group, found.levels.contains(where: { $0 != nil }) {
            let message = "a table has either a column \"group\" or the columns site, floor and room"
            problems.add([.init(message, at: table.headerPositions[group], path: .root)], in: table.file)
        }
        found.host = column("host")
        found.serial = column("serial")
        found.was = column("was")
        found.controller = column("controller")
        found.coordinates = TableColumns.coordinateNames.map(column)
        for name in used.sorted() where !Variable.reserved.contains(name) || name == "host" || name == "serial" {
            guard let place = column(name) else { continue }
            if rules.isAllocated(name) {
                let message =
                    "\"\(name)\" is allocated by \"identities\" and a column here as well: take one of the two out"
                problems.add([.init(message, at: table.headerPositions[place], path: .root)], in: table.file)
            }
            found.variables[name] = place
        }
        if found.variables.count > TableColumns.variableLimit {
            let message =
                "\(found.variables.count) variables are more than the \(TableColumns.variableLimit) of a table"
            problems.add([.init(message, at: .init(line: 1, column: 1), path: .root)], in: table.file)
            found.variables = [:]
        }
        return found
    }
}
