import Airtime
import BluetoothTypes
import Testing

@testable import Planner

@Suite struct SharedTurnsTests {
    private func intervals(_ milliseconds: [Int]) throws -> [AdvertisingInterval] {
        try milliseconds.map { try #require(AdvertisingInterval(microseconds: $0 * 1000)) }
    }

    @Test("an advertisement has its share of the slots", arguments: [[300, 300], [300, 5000], [100, 200, 1000]])
    func shares(milliseconds: [Int]) throws {
        let intervals = try intervals(milliseconds)
        let set = intervals.reduce(0) { $0 + 1 / Double($1.meanPeriodMicroseconds) }
        for (index, interval) in intervals.enumerated() {
            let turns = try #require(SharedTurns(of: index, in: intervals, on: "raspberry-pi"))
            #expect(turns.slotMicroseconds <= 1 / set)
            #expect(turns.slotMicroseconds > 1 / set - 625)
            let share = Double(turns.isOwn.count { $0 }) / Double(turns.isOwn.count)
            #expect(abs(share - 1 / Double(interval.meanPeriodMicroseconds) / set) < 0.004)
        }
        let first = try #require(SharedTurns(of: 0, in: intervals, on: "bluetooth-4"))
        let others = try (1..<intervals.count).map {
            try #require(SharedTurns(of: $0, in: intervals, on: "bluetooth-5"))
        }
        #expect(
            first.isOwn.indices.allSatisfy { slot in
                others.count { $0.isOwn[slot] } == (first.isOwn[slot] ? 0 : 1)
            })
    }

    @Test("other machines have a set for each advertisement", arguments: ["extended", "virtual", nil])
    func ownSets(controller: String?) throws {
        #expect(SharedTurns(of: 0, in: try intervals([300, 300]), on: controller) == nil)
    }

    @Test func oneAdvertisementHasTheSetToItself() throws {
        #expect(SharedTurns(of: 0, in: try intervals([300]), on: "raspberry-pi") == nil)
    }
}
