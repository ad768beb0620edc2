import Advertiser
import BluetoothTypes
import HCI
import Testing

/// t = max(saved + elapsed, 65280 + wall clock − epoch), never backwards.
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
        // Before its start: no earlier.
        #expect(clock.counter(at: HCIInstant(nanoseconds: 0)) == 65280)
    }

    @Test func savedCounterGoesOn() {
        let clock = EIDClock(saved: 100_000, at: Self.start)
        #expect(clock.counter(at: after(600)) == 100_600)
        #expect(EIDClock(saved: clock.counter(at: after(600)), at: after(601)).counter(at: after(602)) == 100_601)
    }

    @Test func rightWallClockAdvancesItAndNeverPutsItBack() {
        var clock = EIDClock(epochUnixSeconds: 1_700_000_000, saved: 70_000, at: Self.start)
        // 10,000 s after the epoch: t = 75,280.
        let wasAdvanced = clock.synchronize(unixMicroseconds: 1_700_010_000_000_000, at: after(10))
        #expect(wasAdvanced)
        #expect(clock.counter(at: after(10)) == 75_280)
        #expect(clock.counter(at: after(11.5)) == 75_281)
        // The wall clock is put back by an hour, to before the epoch, and to 1970.
        for wall in [1_700_006_400_000_000, 1_699_000_000_000_000, 0, -1] {
            let wasPutBack = clock.synchronize(unixMicroseconds: wall, at: after(20))
            #expect(!wasPutBack)
            #expect(clock.counter(at: after(20)) == 75_290)
        }
    }

    @Test func withoutAnEpochTheWallClockSaysNothing() {
        var clock = EIDClock(saved: 70_000, at: Self.start)
        let wasAdvanced = clock.synchronize(unixMicroseconds: 1_700_010_000_000_000, at: after(10))
        #expect(!wasAdvanced && clock.counter(at: after(10)) == 70_010)
    }

    @Test(arguments: [Int.min, Int.max, 0, -1, 1_700_000_000], [Int.min, Int.max, 0, 1_700_010_000_000_000])
    func nonsenseIsSurvived(_ epoch: Int, _ wall: Int) {
        var clock = EIDClock(epochUnixSeconds: epoch, saved: 70_000, at: Self.start)
        clock.synchronize(unixMicroseconds: wall, at: after(1))
        #expect(clock.counter(at: after(1)) >= 70_001)
        #expect(clock.counter(at: .distantFuture) == .max)
        #expect(EIDClock(saved: .max, at: Self.start).counter(at: after(5)) == .max)
    }

    @Test func itNeverGoesBackwardsWhateverTheWallClockDoes() {
        var random = SplitMix64(seed: 17)
        var clock = EIDClock(epochUnixSeconds: 1_000_000, at: Self.start)
        var now = Self.start
        var last: UInt32 = 0
        for _ in 0..<2000 {
            now = now.advanced(byMicroseconds: random.next(upTo: 5_000_000))
            clock.synchronize(unixMicroseconds: 1_000_000_000_000 + random.next(upTo: 16_000_000) * 1000, at: now)
            let counter = clock.counter(at: now)
            #expect(counter >= last)
            last = counter
        }
        #expect(last > 65280 + 5000)
    }
}
