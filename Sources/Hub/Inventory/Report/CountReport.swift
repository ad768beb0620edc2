internal import BluetoothTypes
public import Configuration
public import Sightings

/// A count with everything that whoever took part has found out, and what has changed since the one before.
public struct CountReport: Hashable, Sendable {
    /// A receiver's part.
    public struct Receiver: Hashable, Sendable {
        public let header: CountLog.Header
        public let listening: CountLog.Listening
        /// Whether its log ends as it should; otherwise it is still counting, or was cut off.
        public let isEnded: Bool
    }

    /// A thing of another inventory that was heard.
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
    /// What the count is called.
    public let count: String
    public let start: RFC3339Time
    /// When it was finished; `nil` while it goes on.
    public let end: RFC3339Time?
    /// Everybody who took part, each once.
    public let by: [String]
    public let receivers: [Receiver]
    /// In the order of the inventory.
    public let outcomes: [ItemOutcome]
    /// The nearest first, by level.
    public let foreigners: [Foreigner]
    /// What the count before is called; `nil` where there is none.
    public let previous: String?
    public let changes: [ItemChange]
    /// What is wrong with the logs, one sentence each.
    public let warnings: [String]

    /// - Parameters:
    ///   - inventory: As it is now: of a finished count the things are those of then.
    ///   - previous: The count before; of it only the outcomes are of interest.
    ///   - damaged: Files that are no logs.
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
        var warnings = damaged.map { "\($0): this is no log of a count, and was left out" }
        for log in logs where log.damagedLines > 0 {
            warnings.append(
                "the log of \(log.header.receiver) on \(log.header.machine): \(log.damagedLines) lines cannot be read")
        }
        if logs.isEmpty { warnings.append("nobody has listened in this count") }
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

    /// How many things are in a state; of foreign ones, how many there are.
    public func total(_ state: ItemState) -> Int {
        state == .foreign ? foreigners.count : outcomes.count { $0.states.contains(state) }
    }

    /// One line: how many of the things were found.
    public var summary: String {
        let parts = ItemState.allCases.dropFirst().compactMap { state in
            total(state) > 0 ? "\(total(state)) \(Self.words(state))" : nil
        }
        return (["\(total(.found)) of \(outcomes.count) found"] + parts).joined(separator: ", ")
    }

    /// A state as people say it.
    public static func words(_ state: ItemState) -> String {
        switch state {
        case .lowBattery: "low battery"
        case .heard: "heard, not near"
        default: state.rawValue
        }
    }

    /// When a receiver that is named by `header` listened, in words.
    static func span(_ receiver: Receiver) -> String { "\(receiver.header.start) to \(receiver.listening.until)" }
}
