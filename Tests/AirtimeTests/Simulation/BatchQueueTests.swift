import Airtime
import BluetoothTypes
import Testing

@Suite struct BatchQueueTests {
    private func simulation() throws -> CollisionSimulation {
        try CollisionSimulation(.of(30), seed: 1, batchWork: 3000)
    }

    /// Plays with several hands that finish in a random order.
    private func play(hands: Int, order: UInt64, goal: PrecisionGoal) throws -> BatchQueue<ShareTally> {
        let simulation = try simulation()
        var queue = BatchQueue<ShareTally>(goal, ahead: 8) { $0.estimate }
        var random = SplitMix64(seed: order)
        var inWork: [Int] = []
        while !queue.isFinished {
            while inWork.count < hands, let batch = queue.next() { inWork.append(batch) }
            guard !inWork.isEmpty else { break }
            let batch = inWork.remove(at: Int.random(in: 0..<inWork.count, using: &random))
            queue.take(simulation.batch(batch), of: batch)
        }
        return queue
    }

    @Test func theResultDependsOnNeitherHandsNorOrder() throws {
        let goal = try PrecisionGoal(halfWidth: .absolute(0.01), minimumBatches: 5, maximumBatches: 200)
        let alone = try play(hands: 1, order: 1, goal: goal)
        #expect(alone.isFinished && alone.batches > 5 && alone.batches < 200)
        #expect(try #require(alone.result.estimate).halfWidth95 <= 0.01)
        for (hands, order) in [(2, 2), (8, 3), (8, 4), (64, 5)] {
            let together = try play(hands: hands, order: UInt64(order), goal: goal)
            #expect(together.batches == alone.batches)
            #expect(together.result == alone.result)
        }
    }

    @Test func theMostBatchesEndWhatIsNeverPreciseEnough() throws {
        let queue = try play(
            hands: 3, order: 1,
            goal: PrecisionGoal(halfWidth: .relative(1e-9), minimumBatches: 2, maximumBatches: 7))
        #expect(queue.isFinished && queue.batches == 7 && queue.result.batches == 7)
    }

    @Test func onlyWhatWasHandedOutIsTaken() throws {
        let goal = try PrecisionGoal(halfWidth: .absolute(0.1), minimumBatches: 2, maximumBatches: 10)
        var queue = BatchQueue<ShareTally>(goal, ahead: 3) { _ in nil }
        #expect([queue.next(), queue.next(), queue.next(), queue.next()] == [0, 1, 2, nil])
        let one = ShareTally(hits: 1, trials: 2)
        for batch in [3, -1, .max, 1, 1] { queue.take(one, of: batch) }
        #expect(queue.batches == 0)
        queue.take(one, of: 0)
        queue.take(one, of: 0)
        #expect(queue.batches == 2 && queue.result.trials == 4)
        #expect([queue.next(), queue.next(), queue.next()] == [3, 4, nil])
    }

    @Test(arguments: [0, -1, .nan, .infinity])
    func widthsThatNoIntervalHasAreRefused(width: Double) {
        #expect(throws: AirtimeError.self) { try PrecisionGoal(halfWidth: .absolute(width)) }
        #expect(throws: AirtimeError.self) { try PrecisionGoal(halfWidth: .relative(width)) }
    }

    @Test(arguments: [(1, 10), (5, 4), (Int.min, 0), (2, Int.min)])
    func countsThatKnowNoScatterAreRefused(minimum: Int, maximum: Int) {
        #expect(throws: AirtimeError.self) {
            try PrecisionGoal(halfWidth: .relative(1), minimumBatches: minimum, maximumBatches: maximum)
        }
    }
}
