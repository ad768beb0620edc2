internal import Configuration

/// A table of beacons.
final class TableSource: Sendable {
    let table: CSVTable
    let columns: TableColumns

    init(_ table: CSVTable, _ columns: TableColumns) {
        self.table = table
        self.columns = columns
    }

    /// Returns the place in the file where a cell starts. The row is parsed again, so that rows need not store the
    /// places of their cells.
    func place(of column: Int, in row: Fleet.Row) -> Fleet.Place {
        var cells = CSVRow()
        table.row(at: row.start, line: row.line, &cells)
        guard column < cells.cells.count else {
            return .init(file: table.file, position: .init(line: row.line, column: 1), path: .root)
        }
        let position = table.position(of: Int(cells.cells[column].start), in: cells)
        return .init(file: table.file, position: position, path: JSONPath([.key(table.header[column])]))
    }
}

/// For each value of a beacon, the position of its column in a table; `nil` if the table has no such column.
struct TableColumns: Sendable {
    var name = 0
    var title: Int?
    var levels: [Int?] = [nil, nil, nil]
    var group: Int?
    var host: Int?
    var serial: Int?
    var was: Int?
    var controller: Int?
    /// The columns x, y, z, latitude and longitude.
    var coordinates: [Int?] = [nil, nil, nil, nil, nil]
    /// The position of the column of each variable. Only variables that the fleet file uses are included.
    var variables: [String: Int] = [:]

    static let coordinateNames = ["x", "y", "z", "latitude", "longitude"]
    /// The values that a table can contain, and the default names of their columns. A fleet file may state other names.
    static let known =
        ["name", "title", "site", "floor", "room", "group", "host", "serial", "was", "controller"] + coordinateNames
    /// The largest number of variables of one table.
    static let variableLimit = 64
}

extension FleetDecoder {
    /// Adds the beacons of a table.
    mutating func table(_ node: JSONNode, in group: Int, read: (String) -> Fleet.TableFile) {
        guard let object = decoder.open(TableKeys.section, node) else { return }
        let mapping = columnMapping(decoder.read(TableKeys.columns, in: object))
        guard let node = object["csv"], let name = decoder.read(TableKeys.csv, in: object) else { return }
        let octets: [UInt8]
        switch read(name) {
        case .octets(let contents): octets = contents
        case .unreadable(let reason):
            problems.add(
                FileProblem(
                    "\(name): \(reason)", at: node.position, path: node.path, kind: .missing, in: file))
            return
        }
        if let line = FleetLock.conflictLine(octets) {
            let message =
                "a merge conflict begins here: keep the rows that you need, and delete the conflict marks (<<<<<<<, "
                + "======= and >>>>>>>)"
            problems.add(FileProblem(message, at: .init(line: line, column: 1), kind: .malformed, in: name))
            return
        }
        let (table, faults) = CSVTable.open(octets, file: name)
        problems.add(faults, in: name)
        guard let table, let columns = columns(of: table, mapping) else { return }
        var rows = TableRows(TableSource(table, columns), group: group)
        rows.read(into: &self)
    }

    /// Reads the names of the table's columns. The keys of the result are the values that the columns contain, such as
    /// `name` and `host`.
    private mutating func columnMapping(_ node: JSONNode?) -> [String: JSONNode] {
        guard case .object(let members) = node?.value else { return [:] }
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
        var columns = TableColumns()
        func column(_ name: String) -> Int? { table.header.firstIndex(of: mapping[name]?.string ?? name) }
        for (name, node) in mapping.sorted(by: { $0.key < $1.key }) where column(name) == nil {
            let text = node.string ?? ""
            let advice = NearestWord.find(text, among: table.header).map { "did you mean \"\($0)\"?" }
            decoder.error(
                "\(table.file) has no column \(ProblemText.quoted(text)); "
                    + (advice ?? "it has " + ProblemText.shortened(table.header.joined(separator: ", "), to: 200)),
                at: node)
        }
        // If a column is missing, the table is not read, because each row would have problems with the same cause.
        guard mapping.keys.allSatisfy({ column($0) != nil }) else { return nil }
        guard let name = column("name") else {
            guard mapping["name"] == nil else { return nil }
            let nearest = NearestWord.find("name", among: table.header).map { ", perhaps \"\($0)\"" } ?? ""
            let message =
                "there is no column \"name\"; in \"columns\", give the column that contains the beacons' names: "
                + "{ \"name\": … }\(nearest)"
            problems.add(FileProblem(message, at: .init(line: 1, column: 1), kind: .malformed, in: table.file))
            return nil
        }
        columns.name = name
        // If the fleet file states that the column "room" contains the sites, it does not contain the rooms as well.
        let levelColumns = Fleet.levelNames.compactMap { mapping[$0]?.string }
        columns.levels = Fleet.levelNames.map { level in
            mapping[level] == nil && levelColumns.contains(level) ? nil : column(level)
        }
        columns.group = column("group")
        if let group = columns.group, columns.levels.contains(where: { $0 != nil }) {
            let message = "a table has either a column \"group\" or the columns site, floor and room"
            problems.add([.init(message, at: table.headerPositions[group], path: .root)], in: table.file)
        }
        columns.title = column("title")
        columns.host = column("host")
        columns.serial = column("serial")
        columns.was = column("was")
        columns.controller = column("controller")
        columns.coordinates = TableColumns.coordinateNames.map(column)
        for name in usedVariables.sorted()
        where !Variable.reserved.contains(name) || name == "host" || name == "serial" {
            guard let index = column(name) else { continue }
            if rules.isAllocated(name) {
                let message =
                    "\"\(name)\" is allocated by \"identities\" and also a column: remove one of the two"
                problems.add([.init(message, at: table.headerPositions[index], path: .root)], in: table.file)
            }
            columns.variables[name] = index
        }
        if columns.variables.count > TableColumns.variableLimit {
            let message =
                "the table has \(columns.variables.count) variables, more than the maximum of "
                + "\(TableColumns.variableLimit)"
            problems.add([.init(message, at: .init(line: 1, column: 1), path: .root)], in: table.file)
            columns.variables = [:]
        }
        return columns
    }
}

/// Reads the rows of a table as beacons.
struct TableRows {
    private let source: TableSource
    /// The group that the table belongs to.
    private let group: Int
    /// The columns that contain the names of a row's groups.
    private let groupColumns: [Int]
    /// The position of each group, by the cells that name it. The value `nil` means that the cells name no valid group.
    private var groups: [[String]: Int?] = [:]

    private var table: CSVTable { source.table }
    private var columns: TableColumns { source.columns }

    init(_ source: TableSource, group: Int) {
        self.source = source
        self.group = group
        groupColumns = source.columns.group.map { [$0] } ?? source.columns.levels.compactMap { $0 }
    }

    mutating func read(into decoder: inout FleetDecoder) {
        var rows = table.rows
        var row = CSVRow()
        while rows.next(&row) {
            if let fault = row.fault {
                report(fault.message, at: fault.offset, column: nil, row, &decoder, kind: .malformed)
                continue
            }
            guard hasAllColumns(row, &decoder) else { continue }
            let beaconGroup = groupIndex(row, &decoder)
            let beacon = beacon(row, in: beaconGroup ?? group, &decoder)
            if let fault = NameRule.beaconFault(beacon.name) {
                let cell = node(.string(beacon.name), row, columns.name)
                decoder.problems.addCell(FileProblem(fault, at: cell.position, path: cell.path, in: table.file))
            } else if let fault = decoder.add(beacon) {
                report(fault, at: Int(row.cells[columns.name].start), column: columns.name, row, &decoder)
            }
        }
    }

    private func beacon(_ row: CSVRow, in group: Int, _ decoder: inout FleetDecoder) -> Fleet.Beacon {
        var reader = ConfigurationDecoder()
        func value<Value>(_ column: Int?, _ type: ValueType<Value>) -> Value? {
            guard let column, !row.cells[column].isEmpty else { return nil }
            return type.read(&reader, node(.string(text(row, column)), row, column))
        }
        func coordinate(_ index: Int, _ type: ValueType<JSONNumber>) -> JSONNumber? {
            guard let column = columns.coordinates[index], !row.cells[column].isEmpty else { return nil }
            let text = table.withDecimalPoint(text(row, column))
            if let number = JSONNumber(text) { return type.read(&reader, node(.number(number), row, column)) }
            let hint = table.numberHint(text)
            reader.error(
                "a number is expected, not \(ProblemText.quoted(text))\(hint)", at: node(.string(text), row, column))
            return nil
        }
        var beacon = Fleet.Beacon(
            name: text(row, columns.name), title: value(columns.title, BeaconKeys.title.type), group: group,
            row: .init(table: source, start: row.start, line: row.line),
            host: value(columns.host, BeaconKeys.host.type), serial: value(columns.serial, BeaconKeys.serial.type),
            was: value(columns.was, BeaconKeys.was.type),
            controller: value(columns.controller, BeaconKeys.controller.type))
        let (x, y, z) = (
            coordinate(0, BeaconKeys.coordinate), coordinate(1, BeaconKeys.coordinate),
            coordinate(2, BeaconKeys.coordinate)
        )
        let latitude = coordinate(3, BeaconKeys.latitude.type)
        let longitude = coordinate(4, BeaconKeys.longitude.type)
        if let x, let y {
            beacon.position = .plan(x: x, y: y, z: z)
        } else if let latitude, let longitude {
            beacon.position = .geographic(latitude: latitude, longitude: longitude)
        }
        if let fault = columns.coordinateFault(in: row) {
            reader.error(fault.message, at: node(.null, row, fault.column))
        }
        for (name, column) in columns.variables where !row.cells[column].isEmpty {
            beacon.variables[name] = Variable(value: .cell(text(row, column)), origin: .column(column))
        }
        for problem in reader.problems { decoder.problems.addCell(problem.inFile(table.file)) }
        return beacon
    }

    /// Returns a cell as a JSON value with its place.
    private func node(_ value: JSONNode.Value, _ row: CSVRow, _ column: Int) -> JSONNode {
        JSONNode(
            value, at: table.position(of: Int(row.cells[column].start), in: row),
            path: JSONPath([.key(table.header[column])]))
    }

    private func text(_ row: CSVRow, _ column: Int) -> String { row.cells[column].string(in: table.octets) }

    func report(
        _ message: String, at offset: Int, column: Int?, _ row: CSVRow, _ decoder: inout FleetDecoder,
        kind: FileProblem.Kind = .invalid
    ) {
        let path = column.map { JSONPath([.key(table.header[$0])]) } ?? .root
        decoder.problems.add(
            FileProblem(message, at: table.position(of: offset, in: row), path: path, kind: kind, in: table.file))
    }

    private func hasAllColumns(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Bool {
        let expected = table.header.count
        if row.cells.count == expected { return true }
        // Some spreadsheets add empty cells at the end of a row.
        if row.cells.count > expected, row.cells[expected...].allSatisfy(\.isEmpty) { return true }
        let isTooShort = row.cells.count < expected
        let end = isTooShort ? row.cells.last.map { Int($0.end) } ?? row.start : Int(row.cells[expected].start)
        decoder.problems.addCell(
            FileProblem(
                "the row has \(row.cells.count) cells, the header \(expected)"
                    + (isTooShort ? "" : "; if a cell contains a separator, put the cell in double quotes"),
                at: table.position(of: end, in: row), kind: .malformed, in: table.file))
        return false
    }

    /// Returns the position of the row's group in the groups of the fleet; `nil` if the cells name no valid group.
    private mutating func groupIndex(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Int? {
        guard !groupColumns.isEmpty else { return group }
        let cells = groupColumns.map { text(row, $0) }
        if let index = groups[cells] { return index }
        // If the list of problems is full, the group is not searched: finding the nearest name for the message is slow,
        // and the message would not be listed.
        let index = decoder.problems.isFull ? nil : findGroup(row, &decoder)
        groups[cells] = .some(index)
        return index
    }

    private func findGroup(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Int? {
        var names: [(name: String, column: Int)] = []
        let tablePath = decoder.groups[group].path
        if let column = columns.group {
            let text = row.cells[column].string(in: table.octets)
            names = text.split(separator: "/", omittingEmptySubsequences: false).map { (String($0), column) }
            if text.isEmpty { names = [] }
        } else {
            for (level, column) in columns.levels.enumerated() {
                guard let column else { continue }
                let name = row.cells[column].string(in: table.octets)
                if level < tablePath.count {
                    guard name.isEmpty || name == tablePath[level] else {
                        report(
                            "this \(Fleet.levelNames[level]) is \(ProblemText.quoted(name)), but the table belongs to "
                                + "the group \"\(tablePath.joined(separator: "/"))\"",
                            at: Int(row.cells[column].start), column: column, row, &decoder)
                        return nil
                    }
                    continue
                }
                if name.isEmpty { continue }
                guard level == tablePath.count + names.count else {
                    let missing = Fleet.levelNames[tablePath.count + names.count]
                    report(
                        "a \(Fleet.levelNames[level]) is given, but no \(missing): "
                            + "rooms are in floors, and floors are in sites",
                        at: Int(row.cells[column].start), column: column, row, &decoder)
                    return nil
                }
                names.append((name, column))
            }
        }
        do throws(FleetDecoder.GroupFault) {
            return try decoder.group(names.map(\.name), from: group)
        } catch {
            let column = names.isEmpty ? columns.name : names[error.index].column
            report(error.description, at: Int(row.cells[column].start), column: column, row, &decoder)
            return nil
        }
    }
}

extension TableColumns {
    /// Returns the error in the combination of the row's coordinates; `nil` if the combination is valid.
    fileprivate func coordinateFault(in row: CSVRow) -> (column: Int, message: String)? {
        func filledColumn(_ index: Int) -> Int? {
            guard let column = coordinates[index], !row.cells[column].isEmpty else { return nil }
            return column
        }
        if let metres = filledColumn(0) ?? filledColumn(1) ?? filledColumn(2),
            filledColumn(0) == nil || filledColumn(1) == nil
        {
            return (metres, "a position needs both x and y")
        }
        if let degrees = filledColumn(3) ?? filledColumn(4) {
            if filledColumn(3) == nil || filledColumn(4) == nil {
                return (degrees, "a position needs both latitude and longitude")
            }
            if filledColumn(0) != nil { return (degrees, "a position has either x and y, or latitude and longitude") }
        }
        return nil
    }
}
