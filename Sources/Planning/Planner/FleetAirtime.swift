package import Airtime
internal import BluetoothTypes
public import Configuration
public import Fleet

/// The airtime of each site of a fleet, on the assumption that one receiver receives all beacons of the site.
public struct FleetAirtime: Sendable {
    /// The airtime of one site.
    public struct Site: Sendable {
        /// The name of the site; empty for beacons without a site.
        public let name: String
        public let beacons: Int
        public let advertisements: Int
        /// The probability that a packet does not collide with another packet; nil if the model does not cover the
        /// traffic.
        public let collisionFreeProbability: Double?
    }

    /// The sites in the order of the fleet file.
    public let sites: [Site]

    /// The largest number of sites in ``text``.
    private static let siteLimit = 50
    /// Below this probability a site gets a warning.
    private static let leastProbability = 0.5

    /// Computes the airtime of the advertisements of a fleet.
    public init(_ traffic: FleetTraffic) {
        sites = traffic.sites.map { site in
            Site(
                name: site.name, beacons: site.beacons, advertisements: site.advertisements,
                collisionFreeProbability: (try? Self.model(site))?.collisionFreeProbability)
        }
    }

    private static func model(_ site: FleetTraffic.Site) throws(AirtimeError) -> MachineCollisionModel {
        let machines = try site.machines.map { kind throws(AirtimeError) in
            try AdvertisingMachines(
                count: kind.count,
                advertisements: kind.advertisements.map { advertisement throws(AirtimeError) in try advertisement.group
                })
        }
        return try MachineCollisionModel(machines: machines)
    }

    /// Returns a warning for each site in which less than half of the packets are free of collisions.
    public func warnings(for fleet: Fleet) -> [FileProblem] {
        sites.compactMap { site in
            guard let probability = site.collisionFreeProbability, probability < Self.leastProbability else {
                return nil
            }
            let percent = Int((probability * 100).rounded())
            let owner = site.name.isEmpty ? "the fleet without a site" : "the site \"\(site.name)\""
            return fleet.warning(
                "for a receiver that receives all \(site.beacons) beacons of \(owner), only \(percent) % of packets are "
                    + "free of collisions: use longer intervals (`pharos plan interval` computes them), or find out "
                    + "with `pharos plan site` how many beacons a receiver receives at once", site: site.name)
        }
    }

    /// A table with a row for each site, at most 50; empty if the model covers no site.
    public var text: String {
        let computed = sites.filter { $0.collisionFreeProbability != nil }
        guard !computed.isEmpty else { return "" }
        var table = Table(
            ["site", "beacons", "advertisements", "free of collisions (%)"], alignment: [.left, .right, .right, .right])
        for site in computed.prefix(Self.siteLimit) {
            let percent = site.collisionFreeProbability.map { 100 * $0 }
            table.add([
                site.name.isEmpty ? NumberFormat.none : site.name, "\(site.beacons)", "\(site.advertisements)",
                NumberFormat.fixed(percent, 1),
            ])
        }
        let rest = computed.count - Self.siteLimit
        return table.text + (rest > 0 ? "and \(rest) more sites\n" : "")
    }

    /// All sites, for programs.
    public var json: JSONValue {
        .array(
            sites.map { site in
                .record([
                    ("name", .string(site.name)), ("beacons", .integer(site.beacons)),
                    ("advertisements", .integer(site.advertisements)),
                    (
                        "collisionFreeProbability",
                        .optional(site.collisionFreeProbability) { .decimal("\($0)") }
                    ),
                ])
            })
    }
}

extension FleetTraffic.Advertisement {
    /// A group of one advertiser that sends this advertisement.
    package var group: AdvertiserGroup {
        get throws(AirtimeError) {
            if let phy {
                let extended = try ExtendedTraffic(phy, payloadOctets: payloadOctets)
                return try AdvertiserGroup(count: 1, interval: interval, extended: extended)
            }
            return try AdvertiserGroup(
                count: 1, interval: interval,
                airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: payloadOctets))
        }
    }
}
