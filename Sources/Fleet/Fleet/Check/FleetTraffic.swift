public import BluetoothTypes

/// The advertisements of the machines of a fleet by site, with their intervals and lengths. It does not contain names,
/// identities or positions.
public struct FleetTraffic: Sendable {
    /// The sites that have beacons, in the order of the fleet file or manifest.
    public private(set) var sites: [Site] = []
    /// The position of each site in ``sites``, by its name.
    private var siteIndices: [String: Int] = [:]

    /// An advertisement of a machine.
    public struct Advertisement: Hashable, Sendable {
        /// The type in profiles, such as `eddystone-uid`.
        public var type: String
        /// The advertising interval; with a pattern, the constant interval with the same mean number of advertising
        /// events per second.
        public var interval: AdvertisingInterval
        /// The pattern of alternating intervals; `nil` for a constant interval.
        public var pattern: AdvertisingPattern?
        /// The PHYs of an extended advertisement; `nil` for legacy PDUs.
        public var phy: ExtendedPHY?
        /// The length of the advertising data, 0...31 bytes, or 0...1650 in extended PDUs.
        public var payloadOctets: Int

        /// - Parameter payloadOctets: The length of the advertising data, 0...31 bytes, or 0...1650 in extended PDUs.
        public init(
            type: String, interval: AdvertisingInterval, pattern: AdvertisingPattern? = nil, phy: ExtendedPHY? = nil,
            payloadOctets: Int
        ) {
            self.type = type
            self.interval = interval
            self.pattern = pattern
            self.phy = phy
            self.payloadOctets = payloadOctets
        }
    }

    /// The machines of one site.
    public struct Site: Sendable {
        /// The name of the site; empty for beacons without a site.
        public var name: String
        /// For each list of advertisements, the number of machines that send this list.
        private var counts: [[Advertisement]: Int] = [:]

        init(_ name: String) { self.name = name }

        mutating func addMachine(_ advertisements: [Advertisement]) { counts[advertisements, default: 0] += 1 }

        public var beacons: Int { counts.values.reduce(0, +) }
        public var advertisements: Int { counts.reduce(0) { $0 + $1.key.count * $1.value } }

        /// Each list of advertisements with the number of machines that send it, sorted by the advertisements.
        public var machines: [(advertisements: [Advertisement], count: Int)] {
            counts.sorted { left, right in
                left.key.lexicographicallyPrecedes(right.key) { $0.order < $1.order }
            }.map { ($0.key, $0.value) }
        }
    }

    /// Creates traffic without machines.
    public init() {}

    /// Returns the position of a site in ``sites``. If the site does not exist yet, it is added at the end.
    @discardableResult
    mutating func begin(site: String) -> Int {
        if let index = siteIndices[site] { return index }
        siteIndices[site] = sites.count
        sites.append(Site(site))
        return sites.count - 1
    }

    var withoutEmptySites: FleetTraffic {
        var result = self
        result.sites.removeAll { $0.beacons == 0 }
        result.siteIndices = Dictionary(
            result.sites.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        return result
    }

    /// Adds a machine of a site, which sends these advertisements.
    mutating func addMachine(_ advertisements: [Advertisement], site: String) {
        sites[begin(site: site)].addMachine(advertisements)
    }

    /// Adds a beacon of a manifest.
    ///
    /// - Returns: `false` if the beacon is not added, because it has no advertisements or an interval that no
    ///   controller supports.
    public mutating func add(_ beacon: FleetManifest.Beacon) -> Bool {
        let advertisements = beacon.advertisements.compactMap(\.traffic)
        guard !advertisements.isEmpty, advertisements.count == beacon.advertisements.count else { return false }
        addMachine(advertisements, site: beacon.site ?? "")
        return true
    }
}

extension FleetTraffic.Advertisement {
    fileprivate var order: (AdvertisingInterval, Int, String, String, String) {
        (interval, payloadOctets, type, pattern?.description ?? "", phy?.rawValue ?? "")
    }
}

extension FleetManifest.Advertisement {
    /// The type, the interval and the length of this advertisement; `nil` for an interval that no controller supports.
    public var traffic: FleetTraffic.Advertisement? {
        guard let interval = AdvertisingInterval(microseconds: intervalMicroseconds),
            AdvertisingInterval.extendedRange.contains(interval)
        else { return nil }
        return .init(type: type, interval: interval, pattern: pattern, phy: phy, payloadOctets: payloadOctetCount)
    }
}
