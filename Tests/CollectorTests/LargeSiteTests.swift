import Airtime
import Collector
import Configuration
import Glibc
import Sites
import Testing

/// A site with so many receivers and floors that computing each receiver's likelihood for each cell would take minutes.
@Suite struct LargeSiteTests {
    private static let (floors, columns, rows) = (4, 10, 5)
    /// The side in metres of the square around each receiver.
    private static let side = 2.0
    private static let beacons = 200

    private static func collector() throws -> SightingCollector {
        let drawn = (0..<floors).map { #"{"name":"f\#($0)","site":"floor.json"}"# }
        let receivers = (0..<floors * columns * rows).map { number in
            let at = place(number % (columns * rows))
            return #"{"name":"r\#(number)","floor":"f\#(number / (columns * rows))","room":"room \#(number)","#
                + #""position":[\#(at.x),\#(at.y)]}"#
        }
        let known = (0..<beacons).map {
            #"{"name":"b\#($0)","identity":"ibeacon:FB0B57A2-8228-44CD-913A-94A122BA1206-1-\#($0)","#
                + #""measuredPowerAt1mDbm":-59}"#
        }
        let text =
            #"{"version":1,"name":"tower","floors":[\#(drawn.joined(separator: ","))],"#
            + #""receivers":[\#(receivers.joined(separator: ","))],"beacons":[\#(known.joined(separator: ","))]}"#
        let site = """
            {"version":1,"name":"floor","outline":[[0,0],[20,0],[20,10],[0,10]],"beacons":[{"name":"b","position":[1,1]}],
             "walls":[{"from":[10,0],"to":[10,8],"attenuationDb":4}],
             "pathLoss":{"model":"log-distance","lossAt1mDb":59,"exponent":3,"shadowingDb":4},
             "receiverSensitivityDbm":-80,"target":{"detectWithinS":10,"probability":0.9}}
            """
        let (file, problems) = CollectorFile.decode(Array(text.utf8))
        let (plan, faults) = Site.decode(Array(site.utf8))
        #expect(problems.isEmpty && !faults.contains(where: \.isError), "\(problems) \(faults)")
        let (whole, floor) = (try #require(file), try #require(plan))
        return SightingCollector(whole, RoomPlan(whole, sites: [Site](repeating: floor, count: floors)))
    }

    private static func place(_ receiver: Int) -> FloorPosition {
        FloorPosition(
            x: (Double(receiver % columns) + 0.5) * side, y: (Double(receiver / columns % rows) + 0.5) * side)
    }

    /// Returns the level of a beacon at a receiver without walls.
    private static func level(_ receiver: Int, _ floor: Int, _ at: FloorPosition) -> Double {
        let (flat, storeys) = (place(receiver).distance(to: at), Double(abs(receiver / (columns * rows) - floor)))
        let straight = max(0.1, (flat * flat + 9 * storeys * storeys).squareRoot())
        return -59 - 30 * Airtime.log10(straight) - 15 * storeys
    }

    /// The processor time of this thread in seconds, because other tests run at the same time.
    private static var processorSeconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func everybodyIsFoundInTime() throws {
        var random = SeededRandom(3)
        let truth = (0..<Self.beacons).map { _ in
            (floor: Int(random.share() * 4), at: FloorPosition(x: 20 * random.share(), y: 10 * random.share()))
        }
        var heard = [[ReceiverLine.Beacon]](repeating: [], count: Self.floors * Self.columns * Self.rows)
        for (number, beacon) in truth.enumerated() {
            for receiver in heard.indices {
                let level = Self.level(receiver, beacon.floor, beacon.at)
                if level > -75 { heard[receiver].append(.init(name: "b\(number)", level: level)) }
            }
        }
        let start = Self.processorSeconds
        var collector = try Self.collector()
        for second in 0..<5 {
            let time = 1_000_000_000_000 + second * 1000
            for receiver in heard.indices {
                _ = collector.process(
                    ReceiverLine(receiver: "r\(receiver)", unixMilliseconds: time + 10, beacons: heard[receiver]),
                    from: nil, arrival: time)
            }
            _ = collector.advance(to: time + 1010)
        }
        let spent = Self.processorSeconds - start
        // In a debug build. Computing each receiver's likelihood for each cell would take a hundred times as long.
        #expect(spent < 60, "\(spent) s")
        var right = 0
        for state in collector.beaconsJSON {
            let node = try #require(JSONDocument.parse(Array(state.line.utf8)).root)
            let number = try #require(node["beacon"]?.string.flatMap { Int($0.dropFirst()) })
            guard node["floor"]?.string == "f\(truth[number].floor)", let place = node["position"],
                let x = place["x"]?.thousandths, let y = place["y"]?.thousandths
            else { continue }
            let found = FloorPosition(x: Double(x) / 1000, y: Double(y) / 1000)
            if found.distance(to: truth[number].at) < 2 { right += 1 }
        }
        #expect(right > Self.beacons * 9 / 10, "\(right) of \(Self.beacons)")
    }

    /// The collector computes the first of these beacons receiver by receiver, and reuses the sums of all receivers for
    /// the others. The results must be equal.
    @Test func alikeIsJudgedAlikeHoweverManyThereAre() throws {
        var collector = try Self.collector()
        let at = FloorPosition(x: 6.3, y: 4.4)
        let time = 1_000_000_000_000
        for receiver in 0..<Self.floors * Self.columns * Self.rows {
            let level = Self.level(receiver, 2, at)
            // One receiver reports the beacon without a level.
            let heard = (Self.beacons..<Self.beacons + 100).compactMap { number -> ReceiverLine.Beacon? in
                guard level > -75 else { return nil }
                return .init(name: "b\(number)", level: receiver == Self.columns * Self.rows * 2 ? nil : level)
            }
            _ = collector.process(
                ReceiverLine(receiver: "r\(receiver)", unixMilliseconds: time + 10, beacons: heard), from: nil,
                arrival: time)
        }
        _ = collector.advance(to: time + 1010)
        let states = try collector.beaconsJSON.map { try #require(JSONDocument.parse(Array($0.line.utf8)).root) }
        func values(_ state: JSONNode) throws -> [Int] {
            try [state["position"]?["x"], state["position"]?["y"], state["radiusM"], state["probability"]].map {
                try #require($0?.thousandths)
            }
        }
        #expect(states.count == 100)
        let first = try values(try #require(states.first))
        for state in states {
            #expect(state["floor"]?.string == "f2")
            let found = try values(state)
            #expect(zip(found, first).allSatisfy { abs($0 - $1) <= 10 }, "\(found), not \(first)")
        }
    }
}
