import Testing

@testable import Airtime

@Suite struct SimulationShardTests {
    @Test(arguments: [1, 2, 3, 7, 40])
    func everyBatchBelongsToOnePart(count: Int) throws {
        var seen: Set<Int> = []
        for index in 1...count {
            let shard = try SimulationShard(index, of: count)
            for position in 0..<60 {
                let batch = shard.batch(at: position)
                #expect(seen.insert(batch).inserted)
                #expect(SimulationShard.owner(ofBatch: batch, among: count) == (index, position))
            }
        }
        // Together, the first 60 batches of all parts have no gap.
        #expect(seen == Set(0..<60 * count))
    }

    @Test(arguments: [(0, 3), (4, 3), (1, 0), (1, 100_001)])
    func refusesPartNumbersOutOfRange(index: Int, count: Int) {
        #expect(throws: AirtimeError.self) { try SimulationShard(index, of: count) }
    }

    @Test func aPartEndsAtAWholeBlockAndKeepsItsMinimum() throws {
        let goal = try PrecisionGoal(halfWidth: .relative(0.05), minimumBatches: 40)
        func played(_ count: Int) throws -> Int {
            let shard = try SimulationShard(1, of: count)
            var sum = BatchSum<ShareTally>(goal, shard: shard) { $0.estimate }
            while !sum.isFinished {
                sum.add(ShareTally(hits: 400 + (sum.batches * 7919) % 200, trials: 1000))
            }
            return sum.batches
        }
        let (whole, half) = (try played(1), try played(2))
        #expect(whole % SimulationShard.block == 0 && half % SimulationShard.block == 0)
        #expect(half <= whole && whole >= 40)
        var sum = BatchSum<ShareTally>(goal, shard: try SimulationShard(1, of: 8), atLeast: 100) { $0.estimate }
        while !sum.isFinished { sum.add(ShareTally(hits: 500, trials: 1000)) }
        #expect(sum.batches == 100)
    }

    @Test func tallyNumbersAreReadBackAndDamagedOnesRefused() throws {
        let group = try AdvertiserGroup(count: 20, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        var conditions = AirConditions()
        conditions.durationMicroseconds = 3_000_000
        let scan = try ScanPattern(windowMicroseconds: 30_000, intervalMicroseconds: 300_000)
        let simulation = try AirSimulation(group, scan: scan, conditions: conditions, seed: 5)
        for batch in [0, 21] {
            let tally = simulation.batch(batch)
            let numbers = tally.numbers
            #expect(AirTally(numbers: numbers, batch: batch) == tally)
            for index in numbers.indices {
                var broken = numbers
                broken[index] = -1
                #expect(AirTally(numbers: broken, batch: batch) == nil)
                #expect(AirTally(numbers: Array(numbers[..<index]), batch: batch) == nil)
            }
        }
    }
}
