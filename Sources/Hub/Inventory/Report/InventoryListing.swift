internal import BluetoothTypes
public import Configuration
internal import LinuxHost

/// The items of an inventory with their states in a count.
public struct InventoryListing: Sendable {
    private let inventory: Inventory
    private let report: CountReport?
    private let rows: [(item: Inventory.Item, outcome: ItemOutcome?)]
    private let listsOnlyMissing: Bool

    /// - Parameters:
    ///   - report: The report of the count; `nil` if there is none. Items that were added after the end of the count
    ///     have no state.
    ///   - onlyMissing: True to list only the items that were not found in the count.
    public init(_ inventory: Inventory, _ report: CountReport?, onlyMissing: Bool) {
        self.inventory = inventory
        self.report = report
        listsOnlyMissing = onlyMissing
        let outcomes = report?.outcomes ?? []
        if onlyMissing {
            rows = outcomes.filter { $0.state != .found }.map { ($0.item, $0) }
        } else {
            let byID = Dictionary(outcomes.map { ($0.item.id, $0) }) { first, _ in first }
            rows = inventory.items.map { ($0, byID[$0.id]) }
        }
    }

    /// The result as one JSON object.
    public var json: JSONValue {
        .record([
            ("inventory", .string(inventory.name)), ("title", .optional(inventory.title, JSONValue.string)),
            ("count", .optional(report?.countName, JSONValue.string)),
            ("items", .array(rows.map { CountReport.json($0.item, $0.outcome) })),
        ])
    }

    /// The result as a table for a terminal.
    public var text: String {
        if rows.isEmpty { return listsOnlyMissing ? "No item is missing.\n" : "\(inventory.name) has no items yet.\n" }
        var table = Table(["id", "name", "place", "state", "last heard", "best dBm"], alignment: [])
        for (item, outcome) in rows {
            table.add([
                item.id, TerminalText.line(TerminalText.shortened(item.name, to: 40)),
                TerminalText.line(TerminalText.shortened(item.place ?? "", to: 30)),
                outcome?.states.map(CountReport.words).joined(separator: ", ") ?? "not counted",
                outcome?.lastHeard.map { "\($0)" } ?? "", outcome?.bestLevel.map { "\($0)" } ?? "",
            ])
        }
        return table.text + (report.map { "\nCount \($0.countName): \($0.summary).\n" } ?? "")
    }
}

/// The inventories in a directory.
public struct InventoryDirectory: Sendable {
    private let directory: String
    private let rows: [(file: String, inventory: Inventory, lastCount: String?)]
    /// One sentence for each file that may be an inventory but cannot be read.
    public let warnings: [String]

    /// Reads all inventory files in `directory`.
    public init(_ directory: String) {
        self.directory = directory
        let prefix = directory == "." ? "" : directory.hasSuffix("/") ? directory : directory + "/"
        var rows: [(file: String, inventory: Inventory, lastCount: String?)] = []
        var warnings: [String] = []
        for name in Files.names(in: directory) where name.hasSuffix(".json") {
            let store = InventoryStore(prefix + name)
            do throws(InventoryError) {
                rows.append((store.path, try store.read(), store.countNames.last))
            } catch {
                // A JSON object without items and without counts is not an inventory, so there is no warning.
                if error.kind == .invalid, !store.hasItems, store.countNames.isEmpty { continue }
                let otherProblems = error.messages.count - 1
                warnings.append(
                    "warning: \(error.messages[0])"
                        + (otherProblems > 0 ? " (and \(NumberFormat.count(otherProblems, "more problem")))" : ""))
            }
        }
        (self.rows, self.warnings) = (rows, warnings)
    }

    /// The result as one JSON object.
    public var json: JSONValue {
        let inventories = rows.map { row in
            JSONValue.record([
                ("file", .string(row.file)), ("name", .string(row.inventory.name)),
                ("title", .optional(row.inventory.title, JSONValue.string)),
                ("items", .integer(row.inventory.items.count)),
                ("lastCount", .optional(row.lastCount, JSONValue.string)),
            ])
        }
        return .record([("inventories", .array(inventories))])
    }

    /// The result as a table for a terminal.
    public var text: String {
        if rows.isEmpty, !warnings.isEmpty { return "No inventory in \(directory) can be read.\n" }
        if rows.isEmpty { return "There is no inventory in \(directory); create one with `pharos inventory new`.\n" }
        var table = Table(["file", "name", "items", "last count"], alignment: [.left, .left, .right])
        for row in rows {
            table.add([
                TerminalText.line(row.file), TerminalText.line(row.inventory.heading),
                "\(row.inventory.items.count)", row.lastCount ?? "none",
            ])
        }
        return table.text
    }
}

/// The known facts about an inventory, or about one of its items.
public struct InventoryFacts: Sendable {
    private let facts: [(String, JSONValue)]

    /// Collects the facts about an inventory.
    ///
    /// - Parameter report: The report of the last count; `nil` if there is none.
    public init(_ inventory: Inventory, _ report: CountReport?, counts: [String]) {
        facts = [
            ("name", .string(inventory.name)), ("title", .optional(inventory.title, JSONValue.string)),
            ("site", .optional(inventory.site, JSONValue.string)), ("rule", .string(inventory.rule.kind.rawValue)),
            ("withinM", .number(JSONNumber(thousandths: inventory.rule.withinMillimetres))),
            ("items", .integer(inventory.items.count)), ("places", .integer(inventory.places.count)),
            ("counts", .array(counts.map(JSONValue.string))),
            ("lastCount", .optional(report) { .string($0.summary) }),
        ]
    }

    /// Collects the facts about the item with this id.
    ///
    /// - Parameter report: The report of the last count; `nil` if there is none.
    /// - Throws: `request` if there is no such item.
    public init(_ inventory: Inventory, item id: String, _ report: CountReport?) throws(InventoryError) {
        let item = try inventory.item(id)
        let outcome = report?.outcomes.first { $0.item.id == id }
        facts = [
            ("id", .string(item.id)), ("name", .string(item.name)), ("beacon", .string("\(item.beacon)")),
            ("place", .optional(item.place, JSONValue.string)),
            ("position", .optional(inventory.position(of: item), \.json)),
            ("note", .optional(item.note, JSONValue.string)), ("photo", .optional(item.photo, JSONValue.string)),
            ("count", .optional(report?.countName, JSONValue.string)),
            ("state", .optional(outcome) { .string($0.state.rawValue) }),
            ("states", .array((outcome?.states ?? []).map { .string($0.rawValue) })),
            ("lastHeard", .optional(outcome?.lastHeard) { .string("\($0)") }),
            ("bestRssiDbm", .optional(outcome?.bestLevel) { .integer($0) }),
            ("batteryMv", .optional(outcome?.batteryMillivolts) { .integer($0) }),
        ]
    }

    /// The result as one JSON object.
    public var json: JSONValue { .record(facts) }

    /// The facts as a table for a terminal. Unknown facts are left out.
    public var text: String {
        var table = Table(["", ""])
        for (key, value) in facts {
            let text: String
            switch value {
            case .null: continue
            case .string(let string): text = string
            case .array(let values):
                guard !values.isEmpty else { continue }
                text = values.map { if case .string(let string) = $0 { string } else { $0.line } }.joined(
                    separator: ", ")
            default: text = value.line
            }
            table.add([key, TerminalText.line(text)])
        }
        return table.text
    }
}
