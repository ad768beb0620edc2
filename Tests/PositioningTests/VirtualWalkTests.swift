import Airtime
import BluetoothTypes
import HCI
import Listener
import Positioning
import Sites
import TestSupport
import Testing
import VirtualController

/// Records a survey of a floor with walls on the virtual air, and locates a walk on its map. The levels follow from the
/// planner's path loss.
@Suite struct VirtualWalkTests {
    static let site = """
        {"version": 1, "name": "hall", "outline": [[0, 0], [18, 0], [18, 12], [0, 12]],
         "walls": [{"from": [9, 0], "to": [9, 8], "attenuationDb": 8}, {"from": [0, 6], "to": [6, 6], "attenuationDb": 5}],
         "defaults": {"intervalMs": 100, "radioPowerDbm": 0},
         "pathLoss": {"model": "log-distance", "lossAt1mDb": 55, "exponent": 2.2, "shadowingDb": 5},
         "beacons": [{"name": "a", "position": [1, 1]}, {"name": "b", "position": [8, 5]}, {"name": "c", "position": [2, 10]},
                     {"name": "d", "position": [11, 1]}, {"name": "e", "position": [17, 6]}, {"name": "f", "position": [12, 11]}],
         "target": {"detectWithinS": 10, "probability": 0.9}}
        """

    /// Captures what a moving receiver receives on the floor.
    struct World {
        let model: SiteModel
        var random: SplitMix64
        /// The events that are reported of each beacon in one second, by level.
        private var seconds: [[Int: [(Int64, HCIEvent)]]]

        init(seed: UInt64) throws {
            let site = try #require(Site.decode(Array(VirtualWalkTests.site.utf8)).site)
            model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio)
            random = SplitMix64(seed: seed)
            seconds = model.beacons.map { _ in [:] }
        }

        /// Returns a capture of a receiver that is at each spot for one second.
        mutating func capture(_ spots: [FloorPosition]) throws -> [UInt8] {
            var packets: [(time: Int64, octets: [UInt8])] = []
            for (second, spot) in spots.enumerated() {
                for beacon in model.beacons.indices {
                    let fading = (0..<12).reduce(-6.0) { sum, _ in
                        sum + Double(random.next() >> 11) / 9_007_199_254_740_992
                    }
                    let level = model.link(beacon, at: spot).power + 3 * fading
                    guard level > -95 else { continue }
                    for (time, event) in try reports(of: beacon, level: Int(level.rounded())) {
                        let unix = 1_780_000_000_000_000 + Int64(second) * 1_000_000 + time
                        packets.append(
                            (unix, BTSnoopWriter.record(event.packet, isFromController: true, unixMicroseconds: unix)))
                    }
                }
            }
            packets.sort { $0.time < $1.time }
            return BTSnoopWriter.header + packets.flatMap(\.octets)
        }

        private mutating func reports(of beacon: Int, level: Int) throws -> [(Int64, HCIEvent)] {
            if let known = seconds[beacon][level] { return known }
            let found = try Self.second(UInt64(seconds[beacon].count + 1), beacon, level: level)
            seconds[beacon][level] = found
            return found
        }

        /// Returns the events of one beacon in one second. The path loss of the air gives the level.
        private static func second(_ seed: UInt64, _ beacon: Int, level: Int) throws -> [(Int64, HCIEvent)] {
            let power = 12
            let air = VirtualAir(.init(seed: seed, pathLoss: power - level))
            let sender = HCIHost(channel: VirtualChannel(.raspberryPi, on: air))
            let receiver = HCIHost(channel: VirtualChannel(.intel, on: air))
            let interval = AdvertisingInterval(rawValue: 400)
            _ = try sender.execute(
                LESetAdvertisingParameters(
                    intervalMinimum: interval, intervalMaximum: interval, type: .nonconnectable,
                    ownAddressType: .publicDevice))
            let uuid = [UInt8](repeating: 0xAB, count: 16)
            _ = try sender.execute(
                LESetAdvertisingData(
                    [2, 1, 6, 0x1A, 0xFF, 0x4C, 0, 2, 0x15] + uuid + [0, 1, 0, UInt8(beacon), 0xC5]))
            _ = try receiver.execute(SetEventMask(.standardAndLE))
            let always = ScanInterval(rawValue: 16)
            _ = try receiver.execute(LESetScanParameters(type: .passive, interval: always, window: always))
            _ = try receiver.execute(LESetScanEnable(true))
            _ = try sender.execute(LESetAdvertisingEnable(true))
            var events: [(Int64, HCIEvent)] = []
            let start = receiver.now
            while let event = try receiver.nextEvent(until: start.advanced(byMicroseconds: 990_000)) {
                events.append((Int64(receiver.now.microseconds(since: start)), event))
            }
            return events
        }
    }

    final class Walker: RunConsumer {
        var locator: RunLocator
        let truth: [FloorPosition]
        var errors: [Double] = []
        var states: [LocatorAnswer.State] = []
        var isSatisfied: Bool { false }

        init(_ locator: RunLocator, _ truth: [FloorPosition]) {
            self.locator = locator
            self.truth = truth
        }

        func begin(session: String?) { locator.begin(session: session) }
        func say(_ sentence: String, isWarning: Bool) {}

        func take(seconds: Double, _ heard: [HeardBeacon]) {
            let instant = locator.locate(seconds: seconds, heard)
            states.append(instant.answer.state)
            guard let position = instant.answer.position, truth.indices.contains(Int(seconds)) else { return }
            errors.append(position.distance(to: truth[Int(seconds)]))
        }
    }

    /// Records a survey with a place every 3 m on two days. Returns its path.
    static func survey(in folder: TemporaryFolder) throws -> String {
        let path = folder.place("survey.jsonl")
        for (seed, session) in [(UInt64(1), "may"), (2, "june")] {
            var world = try World(seed: seed)
            for number in 0..<24 {
                let spot = FloorPosition(x: Double(number % 6) * 3 + 1.5, y: Double(number / 6) * 3 + 1.5)
                let tape = try folder.file(
                    "place.btsnoop", try world.capture([FloorPosition](repeating: spot, count: 10)))
                let file = try GrowingSurvey(path)
                let recorder = SurveyRecorder(
                    file, at: SurveySpot(place: "P\(number)", position: spot),
                    legs: [.init(heading: nil, seconds: 10)], Survey.Recording(site: "hall"), session: session)
                try RunFile(tape, try KnownBeacons(), rules: .init()).run(recorder)
                recorder.finish()
                try file.finish()
                #expect(recorder.stays == [number + 1 + (session == "june" ? 24 : 0)])
            }
        }
        return path
    }

    @Test func walkIsFollowedOnTheMapOfARecordedSurvey() throws {
        let folder = try TemporaryFolder()
        let files = try SurveyFiles([try Self.survey(in: folder)])
        #expect(files.problems.isEmpty && files.survey.vectorCount == 480 && files.survey.beacons.count == 6)
        let map = try SignalMap(files.survey)

        var way: [FloorPosition] = []
        for second in 0..<60 {
            let metres = Double(second) * 0.5
            way.append(
                metres < 15
                    ? FloorPosition(x: 1.5 + metres, y: 9.5)
                    : FloorPosition(x: 16.5 - (metres - 15) * 0.3, y: 9.5 - (metres - 15) * 0.5))
        }
        var world = try World(seed: 3)
        let tape = try folder.file("walk.btsnoop", try world.capture(way))
        for (algorithm, limit) in [(PositioningAlgorithm.field, 2.5), (.hmm, 2.5), (.wknn, 3.0)] {
            let walker = Walker(try RunLocator(map, settings: LocatorSettings(algorithm)), way)
            try RunFile(tape, try KnownBeacons(), rules: .init()).run(walker)
            #expect(walker.errors.count == 60 && !walker.states.contains(.none))
            let mean = walker.errors.reduce(0, +) / Double(walker.errors.count)
            #expect(mean < limit, "\(algorithm.rawValue): \(mean) m")
        }
    }

    /// The walk starts at the first Enter. The adapter takes time to open and receives nothing until then.
    @Test func positionsOfAWalkFollowTheWalkersClock() throws {
        let folder = try TemporaryFolder()
        let file = try GrowingSurvey(folder.place("walk.jsonl"))
        let spots = [0.0, 10.0].map { SurveySpot(position: FloorPosition(x: $0, y: 0)) }
        let walk = SurveyWalk(file, spots, marks: [], Survey.Recording())
        var clock = 0.0
        walk.isPassing = { [unowned walk] in
            walk.pass(seconds: clock)
            return clock == 10
        }
        for second in 0..<9 {
            clock = Double(second) + 3
            #expect(!walk.isSatisfied)
            walk.take(seconds: Double(second), [])
        }
        try file.finish()
        #expect(walk.isSatisfied && walk.stays.count == 8)
        #expect(file.survey.stays.compactMap(\.position?.x) == (0..<8).map { 2.5 + Double($0) })
    }
}
