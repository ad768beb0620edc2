import Collector
import Configuration
import Messaging
import Testing

/// Who of several collectors tells of a shard.
@Suite struct ShardLeasesTests {
    static let unix = 1_795_381_140_000

    static func leases(_ owner: String, _ number: Int, shards: Set<Int> = [0, 1]) -> ShardLeases {
        ShardLeases(site: "museum", owner: owner, number: number, shards: shards)
    }

    /// What one tells is heard by the other.
    static func pass(_ from: inout ShardLeases, to other: inout ShardLeases, at now: Int, isRetained: Bool = false) {
        for lease in from.renewals(at: now, unixMilliseconds: unix + now) {
            #expect(lease.isRetained)
            let isLease = other.take(
                topic: lease.topic, payload: lease.payload, isRetained: isRetained, at: now,
                unixMilliseconds: unix + now)
            #expect(isLease)
        }
    }

    @Test func aloneItTellsOfEverythingAfterTheBrokerHasSaidWhatItHolds() {
        var one = Self.leases("a", 1)
        #expect(one.held(at: 0).isEmpty)
        one.connect(at: 0, unixMilliseconds: Self.unix)
        let first = one.renewals(at: 0, unixMilliseconds: Self.unix).map(\.topic)
        #expect(first == ["pharos/museum/leases/0/a", "pharos/museum/leases/1/a"])
        let early = one.renewals(at: 9999, unixMilliseconds: Self.unix)
        let next = one.renewals(at: 10_000, unixMilliseconds: Self.unix)
        #expect(early.isEmpty && next.count == 2)
        #expect(one.held(at: 1999).isEmpty && one.held(at: 2000) == [0, 1])
    }

    @Test func theLowerLeaseTellsAndADeadOneRunsOut() {
        var (low, high) = (Self.leases("b", 1), Self.leases("a", 2, shards: [1, 2]))
        low.connect(at: 0, unixMilliseconds: Self.unix)
        high.connect(at: 0, unixMilliseconds: Self.unix)
        Self.pass(&low, to: &high, at: 0)
        Self.pass(&high, to: &low, at: 0)
        #expect(low.held(at: 5000) == [0, 1] && high.held(at: 5000) == [2])
        #expect(high.rival(1, at: 5000) == "b" && high.rival(2, at: 5000) == nil)
        Self.pass(&low, to: &high, at: 10_000)
        // It says nothing more.
        #expect(high.held(at: 39_999) == [2] && high.held(at: 40_000) == [1, 2])
        #expect(high.lastSign(1) == Self.unix + 10_000 && high.lastSign(2) == nil)
        // Started again it has a higher number: whoever tells goes on.
        var again = Self.leases("b", 3)
        again.connect(at: 50_000, unixMilliseconds: Self.unix + 50_000)
        Self.pass(&again, to: &high, at: 50_000)
        Self.pass(&high, to: &again, at: 50_000)
        #expect(high.held(at: 55_000) == [1, 2] && again.held(at: 55_000) == [0])
    }

    @Test func whoIsStartedAnewHasToldWhatItTold() {
        var (low, high) = (Self.leases("b", 1), Self.leases("a", 2))
        high.connect(at: 0, unixMilliseconds: Self.unix)
        low.connect(at: 0, unixMilliseconds: Self.unix)
        Self.pass(&low, to: &high, at: 0)
        var again = Self.leases("b", 3)
        again.connect(at: 5000, unixMilliseconds: Self.unix + 5000)
        Self.pass(&again, to: &high, at: 5000)
        #expect(high.held(at: 5000) == [0, 1] && high.lastSign(0) == Self.unix)
    }

    @Test func whoWasAwayForTooLongLetsTheOtherOneTell() {
        var (low, high) = (Self.leases("a", 1), Self.leases("b", 2))
        for now in stride(from: 0, through: 60_000, by: ShardLeases.renewal) {
            if now == 0 {
                low.connect(at: 0, unixMilliseconds: Self.unix)
                high.connect(at: 0, unixMilliseconds: Self.unix)
            }
            for lease in low.renewals(at: now, unixMilliseconds: Self.unix + now) {
                // The broker passes them on to both.
                func take(_ leases: inout ShardLeases) {
                    _ = leases.take(
                        topic: lease.topic, payload: lease.payload, isRetained: false, at: now,
                        unixMilliseconds: Self.unix + now)
                }
                take(&low)
                take(&high)
            }
        }
        #expect(low.held(at: 60_000) == [0, 1] && high.held(at: 60_000).isEmpty)
        // The network is away, and the broker's silence is not noticed.
        #expect(low.held(at: 79_999) == [0, 1] && low.held(at: 80_000).isEmpty && high.held(at: 90_000) == [0, 1])
        low.disconnect(at: 94_000)
        #expect(low.held(at: 94_000).isEmpty)
        low.connect(at: 95_000, unixMilliseconds: Self.unix + 95_000)
        Self.pass(&high, to: &low, at: 95_000)
        Self.pass(&low, to: &high, at: 95_000)
        #expect(low.held(at: 98_000).isEmpty && high.held(at: 98_000) == [0, 1])
    }

    @Test func ofEqualNumbersTheNameDecidesAndAFarewellCountsAtOnce() {
        var (first, second) = (Self.leases("a", 7), Self.leases("b", 7))
        for now in [0] {
            first.connect(at: now, unixMilliseconds: Self.unix + now)
            second.connect(at: now, unixMilliseconds: Self.unix + now)
            Self.pass(&first, to: &second, at: now)
            Self.pass(&second, to: &first, at: now)
        }
        #expect(first.held(at: 3000) == [0, 1] && second.held(at: 3000).isEmpty)
        for word in first.farewell {
            #expect(word.payload.isEmpty && word.isRetained)
            _ = second.take(
                topic: word.topic, payload: word.payload, isRetained: false, at: 4000, unixMilliseconds: Self.unix)
        }
        #expect(second.held(at: 4000) == [0, 1])
    }

    @Test func whoLosesTheBrokerStopsBeforeAnotherOneBegins() {
        var one = Self.leases("a", 1)
        one.connect(at: 0, unixMilliseconds: Self.unix)
        one.disconnect(at: 60_000)
        #expect(one.held(at: 79_999) == [0, 1] && one.held(at: 80_000).isEmpty)
        one.connect(at: 90_000, unixMilliseconds: Self.unix + 90_000)
        #expect(one.held(at: 91_000).isEmpty && one.held(at: 92_000) == [0, 1])
    }

    @Test(arguments: [
        "", "x", "[]", "{}", #"{"v":2,"lease":0,"at":"2026-11-22T20:59:00Z"}"#, #"{"v":1,"lease":0,"at":"now"}"#,
        #"{"v":1,"lease":-5,"at":"2026-11-22T20:59:00Z"}"#, #"{"v":1,"lease":"1","at":"2026-11-22T20:59:00Z"}"#,
        #"{"v":1,"lease":1e300,"at":"2026-11-22T20:59:00Z"}"#, String(repeating: "[", count: 5000),
        #"{"v":1,"lease":1,"at":"2026-11-22T20:59:00Z","x":""# + String(repeating: "y", count: 2000) + "\"}",
    ])
    func garbageIsNoLease(text: String) {
        var one = Self.leases("z", 9)
        one.connect(at: 0, unixMilliseconds: Self.unix)
        for topic in [
            "pharos/museum/leases/0/a", "pharos/museum/leases/00/a", "pharos/museum/leases/0/",
            "pharos/museum/leases//",
        ] {
            let isLease = one.take(
                topic: topic, payload: Array(text.utf8), isRetained: false, at: 0, unixMilliseconds: Self.unix)
            #expect(isLease)
        }
        #expect(one.held(at: 2000) == [0, 1])
        let isLease = one.take(
            topic: "pharos/museum/sightings/0/a", payload: [], isRetained: false, at: 0, unixMilliseconds: Self.unix)
        #expect(!isLease)
    }

    @Test func whatTheBrokerHeldOfOneThatEndedLongAgoIsNoLease() {
        var (old, new) = (Self.leases("a", 1), Self.leases("b", 2))
        old.connect(at: 0, unixMilliseconds: Self.unix)
        new.connect(at: 100_000, unixMilliseconds: Self.unix + 100_000)
        for lease in old.renewals(at: 0, unixMilliseconds: Self.unix) {
            _ = new.take(
                topic: lease.topic, payload: lease.payload, isRetained: true, at: 100_000,
                unixMilliseconds: Self.unix + 100_000)
        }
        #expect(new.held(at: 102_000) == [0, 1])
    }

    @Test func aFloodOfOwnersShutsNobodyOut() {
        var one = Self.leases("m", 5)
        one.connect(at: 0, unixMilliseconds: Self.unix)
        func say(_ name: String, at now: Int) {
            let text = #"{"v":1,"lease":1,"at":"\#(RFC3339Time(secondsSince1970: Self.unix / 1000))"}"#
            _ = one.take(
                topic: "pharos/museum/leases/0/\(name)", payload: Array(text.utf8), isRetained: false, at: now,
                unixMilliseconds: Self.unix)
        }
        for number in 0..<10_000 { say("flood-\(number)", at: 0) }
        #expect(one.held(at: 31_000) == [0, 1])
        say("a", at: 31_000)
        #expect(one.held(at: 32_000) == [1])
    }

    @Test func whatHappensWhileAnotherOneDiesIsToldAfterwards() {
        var buffer = ShardBuffer<String>()
        func pass(_ names: [(Int, Int, String)], held: Set<Int>, sign: Int? = nil, now: Int) -> [String] {
            buffer.pass(
                names.map { (shard: $0.0, time: $0.1, item: $0.2) }, held: held, lastSign: { _ in sign }, now: now)
        }
        let first = pass([(0, 1000, "a"), (1, 1000, "b")], held: [1], now: 1000)
        let second = pass([(0, 20_000, "c")], held: [1], now: 20_000)
        let third = pass([(0, 40_000, "d")], held: [0, 1], sign: 15_000, now: 40_000)
        #expect(first == ["b"] && second.isEmpty && third == ["c", "d"])
        let nothing = pass([], held: [0, 1], now: 41_000) + pass([(0, 50_000, "e")], held: [], now: 50_000)
        // After 45 s the other one lives.
        let late = pass([], held: [], now: 100_000) + pass([], held: [0], now: 100_000)
        #expect(nothing.isEmpty && late.isEmpty)
    }
}
