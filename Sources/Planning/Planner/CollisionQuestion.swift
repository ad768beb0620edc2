public import Airtime
internal import BluetoothTypes

/// A question for the planner: how many advertisements of beacons around one receiver arrive, on one channel.
public struct CollisionQuestion: Sendable {
    public let air: PlannedAir
    public let background: BackgroundLoad
    /// A packet survives an overlap with another packet that is at least this many dB weaker; nil if every overlap
    /// destroys it.
    public let captureDecibels: Double?
    /// The time between the copies of an event; nil if it is 1 ms in all devices.
    public let copySpacing: CopySpacing?

    public init(
        air: PlannedAir, background: BackgroundLoad = .none, captureDecibels: Double? = nil,
        copySpacing: CopySpacing? = nil
    ) {
        self.air = air
        self.background = background
        self.captureDecibels = captureDecibels
        self.copySpacing = copySpacing
    }

    /// Returns the share of packets that arrive, the probability of losses in a row, and advice if the channel is
    /// saturated. Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        var answer = try PlanError.asking { () throws(AirtimeError) in try computedAnswer() }
        answer.noteRounding(of: air)
        return answer
    }

    private func computedAnswer() throws(AirtimeError) -> PlanAnswer {
        let model = try MachineCollisionModel(machines: air.kinds(), background: background)
        let share = model.collisionFreeProbability
        let arrivals = model.arrivalsPerSecondPerMachine
        let logarithm = model.log10CollisionFreeProbability
        let isNegligible = share < Self.negligibleShare
        let streams = air.streams(model.collisionFreeProbabilities)
        var answer = PlanAnswer(
            title: "Collisions of \(air.origin?.name ?? NumberFormat.beacons(air.beacons))",
            sentence: sentence(share, arrivals, logarithm))
        answer.addOrigin(of: air)
        answer.add(.beacons, .count(air.beacons))
        answer.add(.commonInterval, .milliseconds(air.onlyFrame?.milliseconds))
        answer.add(
            .collisionFree, .share(share), shown: isNegligible ? "10^\(Int(logarithm.rounded(.down)))" : nil,
            remark: "on one channel")
        answer.add(
            .arrivals, .number(arrivals), shown: isNegligible ? "none" : nil,
            remark: "from each beacon, of \(NumberFormat.significant(model.offeredPerSecondPerMachine)) that it sends")
        answer.add(.logCollisionFree, .number(logarithm))
        try addRuns(to: &answer, isNegligible)
        try addCopies(to: &answer)
        answer.add(.airtime, .number(air.onlyFrame?.airtimeMicroseconds))
        answer.add(.channelLoad, .share(model.channelLoad), remark: "packets that overlap count twice")
        if model.secondaryLoad > 0 {
            answer.show("load of a secondary channel", .share(model.secondaryLoad), remark: "one of 37")
        }
        answer.add(.saturated, .flag(model.fleetLoad > Self.saturation))
        answer.add(.advertisements, .list(streams.map { quantity($0) }))
        show(streams, in: &answer)
        if air.origin != nil, streams.count > 1 {
            answer.pictures.page.bars = .init(
                title: "Packets lost to collisions, by advertisement",
                caption:
                    "The share of the packets of each advertisement that collide on the way to a receiver, the largest first.",
                bars: streams.sorted { $0.clear < $1.clear }.map {
                    .init(
                        name:
                            "\($0.frame.name), \($0.frame.payloadOctets) bytes every \($0.frame.interval), "
                            + NumberFormat.beacons($0.beacons),
                        share: 1 - $0.clear)
                })
        }
        try addCapture(to: &answer)
        try addPicture(to: &answer)
        if model.fleetLoad > Self.saturation { answer.note(try saturation()) }
        if air.onlyFrame == nil { answer.note(Self.mixture) }
        return answer
    }

    private static let mixture =
        "A beacon has one radio, so its own advertisements do not collide with each other. Runs of losses, copies and "
        + "capture are computed only if all beacons send one advertisement at one interval."

    private func quantity(_ stream: (frame: PlannedFrame, beacons: Int, clear: Double)) -> PlanQuantity {
        guard air.origin != nil else { return stream.frame.quantity }
        return .object(
            stream.frame.members + [(.beacons, .count(stream.beacons)), (.collisionFree, .share(stream.clear))])
    }

    private func show(
        _ streams: [(frame: PlannedFrame, beacons: Int, clear: Double)], in answer: inout PlanAnswer
    ) {
        for (frame, beacons, _) in streams.prefix(Self.frameLimit) {
            let description = air.onlyFrame == nil ? ": \(frame.name), every \(frame.interval)" : ""
            let senders = air.origin == nil ? "" : ", \(NumberFormat.beacons(beacons))"
            answer.show(
                "airtime of a packet", .number(frame.airtimeMicroseconds, unit: "µs"),
                remark: "\(frame.payloadOctets) bytes of data" + description + senders)
            if let extended = frame.extended {
                let count = extended.event.auxiliaryMicroseconds.count
                answer.show(
                    "airtime of its auxiliary packets", .number(extended.auxiliaryMicroseconds, unit: "µs"),
                    remark: "\(count) packet\(count == 1 ? "" : "s") on secondary channels, \(extended.phy.name)")
            }
        }
        if streams.count > Self.frameLimit {
            answer.note("\(streams.count - Self.frameLimit) more kinds of advertisements are not listed.")
        }
    }

    /// The number of kinds of advertisements that the text lists. JSON lists all of them.
    private static let frameLimit = 12

    private func sentence(_ share: Double, _ arrivals: Double, _ logarithm: Double) -> String {
        let frames = air.machines.first?.frames ?? []
        let sending =
            if let only = air.onlyFrame {
                "every \(only.interval)"
            } else if air.machines.count == 1 {
                "\(frames.count) advertisements each"
            } else {
                "\(air.advertisements) advertisements in all"
            }
        let origin = air.origin.map { " of \($0.name)" } ?? ""
        if share < Self.negligibleShare {
            return
                "\(NumberFormat.beacons(air.beacons))\(origin) that send \(sending) destroy each other's packets: the share of "
                + "packets that arrive is about 10^\(Int(logarithm.rounded(.down))), practically none."
        }
        let senders =
            air.beacons == 1
            ? "one beacon\(origin) that sends" : "\(air.beacons) beacons\(origin) that send"
        return
            "\(NumberFormat.percent(share)) of the packets of \(senders) \(sending) reach a receiver without a "
            + "collision: \(NumberFormat.significant(arrivals)) a second from each beacon."
    }

    /// Below this share the model's value is mostly rounding error, and practically all packets are lost.
    private static let negligibleShare = 1e-9
    /// The load Σ tau/E at which the most packets arrive. At higher loads, fewer packets arrive if more are sent.
    private static let saturation = 0.5

    /// Adds the runs of losses. The model computes them only for equal intervals.
    private func addRuns(to answer: inout PlanAnswer, _ isNegligible: Bool) throws(AirtimeError) {
        guard let frame = air.onlyFrame else { return answer.add(.lossAfterLoss, .nothing) }
        let group = try frame.group(air.beacons)
        let runs = try RunsModel(
            group: group, otherClearProbability: background.clearProbability(ofEventOf: group))
        // If practically all packets are lost, every run of losses has the probability 1 - K·share or more, so nearly
        // 1.
        let run = { length in isNegligible ? 1 : runs.lossRunProbability(length: length) }
        let lossAfterLoss = runs.lossAfterLossProbability.map { isNegligible ? 1 : $0 }
        let isShown = lossAfterLoss != nil && !isNegligible
        answer.add(
            .lossAfterLoss, .share(lossAfterLoss), isInText: isShown,
            remark: "losses come in runs: the same two beacons collide again")
        answer.add(.lossRuns, .record([2, 3, 5, 10].map { ("\($0)", .share(run($0))) }))
        guard isShown else { return }
        for length in [3, 10] { answer.show("\(length) lost in a row", .share(run(length))) }
    }

    private func addCopies(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let frame = air.onlyFrame else { return answer.add(.anyOfThree, .nothing) }
        let spacing = if let copySpacing { copySpacing } else { try CopySpacing(identicalMicroseconds: 1000) }
        let group = try frame.group(air.beacons)
        var anyOfThree = try AnyOfThreeModel(groups: [group], spacing: spacing, background: background)
            .atLeastOneProbability
        if group.extended != nil {
            anyOfThree *=
                group.auxiliaryClearProbability * background.clearProbability(ofEventOf: group)
                / background.clearProbability(forPacketOf: group.airtimeMicroseconds)
        }
        answer.add(
            .anyOfThree, .share(anyOfThree), isInText: anyOfThree > Self.negligibleShare,
            remark: copySpacing == nil && air.beacons > 1
                ? "identical firmware: the copies of two beacons collide together"
                : "for a receiver that listens on three channels at once")
    }

    private func addCapture(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let captureDecibels, let frame = air.onlyFrame else { return }
        let others = try CaptureModel.Interferers(frame.group(air.beacons - 1), advantageDecibels: 0)
        let band = try CaptureModel(
            airtimeMicroseconds: frame.airtimeMicroseconds, extended: frame.extended, interferers: [others],
            thresholdDecibels: captureDecibels, shadowingDecibels: Self.shadowing, background: background
        ).band
        answer.add(
            .capture,
            .object([
                (.stayingWithFirst, .share(band.stayingWithFirst)), (.fullCapture, .share(band.fullCapture)),
            ]))
        answer.show(
            "with capture of \(NumberFormat.significant(captureDecibels)) dB", .nothing,
            shown: "\(NumberFormat.percent(band.stayingWithFirst)) to \(NumberFormat.percent(band.fullCapture))",
            remark: "receivers that stay with the first packet, and that change to the stronger packet")
        answer.note(
            "Capture assumes that all beacons are equally strong on average, with a shadowing of "
                + "\(NumberFormat.significant(Self.shadowing)) dB. Both values are upper bounds, because several weak "
                + "interferers together are not counted.")
    }

    /// Adds the controls of the page. They need beacons that all send the same single legacy advertisement.
    private func addPicture(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let frame = air.onlyFrame, frame.extended == nil else { return }
        try answer.explore(
            frame.group(air.beacons), ScannerMix(.continuous), payloadOctets: frame.payloadOctets,
            background: background,
            captureDecibels: captureDecibels)
    }

    /// σ of the shadowing in dB. Measurements with Bluetooth indoors found 3.5 to 5.9 dB.
    private static let shadowing = 4.0

    /// Returns advice for a fleet that sends too many packets.
    private func saturation() throws(AirtimeError) -> String {
        let airtime = air.machines.flatMap(\.frames).map(\.airtimeMicroseconds).max() ?? 376
        let streams = air.advertisements
        let best = try BestInterval(beacons: streams, airtimeMicroseconds: airtime, background: background)
        let setting = try IntervalSetting(
            meanPeriodMicroseconds: best.throughputMeanPeriodMicroseconds, rounding: .up)
        guard setting.limit != .longest else {
            return "The channel is saturated, even with the longest interval, 10.24 s. Put fewer beacons in range of a "
                + "receiver: use less radio power or a wider spacing."
        }
        let fleet = try AdvertiserGroup(
            count: streams, interval: setting.interval, airtimeMicroseconds: airtime)
        let arrivals = try CollisionModel(groups: [fleet], background: background).arrivalsPerSecondPerBeacon
        return "The channel is saturated. With an interval of \(setting.interval) more packets would arrive: "
            + "\(NumberFormat.significant(arrivals)) a second from each beacon"
            + (air.onlyFrame == nil ? " and advertisement." : ".")
    }
}

extension PlanKey {
    fileprivate static let sites = PlanKey(
        "sites[]",
        "Only for a fleet with several sites, instead of all other keys: an object with these keys for each site.")
    fileprivate static let commonInterval = PlanKey(
        "intervalMs", "Advertising interval in ms; null if the beacons have several intervals.")
    fileprivate static let logCollisionFree = PlanKey(
        "log10CollisionFreeProbability",
        "Decimal logarithm of collisionFreeProbability, which remains exact if the probability rounds to 0.")
    fileprivate static let lossRuns = PlanKey(
        "lossRunProbability",
        "Probability that so many packets in a row are lost, by the number of packets; absent if the beacons send different "
            + "packets."
    )
    fileprivate static let saturated = PlanKey(
        "saturated", "True if fewer packets would arrive with shorter intervals.")
    fileprivate static let advertisements = PlanKey(
        "advertisements", "The different advertisements that the beacons send.")
    fileprivate static let capture = PlanKey("capture", "With --capture-db: share of packets that arrive with capture.")
    fileprivate static let stayingWithFirst = PlanKey(
        "capture.stayingWithFirst", "For a receiver that stays with the first packet.")
    fileprivate static let fullCapture = PlanKey(
        "capture.fullCapture", "For a receiver that changes to a stronger packet.")

    static let arrivals = PlanKey(
        "arrivalsPerSecondPerBeacon", "Packets of each beacon that arrive in a second, on one channel.",
        label: "arriving", unit: "1/s")
    static let lossAfterLoss = PlanKey(
        "lossAfterLossProbability",
        "Probability that the packet after a lost packet is lost too; null if none is lost, or if the beacons send "
            + "different packets.", label: "lost after a loss")
    static let anyOfThree = PlanKey(
        "anyOfThreeProbability",
        "Share of events of which at least one of the three copies arrives; null if the beacons send different packets.",
        label: "one of three copies")
    static let channelLoad = PlanKey(
        "channelLoad", "Share of the time that packets occupy; packets that overlap count twice.",
        label: "channel load")
}

extension CollisionQuestion {
    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [
            .beacons, .sites, .commonInterval, .collisionFree, .arrivals, .logCollisionFree, .lossAfterLoss, .lossRuns,
            .anyOfThree, .airtime, .channelLoad, .saturated, .advertisements,
        ] + PlanKey.extendedFrame.map { $0.within("advertisements[]") } + [
            PlanKey.beacons.within(
                "advertisements[]", "With --from-fleet: number of beacons that send this advertisement."),
            PlanKey.collisionFree.within(
                "advertisements[]", "With --from-fleet: share of its packets that do not collide."),
            .capture, .stayingWithFirst, .fullCapture,
        ]
}

/// A question for the planner: how many advertisements arrive at each site of a fleet.
public struct SitesCollisionQuestion: Sendable {
    private let sites: [CollisionQuestion]

    /// - Parameter sites: At least one question. All questions are about sites of the same fleet.
    public init(_ sites: [CollisionQuestion]) { self.sites = sites }

    /// Returns a row for each site, and a sentence about the site at which the smallest share of packets arrives.
    /// Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        let fleet = sites.first?.air.origin?.fleet ?? ""
        var rows: [(name: String, share: Double)] = []
        var answers: [PlanQuantity] = []
        var answer = PlanAnswer(title: "Collisions at the sites of \(fleet)", sentence: "")
        for site in sites {
            let air = site.air
            let name = (air.origin?.site).flatMap { $0.isEmpty ? nil : $0 } ?? NumberFormat.none
            let model = try PlanError.asking { () throws(AirtimeError) in
                try MachineCollisionModel(machines: air.kinds(), background: site.background)
            }
            rows.append((name, model.collisionFreeProbability))
            answer.show(
                name, .share(model.collisionFreeProbability),
                remark:
                    "free of collisions: \(NumberFormat.beacons(air.beacons)), \(air.advertisements) advertisements, "
                    + "\(NumberFormat.significant(model.arrivalsPerSecondPerMachine)) arriving a second from each "
                    + "beacon"
            )
            answers.append(try site.answer().record)
        }
        if let worst = rows.min(by: { $0.share < $1.share }) {
            answer.sentence =
                "\(NumberFormat.percent(worst.share)) of the packets reach a receiver without a collision at \(worst.name), the "
                + "worst of the \(sites.count) sites of the fleet \(fleet)."
        }
        answer.pictures.page.bars = .init(
            title: "Packets lost to collisions, by site",
            caption:
                "The share of the packets of each site that collide on the way to a receiver, the largest first.",
            bars: rows.sorted { $0.share < $1.share }.map { .init(name: $0.name, share: 1 - $0.share) })
        answer.add(.fleet, .word(fleet))
        answer.add(.sites, .list(answers))
        answer.note(
            "The values assume that a receiver receives all beacons of its site. --site shows one site in detail; "
                + "pharos plan site computes which beacons are received where.")
        if let air = sites.first?.air { answer.noteRounding(of: air) }
        return answer
    }
}
