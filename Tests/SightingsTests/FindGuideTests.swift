import BluetoothTypes
import Testing

@testable import Sightings

/// The advice of the guide.
struct FindGuideTests {
    /// Returns the state at the end of each second, while a beacon sends every 100 ms. Each level lasts for one second.
    private static func walk(
        _ levels: [Double?], spread: Double = 5, seed: UInt64 = 3, power: Int? = -59
    ) -> [FindGuide.State] {
        var guide = FindGuide()
        guide.powerAtOneMeter = power
        guide.intervalMicroseconds = 95_000
        var chance = SplitMix64(seed: seed)
        return levels.enumerated().map { second, level in
            for event in 0..<10 {
                guard let level else { continue }
                let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double(chance.next(upTo: 1 << 20)) / Double(1 << 20)
                }
                guide.receive(
                    Int8((level + spread * noise).rounded()),
                    at: Air.at(milliseconds: 10_000 + second * 1000 + event * 100))
            }
            return guide.state(at: Air.at(milliseconds: 11_000 + second * 1000))
        }
    }

    @Test func reportsClearChanges() {
        let closer = Self.walk(Array(repeating: -80, count: 5) + Array(repeating: -65, count: 5))
        #expect(closer.contains { $0.advice == .warmer } && !closer.contains { $0.advice == .colder })
        let farther = Self.walk(Array(repeating: -65, count: 5) + Array(repeating: -80, count: 5))
        #expect(farther.contains { $0.advice == .colder } && !farther.contains { $0.advice == .warmer })
    }

    /// The beacon sends every two seconds, but is silent for 20 s. Afterwards the guide reports changes again.
    @Test func guidesToASlowBeaconAfterASilence() {
        var guide = FindGuide()
        guide.intervalMicroseconds = 1_995_000
        var advice: [FindGuide.Advice] = []
        for second in 0..<90 {
            let isSent = second % 2 == 0 && !(20..<40).contains(second)
            let now = Air.at(milliseconds: 10_000 + second * 1000)
            if isSent { guide.receive(second < 60 ? -80 : -60, at: now) }
            advice.append(guide.state(at: now).advice)
        }
        #expect(advice[30] == .silent)
        #expect(!advice[40...].contains(.silent))
        #expect(advice[60...].contains(.warmer))
    }

    @Test func seldomReportsAChangeAtAConstantLevel() {
        var told = 0
        var asked = 0
        for seed in UInt64(0)..<40 {
            let states = Self.walk(Array(repeating: -75, count: 30), seed: seed)
            told += states.count { $0.advice == .warmer || $0.advice == .colder }
            asked += states.count { $0.advice != .wait }
        }
        // With a limit of three standard errors, 0.3 false changes in 90 s are expected. Each is reported for three
        // seconds.
        #expect(asked > 900)
        #expect(told * 75 < asked, "\(told) of \(asked)")
    }

    @Test func ignoresASmallStepAndAsksForMoreStepsFarAway() throws {
        // From 8 m to 7 m the level changes by 1.2 dB.
        let states = Self.walk(Array(repeating: -77, count: 4) + Array(repeating: -75.8, count: 1))
        #expect(try #require(states.last).advice == .same)
        #expect(try #require(states.last).steps == 10)
        #expect(Self.walk(Array(repeating: -60, count: 4)).last?.steps == 5)
        let least = try #require(states.last?.leastChange)
        // Three standard errors of the difference between two means of 30 packets, with a deviation of 5 dB.
        #expect(abs(least - 3.9) < 1.2)
    }

    @Test func estimatesDistanceIntervalAndProximity() throws {
        let state = try #require(Self.walk(Array(repeating: -64, count: 5), spread: 2).last)
        let (distance, interval) = try (#require(state.distance), #require(state.interval))
        #expect(abs(distance - 1.78) < 0.2)
        // 1.96 standard deviations of 7 dB, which people, bags and hands cause.
        #expect(abs(interval.upperBound / distance - 4.9) < 0.1)
        #expect(abs(distance / interval.lowerBound - 4.9) < 0.1)
        #expect(state.proximity == .near)
        // Twice this distance is far, so the class is not certain.
        #expect(Self.walk(Array(repeating: -71, count: 5), spread: 2).last?.proximity == .unknown)
        #expect(Self.walk(Array(repeating: -90, count: 5), spread: 2).last?.proximity == .far)
        #expect(Self.walk(Array(repeating: -65, count: 5), power: nil).last?.interval == nil)
        #expect(Self.walk(Array(repeating: -65, count: 5), power: -3).last?.proximity == .unknown)
    }

    /// The conditions of measurements between two people: the mean level at a place deviates from free space by 5.5 dB,
    /// and the level of each packet from this mean by 5 dB (standard deviations).
    @Test func theIntervalContainsTheTrueDistance() throws {
        var chance = SplitMix64(seed: 9)
        var contained = 0
        for trial in 0..<200 {
            let meters = [0.5, 1, 2, 4][trial % 4]
            let shadow =
                (0..<12).reduce(-6.0) { sum, _ in sum + Double(chance.next(upTo: 1 << 20)) / Double(1 << 20) } * 5.5
            let level = -59 - 20 * log10(meters) + shadow
            let state = try #require(Self.walk(Array(repeating: level, count: 4), seed: UInt64(trial)).last)
            if try #require(state.interval).contains(meters) { contained += 1 }
        }
        #expect(contained >= 190, "\(contained) of 200")
    }

    @Test func reportsArrivalNextToTheBeacon() {
        #expect(Self.walk([-44, -43, -43]).last?.advice == .arrived)
        #expect(Self.walk([-50, -50, -50], spread: 1).last?.advice == .arrived, "the beacon is 0.35 m away")
        #expect(Self.walk([-56, -56, -56], spread: 1).last?.advice != .arrived)
    }

    @Test func reportsSilenceAndKeepsTheBestLevel() throws {
        let states = Self.walk([-70, -60, -60, nil, nil, nil, -70, -70])
        #expect(states[4].advice == .silent && states[5].advice == .silent)
        #expect(states[5].level == nil && states[5].interval == nil)
        #expect(try #require(states[5].silentMicroseconds) > 2_000_000)
        #expect(try #require(states[5].best) > -66)
        #expect(states[7].advice != .silent)
    }

    /// Returns the state at the end of each second, while a beacon sends every 100 ms, except in the seconds `silent`.
    /// The receiver is deaf in the seconds `deaf`.
    private static func walk(deaf: ClosedRange<Int>, silent: ClosedRange<Int>, seconds: Int) -> [FindGuide.State] {
        var guide = FindGuide()
        return (0..<seconds).map { second in
            if second == deaf.lowerBound { guide.stopListening(at: Air.at(milliseconds: second * 1000)) }
            if second == deaf.upperBound + 1 { guide.startListening(at: Air.at(milliseconds: second * 1000)) }
            if !deaf.contains(second), !silent.contains(second) {
                for event in 0..<10 { guide.receive(-70, at: Air.at(milliseconds: second * 1000 + event * 100)) }
            }
            return guide.state(at: Air.at(milliseconds: second * 1000 + 999))
        }
    }

    @Test func reportsADeafReceiverInsteadOfASilentBeacon() throws {
        let heard = Self.walk(deaf: 10...19, silent: 99...99, seconds: 26)
        #expect(!heard.contains { $0.advice == .silent || $0.silentMicroseconds != nil })
        #expect(heard[11...19].allSatisfy { $0.advice == .deaf && $0.level == nil })
        #expect(heard[20].advice != .deaf && heard[25].advice == .same)
        // The silence begins when the receiver works again.
        let gone = Self.walk(deaf: 10...19, silent: 20...40, seconds: 26)
        #expect(gone[20].advice != .silent && gone[24].advice == .silent)
        #expect(try #require(gone[24].silentMicroseconds) <= 5_200_000)
        // This also holds for a beacon that was never received.
        #expect(Self.walk(deaf: 0...19, silent: 0...40, seconds: 20).last?.advice == .deaf)
    }

    @Test func findsADirectionOnlyIfItsLevelIsClearlyHigher() throws {
        func turn(_ levels: [Double], packets: Int = 40) -> FindTurn {
            var turn = FindTurn()
            for (direction, level) in levels.enumerated() {
                for packet in 0..<packets { turn.receive(Int8(level) + Int8(packet % 7) - 3, direction: direction) }
            }
            return turn
        }
        let clear = try #require(turn([-70, -62, -70, -74]).beaconDirection)
        #expect(clear.direction == 1 && clear.confidence > 0.99)
        #expect(turn([-70, -70, -70, -70]).beaconDirection == nil)
        #expect(turn([-70, -69, -70, -74], packets: 6).beaconDirection == nil)
        #expect(turn([-70, -62, -70]).beaconDirection == nil)
        #expect(FindTurn().beaconDirection == nil)
    }
}
