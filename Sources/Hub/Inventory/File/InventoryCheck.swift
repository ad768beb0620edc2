internal import Airtime
internal import BluetoothTypes
public import Configuration
public import Sightings
public import Sites

/// Computes, without receiving, whether the items of an inventory can be found within six seconds.
public struct InventoryCheck: Hashable, Sendable {
    /// An item's beacon, and the probability that it is found within six seconds.
    public struct Beacon: Hashable, Sendable {
        public let item: String
        public let beacon: BeaconIdentity
        /// The advertising interval in microseconds; `nil` if it is not known.
        public let intervalMicroseconds: Int?
        /// The probability that the beacon is found within six rounds, 0...1, if half of the advertisements are
        /// lost; `nil` if the interval is not known.
        public let chance: Double?

        /// True if the probability reaches ``CountRule/goal``; `nil` if the probability is not known.
        public var isFastEnough: Bool? { chance.map { $0 >= CountRule.goal } }
    }

    public let beacons: [Beacon]
    /// Warnings, one sentence each.
    public let warnings: [String]

    /// - Parameters:
    ///   - known: Beacons of other files. Their intervals are used for beacons whose interval is not in the inventory.
    ///   - learned: Intervals that counts have learned, in microseconds. They are used for beacons whose interval is in
    ///     no file.
    ///   - site: The site that the inventory names; `nil` if it names none.
    ///   - wrongPhotos: The problems of pictures, one sentence each.
    public init(
        _ inventory: Inventory, known: [KnownBeacon] = [], learned: [BeaconIdentity: Int] = [:], site: Site? = nil,
        wrongPhotos: [String] = []
    ) {
        let otherIntervals = Dictionary(
            known.compactMap { beacon in beacon.identity.flatMap { id in beacon.intervalMicroseconds.map { (id, $0) } }
            }
        ) { first, _ in first }
        let itemBeacons = inventory.knownBeacons
        beacons = zip(inventory.items, itemBeacons).map { item, beacon in
            let interval = beacon.intervalMicroseconds ?? otherIntervals[item.beacon] ?? learned[item.beacon]
            return Beacon(
                item: item.id, beacon: item.beacon, intervalMicroseconds: interval,
                chance: interval.map(CountRule.chance(intervalMicroseconds:)))
        }
        var warnings: [String] = []
        if inventory.items.isEmpty {
            warnings.append("the inventory has no items yet: add them with `pharos inventory add`")
        }
        for beacon in beacons where beacon.isFastEnough == false {
            let interval = beacon.intervalMicroseconds.map { DecimalText.thousandths($0) } ?? "?"
            warnings.append(
                "\(beacon.item): the interval of \(interval) ms is too long: the item is found within 6 s in "
                    + "\(Int(((beacon.chance ?? 0) * 100).rounded())) % of the cases; use 300 ms or less"
            )
        }
        let beaconsWithPower = Set(
            (known + itemBeacons).filter { $0.calibrationAtOneMeter != nil }.compactMap(\.identity))
        let withoutPower = inventory.items.filter {
            $0.beacon.kind == "address" && !beaconsWithPower.contains($0.beacon)
        }
        if let first = withoutPower.first {
            warnings.append(
                "\(Self.items(withoutPower.count)) known only by an address, such as \(first.id): the distance is "
                    + "known only if the advertisements state a power, as those of iBeacon and Eddystone do; otherwise "
                    + "give measuredPowerAt1mDbm of the beacon, or a fleet or profile with --known")
        }
        if case .sharedQueue(let capacity) = inventory.rule.memory {
            let needed = CountRule.neededHits * inventory.items.count
            warnings.append(
                "all beacons share one queue of \(capacity) sightings: if \((capacity - 1) / 3 + 1) or more beacons "
                    + "are near, none is found" + (needed > capacity ? "; these items need a queue of \(needed)" : "")
                    + "; \"rule\": \"window\" has no such limit")
        }
        let withoutPosition = inventory.items.filter { inventory.position(of: $0) == nil }
        if inventory.site != nil, !withoutPosition.isEmpty {
            warnings.append(
                "\(withoutPosition.count) items have no position, such as \(withoutPosition[0].id): give a position, "
                    + "or a place that has one"
            )
        }
        if let outline = site?.outline {
            for item in inventory.items {
                guard let place = inventory.position(of: item) else { continue }
                let position = FloorPosition(x: Double(place.east) / 1000, y: Double(place.north) / 1000)
                if !outline.contains(position) {
                    warnings.append("\(item.id): \(place.json.line) is outside the site's outline")
                }
            }
        }
        warnings += wrongPhotos
        self.warnings = warnings
    }

    /// The result as lines for a terminal.
    ///
    /// - Parameter problems: Further problems, one sentence each.
    public func text(file: String, problems: [String] = []) -> String {
        var lines = problems + warnings.map { "\(file): warning: \($0)" }
        if problems.isEmpty {
            let withInterval = beacons.count { $0.isFastEnough != nil }
            lines.append(
                "\(file): \(Self.items(beacons.count)). Fast enough to be found within 6 s: "
                    + "\(Self.items(beacons.count { $0.isFastEnough == true })). Unknown interval: "
                    + "\(Self.items(beacons.count - withInterval)).")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

    /// The result as one JSON object.
    ///
    /// - Parameter problems: Further problems, one sentence each.
    public func json(file: String, problems: [String] = []) -> JSONValue {
        Self.json(file: file, problems: problems, warnings, beacons)
    }

    /// The result for a file that cannot be decoded, as one JSON object.
    public static func json(file: String, problems: [String]) -> JSONValue {
        json(file: file, problems: problems, [], [])
    }

    private static func json(
        file: String, problems: [String], _ warnings: [String], _ beacons: [Beacon]
    ) -> JSONValue {
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
