import Advertiser
import BluetoothTypes
import HCI
import Testing

/// The counter is t = max(saved + elapsed, 65280 + wall clock − epoch). It goes backwards only if it is far ahead of a
/// synchronised wall clock.
@Suite struct EIDClockTests {
    private static let start = HCIInstant(nanoseconds: 5_000_000_000)
    private func after(_ seconds: Double) -> HCIInstant {
        Self.start.advanced(byMicroseconds: Int(seconds * 1_000_000))
    }

    @Test func newBeaconStartsAt65280AndCountsSeconds() {
        let clock = EIDClock(at: Self.start)
        #expect(clock.counter(at: Self.start) == 65280)
        #expect(clock.counter(at: after(0.999)) == 65280)
        #expect(clock.counter(at: after(1)) == 65281)
        // Before its start, the counter is not smaller.
        #expect(clock.counter(at: HCIInstant(nanoseconds: 0)) == 65280)
    }

    @Test func savedCounterContinues() {
        let clock = EIDClock(saved: 100_000, at: Self.start)
        #expect(clock.counter(at: after(600)) == 100_600)
        #expect(EIDClock(saved: clock.counter(at: after(600)), at: after(601)).counter(at: after(602)) == 100_601)
    }

    @Test func wallClockWithinTheToleranceOnlyAdvancesTheCounter() {
        var clock = EIDClock(epochUnixSeconds: 1_700_000_000, saved: 70_000, at: Self.start)
        // 10,000 s after the epoch: t = 75,280.
        let correction = clock.synchronize(unixMicroseconds: 1_700_010_000_000_000, isTrusted: true, at: after(10))
        #expect(correction == .advanced)
        #expect(clock.counter(at: after(10)) == 75_280)
        #expect(clock.counter(at: after(11.5)) == 75_281)
        // The wall clock is put back by an hour, to before the epoch, and to 1970.
        for wall in [1_700_006_400_000_000, 1_699_000_000_000_000, 0, -1] {
            let correction = clock.synchronize(unixMicroseconds: wall, isTrusted: true, at: after(20))
            #expect(correction == .none)
            #expect(clock.counter(at: after(20)) == 75_290)
        }
    }

    @Test func withoutAnEpochTheWallClockIsIgnored() {
        var clock = EIDClock(saved: 70_000, at: Self.start)
        let correction = clock.synchronize(unixMicroseconds: 1_700_010_000_000_000, isTrusted: true, at: after(10))
        #expect(correction == .none && clock.counter(at: after(10)) == 70_010)
    }

    @Test(arguments: [Int.min, Int.max, 0, -1, 1_700_000_000], [Int.min, Int.max, 0, 1_700_010_000_000_000])
    func extremeValuesDoNotOverflow(_ epoch: Int, _ wall: Int) {
        var clock = EIDClock(epochUnixSeconds: epoch, saved: 70_000, at: Self.start)
        clock.synchronize(unixMicroseconds: wall, isTrusted: false, at: after(1))
        #expect(clock.counter(at: after(1)) >= 70_001)
        #expect(clock.counter(at: .distantFuture) == .max)
        #expect(EIDClock(saved: .max, at: Self.start).counter(at: after(5)) == .max)
    }

    @Test func counterNeverDecreasesWithARandomWallClock() {
        var random = SplitMix64(seed: 17)
        var clock = EIDClock(epochUnixSeconds: 1_000_000, at: Self.start)
        var now = Self.start
        var last: UInt32 = 0
        for _ in 0..<2000 {
            now = now.advanced(byMicroseconds: random.next(upTo: 5_000_000))
            clock.synchronize(
                unixMicroseconds: 1_000_000_000_000 + random.next(upTo: 16_000_000) * 1000,
                isTrusted: random.next(upTo: 2) == 0, at: now)
            let counter = clock.counter(at: now)
            #expect(counter >= last)
            last = counter
        }
        #expect(last > 65280 + 5000)
    }

    private static let day = 86_400
    /// The wall clock `seconds` after the epoch, in microseconds since 1970.
    private func wall(_ seconds: Int) -> Int { (1_700_000_000 + seconds) * 1_000_000 }

    /// The wall clock is ten years ahead for three seconds.
    @Test func briefErrorOfTheWallClockChangesNothing() {
        var clock = EIDClock(epochUnixSeconds: 1_700_000_000, saved: 165_280, at: Self.start)
        for (seconds, wall, correction) in [
            (0.0, wall(100_000), EIDClock.Correction.none), (1, wall(3650 * Self.day), .doubted(ahead: 0)),
            (4, wall(100_004), .none), (5, wall(100_005), .none),
        ] {
            let found = clock.synchronize(unixMicroseconds: wall, isTrusted: false, at: after(seconds))
            if case .doubted(let ahead) = found {
                #expect(correction != .none && ahead < -3640 * Self.day)
            } else {
                #expect(found == correction)
            }
            #expect(clock.counter(at: after(seconds)) == 165_280 + UInt32(seconds))
        }
    }

    @Test func acceptsADifferenceOfOneDayButNotOfTwo() {
        for (days, correction) in [(1, EIDClock.Correction.advanced), (2, .doubted(ahead: -2 * Self.day))] {
            var clock = EIDClock(epochUnixSeconds: 1_700_000_000, saved: 65_280, at: Self.start)
            let found = clock.synchronize(unixMicroseconds: wall(days * Self.day), isTrusted: false, at: Self.start)
            #expect(found == correction)
            // A synchronised wall clock is accepted.
            clock.synchronize(unixMicroseconds: wall(days * Self.day), isTrusted: true, at: Self.start)
            #expect(clock.counter(at: Self.start) == UInt32(65_280 + days * Self.day))
        }
    }

    /// A new beacon has no saved counter, so it accepts any wall clock.
    @Test func newBeaconAcceptsTheFirstWallClock() {
        var clock = EIDClock(epochUnixSeconds: 1_700_000_000, at: Self.start)
        let first = clock.synchronize(unixMicroseconds: wall(900 * Self.day), isTrusted: false, at: Self.start)
        #expect(first == .advanced)
        #expect(clock.counter(at: Self.start) == UInt32(65_280 + 900 * Self.day))
        let second = clock.synchronize(unixMicroseconds: wall(9000 * Self.day), isTrusted: false, at: Self.start)
        #expect(second == .doubted(ahead: -8100 * Self.day))
    }

    @Test func aCounterFarAheadComesBackWhenTheClockIsRight() {
        var clock = EIDClock(epochUnixSeconds: 1_700_000_000, saved: 400_000_000, at: Self.start)
        let ahead = 400_000_000 - 65_280 - 10 * Self.day
        let doubted = clock.synchronize(unixMicroseconds: wall(10 * Self.day), isTrusted: false, at: Self.start)
        #expect(doubted == .doubted(ahead: ahead))
        #expect(clock.counter(at: Self.start) == 400_000_000)
        let setBack = clock.synchronize(unixMicroseconds: wall(10 * Self.day), isTrusted: true, at: Self.start)
        #expect(setBack == .setBack(seconds: ahead))
        #expect(clock.counter(at: Self.start) == UInt32(65_280 + 10 * Self.day))
        #expect(clock.counter(at: after(5)) == UInt32(65_285 + 10 * Self.day))
    }
}
