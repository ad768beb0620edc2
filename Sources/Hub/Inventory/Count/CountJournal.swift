internal import BluetoothTypes
public import Configuration

/// The start and the end of a count, with the names of the persons who started and finished it. It is stored as a file
/// of JSON Lines in the directory of the count.
public struct CountJournal: Hashable, Sendable {
    /// The name of the count, such as `2026-03-01`.
    public var countName: String
    public var inventory: String
    public var start: RFC3339Time
    public var by: String
    /// The end of the count; `nil` while the count is open.
    public var finish: Finish?

    /// The end of a count.
    public struct Finish: Hashable, Sendable {
        public var at: RFC3339Time
        public var by: String
        /// The items of the inventory at the end of the count.
        public var items: [Inventory.Item]
        /// The low battery limit at the end of the count, in millivolts.
        public var lowBatteryMillivolts: Int
    }
}

extension CountJournal {
    /// Reads a journal up to its last complete line.
    ///
    /// - Returns: `nil` if the first line is not the first line of a journal.
    public init?(_ octets: [UInt8]) {
        var lines = octets.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines.removeLast()
        guard let node = lines.first.flatMap({ CountLog.node($0) }), node["event"]?.string == "count",
            node["v"]?.integer == 1, let countName = node["count"]?.string,
            let start = node["at"]?.string.flatMap({ RFC3339Time($0) })
        else { return nil }
        self.init(
            countName: countName, inventory: node["inventory"]?.string ?? "", start: start,
            by: node["by"]?.string ?? "")
        for line in lines.dropFirst() {
            guard let node = CountLog.node(line), node["event"]?.string == "finish", finish == nil,
                let at = node["at"]?.string.flatMap({ RFC3339Time($0) })
            else { continue }
            finish = Finish(
                at: at, by: node["by"]?.string ?? "", items: Inventory.items(node["items"]),
                lowBatteryMillivolts: node["lowBatteryMv"]?.integer ?? Inventory.lowBatteryMillivolts)
        }
    }

    /// The first line of a journal.
    public var firstLine: String {
        CountLog.line([
            ("event", "count"), ("v", 1), ("count", .string(countName)), ("inventory", .string(inventory)),
            ("at", .string("\(start)")), ("by", .string(by)),
        ])
    }

    /// Returns the last line of a journal, which finishes the count. It contains all items, so that later changes of
    /// the inventory do not change the report.
    public static func finishLine(_ inventory: Inventory, at: RFC3339Time, by: String) -> String {
        CountLog.line([
            ("event", "finish"), ("at", .string("\(at)")), ("by", .string(by)),
            ("lowBatteryMv", .integer(inventory.lowBatteryMillivolts)),
            ("items", Inventory.itemsJSON(inventory.items)),
        ])
    }

    /// Returns the name of a new count: the day, followed by a number if another count has the name of the day.
    public static func name(on day: RFC3339Time, taken: Set<String>) -> String {
        let date = String("\(day)".prefix(10))
        var (name, number) = (date, 1)
        while taken.contains(name) {
            number += 1
            name = "\(date)-\(number)"
        }
        return name
    }

    /// Returns true if the count `left` comes before `right`. Counts are ordered by day, then by number.
    public static func isBefore(_ left: String, _ right: String) -> Bool {
        let parts = [left, right].map { name -> (String, Int) in
            let date = String(name.prefix(10))
            return (date, Int(name.dropFirst(11)) ?? 1)
        }
        if parts[0].0 != parts[1].0 { return parts[0].0 < parts[1].0 }
        return parts[0].1 == parts[1].1 ? left < right : parts[0].1 < parts[1].1
    }
}
