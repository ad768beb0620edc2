import BluetoothTypes
import EnduranceZones
import Sightings
import Testing

@testable import Zones

/// The computed silences, and the number of false exits.
@Suite struct SilenceTests {
    struct Cell: Sendable {
        let period: Double
        let loss: Double
        let seconds: Double
    }

    /// The computed silence for each interval and loss, in seconds. After many events it is exact to about one event.
    @Test(arguments: [
        Cell(period: 0.1, loss: 0.3, seconds: 10), Cell(period: 0.1, loss: 0.9, seconds: 15),
        Cell(period: 1, loss: 0.1, seconds: 10), Cell(period: 1, loss: 0.3, seconds: 12),
        Cell(period: 1, loss: 0.5, seconds: 21), Cell(period: 1, loss: 0.65, seconds: 32),
        Cell(period: 2, loss: 0.1, seconds: 14), Cell(period: 2, loss: 0.3, seconds: 24),
        Cell(period: 2, loss: 0.5, seconds: 40), Cell(period: 2, loss: 0.65, seconds: 62),
        Cell(period: 5, loss: 0.1, seconds: 30), Cell(period: 5, loss: 0.3, seconds: 55),
        Cell(period: 5, loss: 0.5, seconds: 90), Cell(period: 5, loss: 0.65, seconds: 145),
    ])
    func silence(_ cell: Cell) {
        let interval = Int(cell.period * 1_000_000)
        var silence = BeaconSilence(interval: interval)
        var randomness = SplitMix64(seed: 3)
        var time = 0
        for number in 1...20_000 {
            time += interval + 5000
            guard Double(randomness.next() >> 11) * 0x1p-53 >= cell.loss else { continue }
            silence.receive(at: time, events: number, period: 0) { nil }
        }
        let seconds = Double(silence.limit) / 1_000_000
        #expect(seconds >= cell.seconds * 0.97 && seconds <= cell.seconds * 1.04 + 2 * cell.period, "\(seconds) s")
    }

    @Test func isLongIfTheIntervalIsUnknown() {
        var silence = BeaconSilence(interval: nil)
        #expect(silence.limit == 30_000_000 && silence.lastReceived == nil)
        silence.receive(at: 0, events: 1, period: 0) { nil }
        silence.receive(at: 5_000_000, events: 2, period: 0) { nil }
        #expect(silence.limit == 145_000_000)
    }

    @Test func learnsNothingFromGapsAcrossDeafness() {
        var silence = BeaconSilence(interval: 1_000_000)
        for number in 1...40 { silence.receive(at: number * 1_005_000, events: number, period: number) { nil } }
        #expect(silence.limit == ExitRule.silenceMicroseconds(period: 1_005_000, loss: 0.65))
    }

    @Test(arguments: [
        ZoneLife.Settings(intervalMilliseconds: 100, loss: 0.65),
        ZoneLife.Settings(intervalMilliseconds: 1000, loss: 0.3, isKnown: true),
        ZoneLife.Settings(intervalMilliseconds: 1000, loss: 0.65, run: 4),
        ZoneLife.Settings(intervalMilliseconds: 5000, loss: 0.65),
    ])
    func causesNoFalseAndNoMissedExits(_ settings: ZoneLife.Settings) {
        var life = ZoneLife(settings, seed: 7)
        let hour = 36 * settings.intervalMilliseconds / 10
        for _ in 0..<3 {
            life.stay(seconds: min(3600, max(120, hour)))
            life.leave(seconds: 400)
        }
        #expect(life.falseExits == 0 && life.missedExits == 0)
        #expect(life.leaveDelays.allSatisfy { $0 <= 2_000_000 }, "\(life.leaveDelays)")
    }

    @Test(arguments: [(100, 600_000), (1000, 5_500_000)])
    func enters(_ interval: Int, _ limit: Int) throws {
        var delays: [Int] = []
        for seed in 0..<200 {
            var life = ZoneLife(.init(intervalMilliseconds: interval, loss: 0.3), seed: UInt64(seed))
            life.stay(seconds: interval / 100 + 5)
            delays += life.enterDelays
        }
        #expect(delays.count > 195)
        #expect(delays.sorted()[delays.count * 95 / 100] <= limit)
    }

    /// The interval of the beacon is not configured. After a few seconds of reports, the beacon is gone after about ten
    /// missing events, no matter how long it was received before.
    @Test(arguments: [14, 20, 40, 600]) func isLearnedInAFewSeconds(_ seconds: Int) {
        var silence = BeaconSilence(interval: nil)
        var estimate = IntervalEstimate()
        for number in 0..<seconds {
            if number > 0 { estimate.add(gapMicroseconds: 1_005_000) }
            silence.receive(at: number * 1_005_000, events: number + 1, period: 0) {
                estimate.periodMicroseconds(from: BeaconSilence.firstGaps)
            }
        }
        #expect((10_000_000...20_000_000).contains(silence.limit), "\(silence.limit)")
    }

    /// A beacon that loses many events does not leave because its first ones were received.
    @Test func isLongEnoughForALuckyBeacon() {
        var falseExits = 0
        for seed in 0..<400 {
            var life = ZoneLife(.init(intervalMilliseconds: 1000, loss: 0.5), seed: UInt64(1000 + seed))
            life.stay(seconds: 60)
            falseExits += life.falseExits
        }
        #expect(falseExits <= 1)
    }
}
