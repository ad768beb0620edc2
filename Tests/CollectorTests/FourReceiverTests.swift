import Airtime
import Collector
import Configuration
import Positioning
import Sites
import Testing

/// The published scenario of four receivers in the corners of a flat with two rooms, and two walks through it.
struct FourReceivers {
    static let receivers: [(x: Double, y: Double)] = [(0.2, 3.8), (0.2, 0.2), (5.8, 3.8), (5.8, 0.2)]
    static let diagonal = walk([(0.5, 0.5), (3, 2), (5.5, 3.5)])
    static let across = walk([(1, 2), (3, 2), (3.9, 2), (4.1, 2), (5, 2)])

    private static func walk(_ points: [(Double, Double)]) -> [FloorPosition] {
        var result = [FloorPosition(x: points[0].0, y: points[0].1)]
        for (from, to) in zip(points, points.dropFirst()) {
            for step in 1...30 {
                let share = Double(step) / 30
                result.append(
                    FloorPosition(x: from.0 + (to.0 - from.0) * share, y: from.1 + (to.1 - from.1) * share))
            }
        }
        return result
    }

    static func collector() throws -> SightingCollector {
        let text = """
            {"version":1,"name":"flat","floors":[{"name":"ground","site":"flat.json","rooms":[
              {"name":"living","outline":[[-0.2,-0.2],[4,-0.2],[4,4.2],[-0.2,4.2]]},
              {"name":"bedroom","outline":[[4,-0.2],[6.2,-0.2],[6.2,4.2],[4,4.2]]}]}],
             "receivers":[\(receivers.enumerated().map { "{\"name\":\"r\($0)\",\"position\":[\($1.x),\($1.y)]}" }.joined(separator: ","))],
             "beacons":[{"name":"tag","identity":"address:C0:01:02:03:04:05","measuredPowerAt1mDbm":-59}],
             "cellM":0.2,"fastestMPerS":0.172}
            """
        let site = """
            {"version":1,"name":"flat","outline":[[0,0],[6,0],[6,4],[0,4]],"beacons":[{"name":"b","position":[1,1]}],
             "pathLoss":{"model":"log-distance","lossAt1mDb":59,"exponent":3,"shadowingDb":2.5},
             "receiverSensitivityDbm":-100,"target":{"detectWithinS":10,"probability":0.9}}
            """
        let (file, problems) = CollectorFile.decode(Array(text.utf8))
        let (plan, faults) = Site.decode(Array(site.utf8))
        #expect(problems.isEmpty && !faults.contains(where: \.isError), "\(problems) \(faults)")
        let whole = try #require(file)
        return SightingCollector(whole, RoomPlan(whole, sites: [try #require(plan)]))
    }

    /// Returns the receivers' levels of a beacon: a standard deviation of 2.5 dB, and 6 dB less in every tenth sample.
    static func levels(at place: FloorPosition, _ random: inout SeededRandom) -> [Double] {
        receivers.map { receiver in
            let distance = max(0.001, place.distance(to: FloorPosition(x: receiver.x, y: receiver.y)))
            return -59 - 30 * log10(distance) + 2.5 * random.normal() - (random.share() < 0.1 ? 6 : 0)
        }
    }
}

/// Numbers that are the same in each run.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func share() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
    mutating func normal() -> Double { (-2 * log(1 - share())).squareRoot() * cos(2 * Double.pi * share()) }
}

/// A beacon's state in the state file.
private struct Seen {
    let room: String?
    let isKnown: Bool
    let isPresent: Bool
    let position: FloorPosition?

    init?(_ collector: SightingCollector) {
        guard let first = collector.beaconsJSON.first,
            let node = JSONDocument.parse(Array(first.line.utf8)).root
        else { return nil }
        room = node["room"]?.string
        isKnown = node["known"]?.isTrue ?? false
        isPresent = node["present"]?.string == "ON"
        position = node["position"].flatMap { place in
            guard let x = place["x"]?.thousandths, let y = place["y"]?.thousandths else { return nil }
            return FloorPosition(x: Double(x) / 1000, y: Double(y) / 1000)
        }
    }
}

@Suite struct FourReceiverTests {
    /// Near a door the room may be unknown for a while. If a room is reported, it is right.
    @Test(arguments: [("diagonal", 0.05, 0.15), ("across", 0.12, 0.35)])
    func theRoomIsRightAndTheErrorSmall(walk: String, limit: Double, longestUnknown: Double) throws {
        var random = SeededRandom(7)
        let track = walk == "diagonal" ? FourReceivers.diagonal : FourReceivers.across
        var (wrong, unknown, beside, total, errors) = (0, 0, 0, 0, [Double]())
        let fresh = try FourReceivers.collector()
        for _ in 0..<12 {
            var collector = fresh
            for (second, place) in track.enumerated() {
                let time = 1_000_000_000_000 + second * 1000
                for (number, level) in FourReceivers.levels(at: place, &random).enumerated() {
                    let heard = ReceiverLine.Beacon(name: "tag", level: level)
                    _ = collector.process(
                        ReceiverLine(receiver: "r\(number)", unixMilliseconds: time + 10, beacons: [heard]),
                        from: nil, arrival: time)
                }
                _ = collector.advance(to: time + 1010)
                let seen = try #require(Seen(collector))
                let truth = place.x > 4 ? "bedroom" : "living"
                total += 1
                if !seen.isKnown { unknown += 1 } else if seen.room != truth { wrong += 1 }
                let position = try #require(seen.position)
                if (position.x > 4) != (place.x > 4) { beside += 1 }
                errors.append(position.distance(to: place))
            }
        }
        errors.sort()
        let shares = (wrong: Double(wrong) / Double(total), unknown: Double(unknown) / Double(total))
        let p95 = errors[errors.count * 95 / 100]
        #expect(Double(beside) / Double(total) <= limit, "position in the wrong room \(Double(beside) / Double(total))")
        #expect(shares.wrong <= 0.05 && shares.unknown <= longestUnknown, "\(shares)")
        #expect(p95 <= 0.7, "95 % within \(p95) m")
    }

    /// The receiver of each room; the other receivers are at mirrored positions.
    @Test(arguments: [0, 3])
    func oneDeadReceiverForAnHourMakesNobodyLeaveAndNoRoomWrong(dead: Int) throws {
        var random = SeededRandom(UInt64(100 + dead))
        var collector = try FourReceivers.collector()
        let there = FourReceivers.across + FourReceivers.across.reversed() + FourReceivers.diagonal
        let track = there + there.reversed()
        var events: [SightingCollector.Event] = []
        var (wrong, known) = (0, 0)
        for second in 0..<3600 {
            let place = track[second % track.count]
            let time = 1_000_000_000_000 + second * 1000
            for (number, level) in FourReceivers.levels(at: place, &random).enumerated()
            where number != dead || second < 60 {
                let heard = ReceiverLine.Beacon(name: "tag", level: level)
                events += collector.process(
                    ReceiverLine(receiver: "r\(number)", unixMilliseconds: time + 10, beacons: [heard]), from: nil,
                    arrival: time)
            }
            events += collector.advance(to: time + 1010)
            guard second >= 80, second % 3 == 0 else { continue }
            let seen = try #require(Seen(collector))
            if seen.isKnown {
                known += 1
                if seen.room != (place.x > 4 ? "bedroom" : "living") { wrong += 1 }
            }
            #expect(seen.isPresent)
        }
        #expect(!events.contains { $0.kind == .exit })
        #expect(events.filter { $0.kind == .receiverDead }.map(\.receiver) == ["r\(dead)"])
        #expect(wrong == 0)
        #expect(known > 300, "the room is known in \(known) of 1173 samples")
    }
}
