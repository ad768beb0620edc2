internal import Airtime
internal import BluetoothTypes
public import Configuration
public import Sightings
public import Sites

/// What can be said of an inventory without listening: whether its things can be found in time.
public struct InventoryCheck: Hashable, Sendable {
    /// Whether one beacon can be found within six seconds.
    public struct Beacon: Hashable, Sendable {
        public let item: String
        public let beacon: BeaconIdentity
        /// `nil` where nobody knows it.
        public let intervalMicroseconds: Int?
        /// The chance to find it within six rounds, 0...1, when every second advertisement is lost.
        public let chance: Double?

        /// Whether it can be found in time as a rule; `nil` where nobody knows.
        public var isFastEnough: Bool? { chance.map { $0 >= CountRule.goal } }
    }

    public let beacons: [Beacon]
    /// What the author should know, one sentence each.
    public let warnings: [String]

    /// - Parameters:
    ///   - known: Beacons of other files, whose intervals count where the inventory says none.
    ///   - heard: Intervals that counts have learned, in microseconds.
    ///   - site: The plan; `nil` where there is none.
    ///   - missingPhotos: Pictures that are not there.
    public init(
        _ inventory: Inventory, known: [KnownBeacon] = [], heard: [BeaconIdentity: Int] = [:], site: Site? = nil,
        missingPhotos: [String] = []
    ) {
        let others = Dictionary(
            known.compactMap { beacon in beacon.identity.flatMap { id in beacon.intervalMicroseconds.map { (id, $0) } }
            }
        ) { first, _ in first }
        let own = inventory.knownBeacons
        beacons = zip(inventory.items, own).map { item, beacon in
            let interval = beacon.intervalMicroseconds ?? others[item.beacon] ?? heard[item.beacon]
            return Beacon(
                item: item.id, beacon: item.beacon, intervalMicroseconds: interval,
                chance: interval.map(CountRule.chance(intervalMicroseconds:)))
        }
        var warnings: [String] = []
        if inventory.items.isEmpty { warnings.append("there is nothing in it yet: `pharos inventory add`") }
        for beacon in beacons where beacon.isFastEnough == false {
            let interval = beacon.intervalMicroseconds.map { DecimalText.thousandths($0) } ?? "?"
            warnings.append(
                "\(beacon.item): at an interval of \(interval) ms it is found within 6 s in "
                    + "\(Int(((beacon.chance ?? 0) * 100).rounded())) % of the cases; send it every 300 ms or more often"
            )
        }
        if case .sharedQueue(let capacity) = inventory.rule.memory {
            let needed = CountRule.neededHits * inventory.items.count
            warnings.append(
                "all beacons share one queue of \(capacity): with \((capacity - 1) / 3 + 1) or more of them near "
                    + "none is found" + (needed > capacity ? "; all of these take \(needed)" : "")
                    + "; \"rule\": \"window\" has no such limit")
        }
        let noPlace = inventory.items.filter { inventory.position(of: $0) == nil }
        if inventory.site != nil, !noPlace.isEmpty {
            warnings.append(
                "\(noPlace.count) of the items are on no plan, such as \(noPlace[0].id): give a position, or a place that has one"
            )
        }
        if let outline = site?.outline {
            for item in inventory.items {
                guard let place = inventory.position(of: item) else { continue }
                let position = FloorPosition(x: Double(place.east) / 1000, y: Double(place.north) / 1000)
                if !outline.contains(position) {
                    warnings.append("\(item.id): \(place.json.line) lies outside of the site's outline")
                }
            }
        }
        warnings += missingPhotos.map { "\($0): there is no such picture" }
        self.warnings = warnings
    }

    /// One object.
    ///
    /// - Parameter problems: What else is wrong, one sentence each.
    public func json(file: String, problems: [String] = []) -> JSONValue {
        .record([
            ("file", .string(file)), ("good", .boolean(problems.isEmpty)),
            ("problems", .array(problems.map(JSONValue.string))),
            ("warnings", .array(warnings.map(JSONValue.string))),
            (
                "beacons",
                .array(
                    beacons.map { beacon in
                        .record([
                            ("item", .string(beacon.item)), ("beacon", .string("\(beacon.beacon)")),
                            ("intervalMs", CountLog.thousandths(beacon.intervalMicroseconds)),
                            ("chance6S", CountLog.thousandths(beacon.chance.map { Int(($0 * 1000).rounded()) })),
                            ("fastEnough", .optional(beacon.isFastEnough, JSONValue.boolean)),
                        ])
                    })
            ),
        ])
    }
}
