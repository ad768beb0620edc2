import Airtime
import BluetoothTypes
import LinuxHost
import Planner
import Testing

@Suite struct SimulationQuestionTests {
    private func question(seed: UInt64) throws -> SimulatedCollisions {
        let frame = try PlannedFrame(interval: AdvertisingInterval(rawValue: 160), payloadOctets: 31)
        return try SimulatedCollisions(
            air: PlannedAir(beacons: 20, frames: [frame]), seed: seed, precision: 0.02)
    }

    private func play(
        _ question: SimulatedCollisions, batches: Int = .max, threads: Int = 1
    ) throws -> SimulationOutcome {
        var sum = question.sum
        let scene = question.scene
        let work = try OrderedWork(pieces: .max, window: 16, threads: threads) { scene.batch($0) }
        defer { work.stop() }
        while sum.batches < batches, !sum.isFinished, let tally = work.next() { sum.add(tally) }
        return SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: !sum.isFinished)
    }

    @Test func theSameSeedSaysTheSameOnAnyNumberOfThreads() throws {
        let first = try question(seed: 7).answer(play(question(seed: 7)))
        let second = try question(seed: 7).answer(play(question(seed: 7), threads: 3))
        #expect(first.json == second.json && first.holds)
        let model = try #require(first["model"]?["collisionFreeProbability"]?.value)
        let simulated = try #require(first["collisionFreeProbability"]?.value)
        #expect(abs(simulated - model) < 0.05 * model)
    }

    @Test func whatIsEndedEarlySaysSoAndDoesNotHold() throws {
        let question = try question(seed: 1)
        let answer = try question.answer(play(question, batches: 3))
        #expect(!answer.holds)
        #expect(answer.notes.contains { $0.contains("Ended before") })
        #expect(throws: PlanError.self) { try question.answer(play(question, batches: 1)) }
    }

    @Test func theEndIsInSight() throws {
        let question = try question(seed: 1)
        let whole = try play(question)
        let part = try play(question, batches: 20)
        let progress = question.progress(part.tally, batches: part.batches)
        let total = try #require(progress.total)
        #expect(progress.isEstimate && total > 0 && total < 20 * whole.batches)
        #expect(progress.text.contains(" of about "))
    }
}
