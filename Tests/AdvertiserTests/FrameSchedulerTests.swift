import Advertiser
import BluetoothTypes
import HCI
import Testing

/// The assignment of slots to advertisements, without a controller.
@Suite struct FrameSchedulerTests {
    /// Runs a scheduler from turn to turn, and adds up the time on the air of each member.
    private struct Run {
        var scheduler: FrameScheduler
        var now = HCIInstant(nanoseconds: 0)
        var airtime: [Int]
        /// The share of all slots that each member should get.
        let shares: [Double]

        init(_ units: [Int]) throws {
            let intervals = units.map { AdvertisingInterval(rawValue: UInt32($0)) }
            scheduler = try #require(FrameScheduler(intervals))
            airtime = [Int](repeating: 0, count: units.count)
            let rates = units.map { 1 / Double($0 + 8) }
            shares = rates.map { $0 / rates.reduce(0, +) }
            scheduler.start(at: now)
            // The first slot began half a slot before the start.
            airtime[scheduler.current] += scheduler.slotMicroseconds / 2
        }

        mutating func turn() throws {
            let next = try #require(scheduler.nextChange)
            airtime[scheduler.current] += next.microseconds(since: now)
            now = next
            let before = scheduler.current
            let hasChanged = scheduler.advance(to: now)
            if hasChanged != (before != scheduler.current) { Issue.record("the result of advance is wrong at \(now)") }
        }

        /// The largest difference between a member's time on the air and its share, in slots.
        var worstLag: Double {
            let slots = airtime.map { Double($0) / Double(scheduler.slotMicroseconds) }
            let total = slots.reduce(0, +)
            return airtime.indices.reduce(0) { worst, member in
                max(worst, abs(slots[member] - total * shares[member]))
            }
        }
    }

    private static let mixes = [
        [320, 560, 1120, 8000], [160, 160], [160, 160, 160, 160], [200, 16384], [32, 320, 3200],
        [320, 321, 322, 323, 324], [1600, 1600, 16384, 16384], [160, 0xFF_FFFF],
    ]

    @Test(arguments: mixes)
    func noMemberIsMoreThanOneSlotOffItsShare(_ units: [Int]) throws {
        var run = try Run(units)
        var worst = 0.0
        for _ in 0..<2000 {
            try run.turn()
            worst = max(worst, run.worstLag)
        }
        #expect(worst <= 1.01)
    }

    @Test func noMemberIsMoreThanOneSlotOffInSeededMixes() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<200 {
            let units = (0..<2 + random.next(upTo: 8)).map { _ in 320 + random.next(upTo: 16_000) }
            var run = try Run(units)
            var worst = 0.0
            for _ in 0..<200 {
                try run.turn()
                worst = max(worst, run.worstLag)
            }
            #expect(worst <= 1.01, "\(units)")
        }
    }

    @Test func eachTurnIsLaterAndChangesTheMember() throws {
        for units in Self.mixes {
            var run = try Run(units)
            for _ in 0..<500 {
                let (before, time) = (run.scheduler.current, run.now)
                try run.turn()
                #expect(run.now > time)
                // Each turn changes the member, except in a mix with a very long interval: its member is due only once
                // in thousands of turns, so another member may have two turns in a row.
                #expect(run.scheduler.current != before || units.contains(0xFF_FFFF))
            }
        }
    }

    @Test func singleMemberNeverChanges() throws {
        var scheduler = try #require(FrameScheduler([AdvertisingInterval(rawValue: 160)]))
        #expect(scheduler.setInterval.rawValue == 160 && scheduler.current == 0)
        scheduler.start(at: HCIInstant(nanoseconds: 0))
        #expect(scheduler.nextChange == nil)
        let hasChanged = scheduler.advance(to: .distantFuture)
        #expect(!hasChanged)
        #expect(FrameScheduler([]) == nil)
    }

    @Test func equalMembersTakeTurnsInAFixedOrder() throws {
        var run = try Run([160, 160, 160])
        var order: [Int] = []
        for _ in 0..<30 {
            order.append(run.scheduler.current)
            try run.turn()
        }
        for index in order.indices.dropFirst(3) { #expect(order[index] == order[index - 3]) }
        #expect(Set(order.prefix(3)) == [0, 1, 2])
        #expect(run.scheduler.slotMicroseconds == 35_000)
        // Half a slot, then whole slots: each event is due in the middle of its slot.
        #expect(run.now.microseconds(since: HCIInstant(nanoseconds: 0)) == 29 * 35_000 + 17_500)
    }

    /// If a late host leaves a member on the air for too long, the others get more of the following slots.
    @Test func sharesAreKeptIfTheHostIsLate() throws {
        var random = SplitMix64(seed: 9)
        var run = try Run([320, 560, 1120, 8000])
        for _ in 0..<20_000 {
            let next = try #require(run.scheduler.nextChange)
            let late = next.advanced(byMicroseconds: random.next(upTo: 400_000))
            run.airtime[run.scheduler.current] += late.microseconds(since: run.now)
            run.now = late
            _ = run.scheduler.advance(to: late)
        }
        let total = Double(run.airtime.reduce(0, +))
        for (member, units) in [320, 560, 1120, 8000].enumerated() {
            let share = Double(run.airtime[member]) / total
            let owed = Double(run.scheduler.slotMicroseconds) / Double(run.scheduler.meanPeriodMicroseconds(of: member))
            #expect(abs(share - owed) <= 0.02 * owed + 0.002, "\(units)")
        }
    }

    @Test func scheduleStartsAgainAfterADayOfSleep() throws {
        var run = try Run([320, 560, 1120, 8000])
        for _ in 0..<100 { try run.turn() }
        let morning = run.now.advanced(byMicroseconds: 86_400_000_000)
        _ = run.scheduler.advance(to: morning)
        let next = try #require(run.scheduler.nextChange)
        #expect(next > morning && next.microseconds(since: morning) < 10_000_000)
        var seen: Set<Int> = []
        for _ in 0..<100 {
            seen.insert(run.scheduler.current)
            run.now = try #require(run.scheduler.nextChange)
            _ = run.scheduler.advance(to: run.now)
        }
        #expect(seen == [0, 1, 2, 3])
    }

    @Test func orderIsUnchangedAfterABreak() throws {
        var run = try Run([320, 560, 1120, 8000])
        for _ in 0..<50 { try run.turn() }
        var resumed = run.scheduler
        let later = run.now.advanced(byMicroseconds: 3_600_000_000)
        resumed.start(at: later)
        #expect(resumed.current == run.scheduler.current)
        #expect(resumed.nextChange == later.advanced(byMicroseconds: resumed.slotMicroseconds / 2))
        run.scheduler = resumed
        run.now = later
        for _ in 0..<50 {
            let (one, other) = (run.scheduler.current, resumed.current)
            #expect(one == other)
            try run.turn()
            _ = resumed.advance(to: run.now)
        }
    }
}
