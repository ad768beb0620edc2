public import Airtime
internal import BluetoothTypes

/// A question for the planner: how many packets collide in a simulation of every packet, compared with the models'
/// values.
public struct SimulatedCollisions: SimulationQuestion {
    public let air: PlannedAir
    public let background: BackgroundLoad
    /// A packet survives if all overlapping packets together are at least this many dB weaker; nil if every overlap
    /// destroys it.
    public let captureDecibels: Double?
    public let copySpacing: CopySpacing?
    public let seed: UInt64
    public let scene: AirSimulation
    public let goal: PrecisionGoal
    private let model: MachineCollisionModel

    /// - Parameter precision: The relative precision at which the simulation stops: half the width of the 95 %
    ///   confidence interval of the collision-free share, divided by this share.
    public init(
        air: PlannedAir, background: BackgroundLoad = .none, captureDecibels: Double? = nil,
        copySpacing: CopySpacing? = nil, seed: UInt64 = 1, precision: Double = 0.01
    ) throws(PlanError) {
        self.air = air
        self.background = background
        self.captureDecibels = captureDecibels
        self.copySpacing = copySpacing
        self.seed = seed
        (model, scene, goal) = try PlanError.asking { () throws(AirtimeError) in
            (
                try MachineCollisionModel(machines: air.kinds(), background: background),
                try Self.scene(air, background, captureDecibels, copySpacing, seed),
                try Self.goal(precision, minimumBatches: 20)
            )
        }
    }

    public static func estimate(_ tally: AirTally) -> Estimate? { tally.clear.estimate }

    private static func scene(
        _ air: PlannedAir, _ background: BackgroundLoad, _ captureDecibels: Double?, _ copySpacing: CopySpacing?,
        _ seed: UInt64
    ) throws(AirtimeError) -> AirSimulation {
        let groups = try air.kinds().flatMap(\.advertisements)
        let longestAirtime = groups.map(\.airtimeMicroseconds).max() ?? 376
        var conditions = AirConditions()
        if let captureDecibels {
            conditions.capture = .powerSum(thresholdDecibels: captureDecibels)
            conditions.shadowingDecibels = 4
        }
        guard background.loads.isEven else {
            throw .unsupported(
                "the simulation has the same background load on all channels: give --background-load, or ask `pharos plan "
                    + "collisions`")
        }
        if background.share > 0 {
            conditions.otherDevices = .init(
                busyShare: background.share, airtimeMicroseconds: background.airtimeMicroseconds ?? longestAirtime,
                secondaryAirtimeMicroseconds: background.airtimeMicroseconds)
        }
        // A batch has 40 events of the least frequent advertisement; fewer, but at least 4, if it would have more than
        // about a million events in all.
        let rate = groups.reduce(0) { $0 + Double($1.count) / $1.meanPeriodMicroseconds }
        let period = groups.map(\.meanPeriodMicroseconds).max() ?? 1
        let events = max(4, min(40, 1_000_000 / (rate * period)))
        conditions.durationMicroseconds = max(1_000_000, events * period)
        var random = SplitMix64(seed: seed)
        let advertisers = try air.advertisers().map { advertiser in
            guard let copySpacing else { return advertiser }
            var advertiser = advertiser
            let unit = random.nextUnit()
            let low = max(copySpacing.lowMicroseconds, advertiser.airtimeMicroseconds)
            let spacing = low + unit * max(0, copySpacing.highMicroseconds - low)
            advertiser.setCopySpacing(microseconds: spacing)
            return advertiser
        }
        return try AirSimulation(advertisers: advertisers, conditions: conditions, seed: seed)
    }

    public func answer(_ outcome: SimulationOutcome) throws(PlanError) -> PlanAnswer {
        try checkBatches(outcome)
        let tally = outcome.tally
        let clear = tally.clear.estimate
        // The models of runs and copies are only valid for equal beacons.
        let group = try? air.onlyFrame?.group(air.beacons)
        let runs = group.flatMap {
            try? RunsModel(
                group: $0, otherClearProbability: background.clearProbability(ofEventOf: $0))
        }
        let spacing = copySpacing ?? (try? CopySpacing(identicalMicroseconds: 1000))
        let anyOfThree = group.flatMap { group in
            spacing.flatMap { try? Self.anyOfThree(group, $0, background) }
        }
        // No model computes capture by sums of powers.
        let hasModel = captureDecibels == nil
        var answer = PlanAnswer(
            title: "Simulated collisions of \(air.origin?.name ?? NumberFormat.beacons(air.beacons))",
            sentence: sentence(clear))
        answer.addOrigin(of: air)
        answer.add(.beacons, .count(air.beacons))
        if let frame = air.onlyFrame { answer.statePackets(of: frame) }
        var values = SimulatedValues()
        values.add(
            .collisionFree, clear, model: hasModel ? model.collisionFreeProbability : nil, in: &answer)
        values.add(
            .lossAfterLoss, tally.lossAfterLoss.estimate, model: hasModel ? runs?.lossAfterLossProbability : nil,
            in: &answer)
        values.add(.anyOfThree, tally.anyClear.estimate, model: hasModel ? anyOfThree : nil, in: &answer)
        answer.add(
            .arrivals, .number(clear.map { $0.value * model.offeredPerSecondPerMachine }), isInText: false)
        answer.add(.airtime, .number(air.onlyFrame?.airtimeMicroseconds))
        answer.add(.channelLoad, .share(model.channelLoad), isInText: false)
        values.finish(&answer)
        finish(&answer, outcome)
        answer.noteRounding(of: air)
        answer.noteMeanIntervals(of: air)
        return answer
    }

    /// Returns the model's probability that at least one of the three copies arrives and, with extended PDUs, also all
    /// auxiliary packets.
    private static func anyOfThree(
        _ group: AdvertiserGroup, _ spacing: CopySpacing, _ background: BackgroundLoad
    ) throws(AirtimeError) -> Double {
        let atLeastOne = try AnyOfThreeModel(groups: [group], spacing: spacing, background: background)
            .atLeastOneProbability
        guard group.extended != nil else { return atLeastOne }
        return atLeastOne * group.auxiliaryClearProbability * background.clearProbability(ofEventOf: group)
            / background.clearProbability(forPacketOf: group.airtimeMicroseconds)
    }

    private func sentence(_ clear: Estimate?) -> String {
        let senders = NumberFormat.beacons(air.beacons) + (air.origin.map { " of \($0.name)" } ?? "")
        let pace = air.onlyFrame.map { " that send every \($0.interval)" } ?? ""
        return
            "\(NumberFormat.percent(clear?.value)) of the simulated packets of \(senders)\(pace) reach a receiver without "
            + "a collision."
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.beacons] + PlanKey.packets + [
            .collisionFree, .lossAfterLoss, .anyOfThree, .arrivals, .airtime, .channelLoad,
        ]
        + PlanKey.comparisons([.collisionFree, .lossAfterLoss, .anyOfThree]) + PlanKey.simulation
}
