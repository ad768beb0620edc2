internal import BluetoothTypes
public import Configuration

/// When a count began and when it was finished, and by whom: the file beside its logs, of JSON Lines.
public struct CountJournal: Hashable, Sendable {
    /// What the count is called, such as `2026-03-01`.
    public var count: String
    public var inventory: String
    public var start: RFC3339Time
    public var by: String
    /// `nil` while it goes on.
    public var finish: Finish?

    /// That a count was finished.
    public struct Finish: Hashable, Sendable {
        public var at: RFC3339Time
        public var by: String
        /// The things that there were then.
        public var items: [Inventory.Item]
        /// Below which a battery was low, in millivolts.
        public var lowBatteryMillivolts: Int
    }

    /// A count that begins.
    public init(count: String, inventory: String, start: RFC3339Time, by: String) {
        self.count = count
        self.inventory = inventory
        self.start = start
        self.by = by
    }

    /// Reads a journal, as far as it goes.
    ///
    /// - Returns: `nil` where its first line is not that of a journal.
    public init?(_ octets: [UInt8]) {
        var lines = octets.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines.removeLast()
        guard let node = lines.first.flatMap({ CountLog.node($0) }), node["event"]?.string == "count",
            node["v"]?.integer == 1, let count = node["count"]?.string,
            let start = node["at"]?.string.flatMap({ RFC3339Time($0) })
        else { return nil }
        self.init(
            count: count, inventory: node["inventory"]?.string ?? "", start: start, by: node["by"]?.string ?? "")
        for line in lines.dropFirst() {
            guard let node = CountLog.node(line), node["event"]?.string == "finish", finish == nil,
                let at = node["at"]?.string.flatMap({ RFC3339Time($0) })
            else { continue }
            finish = Finish(
                at: at, by: node["by"]?.string ?? "", items: Inventory.items(node["items"]),
                lowBatteryMillivolts: node["lowBatteryMv"]?.integer ?? Inventory.lowBatteryMillivolts)
        }
    }

    /// The first line.
    public var firstLine: String {
        CountLog.line([
            ("event", "count"), ("v", 1), ("count", .string(count)), ("inventory", .string(inventory)),
            ("at", .string("\(start)")), ("by", .string(by)),
        ])
    }

    /// The line that ends a count: with all things, so that its report stays what it is when the inventory changes.
    public static func finishLine(_ inventory: Inventory, at: RFC3339Time, by: String) -> String {
        CountLog.line([
            ("event", "finish"), ("at", .string("\(at)")), ("by", .string(by)),
            ("lowBatteryMv", .integer(inventory.lowBatteryMillivolts)),
            ("items", Inventory.itemsJSON(inventory.items)),
        ])
    }

    /// The name of a count that begins on a day: the day, and a number behind it where others of that day are over.
    ///
    /// - Parameter taken: The names of other counts.
    public static func name(on day: RFC3339Time, taken: Set<String>) -> String {
        let date = String("\(day)".prefix(10))
        var (name, number) = (date, 1)
        while taken.contains(name) {
            number += 1
            name = "\(date)-\(number)"
        }
        return name
    }

    /// Orders names of counts: those of one day by their number.
    public static func isBefore(_ left: String, _ right: String) -> Bool {
        let parts = [left, right].map { name -> (String, Int) in
            let date = String(name.prefix(10))
            return (date, Int(name.dropFirst(11)) ?? 1)
        }
        if parts[0].0 != parts[1].0 { return parts[0].0 < parts[1].0 }
        return parts[0].1 == parts[1].1 ? left < right : parts[0].1 < parts[1].1
    }
}
