internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import PlanReport
internal import Profiles

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

    func run() throws {
        let airtime = try fleet.packet.airtime
        let load = try background.load
        let group = try PlanValue.answer { () throws(AirtimeError) in
            try AdvertiserGroup(
                count: fleet.beacons, intervalMicroseconds: Double(interval.intervalMs.microseconds),
                airtimeMicroseconds: airtime)
        }
        let scene = try PlanValue.answer { () throws(AirtimeError) in try self.scene(group, load) }
        let outcome = try simulation.run(scene) { $0.all.clear.estimate }
        try answer(group, load, outcome).show(output)
    }

    private func scene(_ group: AdvertiserGroup, _ load: BackgroundLoad) throws(AirtimeError) -> AirSimulation {
        var conditions = AirConditions()
        if let captureDb {
            conditions.capture = .powerSum(thresholdDecibels: captureDb)
            conditions.shadowingDecibels = 4
        }
        if load.share > 0 {
            conditions.strangers = .init(
                busyShare: load.share, airtimeMicroseconds: load.airtimeMicroseconds ?? group.airtimeMicroseconds)
        }
        // Some twenty events of each beacon in a batch, and no batch of more than some million packets.
        let events = max(4, min(40, 1_000_000 / Double(group.count)))
        conditions.durationMicroseconds = max(1_000_000, events * group.meanPeriodMicroseconds)
        var random = SplitMix64(seed: simulation.seed)
        let advertisers = AirAdvertiser.fleet(group).map { advertiser in
            guard let copySpacingMs else { return advertiser }
            var advertiser = advertiser
            let unit = Double(random.next() >> 11) * 0x1p-53
            let low = max(copySpacingMs.lowMicroseconds, group.airtimeMicroseconds)
            let spacing = low + unit * max(0, copySpacingMs.highMicroseconds - low)
            advertiser.secondCopyMicroseconds = spacing
            advertiser.thirdCopyMicroseconds = 2 * spacing
            return advertiser
        }
        return try AirSimulation(
            advertisers: advertisers, receivers: [AirReceiver()], conditions: conditions, seed: simulation.seed)
    }

    private func answer(
        _ group: AdvertiserGroup, _ load: BackgroundLoad, _ outcome: SimulationRunner<AirSimulation>.Outcome
    ) throws -> PlanAnswer {
        let tally = outcome.tally.all
        let clear = tally.clear.estimate
        let model = try PlanValue.answer { () throws(AirtimeError) in
            try CollisionModel(groups: [group], background: load)
        }
        let runs = try? RunsModel(
            group: group, otherClearProbability: load.clearProbability(forPacketOf: group.airtimeMicroseconds))
        let spacing = copySpacingMs ?? (try? CopySpacing(identicalMicroseconds: 1000))
        let any = spacing.flatMap {
            try? AnyOfThreeModel(groups: [group], spacing: $0, background: load).atLeastOneProbability
        }
        // The models know nothing of capture by sums of powers.
        let hasModel = captureDb == nil
        var answer = PlanAnswer(
            title: "Simulated collisions of \(fleet.beacons) beacons",
            answer: "Of the simulated packets of \(fleet.beacons) beacons every \(interval.intervalMs), "
                + "\(PlanNumber.percent(clear?.value)) reach a receiver without a collision.")
        var intervals: [(String, JSONValue)] = []
        var models: [(String, JSONValue)] = []
        answer.member("beacons", Double(fleet.beacons))
        answer.simulated(
            "collisionFreeProbability", "collision-free packets", clear,
            model: hasModel ? model.collisionFreeProbability : nil, into: &intervals, &models)
        answer.simulated(
            "lossAfterLossProbability", "lost after a loss", tally.lossAfterLoss.estimate,
            model: hasModel ? runs?.lossAfterLossProbability : nil, into: &intervals, &models)
        answer.simulated(
            "anyOfThreeProbability", "one of three copies", tally.anyClear.estimate, model: hasModel ? any : nil,
            into: &intervals, &models)
        answer.member("arrivalsPerSecondPerBeacon", clear.map { $0.value * 1_000_000 / group.meanPeriodMicroseconds })
        answer.member("airtimeMicroseconds", group.airtimeMicroseconds)
        answer.member("channelLoad", model.channelLoad)
        answer.json.append(("confidence95", .record(intervals)))
        answer.json.append(("model", .record(models)))
        answer.finish(outcome, simulation.seed)
        return answer
    }
}
