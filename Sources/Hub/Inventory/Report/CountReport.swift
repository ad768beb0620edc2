internal import BluetoothTypes
public import Configuration
public import Sightings

/// The report of a count: the merged results of all receivers, and the changes since the previous count.
public struct CountReport: Hashable, Sendable {
    /// A receiver's part in the count.
    public struct Receiver: Hashable, Sendable {
        public let header: CountLog.Header
        public let listening: CountLog.Listening
        /// True if the receiver's log is complete. If false, the receiver is still counting or was interrupted.
        public let isEnded: Bool
    }

    /// An item of another inventory that was received.
    public struct Foreigner: Hashable, Sendable {
        public let foreign: CountLog.Foreign
        public let beacon: BeaconIdentity
        public let firstHeard: RFC3339Time
        public let lastHeard: RFC3339Time
        public let bestLevel: Int?
        public let wasNear: Bool
    }

    /// The inventory's title, or its name.
    public let title: String
    public let inventory: String
    /// The name of the count.
    public let countName: String
    public let start: RFC3339Time
    /// The time at which the count was finished; `nil` while it is open.
    public let end: RFC3339Time?
    /// The names of all persons who took part in the count.
    public let by: [String]
    public let receivers: [Receiver]
    /// The results of the items, in the order of the inventory.
    public let outcomes: [ItemOutcome]
    /// The items of other inventories, strongest level first.
    public let foreigners: [Foreigner]
    /// The name of the previous count; `nil` if there is none.
    public let previous: String?
    public let changes: [ItemChange]
    /// Problems of the logs, one sentence each.
    public let warnings: [String]
    /// The pictures that the report's page contains, by the ids of the items.
    public var photos: [String: ItemPhoto] = [:]

    /// - Parameters:
    ///   - inventory: The current inventory. Its items are used only if the count is open: a finished count has its own
    ///     list of items.
    ///   - previous: The previous count, to compute the changes.
    ///   - damaged: The names of files that are not logs.
    public init(
        _ inventory: Inventory, _ journal: CountJournal, _ logs: [CountLog],
        previous: (journal: CountJournal, logs: [CountLog])? = nil, damaged: [String] = []
    ) {
        title = inventory.heading
        self.inventory = inventory.name
        countName = journal.countName
        start = journal.start
        end = journal.finish?.at
        let logs = logs.sorted { ($0.header.start, $0.header.session) < ($1.header.start, $1.header.session) }
        var people: [String] = []
        for name in [journal.by] + logs.map(\.header.by) + [journal.finish?.by].compactMap(\.self)
        where !name.isEmpty && !people.contains(name) {
            people.append(name)
        }
        by = people
        receivers = logs.map { Receiver(header: $0.header, listening: $0.listening, isEnded: $0.isEnded) }
        let outcomes = Self.outcomes(inventory, journal, logs)
        self.outcomes = outcomes
        foreigners = Self.foreigners(logs, except: Set(outcomes.map(\.item.beacon)))
        self.previous = previous?.journal.countName
        changes =
            previous.map { ItemChange.between(Self.outcomes(inventory, $0.journal, $0.logs), outcomes) } ?? []
        var warnings = damaged.map { "\($0): this is not a log of a count; it was ignored" }
        for log in logs where log.damagedLines > 0 {
            warnings.append(
                "the log of \(log.header.receiver) on \(log.header.machine): \(log.damagedLines) lines cannot be read")
        }
        if logs.isEmpty { warnings.append("no receiver has taken part in this count") }
        self.warnings = warnings
    }

    private static func outcomes(
        _ inventory: Inventory, _ journal: CountJournal, _ logs: [CountLog]
    ) -> [ItemOutcome] {
        let lowBattery = journal.finish?.lowBatteryMillivolts ?? inventory.lowBatteryMillivolts
        return (journal.finish?.items ?? inventory.items).map { ItemOutcome($0, logs, lowBattery: lowBattery) }
    }

    private static func foreigners(_ logs: [CountLog], except countedBeacons: Set<BeaconIdentity>) -> [Foreigner] {
        var foreignerOfBeacon: [BeaconIdentity: Foreigner] = [:]
        for log in logs {
            for (identity, observation) in log.observations where !countedBeacons.contains(identity) {
                guard let foreign = observation.foreign else { continue }
                let earlier = foreignerOfBeacon[identity]
                foreignerOfBeacon[identity] = Foreigner(
                    foreign: foreign, beacon: identity,
                    firstHeard: min(earlier?.firstHeard ?? observation.first, observation.first),
                    lastHeard: max(earlier?.lastHeard ?? observation.last, observation.last),
                    bestLevel: [earlier?.bestLevel, observation.bestLevel].compactMap(\.self).max(),
                    wasNear: observation.wasNear || earlier?.wasNear ?? false)
            }
        }
        return foreignerOfBeacon.values.sorted {
            let levels = ($0.bestLevel ?? -128, $1.bestLevel ?? -128)
            return levels.0 == levels.1 ? "\($0.beacon)" < "\($1.beacon)" : levels.0 > levels.1
        }
    }

    /// Returns the number of items in a state. For `foreign`, returns the number of items of other inventories.
    public func total(_ state: ItemState) -> Int {
        state == .foreign ? foreigners.count : outcomes.count { $0.states.contains(state) }
    }

    /// The result in one line, such as `3 of 4 found, 1 missing`.
    public var summary: String {
        let parts = ItemState.allCases.dropFirst().compactMap { state in
            total(state) > 0 ? "\(total(state)) \(Self.words(state))" : nil
        }
        return (["\(total(.found)) of \(outcomes.count) found"] + parts).joined(separator: ", ")
    }

    /// The intervals that the receivers have learned, in microseconds.
    public var learnedIntervals: [BeaconIdentity: Int] {
        Dictionary(
            outcomes.compactMap { outcome in outcome.intervalMicroseconds.map { (outcome.item.beacon, $0) } }
        ) { first, _ in first }
    }

    /// Returns a state in words.
    public static func words(_ state: ItemState) -> String {
        switch state {
        case .lowBattery: "low battery"
        case .heard: "heard, not near"
        default: state.rawValue
        }
    }
}

/// The forms of a report for other programs: JSON and CSV.
extension CountReport {
    /// The report as one JSON object. Times are in RFC 3339 format, and unknown values are null.
    public var json: JSONValue {
        .record([
            ("title", .string(title)), ("inventory", .string(inventory)), ("count", .string(countName)),
            ("finished", .boolean(end != nil)), ("start", .string("\(start)")), ("end", Self.time(end)),
            ("by", .array(by.map(JSONValue.string))), ("receivers", .array(receivers.map(Self.json))),
            ("totals", .record(totals)), ("items", .array(outcomes.map { Self.json($0.item, $0) })),
            ("foreign", .array(foreigners.map(Self.json))), ("previous", .optional(previous, JSONValue.string)),
            ("changes", .array(changes.map(Self.json))), ("warnings", .array(warnings.map(JSONValue.string))),
        ])
    }

    /// The result of the count as one JSON object, with the ids of the items that were not found.
    public var summaryJSON: JSONValue {
        .record(
            [("event", "summary"), ("count", .string(countName))] + totals + [
                ("missingItems", .array(outcomes.filter { $0.state != .found }.map { .string($0.item.id) }))
            ])
    }

    private static func time(_ time: RFC3339Time?) -> JSONValue { .optional(time) { .string("\($0)") } }

    private var totals: [(String, JSONValue)] {
        [
            ("items", .integer(outcomes.count)), ("found", .integer(total(.found))),
            ("heard", .integer(total(.heard))), ("missing", .integer(total(.missing))),
            ("foreign", .integer(total(.foreign))), ("duplicate", .integer(total(.duplicate))),
            ("lowBattery", .integer(total(.lowBattery))),
        ]
    }

    private static func json(_ receiver: Receiver) -> JSONValue {
        .record([
            ("name", .string(receiver.header.receiver)), ("machine", .string(receiver.header.machine)),
            ("by", .string(receiver.header.by)), ("start", .string("\(receiver.header.start)")),
            ("end", receiver.isEnded ? .string("\(receiver.listening.until)") : .null),
            ("listenedS", CountLog.thousandths(receiver.listening.listened)),
            ("deafS", CountLog.thousandths(receiver.listening.deaf)),
            ("reports", .integer(receiver.listening.reports)),
            ("lost", .optional(receiver.listening.lost) { .integer($0) }),
        ])
    }

    /// Returns an item with its result, as a JSON object.
    ///
    /// - Parameter outcome: The result of the item; `nil` if the item was not counted.
    static func json(_ item: Inventory.Item, _ outcome: ItemOutcome?) -> JSONValue {
        .record([
            ("id", .string(item.id)), ("name", .string(item.name)), ("beacon", .string("\(item.beacon)")),
            ("place", .optional(item.place, JSONValue.string)), ("position", .optional(item.position, \.json)),
            ("state", .optional(outcome) { .string($0.state.rawValue) }),
            ("states", .array((outcome?.states ?? []).map { .string($0.rawValue) })),
            ("firstHeard", time(outcome?.firstHeard)), ("lastHeard", time(outcome?.lastHeard)),
            ("found", time(outcome?.found)), ("foundBy", .optional(outcome?.foundBy, JSONValue.string)),
            ("afterS", CountLog.thousandths(outcome?.afterMilliseconds)),
            ("bestRssiDbm", .optional(outcome?.bestLevel) { .integer($0) }),
            ("nearestM", CountLog.thousandths(outcome?.nearest)),
            ("batteryMv", .optional(outcome?.batteryMillivolts) { .integer($0) }),
            ("intervalMs", CountLog.thousandths(outcome?.intervalMicroseconds)),
            ("heardBy", .optional(outcome?.heardBy, JSONValue.string)),
        ])
    }

    private static func json(_ foreigner: Foreigner) -> JSONValue {
        .record([
            ("inventory", .string(foreigner.foreign.inventory)), ("id", .string(foreigner.foreign.id)),
            ("name", .string(foreigner.foreign.name)), ("beacon", .string("\(foreigner.beacon)")),
            ("firstHeard", time(foreigner.firstHeard)), ("lastHeard", time(foreigner.lastHeard)),
            ("bestRssiDbm", .optional(foreigner.bestLevel) { .integer($0) }), ("near", .boolean(foreigner.wasNear)),
        ])
    }

    private static func json(_ change: ItemChange) -> JSONValue {
        .record([
            ("change", .string(change.kind.rawValue)), ("id", .string(change.id)), ("name", .string(change.name)),
            ("before", .optional(change.before, JSONValue.string)),
            ("after", .optional(change.after, JSONValue.string)),
        ])
    }

    /// The report as CSV (RFC 4180): a line for each item, then a line for each foreign item. Cells are written such
    /// that spreadsheet programs do not interpret them as formulas.
    public var csv: String {
        func text(_ text: String?) -> String { text.map(SpreadsheetText.text) ?? "" }
        func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "" }
        func decimal(_ value: Int?) -> String { value.map { DecimalText.thousandths($0) } ?? "" }
        var lines = [
            SpreadsheetText.line([
                "id", "name", "place", "state", "states", "first_heard", "last_heard", "found", "found_by",
                "best_rssi_dbm", "nearest_m", "battery_mv", "heard_by", "beacon", "inventory",
            ])
        ]
        for outcome in outcomes {
            lines.append(
                SpreadsheetText.line([
                    text(outcome.item.id), text(outcome.item.name), text(outcome.item.place), outcome.state.rawValue,
                    outcome.states.map(\.rawValue).joined(separator: " "),
                    outcome.firstHeard.map { "\($0)" } ?? "", outcome.lastHeard.map { "\($0)" } ?? "",
                    outcome.found.map { "\($0)" } ?? "", text(outcome.foundBy), number(outcome.bestLevel),
                    decimal(outcome.nearest), number(outcome.batteryMillivolts), text(outcome.heardBy),
                    text("\(outcome.item.beacon)"), text(inventory),
                ]))
        }
        for foreigner in foreigners {
            lines.append(
                SpreadsheetText.line([
                    text(foreigner.foreign.id), text(foreigner.foreign.name), "", ItemState.foreign.rawValue,
                    ItemState.foreign.rawValue, "\(foreigner.firstHeard)", "\(foreigner.lastHeard)", "", "",
                    number(foreigner.bestLevel), "", "", "", text("\(foreigner.beacon)"),
                    text(foreigner.foreign.inventory),
                ]))
        }
        return lines.joined()
    }
}

extension CountReport {
    /// Returns the result of a count for a terminal, with at most 50 of the items that were not found.
    ///
    /// - Parameter path: The inventory file, for the command that lists all items that were not found.
    public func summaryText(of path: String) -> String {
        var text = "Count \(countName): \(summary).\n"
        let missing = outcomes.filter { $0.state != .found }
        for outcome in missing.prefix(50) {
            text +=
                "  \(outcome.item.id)  \(TerminalText.line(TerminalText.shortened(outcome.item.name, to: 40)))"
                + "  \(outcome.states.map(Self.words).joined(separator: ", "))\n"
        }
        if missing.count > 50 {
            text += "  and \(missing.count - 50) more: `pharos inventory list \(path) --missing`\n"
        }
        return text
    }

    /// The report for a terminal.
    public var text: String {
        var text = TerminalText.line(title) + "\n"
        var factTable = Table(["", ""])
        for (name, value) in facts { factTable.add([name, TerminalText.line(value)]) }
        text += factTable.text + "\n"
        func table(_ columns: [String], _ rows: [[String]]) -> String {
            var table = Table(columns)
            for row in rows { table.add(row.map { TerminalText.line(TerminalText.shortened($0, to: 44)) }) }
            return rows.isEmpty ? "" : table.text + "\n"
        }
        text += table(Self.receiverColumns, receivers.map(Self.cells))
        text += table(Self.columns, outcomes.map { Self.cells($0, nameColumns: 28) })
        text += table(
            ["item of", "inventory"] + Self.columns.dropFirst(2), foreigners.map { Self.cells($0, nameColumns: 28) })
        text += table(["item", "since \(previous ?? "the previous count")"], changes.map { [$0.id, Self.words($0)] })
        return text
    }
}
