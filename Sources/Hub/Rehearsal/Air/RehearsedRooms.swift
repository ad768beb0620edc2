internal import Airtime
internal import Collector
internal import Configuration
internal import Sightings
internal import Sites

/// Runs the collector of Pharos: passes it a line of each receiver every second, and counts how long the collector
/// reports a right or a wrong room for each beacon.
struct RehearsedRooms {
    private var collector: SightingCollector
    private let fleet: RehearsedFleet
    private let receivers: [String]
    private let startMilliseconds: Int
    /// By receiver, then by beacon: the number of reports in the current second.
    private var counts: [[Int32]]
    /// By receiver, then by beacon: the sum of the levels of the reports in the current second, in dBm.
    private var sums: [[Float]]
    private var identities: [String?]
    /// The end of the current second, in µs.
    private var secondEnd = 1_000_000
    /// The time in µs after which nothing is passed to the collector.
    let end: Int
    /// The times in µs in which the broker cannot be reached.
    private let brokerAbsences: [Range<Int>]

    /// The results of the collector for one beacon.
    struct Finding {
        var falseExits = 0
        var roomSeconds = 0
        var wrongSeconds = 0
        /// The expected time in a wrong room in ms: the sum, over all seconds, of the collector's own probability that
        /// the beacon is in another room than it reports.
        var expectedWrong = 0
        fileprivate var room: String?
        fileprivate var probability = 0.0
    }
    private(set) var findings: [Finding]
    /// By beacon: the room that contains the beacon; nil if no room does.
    private let rooms: [String?]
    /// By beacon: the time in µs from which a planted fault may cause an exit; `Int.max` without such a fault.
    private let leavesAt: [Int]
    private let indexOfName: [String: Int]

    /// The product of the number of beacons and the number of seconds for which the collector runs. The collector does
    /// not run to the end of a long rehearsal, because it takes more computing time than the rest of the rehearsal.
    private static let beaconSeconds = 30_000

    /// - Returns: nil if the site has no rooms or no receivers.
    init?(_ rehearsal: Rehearsal, end: Int) {
        fleet = rehearsal.fleet
        guard let site = fleet.site, !site.rooms.isEmpty, !site.receivers.isEmpty,
            let file = Self.file(site, fleet)
        else { return nil }
        collector = SightingCollector(file, RoomPlan(file, sites: [site]))
        receivers = site.receivers.map(\.name)
        startMilliseconds = fleet.startUnixSeconds * 1000
        let beacons = fleet.beacons.count
        counts = Array(repeating: Array(repeating: 0, count: beacons), count: receivers.count)
        sums = Array(repeating: Array(repeating: 0, count: beacons), count: receivers.count)
        identities = fleet.beacons.map { $0.sent.lazy.compactMap(\.identity).first.map { "\($0)" } }
        self.end = min(end, Self.beaconSeconds / beacons * 1_000_000)
        brokerAbsences = rehearsal.options.faults.filter { $0.kind == .brokerAway }.map {
            Int($0.atS * 1e6)..<Int(($0.atS + $0.forS) * 1e6)
        }
        findings = Array(repeating: Finding(), count: beacons)
        rooms = fleet.beacons.map { beacon in
            site.rooms.first { $0.outline.contains(beacon.place.position) }?.name
        }
        leavesAt = fleet.beacons.map { beacon in
            let faults = rehearsal.options.faults.filter { fault in
                fault.subject == beacon.name && [.stops, .identity, .weak, .interval].contains(fault.kind)
            }
            return faults.map { Int($0.atS * 1e6) }.min() ?? Int.max
        }
        indexOfName = Dictionary(fleet.beacons.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// The configuration file of the collector for the floor.
    private static func file(_ site: Site, _ fleet: RehearsedFleet) -> CollectorFile? {
        let rooms = site.rooms.map { room in
            JSONValue.record([
                ("name", .string(room.name)),
                ("outline", .array(room.outline.corners.map { .array([.rounded($0.x), .rounded($0.y)]) })),
            ])
        }
        let receivers = site.receivers.map { receiver in
            JSONValue.record([
                ("name", .string(receiver.name)),
                ("position", .array([.rounded(receiver.position.x), .rounded(receiver.position.y)])),
            ])
        }
        let beacons = fleet.beacons.compactMap { beacon in
            beacon.sent.lazy.compactMap(\.identity).first.map { identity in
                JSONValue.record([("name", .string(beacon.name)), ("identity", .string("\(identity)"))])
            }
        }
        let floor = JSONValue.record([
            ("name", "floor"), ("site", .string("site.json")), ("rooms", .array(rooms)),
        ])
        let file = JSONValue.record([
            ("version", 1), ("name", "rehearsal"), ("floors", .array([floor])), ("receivers", .array(receivers)),
            ("beacons", .array(beacons)),
        ])
        return CollectorFile.decode(Array(file.line.utf8)).file
    }

    /// Counts a received packet.
    mutating func receive(_ beacon: Int, by receiver: Int, level: Float, at time: Int) {
        advance(to: time)
        guard time < end else { return }
        counts[receiver][beacon] += 1
        sums[receiver][beacon] += level
    }

    /// Passes the lines of all completed seconds to the collector.
    mutating func advance(to time: Int) {
        while secondEnd <= min(time, end) {
            let now = secondEnd
            secondEnd += 1_000_000
            for index in findings.indices { countSecond(index) }
            let isBrokerAway = brokerAbsences.contains { $0.contains(now) }
            for receiver in receivers.indices {
                var line = ReceiverLine(
                    receiver: receivers[receiver], unixMilliseconds: startMilliseconds + now / 1000)
                line.isListening = true
                for beacon in counts[receiver].indices where counts[receiver][beacon] > 0 {
                    let count = counts[receiver][beacon]
                    line.beacons.append(
                        ReceiverLine.Beacon(
                            name: fleet.beacons[beacon].name, identity: identities[beacon], reports: Int(count),
                            level: Double(sums[receiver][beacon]) / Double(count)))
                    counts[receiver][beacon] = 0
                    sums[receiver][beacon] = 0
                }
                guard !isBrokerAway else { continue }
                let arrival = startMilliseconds + now / 1000
                for event in collector.process(line, from: nil, arrival: arrival, isLive: true) { note(event, at: now) }
            }
        }
    }

    /// Counts a second in the room that the collector reports for a beacon.
    private mutating func countSecond(_ index: Int) {
        guard let room = findings[index].room, let trueRoom = rooms[index] else { return }
        findings[index].roomSeconds += 1
        findings[index].expectedWrong += Int((1 - findings[index].probability) * 1000)
        if room != trueRoom { findings[index].wrongSeconds += 1 }
    }

    private mutating func note(_ event: SightingCollector.Event, at now: Int) {
        guard let name = event.beacon, let index = indexOfName[name] else { return }
        switch event.kind {
        case .exit:
            // After a fault that takes the beacon off the air, an exit is correct.
            if now < leavesAt[index] { findings[index].falseExits += 1 }
            findings[index].room = nil
        case .unknown: findings[index].room = nil
        default:
            findings[index].room = event.room
            findings[index].probability = event.probability ?? 1
        }
    }
}
