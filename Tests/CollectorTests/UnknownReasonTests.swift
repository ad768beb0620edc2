import Configuration
import LinuxHost
import Messaging
import Testing

@testable import Collector

@Suite("Reasons for an unknown room")
struct UnknownReasonTests {
    @Test("rooms of similar probability are listed with their probabilities")
    func rooms() throws {
        var collector = try FourReceivers.collector()
        var last: JSONValue?
        // The levels of a beacon at the border of the two rooms.
        for second in 0..<3 {
            for receiver in 0..<4 {
                let line = ReceiverLine(
                    receiver: "r\(receiver)", unixMilliseconds: 1_790_000_000_000 + second * 1000,
                    beacons: [.init(name: "tag", level: receiver < 2 ? -78 : -71)])
                _ = collector.process(line, from: nil, arrival: 0)
            }
            last = collector.beaconsJSON.first
        }
        let text = last?.line ?? ""
        let node = try #require(JSONDocument.parse(Array(text.utf8)).root)
        let reason = try #require(UnknownReason(node), "\(text)")
        #expect(Set(reason.candidates.map(\.room)).isSuperset(of: ["living", "bedroom"]), "\(reason)")
        #expect(node["reason"]?.string?.contains(" %, ") == true)
        #expect(Array(collector.states).first?.state.attributes.line.contains("\"reason\":\"") == true)
    }

    @Test(
        "an unknown room does not show the last room in Home Assistant, attributes or JSON")
    func noLastRoom() throws {
        var collector = try FourReceivers.collector()
        func hear(_ seconds: Range<Int>, _ level: (Int) -> Double) {
            for second in seconds {
                for receiver in 0..<4 {
                    let line = ReceiverLine(
                        receiver: "r\(receiver)", unixMilliseconds: 1_790_000_000_000 + second * 1000,
                        beacons: [.init(name: "tag", level: level(receiver))])
                    _ = collector.process(line, from: nil, arrival: 0)
                }
            }
        }
        hear(0..<20) { $0 == 0 ? -50 : -80 }
        let before = try #require(Array(collector.states).first).state
        #expect(before.isKnown && before.json.line.contains(#""room":"living""#), "\(before.json.line)")
        // The beacon is at the border of the two rooms now.
        hear(20..<60) { $0 < 2 ? -78 : -71 }
        let state = try #require(Array(collector.states).first).state
        #expect(!state.isKnown && state.isPresent == true, "\(state)")
        #expect(state.json.line.contains(#""room":null"#) && state.attributes.line.contains(#""room":null"#))
        #expect(collector.beaconsJSON.first?.line.contains(#""room":null"#) == true)
    }

    @Test("the start of a receiver's silence changes with this machine's clock")
    func silenceAfterAClockChange() throws {
        var collector = try PresenceTests.collector(["hall"])
        _ = PresenceTests.run(&collector, 0..<60, ["hall": -60], hasOthers: false)
        collector.shift(by: 3_600_000)
        _ = PresenceTests.run(&collector, 3660..<3720, ["hall": Double?.none], hasOthers: false)
        let text = try #require(collector.beaconsJSON.first).line
        let reason = try #require(JSONDocument.parse(Array(text.utf8)).root.flatMap { UnknownReason($0) }, "\(text)")
        let since = try #require(reason.receivers.first?.since)
        #expect(abs(since - PresenceTests.begin - 3_659_000) <= 2000)
    }

    @Test("a text lists rooms first, then at most three receivers")
    func texts() {
        let minute = 1_790_000_040_000
        let reason = UnknownReason(
            candidates: [.init(room: "stairs", probability: 0.46), .init(room: nil, probability: 0.41)],
            receivers: [.init(name: "a", since: minute)] + ["b", "c", "d"].map { .init(name: $0, since: nil) })
        #expect(
            reason.text(.utc, now: minute + 60_000)
                == "stairs 46 %, in no room 41 %; receiver a silent since 14:14 UTC; "
                + "receiver b silent since the start; receiver c silent since the start; 1 more receiver silent")
        #expect(UnknownReason().text(.utc, now: 0) == "no receiver with a room has received it for long enough")
    }
}
