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
        #expect(reason == "about equally loud in hall, stairs, desk", "\(reason)")
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

    @Test func presenceIsUnknownIfEveryReceiverIsDead() throws {
        var collector = try PresenceTests.collector(["hall", "stairs"])
        _ = hear(&collector, 0..<10, ["hall", "stairs"]) { $0 == 0 ? -60 : -70 }
        #expect(Array(collector.states).first?.state.isPresent == true)
        _ = collector.advance(to: Self.begin + 60_000)
        #expect(Array(collector.states).first?.state.isPresent == nil)
        #expect(Array(collector.states).first?.state.json.line.contains("\"present\":null") == true)
    }
}
