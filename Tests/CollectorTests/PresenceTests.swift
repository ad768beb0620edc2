import Configuration
import Messaging
import Sites
import Testing

@testable import Collector

/// Presence: entering, leaving, and the effect of receivers that receive nothing.
@Suite struct PresenceTests {
    static let begin = 1_700_000_000_000

    /// Returns a collector without a floor plan, with each receiver in a separate room.
    static func collector(_ names: [String] = ["hall", "desk"], more: String = "") throws -> SightingCollector {
        let list = names.map { "{\"name\":\"\($0)\",\"room\":\"\($0)\"}" }.joined(separator: ",")
        let (file, problems) = CollectorFile.decode(
            Array("{\"version\":1,\"name\":\"m\",\"receivers\":[\(list)]\(more)}".utf8))
        #expect(problems.isEmpty)
        let whole = try #require(file)
        return SightingCollector(whole, RoomPlan(whole, sites: []))
    }

    /// Sends one line per second from each receiver, and returns the events.
    ///
    /// - Parameters:
    ///   - levels: The level of the beacon at each receiver; `nil` if the receiver does not receive the beacon.
    ///   - hasOthers: True if each line shows that other devices are received.
    static func run(
        _ collector: inout SightingCollector, _ seconds: Range<Int>, _ levels: [String: Double?],
        hasOthers: Bool = true
    ) -> [SightingCollector.Event] {
        var events: [SightingCollector.Event] = []
        for second in seconds {
            for (receiver, level) in levels.sorted(by: { $0.key < $1.key }) {
                let heard = level.map { [ReceiverLine.Beacon(name: "key", level: $0)] } ?? []
                var line = ReceiverLine(
                    receiver: receiver, unixMilliseconds: begin + second * 1000 + 500, beacons: heard)
                line.hasOthers = hasOthers
                events += collector.process(line, from: nil, arrival: 0)
            }
        }
        return events
    }

    static func kinds(_ events: [SightingCollector.Event]) -> [SightingCollector.Event.Kind] {
        events.filter { $0.beacon != nil }.map(\.kind)
    }

    @Test func aSilentBeaconLeaves() throws {
        var collector = try Self.collector()
        let there = Self.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        #expect(Self.kinds(there) == [.enter, .room, .known])
        let gone = Self.run(&collector, 60..<120, ["hall": Double?.none, "desk": nil])
        #expect(Self.kinds(gone) == [.exit])
        #expect(gone.first { $0.kind == .exit }?.json.line.contains(#""provenBy":"report""#) == true)
        let again = Self.run(&collector, 120..<130, ["hall": Double?.none, "desk": -60])
        #expect(Self.kinds(again).first == .enter && again.last { $0.beacon != nil }?.room == "desk")
    }

    /// If nothing is received any more, either the receiver has failed or no device sends.
    @Test func noBeaconLeavesWhileTheReceiverReceivesNothing() throws {
        var collector = try Self.collector(["hall"])
        let there = Self.run(&collector, 0..<60, ["hall": -60], hasOthers: false)
        #expect(Self.kinds(there) == [.enter, .room, .known])
        let silent = Self.run(&collector, 60..<3660, ["hall": Double?.none], hasOthers: false)
        #expect(Self.kinds(silent) == [.unknown])
        // Other devices prove that the receiver works now, but not that it has worked before.
        #expect(Self.kinds(Self.run(&collector, 3660..<3670, ["hall": Double?.none])) == [.known])
        let gone = Self.run(&collector, 3670..<3700, ["hall": Double?.none])
        #expect(Self.kinds(gone) == [.exit])
        #expect(gone.first { $0.kind == .exit }?.json.line.contains(#""provenBy":"report""#) == true)
    }

    /// After a restart, the receiver next to the beacon sends lines but receives nothing. The other receiver receives
    /// other devices.
    @Test func aReceiverThatHasReceivedNothingProvesNoExit() throws {
        var collector = try Self.collector()
        collector.resume(
            [SightingCollector.Stay(beacon: "key", room: "hall", since: Self.begin - 60_000, isKnown: true)],
            at: Self.begin)
        var events: [SightingCollector.Event] = []
        for second in 0..<300 {
            events += Self.run(&collector, second..<second + 1, ["hall": Double?.none], hasOthers: false)
            events += Self.run(&collector, second..<second + 1, ["desk": Double?.none])
        }
        #expect(!Self.kinds(events).contains(.exit))
        // Both work from now on.
        let kinds = Self.kinds(Self.run(&collector, 300..<400, ["hall": Double?.none, "desk": nil]))
        #expect(kinds.contains(.exit))
    }

    /// If all receivers fail, Home Assistant must not show the beacon as away.
    @Test func noBeaconIsAwayWhileNoReceiverWorks() throws {
        var collector = try Self.collector()
        _ = Self.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        func state() -> String { collector.states.first { $0.name == "key" }?.state.attributes.line ?? "" }
        #expect(state().contains("\"in_zones\":[\"zone.home\"]"))
        _ = collector.advance(to: Self.begin + 90_000)
        #expect(!state().contains("in_zones"), "\(state())")
        let beacon = try #require(collector.beaconsJSON.first)
        #expect(beacon.line.contains("\"present\":null,\"known\":false"), "\(beacon.line)")
    }

    /// Rooms on two floors have the same name, so the stored name does not identify the room.
    @Test func aRoomNameOfTwoFloorsIsUnknownAfterARestart() throws {
        let text = """
            {"version":1,"name":"m","floors":[{"name":"ground","site":"a.json"},{"name":"first","site":"b.json"}],
             "receivers":[{"name":"hall","floor":"ground","room":"kitchen"},{"name":"desk","floor":"first","room":"kitchen"}]}
            """
        let file = try #require(CollectorFile.decode(Array(text.utf8)).file)
        var collector = SightingCollector(file, RoomPlan(file, sites: []))
        collector.resume(
            [SightingCollector.Stay(beacon: "key", room: "kitchen", since: Self.begin, isKnown: true)], at: Self.begin)
        #expect(collector.stays.map(\.room) == [nil] && collector.stays.map(\.isKnown) == [false])
    }

    /// Two receivers received the beacon. One of them receives nothing any more, so the beacon may still be near it.
    @Test func anExitNeedsProofFromBothReceivers() throws {
        var collector = try Self.collector()
        _ = Self.run(&collector, 0..<60, ["hall": -60, "desk": -70], hasOthers: false)
        var events: [SightingCollector.Event] = []
        for second in 60..<600 {
            events += Self.run(&collector, second..<second + 1, ["hall": Double?.none])
            events += Self.run(&collector, second..<second + 1, ["desk": Double?.none], hasOthers: false)
        }
        #expect(Self.kinds(events) == [.unknown])
        // The receivers report other devices every 5 s, and not at the same time.
        for second in 600..<700 {
            events += Self.run(&collector, second..<second + 1, ["hall": Double?.none], hasOthers: second % 5 == 0)
            events += Self.run(&collector, second..<second + 1, ["desk": Double?.none], hasOthers: second % 5 == 2)
        }
        #expect(Self.kinds(events) == [.unknown, .known, .exit])
    }

    @Test func readsWhetherALineHasOtherDevices() throws {
        let heard = ReceiverLine(Array(#"{"event":"beacons","state":"listening","strangers":{"reports":3}}"#.utf8))
        #expect(heard?.hasOthers == true && heard?.isListening == true)
        let deaf = ReceiverLine(
            Array(#"{"event":"beacons","state":"listening","deafSince":"2026-01-01T00:00:00Z"}"#.utf8))
        #expect(deaf?.hasOthers == false && deaf?.isListening == false)
        let state = ReceiverLine(
            topic: "pharos/m/receivers/hall/state",
            payload: Array(#"{"state":"listening","deafSince":null,"reportsPerS":7,"lost":0}"#.utf8))
        #expect(state?.hasOthers == true && state?.isListening == true)
    }

    @Test func noBeaconLeavesWhileTheReceiverIsDead() throws {
        var collector = try Self.collector()
        _ = Self.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        let deaf = Self.run(&collector, 60..<3660, ["desk": nil])
        #expect(Self.kinds(deaf) == [.unknown])
        #expect(deaf.contains { $0.kind == .receiverDead && $0.receiver == "hall" })
        let back = Self.run(&collector, 3660..<3700, ["hall": -60, "desk": nil])
        #expect(Self.kinds(back) == [.known])
    }

    /// The receiver at the desk stops, and is not dead yet. The beacon may have moved from the hall to the desk.
    @Test func noBeaconLeavesWhileAnotherReceiverMayHaveStopped() throws {
        var collector = try Self.collector()
        _ = Self.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        let stopped = Self.run(&collector, 60..<120, ["hall": Double?.none])
        #expect(Self.kinds(stopped) == [.unknown])
        #expect(stopped.first { $0.kind == .receiverDead }?.unixMilliseconds == Self.begin + 75_000)
        // The receiver at the desk works again, and does not receive the beacon.
        let back = Self.run(&collector, 120..<180, ["hall": Double?.none, "desk": nil])
        #expect(Self.kinds(back).last == .exit)
    }

    @Test func aReceiverThatReportsDeafnessIsDeadAtOnce() throws {
        var collector = try Self.collector(["hall"])
        _ = Self.run(&collector, 0..<60, ["hall": -60])
        var line = ReceiverLine(receiver: "hall", unixMilliseconds: Self.begin + 60_500)
        line.isListening = false
        var events = collector.process(line, from: nil, arrival: 0)
        events += collector.advance(to: Self.begin + 1_000_000)
        #expect(events.contains { $0.kind == .receiverDead && $0.unixMilliseconds < Self.begin + 63_000 })
        #expect(!events.contains { $0.kind == .exit })
    }

    @Test func aRoomChangesAfterThreeSecondsWithSixDecibelsMore() throws {
        var collector = try Self.collector()
        _ = Self.run(&collector, 0..<20, ["hall": -60, "desk": -70])
        #expect(Self.kinds(Self.run(&collector, 20..<40, ["hall": -62, "desk": -60])).isEmpty)
        #expect(Self.kinds(Self.run(&collector, 40..<42, ["hall": -70, "desk": -60])).isEmpty)
        let moved = Self.run(&collector, 42..<50, ["hall": -70, "desk": -60])
        #expect(Self.kinds(moved) == [.room])
        #expect(moved.first { $0.kind == .room }?.from == "hall")
    }

    @Test func countsRepeatedBatchesOnce() throws {
        var collector = try Self.collector(["hall"])
        var line = ReceiverLine(
            receiver: "hall", unixMilliseconds: nil, beacons: [.init(name: "key", reports: 5, level: -60)])
        line.number = .init(boot: "8f", sequence: 1, bootMilliseconds: 1000)
        for _ in 0..<3 { _ = collector.process(line, from: nil, arrival: Self.begin) }
        #expect(collector.counts.reports == 5 && collector.counts.duplicateLines == 2)
        line.number = .init(boot: "90", sequence: 1, bootMilliseconds: 500)
        _ = collector.process(line, from: nil, arrival: Self.begin + 5000)
        #expect(collector.counts.reports == 10)
    }

    @Test func lateLinesChangeNothing() throws {
        var collector = try Self.collector(["hall"])
        _ = Self.run(&collector, 0..<60, ["hall": Double?.none])
        let late = ReceiverLine(
            receiver: "hall", unixMilliseconds: Self.begin + 10_000, beacons: [.init(name: "key", level: -60)])
        #expect(collector.process(late, from: nil, arrival: 0).isEmpty)
        #expect(collector.counts.late == 1 && collector.beaconsJSON.isEmpty)
    }

    @Test func countsStrangersWrongClocksAndUnknownReceivers() throws {
        var collector = try Self.collector(["hall"])
        for (number, jump) in [0, 1, 2, 100_000_000].enumerated() {
            let heard = ReceiverLine.Beacon(name: nil, identity: "address:C0:01:02:03:04:0\(number)", level: -60)
            _ = collector.process(
                ReceiverLine(receiver: "hall", unixMilliseconds: Self.begin + jump * 1000, beacons: [heard]),
                from: nil, arrival: 0)
        }
        _ = collector.process(ReceiverLine(receiver: "nobody", unixMilliseconds: Self.begin), from: nil, arrival: 0)
        _ = collector.finish()
        #expect(collector.counts.strangers == 3 && collector.beaconsJSON.isEmpty)
        #expect(collector.counts.wrongClocks == 1 && collector.counts.unknownReceivers == 1)
    }

    @Test func yearsOfSilencePassAtOnce() throws {
        var collector = try Self.collector(["hall"])
        _ = Self.run(&collector, 0..<60, ["hall": -60])
        let events = collector.advance(to: Self.begin + 10_000_000_000_000)
        #expect(!events.contains { $0.kind == .exit })
    }

    @Test func locatesTheRoomByWallsAndMissingReports() throws {
        // Two rooms with a thick wall between them; a beacon near one receiver is not received by the other.
        let text = """
            {"version":1,"name":"two","floors":[{"name":"g","site":"g.json"}],"receivers":[
              {"name":"west","room":"west","position":[1,2]},{"name":"east","room":"east","position":[9,2]}],
             "beacons":[{"name":"key","identity":"address:C0:01:02:03:04:05","measuredPowerAt1mDbm":-59}]}
            """
        let site = """
            {"version":1,"name":"g","outline":[[0,0],[10,0],[10,4],[0,4]],"beacons":[{"name":"b","position":[1,1]}],
             "walls":[{"from":[5,0],"to":[5,4],"attenuationDb":30}],
             "pathLoss":{"model":"log-distance","lossAt1mDb":59,"exponent":2.5,"shadowingDb":4},
             "receiverSensitivityDbm":-92,"target":{"detectWithinS":10,"probability":0.9}}
            """
        let file = try #require(CollectorFile.decode(Array(text.utf8)).file)
        let plan = try #require(Site.decode(Array(site.utf8)).site)
        var collector = SightingCollector(file, RoomPlan(file, sites: [plan]))
        let events = Self.run(&collector, 0..<20, ["west": Double?.none, "east": -66])
        #expect(events.last { $0.kind == .room }?.room == "east")
        let line = try #require(collector.beaconsJSON.first?.line)
        #expect(line.contains(#""present":"ON","known":true,"room":"east","floor":"g""#), "\(line)")
    }

    @Test func cellsOutsideTheFloorHaveNoProbability() throws {
        let text = """
            {"version":1,"name":"one","floors":[{"name":"g","site":"g.json","rooms":[
              {"name":"all","outline":[[0,0],[2,0],[2,2],[0,2]]}]}],"receivers":[{"name":"a","position":[0,0]}]}
            """
        let site = """
            {"version":1,"name":"g","outline":[[0,0],[2,0],[2,2],[0,2]],"beacons":[{"name":"b","position":[1,1]}],
             "pathLoss":{"model":"log-distance","lossAt1mDb":59,"exponent":2,"shadowingDb":4},
             "receiverSensitivityDbm":-92,"target":{"detectWithinS":10,"probability":0.9}}
            """
        let file = try #require(CollectorFile.decode(Array(text.utf8)).file)
        let plan = try #require(Site.decode(Array(site.utf8)).site)
        var collector = SightingCollector(file, RoomPlan(file, sites: [plan]))
        _ = Self.run(&collector, 0..<5, ["a": -50])
        let line = try #require(collector.beaconsJSON.first?.line)
        #expect(line.contains(#""known":true,"room":"all""#) && line.contains(#""probability":1,"#), "\(line)")
    }

    /// A device on the radio or a client of the broker can invent names.
    @Test func describedBeaconsTakePrecedenceOverStrangers() throws {
        var collector = try Self.collector(
            ["hall"], more: ",\"beacons\":[{\"name\":\"key\",\"identity\":\"address:C0:01:02:03:04:05\"}]")
        let strangers = (0...SightingCollector.limit).map { ReceiverLine.Beacon(name: "n\($0)", level: -60) }
        _ = collector.process(
            ReceiverLine(receiver: "hall", unixMilliseconds: Self.begin, beacons: strangers), from: nil, arrival: 0)
        #expect(collector.counts.crowded == 1)
        let own = ReceiverLine.Beacon(name: nil, identity: "address:C0:01:02:03:04:05", level: -60)
        _ = collector.process(
            ReceiverLine(receiver: "hall", unixMilliseconds: Self.begin + 100, beacons: [own]), from: nil, arrival: 0)
        #expect(collector.beaconsJSON.contains { $0.line.contains("\"beacon\":\"key\"") })
        #expect(collector.counts.crowded == 1)
    }

    /// Sends one batch per second from each receiver, and returns the events.
    ///
    /// - Parameters:
    ///   - names: The names of the beacons that each receiver receives.
    ///   - known: A text that stands for the set of beacons in the file of each receiver.
    private static func batches(
        _ collector: inout SightingCollector, _ seconds: Range<Int>, _ names: [String: [String]],
        known: [String: String] = [:]
    ) -> [SightingCollector.Event] {
        var events: [SightingCollector.Event] = []
        for second in seconds {
            for (receiver, heard) in names.sorted(by: { $0.key < $1.key }) {
                let text = heard.map { "{\"id\":\"\($0)\",\"n\":5,\"rssi\":-60}" }.joined(separator: ",")
                let vocabulary = known[receiver].map { "\"known\":\"\($0)\"," } ?? ""
                let payload =
                    "{\"v\":1,\"boot\":\"8f\",\"seq\":\(second + 1),\"bootMs\":\(second * 1000),\"windowMs\":1000,"
                    + "\(vocabulary)\"b\":[\(text)]}"
                guard
                    let line = ReceiverLine(
                        topic: "pharos/m/sightings/3/\(receiver)", payload: Array(payload.utf8))
                else { continue }
                events += collector.process(line, from: nil, arrival: begin + second * 1000 + 500)
            }
        }
        return events
    }

    @Test func aReceiverWithoutTheBeaconInItsFileProvesNoExit() throws {
        var collector = try Self.collector()
        _ = Self.batches(
            &collector, 0..<60, ["hall": ["key", "cup"], "desk": ["cup"]], known: ["hall": "a", "desk": "b"])
        #expect(collector.stays.map(\.beacon).sorted() == ["cup", "key"])
        // The file of the receiver in the hall has changed: it contains the cup, and not the key.
        let other = Self.batches(
            &collector, 60..<400, ["hall": ["cup"], "desk": ["cup"]], known: ["hall": "b", "desk": "b"])
        #expect(!other.contains { $0.kind == .exit && $0.beacon == "key" })
        #expect(other.contains { $0.kind == .unknown && $0.beacon == "key" })
        // If its own file contains the beacon, its silence counts.
        let own = Self.batches(
            &collector, 400..<500, ["hall": ["cup"], "desk": ["cup"]], known: ["hall": "a", "desk": "b"])
        #expect(own.contains { $0.kind == .exit && $0.beacon == "key" })
    }

    /// After a restart, it is not known which receivers have the beacon in their files.
    @Test func afterARestartAnExitNeedsAllReceivers() throws {
        var collector = try Self.collector()
        let stay = SightingCollector.Stay(beacon: "key", room: "hall", since: Self.begin - 1000, isKnown: true)
        collector.resume([stay], at: Self.begin)
        let one = Self.batches(&collector, 0..<300, ["desk": ["cup"]])
        #expect(!one.contains { $0.kind == .exit && $0.beacon == "key" })
        let both = Self.batches(&collector, 300..<400, ["desk": ["cup"], "hall": ["cup"]])
        #expect(both.contains { $0.kind == .exit && $0.beacon == "key" })
    }
}
