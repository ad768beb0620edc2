import BluetoothTypes
import Testing

@testable import Sightings

/// Calibration with levels that have three peaks, shadows and headings.
struct CalibrationMeasurementTests {
    private typealias Leg = CalibrationMeasurement.Leg

    /// Returns a level of a beacon at rest: the three channels differ, each with a standard deviation of 1.25 dB.
    private static func level(_ mean: Double, _ chance: inout SplitMix64, shadowed: Double = 0) -> Int8 {
        let channel = [-3.0, 0, 3][chance.next(upTo: 2)]
        let noise =
            (0..<12).reduce(-6.0) { sum, _ in sum + Double(chance.next(upTo: 1 << 20)) / Double(1 << 20) } * 1.25
        let shadow = Double(chance.next(upTo: 999)) < 1000 * shadowed ? -6 - Double(chance.next(upTo: 9)) : 0
        return Int8((mean + channel + noise + shadow).rounded())
    }

    private static func measure(
        _ legs: [Leg], packets: Int = 60, shadowed: Double = 0, seed: UInt64 = 1, sender: (Int) -> UInt32 = { _ in 1 },
        mean: (Leg) -> Double
    ) -> CalibrationMeasurement {
        var measurement = CalibrationMeasurement(legs: legs)
        var chance = SplitMix64(seed: seed)
        for (index, leg) in legs.enumerated() {
            for packet in 0..<packets {
                measurement.receive(
                    Sighting(
                        at: Air.at(milliseconds: packet * 100), from: Air.sender(sender(packet)),
                        rssi: level(mean(leg), &chance, shadowed: shadowed)), leg: index)
            }
        }
        return measurement
    }

    private static let around = [0, 90, 180, 270].map { Leg(meters: 1, heading: $0) }

    @Test func weightsHeadingsEquallyRegardlessOfTheirPackets() throws {
        var measurement = CalibrationMeasurement(legs: Self.around)
        for (leg, level) in [-50, -54, -58, -62].enumerated() {
            for _ in 0..<(leg == 0 ? 300 : 30) {
                measurement.receive(
                    Sighting(at: Air.at(milliseconds: 0), from: Air.sender(1), rssi: Int8(level)), leg: leg)
            }
        }
        let result = try #require(measurement.result)
        #expect(result.powerAtOneMeter.value == -56)
        #expect(result.headings.map(\.level) == [-50, -54, -58, -62])
        // The standard deviation of the four headings is 5.16 dB.
        #expect(abs((result.standardError ?? 0) - 2.582) < 0.001)
        #expect(result.warnings == ["the headings differ by 12 dB: look for metal near the beacon"])
    }

    @Test func theTrimmedMeanIsAccurateDespitePeaksAndShadowing() throws {
        var squares = (clean: 0.0, shadowed: 0.0)
        for seed in UInt64(0)..<100 {
            let clean = Self.measure(Self.around, packets: 25, seed: seed) { _ in -59 }
            let shadowed = Self.measure(Self.around, packets: 25, shadowed: 0.1, seed: seed) { _ in -59 }
            let errors = try (
                #require(clean.result).powerAtOneMeter.value + 59, #require(shadowed.result).powerAtOneMeter.value + 59
            )
            squares.clean += errors.0 * errors.0 / 100
            squares.shadowed += errors.1 * errors.1 / 100
        }
        #expect(squares.clean.squareRoot() < 0.35)
        #expect(squares.shadowed.squareRoot() < 0.9)
    }

    @Test func aLongTailIsTrimmedMore() {
        var levels = LevelTally()
        for _ in 0..<80 { levels.add(-60) }
        for level in -95 ... -76 { levels.add(Int8(level)) }
        #expect(CalibrationMeasurement.estimate(levels)?.trim == 0.2)
        var even = LevelTally()
        for level in -66 ... -54 { for _ in 0..<10 { even.add(Int8(level)) } }
        #expect(CalibrationMeasurement.estimate(even)?.trim == 0.1)
        #expect(CalibrationMeasurement.estimate(even)?.level == -60)
    }

    @Test func refusesTooFewPackets() {
        let few = Self.measure(Self.around, packets: 24) { _ in -59 }
        #expect(few.shortage == "96 packets were received; a calibration needs 100")
        #expect(few.result == nil)
        let uneven = Self.measure([Leg(meters: 1, heading: 0)], packets: 120) { _ in -59 }
        #expect(uneven.shortage == nil)
        var measurement = CalibrationMeasurement(legs: Self.around)
        for packet in 0..<150 {
            measurement.receive(
                Sighting(at: Air.at(milliseconds: packet), from: Air.sender(1), rssi: -60),
                leg: packet < 19 ? 3 : packet % 3)
        }
        #expect(measurement.shortage == "19 packets were received at 270° and 1 m; each heading needs 20")
    }

    @Test func warnsIfThereIsOnlyOneHeading() throws {
        let one = try #require(Self.measure([Leg(meters: 1, heading: 0)], packets: 300) { _ in -59 }.result)
        #expect(one.standardError == nil && one.powerAtOneMeter.interval == nil)
        #expect(
            one.warnings == [
                "one heading is not enough for a calibration: turning the beacon changes its level by 4 to 19 dB"
            ])
    }

    @Test func endsAfter20SecondsOnlyIfTheHeadingsAgree() {
        let agreed = Self.measure(Self.around) { _ in -59 }
        #expect(!agreed.isEnough(afterSeconds: 19))
        #expect(agreed.isEnough(afterSeconds: 20))
        #expect(!Self.measure(Self.around) { Double(-59 - $0.heading / 40) }.isEnough(afterSeconds: 60))
        #expect(!Self.measure([Leg(meters: 1, heading: 0)], packets: 900) { _ in -59 }.isEnough(afterSeconds: 60))
    }

    @Test func estimatesPowerAndExponentFromSeveralDistances() throws {
        let legs = [1.0, 2, 4, 8].flatMap { meters in [0, 90].map { Leg(meters: meters, heading: $0) } }
        let levels: [Double: Double] = [1: -60, 2: -66.62, 4: -73.25, 8: -79.87]
        var inside = (power: 0, exponent: 0)
        for seed in UInt64(0)..<40 {
            let result = try #require(
                Self.measure(legs, packets: 100, seed: seed) { levels[$0.meters, default: 0] }.result)
            let exponent = try #require(result.exponent)
            #expect(abs(result.powerAtOneMeter.value + 60) < 1)
            #expect(abs(exponent.value - 2.2) < 0.15)
            inside.power += try #require(result.powerAtOneMeter.interval).contains(-60) ? 1 : 0
            inside.exponent += try #require(exponent.interval).contains(2.2) ? 1 : 0
        }
        // 95 % of 40 trials are 38. By chance it may be a few fewer.
        #expect(inside.power >= 34 && inside.exponent >= 34)
    }

    @Test func needsAnExponentForADistanceOtherThanOneMetre() throws {
        let legs = [0, 90, 180, 270].map { Leg(meters: 2, heading: $0) }
        var measurement = Self.measure(legs) { _ in -66 }
        #expect(measurement.result == nil && measurement.shortage == nil)
        measurement.exponent = 2
        #expect(abs(try #require(measurement.result).powerAtOneMeter.value + 60) < 0.4)
        measurement.referenceOffset = 3
        #expect(abs(try #require(measurement.result).powerAtOneMeter.value + 63) < 0.4)
    }

    @Test func measuresEachChannelSeparately() throws {
        let legs = [37, 38, 39].map { Leg(meters: 1, heading: 0, channel: $0) }
        let result = try #require(
            Self.measure(legs) { [37: -55.0, 38: -60, 39: -64][$0.channel ?? 0, default: 0] }.result)
        #expect(result.channels.map(\.number) == [37, 38, 39])
        for (channel, level) in zip(result.channels, [-55.0, -60, -64]) { #expect(abs(channel.level - level) < 0.8) }
    }

    @Test func warnsOfASecondSenderAndOfImpossibleLevels() throws {
        let two = Self.measure(Self.around, sender: { $0 % 2 == 0 ? 1 : 2 }) { _ in -59 }
        #expect(
            try #require(two.result).warnings == [
                "a second beacon has the same identity: turn one of them off"
            ])
        var loud = CalibrationMeasurement(legs: Self.around)
        loud.radioPower = -40
        for packet in 0..<400 {
            loud.receive(
                Sighting(at: Air.at(milliseconds: packet), from: Air.sender(1), rssi: packet < 4 ? -30 : -60),
                leg: packet % 4)
        }
        #expect(
            try #require(loud.result).warnings == [
                "4 readings are above the -40 dBm that are sent: the receiver's levels are wrong"
            ])
    }
}
