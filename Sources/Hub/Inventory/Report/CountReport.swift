internal import BluetoothTypes
public import Configuration
public import Sightings

/// The report of a count: the merged results of all receivers, and the changes since the previous count.
public struct CountReport: Hashable, Sendable {
    /// A receiver's part.
    public struct Receiver: Hashable, Sendable {
        public let header: CountLog.Header
        public let listening: CountLog.Listening
        /// Whether its log is complete. Otherwise it is still counting, or was interrupted.
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
    public let count: String
    public let start: RFC3339Time
    /// When it was finished; `nil` while it is open.
    public let end: RFC3339Time?
    /// The names of all persons who took part.
    public let by: [String]
    public let receivers: [Receiver]
    /// In the order of the inventory.
    public let outcomes: [ItemOutcome]
    /// The items of other inventories, strongest level first.
    public let foreigners: [Foreigner]
    /// The name of the previous count; `nil` if there is none.
    public let previous: String?
    public let changes: [ItemChange]
    /// Problems of the logs, one sentence each.
    public let warnings: [String]

    /// - Parameters:
    ///   - inventory: The present inventory. A finished count has its own list of items.
    ///   - previous: The previous count, for the changes.
    ///   - damaged: The names of files that are not logs.
    public init(
        _ inventory: Inventory, _ journal: CountJournal, _ logs: [CountLog],
        previous: (journal: CountJournal, logs: [CountLog])? = nil, damaged: [String] = []
    ) {
        title = inventory.heading
        self.inventory = inventory.name
        count = journal.count
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
        self.previous = previous?.journal.count
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

    private static func foreigners(_ logs: [CountLog], except own: Set<BeaconIdentity>) -> [Foreigner] {
        var merged: [BeaconIdentity: Foreigner] = [:]
        for log in logs {
            for (identity, sight) in log.sights where !own.contains(identity) {
                guard let foreign = sight.foreign else { continue }
                let old = merged[identity]
                merged[identity] = Foreigner(
                    foreign: foreign, beacon: identity, firstHeard: min(old?.firstHeard ?? sight.first, sight.first),
                    lastHeard: max(old?.lastHeard ?? sight.last, sight.last),
                    bestLevel: [old?.bestLevel, sight.bestLevel].compactMap(\.self).max(),
                    wasNear: sight.wasNear || old?.wasNear ?? false)
            }
        }
        return merged.values.sorted {
            let levels = ($0.bestLevel ?? -128, $1.bestLevel ?? -128)
            return levels.0 == levels.1 ? "\($0.beacon)" < "\($1.beacon)" : levels.0 > levels.1
        }
    }

    /// The number of items in a state; for `foreign`, the number of items of other inventories.
    public func total(_ state: ItemState) -> Int {
        state == .foreign ? foreigners.count : outcomes.count { $0.states.contains(state) }
    }

    /// The result on one line, such as `3 of 4 found, 1 missing`.
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

    /// A state in words.
    public static func words(_ state: ItemState) -> String {
        switch state {
        case .lowBattery: "low battery"
        case .heard: "heard, not near"
        default: state.rawValue
        }
    }

    /// The time in which a receiver listened.
    static func span(_ receiver: Receiver) -> String { "\(receiver.header.start) to \(receiver.listening.until)" }
}
