internal import BluetoothTypes
public import Configuration
internal import Sightings

/// The state of an item in a count.
public enum ItemState: String, Hashable, Sendable, CaseIterable {
    /// The item's beacon was near in enough rounds.
    case found
    /// The item's beacon was received, but was not near in enough rounds.
    case heard
    case missing
    /// The item belongs to another inventory.
    case foreign
    /// Two beacons send the identity of the item's beacon.
    case duplicate
    case lowBattery = "low-battery"
}

/// The result of a count for one item, merged from all logs.
public struct ItemOutcome: Hashable, Sendable {
    public let item: Inventory.Item
    /// First the state found, heard or missing, then further states.
    public let states: [ItemState]
    public let firstHeard: RFC3339Time?
    public let lastHeard: RFC3339Time?
    /// The time at which the item was first found.
    public let found: RFC3339Time?
    /// The person who first found the item.
    public let foundBy: String?
    /// The listening time of the receiver that first found the item, from its start until it found the item, in
    /// milliseconds.
    public let afterMilliseconds: Int?
    /// The strongest level, in dBm.
    public let bestLevel: Int?
    /// The receiver that received the beacon with the strongest level.
    public let heardBy: String?
    /// The shortest distance in all rounds, in millimetres.
    public let nearest: Int?
    public let batteryMillivolts: Int?
    public let intervalMicroseconds: Int?

    /// The first state: found, heard or missing.
    public var state: ItemState { states[0] }

    /// Merges the data of all logs about an item.
    ///
    /// - Parameter lowBattery: The low battery limit, in millivolts.
    init(_ item: Inventory.Item, _ logs: [CountLog], lowBattery: Int) {
        self.item = item
        let observed = logs.compactMap { log in
            log.observations[item.beacon].map { (header: log.header, observation: $0) }
        }
        let observations = observed.map(\.observation)
        let findings = logs.compactMap { log in
            log.findings[item.beacon].map { (header: log.header, finding: $0) }
        }
        let firstFinding = findings.min {
            ($0.finding.at, $0.header.session) < ($1.finding.at, $1.header.session)
        }
        let times = observations.flatMap { [$0.first, $0.last] } + findings.map(\.finding.at)
        firstHeard = times.min()
        lastHeard = times.max()
        found = firstFinding?.finding.at
        foundBy = firstFinding?.header.by
        afterMilliseconds = firstFinding?.finding.afterMilliseconds
        let strongest = observed.filter { $0.observation.bestLevel != nil }.max {
            ($0.observation.bestLevel ?? -128, $1.header.session)
                < ($1.observation.bestLevel ?? -128, $0.header.session)
        }
        bestLevel = strongest?.observation.bestLevel ?? firstFinding?.finding.level
        heardBy = strongest?.header.receiver ?? firstFinding?.header.receiver ?? observed.first?.header.receiver
        nearest = (observations.compactMap(\.nearest) + findings.compactMap(\.finding.distance)).min()
        batteryMillivolts =
            observations.filter { $0.batteryMillivolts != nil }.max { $0.last < $1.last }?.batteryMillivolts
        intervalMicroseconds = observations.compactMap(\.intervalMicroseconds).min()
        var states: [ItemState] = [firstFinding != nil ? .found : observations.isEmpty ? .missing : .heard]
        if observations.contains(where: \.isDuplicate) { states.append(.duplicate) }
        if let batteryMillivolts, batteryMillivolts < lowBattery { states.append(.lowBattery) }
        self.states = states
    }
}

/// A change of an item between two counts.
public struct ItemChange: Hashable, Sendable {
    /// The kinds of changes.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The item was found in the previous count, and is missing in this count.
        case lost
        /// The item was not found in the previous count, and is found in this count.
        case foundAgain = "returned"
        /// The item was received in this count but was not near in enough rounds.
        case notNear = "not-near"
        /// The item was not found in the previous count, and is missing in this count.
        case stillMissing = "still-missing"
        /// The item is new in the inventory.
        case added
        /// The item is no longer in the inventory.
        case removed
        /// The item now belongs to another place.
        case moved
        /// The item now has another beacon.
        case rebeaconed = "other-beacon"
    }

    public let kind: Kind
    public let id: String
    public let name: String
    /// The state, place or beacon in the previous count; `nil` if there was none.
    public let before: String?
    /// The state, place or beacon in this count; `nil` if there is none.
    public let after: String?

    /// Returns the changes in the order of the new inventory, followed by the removed items.
    static func between(_ old: [ItemOutcome], _ new: [ItemOutcome]) -> [ItemChange] {
        let earlier = Dictionary(old.map { ($0.item.id, $0) }) { first, _ in first }
        var changes: [ItemChange] = []
        for after in new {
            let item = after.item
            func add(_ kind: Kind, _ before: String?, _ after: String?) {
                changes.append(ItemChange(kind: kind, id: item.id, name: item.name, before: before, after: after))
            }
            guard let before = earlier[item.id] else {
                add(.added, nil, after.state.rawValue)
                continue
            }
            switch (before.state == .found, after.state == .found) {
            case (_, false) where after.state == .heard: add(.notNear, before.state.rawValue, after.state.rawValue)
            case (true, false): add(.lost, before.state.rawValue, after.state.rawValue)
            case (false, true): add(.foundAgain, before.state.rawValue, after.state.rawValue)
            case (false, false): add(.stillMissing, before.state.rawValue, after.state.rawValue)
            case (true, true): break
            }
            if before.item.place != item.place { add(.moved, before.item.place, item.place) }
            if before.item.beacon != item.beacon { add(.rebeaconed, "\(before.item.beacon)", "\(item.beacon)") }
        }
        let newIDs = Set(new.map(\.item.id))
        for before in old where !newIDs.contains(before.item.id) {
            changes.append(
                ItemChange(
                    kind: .removed, id: before.item.id, name: before.item.name, before: before.state.rawValue,
                    after: nil))
        }
        return changes
    }
}
