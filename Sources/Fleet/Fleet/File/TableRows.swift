internal import Configuration

/// Reads the rows of a table.
struct TableRows {
    let table: CSVTable
    let columns: TableColumns
    let group: Int
    let source: Int
    /// The columns that name a row's group.
    private let groupColumns: [Int]
    /// The cells of the last row's group, and its number.
    private var lastGroupCells: [CSVCell] = []
    private var lastGroup: Int?
    private var scratch: [UInt8] = []

    init(table: CSVTable, columns: TableColumns, group: Int, source: Int) {
        self.table = table
        self.columns = columns
        self.group = group
        self.source = source
        groupColumns = columns.group.map { [$0] } ?? columns.levels.compactMap { $0 }
    }

    mutating func read(into decoder: inout FleetDecoder) {
        var rows = table.rows
        var row = CSVRow()
        let guess = estimatedRows
        decoder.beacons.reserveCapacity(decoder.beacons.count + guess)
        decoder.names.reserve(decoder.names.count + guess, octets: guess * 12)
        while rows.next(&row) {
            if let fault = row.fault {
                report(fault.message, at: fault.offset, column: nil, row, &decoder, kind: .malformed)
                continue
            }
            guard hasAllColumns(row, &decoder) else { continue }
            let number = self.number(row, &decoder)
            checkWords(row, &decoder)
            let cell = row.cells[columns.name]
            let (text, range) = contents(cell)
            if let fault = NameRule.beaconFault(text, range) {
                report(fault, at: Int(cell.start), column: columns.name, row, &decoder)
                continue
            }
            let (known, isNew) = decoder.names.insert(text, range)
            guard isNew else {
                let name = decoder.names.string(known)
                report(
                    "the name \"\(name)\" is there twice" + decoder.firstPlace(of: name), at: Int(cell.start),
                    column: columns.name, row, &decoder)
                continue
            }
            var beacon = Fleet.Beacon(
                group: UInt32(truncatingIfNeeded: number ?? group), source: UInt32(truncatingIfNeeded: source),
                place: UInt32(truncatingIfNeeded: row.start), line: UInt32(truncatingIfNeeded: row.line))
            if let column = columns.serial {
                beacon.serialStart = row.cells[column].start
                beacon.serialCount = UInt8(clamping: row.cells[column].range.count)
            }
            decoder.beacons.append(beacon)
        }
    }

    /// About how many rows there are, by the lengths of some in the middle.
    private var estimatedRows: Int {
        let octets = table.octets
        let sample = octets[(octets.count / 2)...].prefix(1 << 14)
        let ends = sample.count { $0 == 0x0A }
        return octets.count / (sample.count / max(1, ends) + 1) * 33 / 32
    }

    /// Where the cell's contents are: in the table itself, unless quotes in it are doubled.
    private mutating func contents(_ cell: CSVCell) -> ([UInt8], Range<Int>) {
        guard cell.hasEscapes else { return (table.octets, cell.range) }
        scratch = cell.octets(in: table.octets)
        return (scratch, 0..<scratch.count)
    }

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
        // Spreadsheets end rows with separators.
        if row.cells.count > expected, row.cells[expected...].allSatisfy(\.isEmpty) { return true }
        let few = row.cells.count < expected
        let end = few ? row.cells.last.map { Int($0.end) } ?? row.start : Int(row.cells[expected].start)
        report(
            "the row has \(row.cells.count) cells, the header \(expected)"
                + (few ? "" : "; a cell with a separator in it stands in double quotes"),
            at: end, column: nil, row, &decoder, kind: .malformed)
        return false
    }

    /// The row's group.
    private mutating func number(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Int? {
        guard !groupColumns.isEmpty else { return group }
        if hasLastGroup(row) { return lastGroup }
        lastGroupCells.removeAll(keepingCapacity: true)
        for column in groupColumns { lastGroupCells.append(row.cells[column]) }
        // Nobody reads more problems, and to find the nearest name takes its time.
        lastGroup = decoder.problems.isFull ? nil : find(row, &decoder)
        return lastGroup
    }

    /// Whether the row names its group with the same octets as the one before it.
    private func hasLastGroup(_ row: CSVRow) -> Bool {
        guard !lastGroupCells.isEmpty else { return false }
        let text = table.octets
        let octets = text.span
        for (index, column) in groupColumns.enumerated() {
            let (own, last) = (row.cells[column], lastGroupCells[index])
            let (range, lastRange) = (own.range, last.range)
            guard range.count == lastRange.count, own.hasEscapes == last.hasEscapes else { return false }
            for place in 0..<range.count
            where octets[range.lowerBound + place] != octets[lastRange.lowerBound + place] {
                return false
            }
        }
        return true
    }

    private func find(_ row: CSVRow, _ decoder: inout FleetDecoder) -> Int? {
        var names: [(name: String, column: Int)] = []
        let own = decoder.groups[group].path
        if let column = columns.group {
            let text = row.cells[column].string(in: table.octets)
            names = text.split(separator: "/", omittingEmptySubsequences: false).map { (String($0), column) }
            if text.isEmpty { names = [] }
        } else {
            for (level, column) in columns.levels.enumerated() {
                guard let column else { continue }
                let name = row.cells[column].string(in: table.octets)
                if level < own.count {
                    guard name.isEmpty || name == own[level] else {
                        report(
                            "this \(Fleet.levelNames[level]) is \(ProblemText.quoted(name)), but the table belongs to "
                                + "the group \"\(own.joined(separator: "/"))\"",
                            at: Int(row.cells[column].start), column: column, row, &decoder)
                        return nil
                    }
                    continue
                }
                if name.isEmpty { continue }
                guard level == own.count + names.count else {
                    let missing = Fleet.levelNames[own.count + names.count]
                    report(
                        "a \(Fleet.levelNames[level]) is given and no \(missing): groups are sites, floors in them and "
                            + "rooms in those",
                        at: Int(row.cells[column].start), column: column, row, &decoder)
                    return nil
                }
                names.append((name, column))
            }
        }
        do throws(FleetDecoder.GroupFault) {
            return try decoder.group(names.map(\.name), from: group)
        } catch {
            let column = names.first?.column ?? columns.name
            report(error.description, at: Int(row.cells[column].start), column: column, row, &decoder)
            return nil
        }
    }
}

extension TableRows {
    /// Host, serial number, former name, controller and coordinates.
    func checkWords(_ row: CSVRow, _ decoder: inout FleetDecoder) {
        checkWord(columns.host, row, &decoder)
        checkWord(columns.serial, row, &decoder)
        if let column = columns.was, !row.cells[column].isEmpty,
            let fault = NameRule.fault(row.cells[column].octets(in: table.octets), 0..<row.cells[column].range.count)
        {
            report(fault, at: Int(row.cells[column].start), column: column, row, &decoder)
        }
        if let column = columns.controller, !row.cells[column].isEmpty {
            let text = row.cells[column].string(in: table.octets)
            if ControllerKind(rawValue: text) == nil {
                report(
                    "\(ProblemText.quoted(text)) is no kind of controller: "
                        + ControllerKind.allCases.map(\.rawValue).joined(separator: ", "),
                    at: Int(row.cells[column].start), column: column, row, &decoder)
            }
        }
        for (index, column) in columns.coordinates.enumerated() {
            guard let column, !row.cells[column].isEmpty else { continue }
            checkCoordinate(row.cells[column], index, column, row, &decoder)
        }
        if let fault = columns.coordinateFault(in: row) {
            let cell = row.cells[fault.column]
            report(fault.message, at: Int(cell.start), column: fault.column, row, &decoder)
        }
    }

    private func checkWord(_ column: Int?, _ row: CSVRow, _ decoder: inout FleetDecoder) {
        guard let column, !row.cells[column].isEmpty else { return }
        let cell = row.cells[column]
        guard cell.hasEscapes || !NameRule.isWord(table.octets, cell.range) else { return }
        report(
            "\(ProblemText.quoted(cell.string(in: table.octets))) is no host's name, address or serial number: "
                + "letters, digits, \".\", \"_\", \"-\" and \":\"",
            at: Int(cell.start), column: column, row, &decoder)
    }

    func checkCoordinate(
        _ cell: CSVCell, _ index: Int, _ column: Int, _ row: CSVRow, _ decoder: inout FleetDecoder
    ) {
        let limit = index < 3 ? Fleet.extent : index == 3 ? 90 : 180
        if !cell.hasEscapes, PlainNumber.isBelow(Int(limit), table.octets, cell.range) { return }
        let text = cell.string(in: table.octets)
        guard let number = JSONNumber(text) else {
            let hint = text.contains(",") ? "; a decimal number has a point" : ""
            report(
                "a number is expected, not \(ProblemText.quoted(text))\(hint)", at: Int(cell.start), column: column,
                row,
                &decoder)
            return
        }
        guard let value = Double(number.text), abs(value) <= limit else {
            let unit = index < 3 ? "m" : "degrees"
            report(
                "\(ProblemText.shortened(text)) is out of range \(Int(-limit))...\(Int(limit)) \(unit)",
                at: Int(cell.start), column: column, row, &decoder)
            return
        }
    }
}

extension TableColumns {
    /// Whether coordinates are there of which one makes no sense without another.
    fileprivate func coordinateFault(in row: CSVRow) -> (column: Int, message: String)? {
        func given(_ index: Int) -> Int? {
            guard let column = coordinates[index], !row.cells[column].isEmpty else { return nil }
            return column
        }
        if let x = given(0) ?? given(1) ?? given(2), given(0) == nil || given(1) == nil {
            return (x, "a place needs both x and y")
        }
        if let degrees = given(3) ?? given(4) {
            if given(3) == nil || given(4) == nil { return (degrees, "a place needs both latitude and longitude") }
            if given(0) != nil { return (degrees, "a place is given either by x and y or by latitude and longitude") }
        }
        return nil
    }
}
