internal import Configuration

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
        guard octets.count < Int(UInt32.max) else {
            decoder.error("the table has over 4 GB", at: place)
            return
        }
        let (table, faults) = CSVTable.open(octets, file: name)
        problems.add(faults, in: name)
        guard let table, let columns = columns(of: table, mapping) else { return }
        sources.append(.table(TableSource(table, columns)))
        var rows = TableRows(table: table, columns: columns, group: group, source: sources.count - 1)
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
            found.variables.append((name, place))
        }
        if found.variables.count > TableColumns.variableLimit {
            let message =
                "\(found.variables.count) variables are more than the \(TableColumns.variableLimit) of a table"
            problems.add([.init(message, at: .init(line: 1, column: 1), path: .root)], in: table.file)
            found.variables.removeLast(found.variables.count - TableColumns.variableLimit)
        }
        return found
    }
}
