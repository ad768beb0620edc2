import Airtime
import BluetoothTypes
import Testing

@testable import Planner

@Suite struct PatternQuestionTests {
    private static func pattern(_ parts: [(milliseconds: Int, seconds: Int)]) throws -> AdvertisingPattern {
        let parts = try parts.map { part in
            let interval = try #require(AdvertisingInterval(microseconds: part.milliseconds * 1000))
            return AdvertisingPattern.Part(
                interval: RequestedInterval(interval), durationMicroseconds: part.seconds * 1_000_000)
        }
        return try #require(AdvertisingPattern(parts))
    }

    @Test func energyCountsTheEventsOfACycle() throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        let frame = try PlannedFrame(interval: pattern.meanInterval, pattern: pattern, payloadOctets: 31)
        let chip = try #require(BeaconChip.named("nrf52832"))
        let battery = try #require(BeaconBattery.named("cr2477"))
        let question = try EnergyQuestion(
            air: PlannedAir(beacons: 1, frames: [frame]), chip: chip, battery: battery)
        let current = try #require(try question.answer()["meanCurrentMicroamperes"]?.value)
        let expected = 13.65 * pattern.eventsPerCycle / 10 + 2
        #expect(abs(current - expected) < 0.002 * expected)
    }

    @Test func latencyFollowsThePattern() throws {
        let pattern = try Self.pattern([(100, 2), (1000, 8)])
        let frame = try PlannedFrame(interval: pattern.meanInterval, pattern: pattern, payloadOctets: 31)
        let question = LatencyQuestion(
            air: PlannedAir(beacons: 1, frames: [frame]), scanners: ScannerMix(.continuous), undiscoveredAfter: [0.5])
        let answer = try question.answer()
        #expect(answer.sentence.contains("with the pattern 100 ms for 2 s, 1000 ms for 8 s"))
        // 80 % of the time is in gaps of about one second.
        let open = try #require(answer["undiscoveredAfterS"]?["0.5"]?.value)
        #expect(abs(open - 0.4) < 0.01)
    }

    /// The collisions with another beacon depend on the interval of that beacon, not on the pattern.
    @Test func latencyCountsCollisionsWithOtherIntervals() throws {
        let pattern = try Self.pattern([(200, 2), (210, 2)])
        let other = try #require(AdvertisingInterval(microseconds: 100_000))
        let own = try PlannedFrame(interval: pattern.meanInterval, pattern: pattern, payloadOctets: 31)
        let others = try PlannedFrame(interval: other, payloadOctets: 31)
        let air = PlannedAir([
            PlannedAir.Machines(count: 50, frames: [own]), PlannedAir.Machines(count: 50, frames: [others]),
        ])
        let question = LatencyQuestion(air: air, scanners: ScannerMix(.continuous), undiscoveredAfter: [0.1])
        let answer = try question.answer()
        let open = try #require(answer["undiscoveredAfterS"]?["0.1"]?.value)
        let period = pattern.meanPeriodMicroseconds
        let clearOfOwn: Double = exp(49 * log1p(-752 / period))
        let clearOfOthers: Double = exp(50 * log1p(-752 / 105_000))
        let clear = clearOfOwn * clearOfOthers
        // The beacon has at most one event in a tenth of a second.
        #expect(abs(open - (1 - 100_000 / period * clear)) < 0.004)
    }

    @Test func differentPatternsOfOneMeanIntervalAreDifferentFrames() throws {
        let (one, other) = (try Self.pattern([(100, 2), (1000, 8)]), try Self.pattern([(1000, 8), (100, 2)]))
        let frames = try [one, other].map {
            try PlannedFrame(interval: $0.meanInterval, pattern: $0, payloadOctets: 31)
        }
        #expect(frames[0].interval == frames[1].interval && frames[0].sortKey != frames[1].sortKey)
        let air = PlannedAir(frames.map { .init(count: 1, frames: [$0]) })
        #expect(air.onlyFrame == nil)
    }

    @Test(arguments: [0.05, 50]) func refusesEventRatesThatNoControllerSupports(_ events: Double) throws {
        let error = #expect(throws: PlanError.self) {
            try PatternQuestion(scanners: ScannerMix(.continuous), budget: .eventsPerSecond(events))
        }
        #expect("\(try #require(error))".contains("--events-per-s"))
    }

    @Test func powerBudgetMustExceedTheSleepPower() throws {
        let chip = try #require(BeaconChip.named("nrf52832"))
        // The chip needs 2 µA for sleep and 13.65 µC for each event, at 3 V.
        _ = try PatternQuestion(
            scanners: ScannerMix(.continuous), budget: .power(microwatts: 3 * (2 + 13.65), chip: chip))
        let error = #expect(throws: PlanError.self) {
            try PatternQuestion(scanners: ScannerMix(.continuous), budget: .power(microwatts: 6, chip: chip))
        }
        #expect("\(try #require(error))".contains("--power-uw"))
    }
}
