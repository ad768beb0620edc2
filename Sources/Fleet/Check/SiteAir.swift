/// Counts what is sent on each site.
struct SiteAir: Sendable {
    /// For each group the number of its site.
    private let siteNumbers: [Int]
    private let names: [String]
    /// How many boxes there are of each shape on each site; the site's number stands in the upper half of the key.
    private var shapes: [Int: Int] = [:]
    /// All sites, and the boxes of shapes without a number.
    private var traffic = FleetTraffic()
    private var last: (key: Int, count: Int) = (-1, 0)

    init(_ fleet: Fleet) {
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
        for name in names { traffic.begin(site: name) }
    }

    mutating func add(_ shape: Shape, _ number: Int?, group: Int) {
        let site = siteNumbers[group]
        guard let number else {
            traffic.add(shape.traffic, site: names[site])
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

    /// All sites with beacons, in the order of the fleet file.
    func traffic(_ table: ShapeTable) -> FleetTraffic {
        var shapes = self.shapes
        if last.count > 0 { shapes[last.key, default: 0] += last.count }
        var traffic = self.traffic
        for (key, count) in shapes where key & 0xFFFF_FFFF < table.shapes.count {
            traffic.add(table.shapes[key & 0xFFFF_FFFF].traffic, count: count, site: names[key >> 32])
        }
        return traffic.withoutEmptySites
    }
}

extension Shape {
    fileprivate var traffic: [FleetTraffic.Advertisement] {
        advertisements.map { .init(type: $0.type, interval: $0.interval, payloadOctets: $0.octets) }
    }
}
