import Airtime
import BluetoothTypes
import LinuxHost
import Planner
import Synchronization
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
        try SimulationRunner(question, threads: threads).run { progress in
            batches == .max || progress().done < batches
        }
    }

    @Test func equalSeedsGiveEqualAnswersOnAnyNumberOfThreads() throws {
        let first = try question(seed: 7).answer(play(question(seed: 7)))
        let second = try question(seed: 7).answer(play(question(seed: 7), threads: 3))
        #expect(first.json == second.json && first.holds)
        let model = try #require(first["model"]?["collisionFreeProbability"]?.value)
        let simulated = try #require(first["collisionFreeProbability"]?.value)
        #expect(abs(simulated - model) < 0.05 * model)
    }

    @Test func reportsThatASimulationEndedEarly() throws {
        let question = try question(seed: 1)
        let answer = try question.answer(play(question, batches: 3))
        #expect(!answer.holds)
        #expect(answer.notes.contains { $0.contains("ended before") })
        #expect(throws: PlanError.self) { try question.answer(play(question, batches: 1)) }
    }

    @Test func estimatesTheTotalNumberOfBatches() throws {
        let question = try question(seed: 1)
        let whole = try play(question)
        let part = try play(question, batches: 20)
        let progress = question.progress(part.tally, batches: part.batches)
        let total = try #require(progress.total)
        #expect(progress.isEstimate && total > 0 && total < 20 * whole.batches)
        #expect(progress.text.contains(" of about "))
    }
}

@Suite struct MergedTalliesTests {
    private func question() throws -> SimulatedCollisions {
        let frame = try PlannedFrame(interval: AdvertisingInterval(rawValue: 160), payloadOctets: 31)
        return try SimulatedCollisions(
            air: PlannedAir(beacons: 20, frames: [frame]), seed: 7, precision: 0.002)
    }

    /// The batches that were simulated already. The tests share them, because a run takes seconds in a debug build.
    private static let tallies = Mutex<[Int: AirTally]>([:])

    private static func tally(of batch: Int, in question: SimulatedCollisions) -> AirTally {
        if let known = tallies.withLock({ $0[batch] }) { return known }
        let tally = question.scene.batch(batch)
        tallies.withLock { $0[batch] = tally }
        return tally
    }

    private func part(_ index: Int, of count: Int, batches: Int = 0) throws -> (name: String, octets: [UInt8]) {
        let shard = try SimulationShard(index, of: count)
        let question = try question()
        let head = TallyHead(
            program: "1", arguments: ["collisions", "--seed", "7"], scene: question.sceneHash, shard: shard)
        var lines = [head.line]
        var sum = question.sum(of: shard, atLeast: batches)
        while !sum.isFinished {
            let batch = shard.batch(at: sum.batches)
            let tally = Self.tally(of: batch, in: question)
            lines.append(tally.line(batch: batch))
            sum.add(tally)
        }
        return ("part-\(index)", Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    @Test func runnerWritesTheLinesOfItsPart() throws {
        let shard = try SimulationShard(2, of: 3)
        var lines: [String] = []
        let runner = SimulationRunner(try question(), threads: 2)
        #expect(try runner.runPart(shard) { lines.append($0) })
        let expected = String(decoding: try part(2, of: 3).octets, as: UTF8.self).split(separator: "\n").dropFirst()
        #expect(lines == expected.map(String.init))
        lines = []
        var calls = 0
        let isWhole = try runner.runPart(shard) { progress in
            calls += 1
            return !progress().what.isEmpty && calls < 3
        } write: {
            lines.append($0)
        }
        #expect(!isWhole && lines.count < expected.count)
    }

    @Test func partsOfAnotherVersionAreRefused() throws {
        let error = #expect(throws: PlanError.self) {
            try MergedTallies(files: [part(1, of: 1)], program: "2")
        }
        #expect(error?.message.hasPrefix("these parts were simulated by version 1, and this is 2") == true)
        let merged = try MergedTallies(files: [part(1, of: 1)], program: "1")
        #expect(try merged.answer(to: question()).holds)
    }

    private static let alone = Result {
        let question = try MergedTalliesTests().question()
        var sum = question.sum
        while !sum.isFinished { sum.add(tally(of: sum.batches, in: question)) }
        return SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: false)
    }

    @Test(arguments: [1, 2, 5]) func partsGiveWhatOneRunGives(count: Int) throws {
        let question = try question()
        let merged = try MergedTallies(files: (1...count).map { try part($0, of: count) }.reversed())
        let outcome = try merged.outcome(of: question)
        let whole = try Self.alone.get()
        #expect(!outcome.isInterrupted && outcome.batches == whole.batches)
        #expect(whole.batches > 2 * SimulationShard.block, "the test needs more than two blocks of batches")
        #expect(outcome.tally == whole.tally)
        #expect(try question.answer(outcome).json == question.answer(whole).json)
    }

    @Test func refusesIncompleteOrMixedParts() throws {
        let (one, two) = (try part(1, of: 3), try part(2, of: 3))
        #expect(throws: PlanError.self) { try MergedTallies(files: []) }
        #expect(throws: PlanError.self) { try MergedTallies(files: [one, one]) }
        #expect(throws: PlanError.self) { try MergedTallies(files: [("x", Array("{}\n".utf8))]) }
        let error = #expect(throws: PlanError.self) { try MergedTallies(files: [one, two]) }
        #expect(error?.message.contains("3/3") == true)
        let other = try part(2, of: 2)
        #expect(throws: PlanError.self) { try MergedTallies(files: [one, other]) }
    }

    @Test func aTruncatedPartLeavesTheAnswerIncomplete() throws {
        let question = try question()
        var files = try (1...2).map { try part($0, of: 2) }
        let lines = files[1].octets.split(separator: UInt8(ascii: "\n")).prefix(4)
        files[1].octets = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        let outcome = try MergedTallies(files: files).outcome(of: question)
        #expect(outcome.isInterrupted && outcome.batches == SimulationShard.block + 3)
        #expect(try !question.answer(outcome).holds)
        files[1].octets = Array(
            String(decoding: files[1].octets, as: UTF8.self).replacing("\"batch\":21", with: "\"batch\":22").utf8)
        #expect(throws: PlanError.self) { try MergedTallies(files: files).outcome(of: question) }
    }

    @Test func refusesPartsOfAnotherScene() throws {
        let frame = try PlannedFrame(interval: AdvertisingInterval(rawValue: 160), payloadOctets: 30)
        let other = try SimulatedCollisions(air: PlannedAir(beacons: 20, frames: [frame]), seed: 7, precision: 0.002)
        let merged = try MergedTallies(files: [part(1, of: 1)])
        #expect(throws: PlanError.self) { try merged.outcome(of: other) }
    }
}
