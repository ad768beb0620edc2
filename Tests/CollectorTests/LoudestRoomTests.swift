import Configuration
import Messaging
import Testing

@testable import Collector

/// Collectors without floor plans, which choose the room of the loudest receiver.
@Suite struct LoudestRoomTests {
    private static let begin = PresenceTests.begin

    /// Lets receivers receive a beacon in some seconds, and returns the events.
    private func hear(
        _ collector: inout SightingCollector, _ seconds: Range<Int>, _ receivers: [String],
        _ level: (Int) -> Double
    ) -> [SightingCollector.Event] {
        seconds.flatMap { second in
            receivers.enumerated().flatMap { number, receiver in
                collector.process(
                    ReceiverLine(
                        receiver: receiver, unixMilliseconds: Self.begin + second * 1000,
                        beacons: [.init(name: "key", reports: 3, level: level(number))]),
                    from: nil, arrival: 0)
            }
        }
    }

    private func room(_ collector: SightingCollector) -> String? {
        Array(collector.states).first.flatMap { $0.state.isKnown ? $0.state.room : nil }
    }

    @Test(arguments: [["hall", "stairs", "desk"], ["desk", "hall", "stairs"]])
    func equalLevelsGiveNoRoom(order: [String]) throws {
        var collector = try PresenceTests.collector(["hall", "stairs", "desk"])
        let events = hear(&collector, 0..<30, order) { _ in -60 }
        #expect(room(collector) == nil)
        #expect(!events.contains { $0.kind == .room || $0.kind == .known })
        let reason = try #require(Array(collector.states).first?.state.reason)
        #expect(reason == "about equal levels in hall, stairs, desk", "\(reason)")
    }

    @Test func theReceiverThatIsClearlyLouderGivesTheRoom() throws {
        var collector = try PresenceTests.collector(["hall", "stairs"])
        _ = hear(&collector, 0..<10, ["hall", "stairs"]) { $0 == 0 ? -60 : -66 }
        #expect(room(collector) == "hall")
        // One loud second is no reason to change the room.
        _ = hear(&collector, 10..<11, ["hall", "stairs"]) { $0 == 0 ? -66 : -56 }
        _ = hear(&collector, 11..<14, ["hall", "stairs"]) { $0 == 0 ? -60 : -66 }
        #expect(room(collector) == "hall")
        let events = hear(&collector, 14..<24, ["hall", "stairs"]) { $0 == 0 ? -75 : -58 }
        #expect(room(collector) == "stairs")
        #expect(events.map(\.kind) == [.room], "the room must not become unknown: \(events)")
    }

    /// Returns a collector of three rooms after 20 s in which a beacon was in the room `east`.
    private func beaconInTheEast() throws -> SightingCollector {
        var collector = try PresenceTests.collector(["east", "middle", "west"])
        _ = PresenceTests.run(&collector, 0..<20, ["east": -49, "middle": -69, "west": -71])
        #expect(room(collector) == "east")
        return collector
    }

    @Test func theRoomDoesNotChangeWhileItsReceiverSendsNoLines() throws {
        var collector = try beaconInTheEast()
        let away = PresenceTests.run(&collector, 20..<60, ["middle": -69, "west": -71])
        #expect(PresenceTests.kinds(away) == [.unknown])
        #expect(away.first { $0.kind == .unknown }?.unixMilliseconds == Self.begin + 35_000)
        // The first line of the receiver does not contain the beacon.
        var back = PresenceTests.run(&collector, 60..<61, ["east": Double?.none, "middle": -69, "west": -71])
        back += PresenceTests.run(&collector, 61..<75, ["east": -49, "middle": -69, "west": -71])
        #expect(PresenceTests.kinds(back) == [.known])
        #expect(back.first { $0.kind == .known }?.room == "east")
    }

    @Test func aBeaconThatMovedWhileAReceiverWasDeadGetsItsNewRoom() throws {
        var collector = try beaconInTheEast()
        _ = PresenceTests.run(&collector, 20..<60, ["middle": -49, "west": -60])
        let back = PresenceTests.run(&collector, 60..<75, ["east": -69, "middle": -49, "west": -60])
        #expect(PresenceTests.kinds(back) == [.room, .known])
        #expect(back.first { $0.kind == .room }?.room == "middle")
    }

    @Test func noRoomIsChosenWhileAReceiverIsDead() throws {
        var collector = try PresenceTests.collector(["east", "middle", "west"])
        _ = PresenceTests.run(&collector, 0..<20, ["middle": -69, "west": -71])
        let events = PresenceTests.run(&collector, 20..<40, ["east": -49, "middle": -69, "west": -71])
        #expect(PresenceTests.kinds(events) == [.room, .known])
        #expect(events.first { $0.kind == .room }?.room == "east")
    }

    @Test func aReceiverThatReturnsAfterTenSecondsChangesNoRoom() throws {
        var collector = try beaconInTheEast()
        var events = PresenceTests.run(&collector, 20..<30, ["middle": -69, "west": -71])
        events += PresenceTests.run(&collector, 30..<31, ["east": Double?.none, "middle": -69, "west": -71])
        events += PresenceTests.run(&collector, 31..<45, ["east": -49, "middle": -69, "west": -71])
        #expect(PresenceTests.kinds(events).isEmpty, "\(events)")
    }

    @Test func theRoomChangesIfItsReceiverWorksWithoutReceivingTheBeacon() throws {
        var collector = try beaconInTheEast()
        let moved = PresenceTests.run(&collector, 20..<26, ["east": Double?.none, "middle": -50, "west": -71])
        #expect(PresenceTests.kinds(moved) == [.room])
        #expect(moved.first { $0.kind == .room }?.unixMilliseconds == Self.begin + 23_000)
    }

    /// A listener that receives no known beacon publishes only its state, every 5 s.
    @Test func theRoomChangesIfItsReceiverSendsALineEveryFiveSeconds() throws {
        var collector = try beaconInTheEast()
        var events: [SightingCollector.Event] = []
        for second in 20..<40 {
            var levels: [String: Double?] = ["middle": -50, "west": -71]
            if second % 5 == 1 { levels.updateValue(nil, forKey: "east") }
            events += PresenceTests.run(&collector, second..<second + 1, levels)
        }
        #expect(PresenceTests.kinds(events) == [.room])
        #expect(events.first { $0.kind == .room }?.unixMilliseconds == Self.begin + 27_000)
    }

    @Test func presenceIsUnknownIfEveryReceiverIsDead() throws {
        var collector = try PresenceTests.collector(["hall", "stairs"])
        _ = hear(&collector, 0..<10, ["hall", "stairs"]) { $0 == 0 ? -60 : -70 }
        #expect(Array(collector.states).first?.state.isPresent == true)
        _ = collector.advance(to: Self.begin + 60_000)
        #expect(Array(collector.states).first?.state.isPresent == nil)
        #expect(Array(collector.states).first?.state.json.line.contains("\"present\":null") == true)
    }
}
