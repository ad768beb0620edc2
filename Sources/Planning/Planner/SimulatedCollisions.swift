public import Airtime
internal import BluetoothTypes

/// Collisions, packet by packet, with the models' values beside them.
public struct SimulatedCollisions: SimulationQuestion {
    public let air: PlannedAir
    public let background: BackgroundLoad
    /// How much stronger than all others together a packet must be, in dB; `nil` where any overlap destroys it.
    public let captureDecibels: Double?
    public let copySpacing: CopySpacing?
    public let seed: UInt64
    public let scene: AirSimulation
    public let goal: PrecisionGoal
    private let model: BoxCollisionModel

    /// - Parameter precision: Half the width of the 95 % confidence interval of the collision-free share, as a share
    ///   of it.
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
                try BoxCollisionModel(boxes: air.kinds(), background: background),
                try Self.scene(air, background, captureDecibels, copySpacing, seed),
                try Self.goal(precision, minimumBatches: 20)
            )
        }
    }

    public static func estimate(_ tally: AirTally) -> Estimate? { tally.all.clear.estimate }

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
        if background.share > 0 {
            conditions.strangers = .init(
                busyShare: background.share, airtimeMicroseconds: background.airtimeMicroseconds ?? longestAirtime)
        }
        // Some twenty events of each advertisement in a batch, and no batch of more than some million packets.
        let rate = groups.reduce(0) { $0 + Double($1.count) / $1.meanPeriodMicroseconds }
        let period = groups.map(\.meanPeriodMicroseconds).max() ?? 1
        let events = max(4, min(40, 1_000_000 / (rate * period)))
        conditions.durationMicroseconds = max(1_000_000, events * period)
        var random = SplitMix64(seed: seed)
        let advertisers = try air.advertisers().map { advertiser in
            guard let copySpacing else { return advertiser }
            var advertiser = advertiser
            let unit = Double(random.next() >> 11) * 0x1p-53
            let low = max(copySpacing.lowMicroseconds, advertiser.airtimeMicroseconds)
            let spacing = low + unit * max(0, copySpacing.highMicroseconds - low)
            advertiser.secondCopyMicroseconds = spacing
            advertiser.thirdCopyMicroseconds = 2 * spacing
            return advertiser
        }
        return try AirSimulation(
            advertisers: advertisers, receivers: [AirReceiver()], conditions: conditions, seed: seed)
    }

    public func answer(_ outcome: SimulationOutcome) throws(PlanError) -> PlanAnswer {
        try checkBatches(outcome)
        let tally = outcome.tally.all
        let clear = tally.clear.estimate
        // Only equal beacons have a law of runs and copies.
        let group = try? air.onlyFrame?.group(air.beacons)
        let runs = group.flatMap {
            try? RunsModel(
                group: $0, otherClearProbability: background.clearProbability(forPacketOf: $0.airtimeMicroseconds))
        }
        let spacing = copySpacing ?? (try? CopySpacing(identicalMicroseconds: 1000))
        let any = group.flatMap { group in
            spacing.flatMap {
                try? AnyOfThreeModel(groups: [group], spacing: $0, background: background).atLeastOneProbability
            }
        }
        // The models know nothing of capture by sums of powers.
        let hasModel = captureDecibels == nil
        var answer = PlanAnswer(
            title: "Simulated collisions of \(air.origin?.name ?? NumberText.beacons(air.beacons))",
            sentence: sentence(clear))
        answer.stateOrigin(of: air)
        answer.state("beacons", .count(air.beacons))
        var values = SimulatedValues()
        values.state(
            "collisionFreeProbability", clear, model: hasModel ? model.collisionFreeProbability : nil,
            as: "collision-free packets", in: &answer)
        values.state(
            "lossAfterLossProbability", tally.lossAfterLoss.estimate,
            model: hasModel ? runs?.lossAfterLossProbability : nil, as: "lost after a loss", in: &answer)
        values.state(
            "anyOfThreeProbability", tally.anyClear.estimate, model: hasModel ? any : nil, as: "one of three copies",
            in: &answer)
        answer.state(
            "arrivalsPerSecondPerBeacon", .number(clear.map { $0.value * model.offeredPerSecondPerBox }, unit: "1/s"))
        answer.state("airtimeMicroseconds", .number(air.onlyFrame?.airtimeMicroseconds, unit: "µs"))
        answer.state("channelLoad", .share(model.channelLoad))
        values.finish(&answer)
        finish(&answer, outcome)
        answer.noteRounding(of: air)
        return answer
    }

    private func sentence(_ clear: Estimate?) -> String {
        "Of the simulated packets of \(NumberText.beacons(air.beacons))"
            + (air.origin.map { " of \($0.name), " } ?? "")
            + (air.onlyFrame.map { (air.origin == nil ? " " : "") + "every \($0.interval), " } ?? "")
            + "\(NumberText.percent(clear?.value)) reach a receiver without a collision."
    }
}
