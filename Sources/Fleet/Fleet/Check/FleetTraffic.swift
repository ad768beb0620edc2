public import BluetoothTypes

/// What a fleet sends, site by site: how many boxes send which advertisements, how often and how long. Their names,
/// identities and places play no part in it.
public struct FleetTraffic: Sendable {
    /// In the order of the fleet file or manifest; none without a beacon.
    public private(set) var sites: [Site] = []
    private var numbers: [String: Int] = [:]

    /// One advertisement of a box.
    public struct Advertisement: Hashable, Sendable {
        /// As in profiles, such as `eddystone-uid`.
        public var type: String
        public var interval: AdvertisingInterval
        /// Octets of advertising data.
        public var payloadOctets: Int

        /// - Parameter payloadOctets: 0...31.
        public init(type: String, interval: AdvertisingInterval, payloadOctets: Int) {
            self.type = type
            self.interval = interval
            self.payloadOctets = payloadOctets
        }
    }

    /// The boxes of one site.
    public struct Site: Sendable {
        /// Empty for beacons without a site.
        public var name: String
        private var counts: [[Advertisement]: Int] = [:]

        init(_ name: String) { self.name = name }

        mutating func add(_ advertisements: [Advertisement], count: Int) {
            counts[advertisements, default: 0] += count
        }

        public var beacons: Int { counts.values.reduce(0, +) }
        public var advertisements: Int { counts.reduce(0) { $0 + $1.key.count * $1.value } }

        /// Boxes that send the same, in an order that depends on nothing else.
        public var boxes: [(advertisements: [Advertisement], count: Int)] {
            counts.sorted { left, right in
                left.key.lexicographicallyPrecedes(right.key) { $0.order < $1.order }
            }.map { ($0.key, $0.value) }
        }
    }

    /// Of no box.
    public init() {}

    /// The number of a site; sites stand in the order in which they were begun.
    @discardableResult
    mutating func begin(site: String) -> Int {
        if let known = numbers[site] { return known }
        numbers[site] = sites.count
        sites.append(Site(site))
        return sites.count - 1
    }

    var withoutEmptySites: FleetTraffic {
        var result = self
        result.sites.removeAll { $0.beacons == 0 }
        result.numbers = Dictionary(
            result.sites.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        return result
    }

    /// Counts so many boxes of a site.
    mutating func add(_ advertisements: [Advertisement], count: Int = 1, site: String) {
        sites[begin(site: site)].add(advertisements, count: count)
    }

    /// Counts a box of a manifest.
    ///
    /// - Returns: `false`, and nothing is counted, for a box that sends nothing, or at intervals that no controller
    ///   knows.
    public mutating func add(_ beacon: FleetManifest.Beacon) -> Bool {
        let advertisements = beacon.advertisements.compactMap(\.traffic)
        guard !advertisements.isEmpty, advertisements.count == beacon.advertisements.count else { return false }
        add(advertisements, site: beacon.site ?? "")
        return true
    }
}

extension FleetTraffic.Advertisement {
    fileprivate var order: (AdvertisingInterval, Int, String) { (interval, payloadOctets, type) }
}

extension FleetManifest.Advertisement {
    /// How often and how long it is sent; `nil` for an interval that no controller knows.
    public var traffic: FleetTraffic.Advertisement? {
        guard let interval = AdvertisingInterval(microseconds: intervalMicroseconds),
            AdvertisingInterval.extendedRange.contains(interval)
        else { return nil }
        return .init(type: type, interval: interval, payloadOctets: payloadOctetCount)
    }
}
