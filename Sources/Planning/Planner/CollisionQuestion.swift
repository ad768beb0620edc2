public import Airtime
internal import BluetoothTypes

/// How many advertisements arrive: boxes with their frames, before one receiver on one channel.
public struct CollisionQuestion: Sendable {
    public let air: PlannedAir
    public let background: BackgroundLoad
    /// How much stronger a packet must be, in dB, to survive another; `nil` where any overlap destroys it.
    public let captureDecibels: Double?
    /// How the copies of an event lie; `nil` for 1 ms, the same in all devices.
    public let copySpacing: CopySpacing?

    /// Without `captureDecibels` (in dB) any overlap destroys a packet; without `copySpacing` all boxes send their copies
    /// at the same spacing.
    public init(
        air: PlannedAir, background: BackgroundLoad = .none, captureDecibels: Double? = nil,
        copySpacing: CopySpacing? = nil
    ) {
        self.air = air
        self.background = background
        self.captureDecibels = captureDecibels
        self.copySpacing = copySpacing
    }

    /// How many packets arrive, how losses follow each other, and how many beacons it would take to drown. Throws what the
    /// models refuse.
    public func answer() throws(PlanError) -> PlanAnswer {
        var answer = try PlanError.asking { () throws(AirtimeError) in try found() }
        answer.noteRounding(of: air)
        return answer
    }

    private func found() throws(AirtimeError) -> PlanAnswer {
        let model = try BoxCollisionModel(boxes: air.kinds(), background: background)
        let share = model.collisionFreeProbability
        let arrivals = model.arrivalsPerSecondPerBox
        let logarithm = model.log10CollisionFreeProbability
        let isDrowned = share < Self.drownedShare
        let streams = air.streams(model.collisionFreeProbabilities)
        var answer = PlanAnswer(
            title: "Collisions of \(air.origin?.name ?? NumberText.beacons(air.beacons))",
            sentence: sentence(share, arrivals, logarithm))
        answer.stateOrigin(of: air)
        answer.state("beacons", .count(air.beacons))
        answer.state("intervalMs", .milliseconds(air.onlyFrame?.milliseconds))
        answer.state(
            "collisionFreeProbability", .share(share), as: "collision-free packets",
            shown: isDrowned ? "10^\(Int(logarithm.rounded(.down)))" : nil, remark: "on one channel")
        answer.state(
            "arrivalsPerSecondPerBeacon", .number(arrivals, unit: "1/s"), as: "arriving",
            shown: isDrowned ? "none" : nil,
            remark: "for each beacon, of \(NumberText.significant(model.offeredPerSecondPerBox)) sent")
        answer.state("log10CollisionFreeProbability", .number(logarithm))
        try addRuns(to: &answer, isDrowned)
        try addCopies(to: &answer)
        answer.state("airtimeMicroseconds", .number(air.onlyFrame?.airtimeMicroseconds, unit: "µs"))
        answer.state(
            "channelLoad", .share(model.channelLoad), as: "channel load", remark: "packets that overlap counted twice")
        answer.state("saturated", .flag(model.fleetLoad > Self.saturation))
        answer.state("advertisements", .list(streams.map { quantity($0) }))
        show(streams, in: &answer)
        try addCapture(to: &answer)
        try addPicture(to: &answer)
        if model.fleetLoad > Self.saturation { answer.note(try saturation()) }
        if air.onlyFrame == nil { answer.note(Self.mixture) }
        return answer
    }

    private static let mixture =
        "A box has one radio, so its own advertisements do not collide with each other. Runs of losses, copies and "
        + "capture are told only where all beacons send one advertisement at one interval."

    private func quantity(_ stream: (frame: PlannedFrame, beacons: Int, clear: Double)) -> PlanQuantity {
        guard air.origin != nil else { return stream.frame.quantity() }
        return stream.frame.quantity([
            ("beacons", .count(stream.beacons)), ("collisionFreeProbability", .share(stream.clear)),
        ])
    }

    private func show(
        _ streams: [(frame: PlannedFrame, beacons: Int, clear: Double)], in answer: inout PlanAnswer
    ) {
        for (frame, beacons, _) in streams.prefix(Self.frameLimit) {
            let what = air.onlyFrame == nil ? ": \(frame.name), every \(frame.interval)" : ""
            let who = air.origin == nil ? "" : ", \(NumberText.beacons(beacons))"
            answer.show(
                "airtime of a packet", .number(frame.airtimeMicroseconds, unit: "µs"),
                remark: "\(frame.payloadOctets) bytes of data" + what + who)
        }
        if streams.count > Self.frameLimit {
            answer.note("\(streams.count - Self.frameLimit) more kinds of advertisements are not listed.")
        }
    }

    /// More kinds of advertisements than these are for `--json`.
    private static let frameLimit = 12

    private func sentence(_ share: Double, _ arrivals: Double, _ logarithm: Double) -> String {
        let frames = air.boxes.first?.frames ?? []
        let what =
            if let only = air.onlyFrame {
                "every \(only.interval)"
            } else if air.boxes.count == 1 {
                "\(frames.count) advertisements each"
            } else {
                "\(air.advertisements) advertisements in all"
            }
        let place = air.origin.map { " of \($0.name)" } ?? ""
        if share < Self.drownedShare {
            return
                "\(NumberText.beacons(air.beacons))\(place) that send \(what) drown each other: the share of packets that "
                + "arrive is about 10^\(Int(logarithm.rounded(.down))), practically none."
        }
        let who =
            air.beacons == 1
            ? "one beacon\(place) that sends" : "\(air.beacons) beacons\(place) that send"
        return
            "Of the packets of \(who) \(what), \(NumberText.percent(share)) reach a receiver without a collision: "
            + "\(NumberText.significant(arrivals)) a second from each beacon."
    }

    /// Below this share the models' remainder is rounding, and all packets are as good as lost.
    private static let drownedShare = 1e-9
    /// Σ tau/E at which most packets arrive; beyond it each beacon that sends more lets fewer arrive.
    private static let saturation = 0.5

    /// How losses follow each other; only equal intervals have a law for that.
    private func addRuns(to answer: inout PlanAnswer, _ isDrowned: Bool) throws(AirtimeError) {
        guard let frame = air.onlyFrame else { return answer.state("lossAfterLossProbability", .nothing) }
        let runs = try RunsModel(
            group: try frame.group(air.beacons),
            otherClearProbability: background.clearProbability(forPacketOf: frame.airtimeMicroseconds))
        // K packets in a row are lost with a probability of at least 1 - K·share.
        let run = { length in isDrowned ? 1 : runs.lossRunProbability(length: length) }
        let again = runs.lossAfterLossProbability.map { isDrowned ? 1 : $0 }
        let isShown = again != nil && !isDrowned
        answer.state(
            "lossAfterLossProbability", .share(again), as: isShown ? "lost after a loss" : nil,
            remark: "losses come in runs: the same two meet again")
        answer.state("lossRunProbability", .record([2, 3, 5, 10].map { ("\($0)", .share(run($0))) }))
        guard isShown else { return }
        for length in [3, 10] { answer.show("\(length) lost in a row", .share(run(length))) }
    }

    private func addCopies(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let frame = air.onlyFrame else { return answer.state("anyOfThreeProbability", .nothing) }
        let spacing = if let copySpacing { copySpacing } else { try CopySpacing(identicalMicroseconds: 1000) }
        let any = try AnyOfThreeModel(groups: [try frame.group(air.beacons)], spacing: spacing, background: background)
            .atLeastOneProbability
        answer.state(
            "anyOfThreeProbability", .share(any), as: any > Self.drownedShare ? "one of three copies" : nil,
            remark: copySpacing == nil && air.beacons > 1
                ? "identical firmware: the copies of two beacons collide together"
                : "for a receiver that hears three channels at once")
    }

    private func addCapture(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let captureDecibels, let frame = air.onlyFrame else { return }
        let others = try CaptureModel.Interferers(frame.group(air.beacons - 1), advantageDecibels: 0)
        let band = try CaptureModel(
            airtimeMicroseconds: frame.airtimeMicroseconds, interferers: [others],
            thresholdDecibels: captureDecibels, shadowingDecibels: Self.shadowing, background: background
        ).band
        answer.state(
            "capture",
            .record([
                ("stayingWithFirst", .share(band.stayingWithFirst)), ("fullCapture", .share(band.fullCapture)),
            ]),
            as: "with capture of \(NumberText.significant(captureDecibels)) dB",
            shown: "\(NumberText.percent(band.stayingWithFirst)) to \(NumberText.percent(band.fullCapture))",
            remark: "from a receiver that stays with the first packet to one that turns to the stronger")
        answer.note(
            "Capture: all beacons equally strong on average, with a shadowing of \(NumberText.significant(Self.shadowing)) dB; "
                + "weak interferers that add up are not counted, so both are bounds from above.")
    }

    /// The page with its controls, for one frame.
    private func addPicture(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let frame = air.onlyFrame, let scanner = ScannerPreset(named: "continuous") else { return }
        try answer.explore(
            frame.group(air.beacons), scanner, payloadOctets: frame.payloadOctets, background: background,
            captureDecibels: captureDecibels)
    }

    /// σ in dB: what is measured with Bluetooth indoors lies between 3.5 and 5.9.
    private static let shadowing = 4.0

    /// What a fleet that sends too much had better do.
    private func saturation() throws(AirtimeError) -> String {
        let airtime = air.boxes.flatMap(\.frames).map(\.airtimeMicroseconds).max() ?? 376
        let streams = air.advertisements
        let best = try BestInterval(beacons: streams, airtimeMicroseconds: airtime, background: background)
        let setting = try IntervalSetting(
            meanPeriodMicroseconds: best.throughputMeanPeriodMicroseconds, rounding: .up)
        guard setting.limit != .longest else {
            return "This is beyond saturation, and with the longest interval, 10.24 s, it still is: put fewer beacons "
                + "in range of a receiver, by less radio power or wider spacing."
        }
        let fleet = try AdvertiserGroup(
            count: streams, interval: setting.interval, airtimeMicroseconds: airtime)
        let arrivals = try CollisionModel(groups: [fleet], background: background).arrivalsPerSecondPerBeacon
        return "This is beyond saturation: with an interval of \(setting.interval) more would arrive, "
            + "\(NumberText.significant(arrivals)) a second from each beacon"
            + (air.onlyFrame == nil ? " and advertisement." : ".")
    }
}

/// The sites of a fleet side by side, a row each.
public struct SitesCollisionQuestion: Sendable {
    private let sites: [CollisionQuestion]

    /// - Parameter sites: At least one, all of one fleet.
    public init(_ sites: [CollisionQuestion]) { self.sites = sites }

    /// A line for each site, the one where the fewest packets arrive named in the sentence. Throws what the models refuse.
    public func answer() throws(PlanError) -> PlanAnswer {
        let fleet = sites.first?.air.origin?.fleet ?? ""
        var rows: [(name: String, share: Double)] = []
        var answers: [PlanQuantity] = []
        var answer = PlanAnswer(title: "Collisions of the sites of \(fleet)", sentence: "")
        for site in sites {
            let air = site.air
            let name = (air.origin?.site).flatMap { $0.isEmpty ? nil : $0 } ?? NumberText.none
            let model = try PlanError.asking { () throws(AirtimeError) in
                try BoxCollisionModel(boxes: air.kinds(), background: site.background)
            }
            rows.append((name, model.collisionFreeProbability))
            answer.show(
                name, .share(model.collisionFreeProbability),
                remark:
                    "free of collisions: \(NumberText.beacons(air.beacons)), \(air.advertisements) advertisements, "
                    + "\(NumberText.significant(model.arrivalsPerSecondPerBox)) arriving a second from each")
            answers.append(try site.answer().record)
        }
        if let worst = rows.min(by: { $0.share < $1.share }) {
            answer.sentence =
                "The fleet \(fleet) has \(sites.count) sites; at the fullest, \(worst.name), "
                + "\(NumberText.percent(worst.share)) of the packets reach a receiver without a collision."
        }
        answer.state("fleet", .word(fleet))
        answer.state("sites", .list(answers))
        answer.note(
            "As if a receiver heard all of its site: `--site` tells more of one, `plan site` who is heard where.")
        if let air = sites.first?.air { answer.noteRounding(of: air) }
        return answer
    }
}
