internal import Configuration

extension BeaconReader {
    struct Place {
        var file: String
        var position: JSONPosition
        var path: JSONPath
    }

    /// Where a value comes from.
    func place(_ origin: BeaconPlan.Origin, of number: Int) -> Place {
        switch origin {
        case .node(let node): return Place(file: fleet.file, position: node.position, path: node.path)
        case .column(let column):
            guard let table = load(number)?.table, column < row.cells.count else {
                return Place(file: fleet.file, position: .init(line: 1, column: 1), path: .root)
            }
            let position = table.position(of: Int(row.cells[column].start), in: row)
            return Place(file: table.file, position: position, path: JSONPath([.key(table.header[column])]))
        }
    }

    /// Where the beacon itself stands, or one of its own columns or keys.
    func place(of number: Int, column name: String = "name") -> Place {
        if let columns = load(number)?.columns {
            let column: Int? =
                switch name {
                case "serial": columns.serial
                case "was": columns.was
                case "controller": columns.controller
                default: nil
                }
            return place(.column(column ?? columns.name), of: number)
        }
        let node = listed(number)?.node ?? fleet.template.node
        return place(.node(node[name] ?? node), of: number)
    }
}
