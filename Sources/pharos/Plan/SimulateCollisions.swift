internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

struct SimulateCollisions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collisions", abstract: "Collisions, packet by packet.",
        discussion: "Example: pharos plan simulate collisions --beacons 250 --interval-ms 100 --seed 7")

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Capture: a packet survives others that together are this many dB weaker.", valueName: "dB"),
        transform: PlanValue.number)
    var captureDb: Double?

    @Option(
        help: ArgumentHelp("Spacing of the copies, a value of this range for each device.", valueName: "ms..ms"),
        transform: PlanValue.copySpacing)
    var copySpacingMs: CopySpacing?

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    func validate() throws { try interval.validate(with: fleet.source) }

    func run() throws {
        let air = try fleet.air(interval)
        let load = try background.load
        let model = try PlanValue.answer { () throws(AirtimeError) in
            try BoxCollisionModel(boxes: air.kinds(), background: load)
        }
        let scene = try PlanValue.answer { () throws(AirtimeError) in try self.scene(air, load) }
        let outcome = try simulation.run(scene) { $0.all.clear.estimate }
        var answer = try answer(air, model, load, outcome)
        answer.noteRounding(of: interval.requested)
        try answer.show(output)
    }

    private func scene(_ air: PlannedAir, _ load: BackgroundLoad) throws(AirtimeError) -> AirSimulation {
        let groups = try air.kinds().flatMap(\.advertisements)
        let longestAirtime = groups.map(\.airtimeMicroseconds).max() ?? 376
        var conditions = AirConditions()
        if let captureDb {
            conditions.capture = .powerSum(thresholdDecibels: captureDb)
            conditions.shadowingDecibels = 4
        }
        if load.share > 0 {
            conditions.strangers = .init(
                busyShare: load.share, airtimeMicroseconds: load.airtimeMicroseconds ?? longestAirtime)
        }
        // Some twenty events of each advertisement in a batch, and no batch of more than some million packets.
        let rate = groups.reduce(0) { $0 + Double($1.count) / $1.meanPeriodMicroseconds }
        let period = groups.map(\.meanPeriodMicroseconds).max() ?? 1
        let events = max(4, min(40, 1_000_000 / (rate * period)))
        conditions.durationMicroseconds = max(1_000_000, events * period)
        var random = SplitMix64(seed: simulation.seed)
        let advertisers = try air.advertisers().map { advertiser in
            guard let copySpacingMs else { return advertiser }
            var advertiser = advertiser
            let unit = Double(random.next() >> 11) * 0x1p-53
            let low = max(copySpacingMs.lowMicroseconds, advertiser.airtimeMicroseconds)
            let spacing = low + unit * max(0, copySpacingMs.highMicroseconds - low)
            advertiser.secondCopyMicroseconds = spacing
            advertiser.thirdCopyMicroseconds = 2 * spacing
            return advertiser
        }
        return try AirSimulation(
            advertisers: advertisers, receivers: [AirReceiver()], conditions: conditions, seed: simulation.seed)
    }

    private func answer(
        _ air: PlannedAir, _ model: BoxCollisionModel, _ load: BackgroundLoad,
        _ outcome: SimulationRunner<AirSimulation>.Outcome
    ) throws -> PlanAnswer {
        let tally = outcome.tally.all
        let clear = tally.clear.estimate
        // Only equal beacons have a law of runs and copies.
        let group = try? air.onlyFrame?.group(air.beacons)
        let runs = group.flatMap {
            try? RunsModel(
                group: $0, otherClearProbability: load.clearProbability(forPacketOf: $0.airtimeMicroseconds))
        }
        let spacing = copySpacingMs ?? (try? CopySpacing(identicalMicroseconds: 1000))
        let any = group.flatMap { group in
            spacing.flatMap {
                try? AnyOfThreeModel(groups: [group], spacing: $0, background: load).atLeastOneProbability
            }
        }
        // The models know nothing of capture by sums of powers.
        let hasModel = captureDb == nil
        var answer = PlanAnswer(
            title: "Simulated collisions of \(air.origin?.name ?? PlanNumber.beacons(air.beacons))",
            answer: "Of the simulated packets of \(PlanNumber.beacons(air.beacons))"
                + (air.origin.map { " of \($0.name), " } ?? "")
                + (air.onlyFrame.map { (air.origin == nil ? " " : "") + "every \($0.interval), " } ?? "")
                + "\(PlanNumber.percent(clear?.value)) reach a receiver without a collision.")
        var intervals: [(String, JSONValue)] = []
        var models: [(String, JSONValue)] = []
        answer.origin(of: air)
        answer.member("beacons", Double(air.beacons))
        answer.simulated(
            "collisionFreeProbability", "collision-free packets", clear,
            model: hasModel ? model.collisionFreeProbability : nil, into: &intervals, &models)
        answer.simulated(
            "lossAfterLossProbability", "lost after a loss", tally.lossAfterLoss.estimate,
            model: hasModel ? runs?.lossAfterLossProbability : nil, into: &intervals, &models)
        answer.simulated(
            "anyOfThreeProbability", "one of three copies", tally.anyClear.estimate, model: hasModel ? any : nil,
            into: &intervals, &models)
        answer.member("arrivalsPerSecondPerBeacon", clear.map { $0.value * model.offeredPerSecondPerBox })
        answer.member("airtimeMicroseconds", air.onlyFrame?.airtime)
        answer.member("channelLoad", model.channelLoad)
        answer.json.append(("confidence95", .record(intervals)))
        answer.json.append(("model", .record(models)))
        answer.finish(outcome, simulation.seed)
        return answer
    }
}
