import Advertiser
import BluetoothTypes
import Testing

/// The interval of a shared set, in steps of 0.625 ms. The mean advDelay is 8 steps.
@Suite struct SharedPaceTests {
    private static let byHand: [([UInt32], UInt32)] = [
        // A single member keeps its interval.
        ([160], 160), ([0x20], 0x20), ([0xFF_FFFF], 0xFF_FFFF),
        // Two members at 100 ms: 105 ms / 2 = 52.5 ms, minus 5 ms: 47.5 ms.
        ([160, 160], 76),
        // Three members of 168 - 8 steps: 168 / 3 = 56 exactly, which must not be rounded down.
        ([160, 160, 160], 48),
        // 1 / (1/328 + 1/568 + 1/1128 + 1/8008) = 171.79…: the sample profile, 200, 350, 700 and 5000 ms.
        ([320, 560, 1120, 8000], 163),
        // 1 / (1/100 + 1/300) = 75 exactly.
        ([92, 292], 67),
    ]

    @Test(arguments: byHand)
    func intervalIsTheLargestThatGivesEachItsShare(_ intervals: [UInt32], _ expected: UInt32) {
        let pace = SharedPace(intervals.map { AdvertisingInterval(rawValue: $0) })
        #expect(pace.interval == AdvertisingInterval(rawValue: expected))
    }

    @Test func reportsNoIntervalIfNoneIsShortEnough() {
        let twenty = AdvertisingInterval(rawValue: 0x20)
        // For five members, 40 / 5 = 8 steps are the delay alone, so the interval is 0. For six, there is none.
        #expect(SharedPace([AdvertisingInterval](repeating: twenty, count: 5)).interval?.rawValue == 0)
        #expect(SharedPace([AdvertisingInterval](repeating: twenty, count: 6)).interval == nil)
        #expect(SharedPace([]).interval == nil)
    }

    /// The sets are small enough for exact fractions in 64 bits.
    @Test func seededSetsAgreeWithExactFractions() {
        var random = SplitMix64(seed: 42)
        for _ in 0..<2000 {
            let intervals = (0..<1 + random.next(upTo: 2)).map { _ in UInt32(32 + random.next(upTo: 20_000)) }
            let periods = intervals.map { UInt64($0) + 8 }
            let product = periods.reduce(1, *)
            let sum = periods.reduce(0) { $0 + product / $1 }
            // (T_s + 8) · sum ≤ product
            let expected = product / sum
            let pace = SharedPace(intervals.map { AdvertisingInterval(rawValue: $0) })
            #expect(pace.interval.map { UInt64($0.rawValue) + 8 } == expected, "\(intervals)")
        }
    }
}
