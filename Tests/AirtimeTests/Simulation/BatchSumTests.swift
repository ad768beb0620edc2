import Airtime
import BluetoothTypes
import Testing

@Suite struct BatchSumTests {
    /// Returns the tally of a hundred draws with a probability of 0.3.
    private func batch(_ index: Int) -> ShareTally {
        var random = SplitMix64(seed: UInt64(index))
        let hits = (0..<100).count { _ in random.next() % 10 < 3 }
        return ShareTally(hits: hits, trials: 100)
    }

    private func played(_ goal: PrecisionGoal) -> BatchSum<ShareTally> {
        var sum = BatchSum<ShareTally>(goal) { $0.estimate }
        while !sum.isFinished { sum.add(batch(sum.batches)) }
        return sum
    }

    @Test func ignoresBatchesAfterTheGoalIsMet() throws {
        var sum = try played(PrecisionGoal(halfWidth: .absolute(0.02), minimumBatches: 5, maximumBatches: 200))
        #expect(sum.batches > 5 && sum.batches < 200)
        #expect(try #require(sum.tally.estimate).halfWidth95 <= 0.02)
        let (tally, batches) = (sum.tally, sum.batches)
        sum.add(ShareTally(hits: 1, trials: 2))
        #expect(sum.tally == tally && sum.batches == batches)
    }

    @Test func endsAtTheMaximumNumberOfBatches() throws {
        let sum = try played(PrecisionGoal(halfWidth: .relative(1e-9), minimumBatches: 2, maximumBatches: 7))
        #expect(sum.batches == 7 && sum.tally.batches == 7)
    }

    @Test(arguments: [0, -1, .nan, .infinity])
    func refusesImpossibleHalfWidths(width: Double) {
        #expect(throws: AirtimeError.self) { try PrecisionGoal(halfWidth: .absolute(width)) }
        #expect(throws: AirtimeError.self) { try PrecisionGoal(halfWidth: .relative(width)) }
    }

    @Test(arguments: [(1, 10), (5, 4), (Int.min, 0), (2, Int.min)])
    func refusesImpossibleBatchCounts(minimum: Int, maximum: Int) {
        #expect(throws: AirtimeError.self) {
            try PrecisionGoal(halfWidth: .relative(1), minimumBatches: minimum, maximumBatches: maximum)
        }
    }
}
