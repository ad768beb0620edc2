internal import Configuration

extension TableRows {
    /// Host, serial number, former name, controller and coordinates.
    func checkWords(_ row: CSVRow, _ decoder: inout FleetDecoder) {
        for column in [columns.host, columns.serial] {
            guard let column, !row.cells[column].isEmpty else { continue }
            let cell = row.cells[column]
            if cell.hasEscapes || !NameRule.isWord(table.octets, cell.range) {
                report(
                    "\(ProblemText.quoted(cell.string(in: table.octets))) is no host's name, address or serial number: "
                        + "letters, digits, \".\", \"_\", \"-\" and \":\"",
                    at: Int(cell.start), column: column, row, &decoder)
            }
        }
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
