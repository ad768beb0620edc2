import Advertiser
import BluetoothTypes
import HCI
import Testing
import VirtualController

/// The order of a crowd's turns, and their counts.
@Suite struct CrowdRotationTests {
    private static func at(_ milliseconds: Int) -> HCIInstant {
        HCIInstant(nanoseconds: UInt64(1_000_000 * (1000 + milliseconds)))
    }

    /// Carries out all turns until `end`. The commands of a turn take 3 ms: the old identity is off after 1 ms.
    private static func play(_ rotation: inout CrowdRotation, from start: Int = 0, until end: Int) -> [CrowdRotation
        .Turn]
    {
        var (now, turns) = (start, [CrowdRotation.Turn]())
        while now < end {
            while now < end, let turn = rotation.take(at: at(now)) {
                rotation.end(turn.set, sent: at(now), at: at(now + 1))
                rotation.begin(turn, sent: at(now + 2), at: at(now + 3))
                #expect(rotation.check() == [])
                now += 3
                turns.append(turn)
            }
            guard let next = rotation.nextTurn else { break }
            now = max(now, Int(next.nanoseconds / 1_000_000) - 1000)
        }
        return turns
    }

    @Test func oneSetSendsOneIdentityAfterTheOther() throws {
        var rotation = CrowdRotation(identities: 3, sets: 1, dwellMicroseconds: 110_000)
        let turns = Self.play(&rotation, until: 1000)
        #expect(turns.map(\.identity) == [0, 1, 2, 0, 1, 2, 0, 1, 2])
        #expect(rotation.turnMicroseconds == 113_000 && rotation.roundMicroseconds == 339_000)
        #expect(rotation.turns == 9 && rotation.rounds == 3)
        #expect(rotation.slowest?.gap == 339_000)
        // At least from the answer to Enable until Disable is sent.
        // At most from sending Enable until the answer to Disable.
        #expect(rotation.airtimes == 110_000...112_000)
        #expect(rotation.elapsedMicroseconds(at: Self.at(1003)) == 1_000_000)
    }

    @Test(arguments: [(300, 4), (7, 3), (5, 4), (100, 64)])
    func setsNeverShareAnIdentity(identities: Int, sets: Int) {
        var rotation = CrowdRotation(identities: identities, sets: sets, dwellMicroseconds: 30_000)
        let turns = Self.play(&rotation, until: 4000)
        #expect(Set(turns.map(\.set)) == Set(0..<sets))
        let counts = rotation.tallies.map(\.turns)
        #expect(counts.max().map { most in counts.allSatisfy { most - $0 <= 1 } } == true)
        #expect(counts.reduce(0, +) == turns.count)
    }

    @Test func doesNotRotateIfEachIdentityHasASet() {
        var rotation = CrowdRotation(identities: 3, sets: 8, dwellMicroseconds: 30_000)
        let turns = Self.play(&rotation, until: 1000)
        #expect(turns.map(\.identity) == [0, 1, 2])
        #expect(rotation.isConstant && rotation.nextTurn == nil && rotation.roundMicroseconds == nil)
        #expect(rotation.slowest == nil && rotation.rounds == 1)
    }

    @Test func postponedIdentityWaitsWhileTheOthersContinue() throws {
        var rotation = CrowdRotation(identities: 5, sets: 2, dwellMicroseconds: 100_000)
        _ = Self.play(&rotation, until: 50)
        let due = rotation.take(at: Self.at(200))
        let turn = try #require(due)
        rotation.end(turn.set, sent: Self.at(200), at: Self.at(201))
        rotation.postpone(turn, until: Self.at(700))
        let others = Self.play(&rotation, from: 202, until: 700)
        #expect(!others.isEmpty && others.allSatisfy { $0.set != turn.set && $0.identity != turn.identity })
        // After the delay, its set sends it.
        let later = Self.play(&rotation, from: 750, until: 760)
        #expect(later.contains(turn))
        #expect(rotation.check() == [])
    }

    @Test func aSetWithoutMemoryIsNotUsed() throws {
        var rotation = CrowdRotation(identities: 5, sets: 4, dwellMicroseconds: 100_000)
        for set in 0..<2 {
            let due = rotation.take(at: Self.at(0))
            let turn = try #require(due)
            #expect(turn.set == set)
            rotation.begin(turn, sent: Self.at(0), at: Self.at(1))
        }
        let third = rotation.take(at: Self.at(2))
        rotation.withdraw(try #require(third))
        let early = rotation.take(at: Self.at(3))
        #expect(rotation.sets == 2 && early == nil)
        let next = rotation.take(at: Self.at(102))
        #expect(next?.identity == 2)
    }

    @Test func aTurnThatAnotherProgramEndedIsCounted() throws {
        var rotation = CrowdRotation(identities: 2, sets: 1, dwellMicroseconds: 100_000)
        _ = Self.play(&rotation, until: 50)
        rotation.end(0, sent: Self.at(110), at: Self.at(111), isLost: true)
        #expect(rotation.lostTurns == 1 && rotation.tallies[0].lostTurns == 1 && rotation.airtimes == nil)
        // The set is off already.
        rotation.end(0, sent: Self.at(120), at: Self.at(121))
        #expect(rotation.lostTurns == 1 && rotation.airtimes == nil)
    }

    @Test func hasNoMeasurementsBeforeTheFirstTurn() {
        let rotation = CrowdRotation(identities: 0, sets: 0, dwellMicroseconds: 1)
        #expect(rotation.identities == 1 && rotation.sets == 1)
        #expect(rotation.turnMicroseconds == nil && rotation.rounds == 0)
        #expect(rotation.elapsedMicroseconds(at: Self.at(5)) == 0 && rotation.check() == [])
    }
}

/// The dwell time of an identity, and the share of its turns that a receiver receives.
@Suite struct CrowdTimingTests {
    private func timing(
        _ model: VirtualControllerModel, dwell: Int? = nil, interval: UInt32? = nil
    ) throws -> CrowdTiming {
        try CrowdTiming(
            interval: interval.map { AdvertisingInterval(rawValue: $0) }, dwellMicroseconds: dwell,
            on: try Bench(model).capabilities())
    }

    @Test func shortestDwellTimeContainsOneEvent() throws {
        #expect(try timing(.core4).dwellMicroseconds == 110_000)
        #expect(try timing(.core4).leastEvents == 1)
        #expect(try timing(.intel).dwellMicroseconds == 30_000)
        #expect(try timing(.intel, interval: 160).dwellMicroseconds == 110_000)
        #expect(try timing(.core4, dwell: 1_000_000).leastEvents == 9)
        #expect(try timing(.core4).events(in: 110_000...113_000) == 1...2)
    }

    @Test func refusesADwellTimeThatMayContainNoEvent() throws {
        #expect {
            _ = try timing(.core4, dwell: 109_000)
        } throws: { error in
            "\(error)".hasPrefix(
                "109 ms may be too short for one advertising event at an interval of 100 ms: give each")
                && "\(error)".hasSuffix("at least 110 ms")
        }
        #expect {
            _ = try timing(.intel, dwell: 50_000, interval: 160)
        } throws: { "\($0)".hasSuffix("at least 110 ms, or choose a shorter interval; the shortest is 20 ms") }
    }

    @Test func receiverWithScanPausesMissesTurns() throws {
        let short = try timing(.core4)
        #expect(short.reception(window: 5_120_000, scanInterval: 5_120_000) == 1)
        #expect(abs(short.reception(window: 512_000, scanInterval: 5_120_000) - 0.1) < 0.001)
        #expect(short.reception(window: 300, scanInterval: 1000) == 0)
        // Nine events, 100 ms apart, have the effect of a scan window that is 800 ms longer.
        let long = try timing(.core4, dwell: 1_000_000)
        #expect(abs(long.reception(window: 512_000, scanInterval: 5_120_000) - 1.3116 / 5.12) < 0.001)
        #expect(try timing(.core4, dwell: 5_280_000).reception(window: 512_000, scanInterval: 5_120_000) == 1)
    }
}
