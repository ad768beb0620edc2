internal import Airtime
internal import BluetoothTypes

/// What is sent on each site.
struct SiteAir: Sendable {
    private let fleet: Fleet
    /// For each group the number of its site.
    private let siteNumbers: [Int]
    private var names: [String] = []
    private var beacons: [Int] = []
    private var shapes: [Int: Int] = [:]
    private var traffic: [Kind: Int] = [:]
    private var last: (key: Int, count: Int) = (-1, 0)

    private struct Kind: Hashable {
        var site: Int
        var interval: AdvertisingInterval
        var octets: Int
    }

    init(_ fleet: Fleet) {
        self.fleet = fleet
        var numbers: [String: Int] = [:]
        var names: [String] = []
        siteNumbers = fleet.groups.map { group in
            let name = group.path.first ?? ""
            if let known = numbers[name] { return known }
            numbers[name] = names.count
            names.append(name)
            return names.count - 1
        }
        self.names = names
        beacons = [Int](repeating: 0, count: names.count)
    }

    mutating func add(_ shape: Shape, _ number: Int?, group: Int) {
        let site = siteNumbers[group]
        beacons[site] += 1
        guard let number else {
            add(shape, site: site, count: 1)
            return
        }
        let key = site << 32 | number
        if key == last.key {
            last.count += 1
        } else {
            if last.count > 0 { shapes[last.key, default: 0] += last.count }
            last = (key, 1)
        }
    }

    private mutating func add(_ shape: Shape, site: Int, count: Int) {
        for advertisement in shape.advertisements {
            let kind = Kind(site: site, interval: advertisement.interval, octets: advertisement.octets)
            traffic[kind, default: 0] += count
        }
    }

    /// All sites with beacons, in the order of the fleet file.
    func sites(_ table: ShapeTable) -> [FleetReport.Site] {
        var whole = self
        if last.count > 0 { whole.shapes[last.key, default: 0] += last.count }
        for (key, count) in whole.shapes where key & 0xFFFF_FFFF < table.shapes.count {
            whole.add(table.shapes[key & 0xFFFF_FFFF], site: key >> 32, count: count)
        }
        var groups = [[AdvertiserGroup]](repeating: [], count: names.count)
        var advertisements = [Int](repeating: 0, count: names.count)
        let ordered = whole.traffic.sorted { left, right in
            (left.key.interval, left.key.octets) < (right.key.interval, right.key.octets)
        }
        for (kind, count) in ordered {
            advertisements[kind.site] += count
            guard
                let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: kind.octets),
                let group = try? AdvertiserGroup(
                    count: count, intervalMicroseconds: Double(kind.interval.microseconds), airtimeMicroseconds: airtime
                )
            else { continue }
            groups[kind.site].append(group)
        }
        return names.indices.filter { beacons[$0] > 0 }.map { site in
            FleetReport.Site(
                name: names[site], beacons: beacons[site], advertisements: advertisements[site],
                collisionFreeProbability: (try? CollisionModel(groups: groups[site]))?.collisionFreeProbability)
        }
    }
}
