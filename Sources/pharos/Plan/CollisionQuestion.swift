internal import Airtime
internal import BluetoothTypes
internal import PlanReport
internal import Profiles

/// What `plan collisions` asks: so many boxes, each with the same frames, before one receiver on one channel.
struct CollisionQuestion {
    let beacons: Int
    /// One, or those of a profile. A box never collides with itself: it has one radio.
    let frames: [PlannedFrame]
    let background: BackgroundLoad
    let captureDecibels: Double?
    let copySpacing: CopySpacing?

    func answer() throws(AirtimeError) -> PlanAnswer {
        let models = try frames.indices.map { index throws(AirtimeError) in try model(asked: index) }
        let clear = models.map { $0.collisionFreeProbabilities.first ?? 1 }
        let arrivals = zip(frames, clear).reduce(0) { $0 + $1.1 * 1_000_000 / $1.0.meanPeriod }
        let offered = frames.reduce(0) { $0 + 1_000_000 / $1.meanPeriod }
        let share = offered > 0 ? arrivals / offered : 1
        let logarithm = models.map(\.log10CollisionFreeProbability).max() ?? 0
        let isDrowned = share < Self.drownedShare
        let load = try groups(beacons).reduce(0) {
            $0 + Double($1.count) * $1.airtimeMicroseconds / $1.meanPeriodMicroseconds
        }
        var answer = PlanAnswer(
            title: "Collisions of \(PlanNumber.beacons(beacons))", answer: sentence(share, arrivals, logarithm))
        answer.member("beacons", Double(beacons))
        answer.member("intervalMs", frames.count == 1 ? frames.first.map { $0.milliseconds } : nil)
        answer.member("collisionFreeProbability", share)
        answer.member("arrivalsPerSecondPerBeacon", arrivals)
        answer.member("log10CollisionFreeProbability", logarithm)
        answer.figure(
            "collision-free packets",
            isDrowned ? "10^\(Int(logarithm.rounded(.down)))" : PlanNumber.percent(share), remark: "on one channel")
        answer.figure(
            "arriving", isDrowned ? "none" : PlanNumber.text(arrivals), unit: "1/s",
            remark: "for each beacon, of \(PlanNumber.text(offered)) sent")
        try addRuns(to: &answer, isDrowned)
        try addCopies(to: &answer)
        answer.member("airtimeMicroseconds", frames.count == 1 ? frames.first?.airtime : nil)
        answer.member("channelLoad", load + background.share)
        answer.json.append(("saturated", .boolean(load > Self.saturation)))
        answer.json.append(("advertisements", .array(frames.map(\.json))))
        answer.figure(
            "channel load", PlanNumber.percent(load + background.share), remark: "packets that overlap counted twice")
        for frame in frames {
            answer.figure(
                "airtime of a packet", PlanNumber.text(frame.airtime), unit: "µs",
                remark: "\(frame.payloadOctets) octets of data"
                    + (frames.count > 1 ? ": \(frame.name), every \(frame.interval)" : ""))
        }
        try addCapture(to: &answer)
        try addPicture(to: &answer, share, arrivals, load)
        if load > Self.saturation { answer.note(try saturation()) }
        return answer
    }

    /// The asked frame of one box first, then all frames of all other boxes.
    private func model(asked: Int) throws(AirtimeError) -> CollisionModel {
        try CollisionModel(
            groups: [try frames[asked].group(1)] + (beacons > 1 ? groups(beacons - 1) : []), background: background)
    }

    private func groups(_ boxes: Int) throws(AirtimeError) -> [AdvertiserGroup] {
        try frames.map { frame throws(AirtimeError) in try frame.group(boxes) }
    }

    private func sentence(_ share: Double, _ arrivals: Double, _ logarithm: Double) -> String {
        let what = frames.count == 1 ? "every \(frames[0].interval)" : "\(frames.count) advertisements each"
        if share < Self.drownedShare {
            return
                "\(PlanNumber.beacons(beacons)) that send \(what) drown each other: the share of packets that arrive is about "
                + "10^\(Int(logarithm.rounded(.down))), practically none."
        }
        let who = beacons == 1 ? "one beacon that sends" : "\(beacons) beacons that send"
        return
            "Of the packets of \(who) \(what), \(PlanNumber.percent(share)) reach a receiver without a collision: "
            + "\(PlanNumber.text(arrivals)) a second from each beacon."
    }

    /// Below this share the models' remainder is rounding, and all packets are as good as lost.
    private static let drownedShare = 1e-9
    /// Σ tau/E at which most packets arrive; beyond it each beacon that sends more lets fewer arrive.
    private static let saturation = 0.5

    /// How losses follow each other; only equal intervals have a law for that.
    private func addRuns(to answer: inout PlanAnswer, _ isDrowned: Bool) throws(AirtimeError) {
        guard frames.count == 1, let frame = frames.first else { return answer.member("lossAfterLossProbability", nil) }
        let runs = try RunsModel(
            group: try frame.group(beacons),
            otherClearProbability: background.clearProbability(forPacketOf: frame.airtime))
        // K packets in a row are lost with a probability of at least 1 - K·share.
        let run = { length in isDrowned ? 1 : runs.lossRunProbability(length: length) }
        let again = runs.lossAfterLossProbability.map { isDrowned ? 1 : $0 }
        answer.member("lossAfterLossProbability", again)
        answer.json.append(
            ("lossRunProbability", .record([2, 3, 5, 10].map { ("\($0)", .real(run($0))) })))
        guard let again, !isDrowned else { return }
        answer.figure(
            "lost after a loss", PlanNumber.percent(again), remark: "losses come in runs: the same two meet again")
        for length in [3, 10] {
            answer.figure("\(length) lost in a row", PlanNumber.percent(run(length)))
        }
    }

    private func addCopies(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard frames.count == 1, let frame = frames.first else { return answer.member("anyOfThreeProbability", nil) }
        let spacing = if let copySpacing { copySpacing } else { try CopySpacing(identicalMicroseconds: 1000) }
        let any = try AnyOfThreeModel(groups: [try frame.group(beacons)], spacing: spacing, background: background)
            .atLeastOneProbability
        answer.member("anyOfThreeProbability", any)
        guard any > Self.drownedShare else { return }
        answer.figure(
            "one of three copies", PlanNumber.percent(any),
            remark: copySpacing == nil && beacons > 1
                ? "identical firmware: the copies of two beacons collide together"
                : "for a receiver that hears three channels at once")
    }

    private func addCapture(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let captureDecibels, frames.count == 1, let frame = frames.first else { return }
        let others = try CaptureModel.Interferers(frame.group(beacons - 1), advantageDecibels: 0)
        let band = try CaptureModel(
            airtimeMicroseconds: frame.airtime, interferers: [others], thresholdDecibels: captureDecibels,
            shadowingDecibels: Self.shadowing, background: background
        ).band
        answer.json.append(
            (
                "capture",
                .record([
                    ("stayingWithFirst", .real(band.stayingWithFirst)), ("fullCapture", .real(band.fullCapture)),
                ])
            ))
        answer.figure(
            "with capture of \(PlanNumber.text(captureDecibels)) dB",
            "\(PlanNumber.percent(band.stayingWithFirst)) to \(PlanNumber.percent(band.fullCapture))",
            remark: "from a receiver that stays with the first packet to one that turns to the stronger")
        answer.note(
            "Capture: all beacons equally strong on average, with a shadowing of \(PlanNumber.text(Self.shadowing)) dB; "
                + "weak interferers that add up are not counted, so both are bounds from above.")
    }

    /// The page with its controls, for one frame.
    private func addPicture(
        to answer: inout PlanAnswer, _ share: Double, _ arrivals: Double, _ load: Double
    ) throws(AirtimeError) {
        guard frames.count == 1, let frame = frames.first, let scanner = ScannerPreset(named: "continuous") else {
            return
        }
        try answer.explore(
            frame.group(beacons), scanner, payloadOctets: frame.payloadOctets, background: background,
            captureDecibels: captureDecibels)
    }

    /// σ in dB: what is measured with Bluetooth indoors lies between 3.5 and 5.9.
    private static let shadowing = 4.0

    /// What a fleet that sends too much had better do.
    private func saturation() throws(AirtimeError) -> String {
        let airtime = frames.map(\.airtime).max() ?? 376
        let (streams, isTooMany) = beacons.multipliedReportingOverflow(by: frames.count)
        guard !isTooMany else { throw .count(beacons) }
        let best = try BestInterval(beacons: streams, airtimeMicroseconds: airtime, background: background)
        let setting = try IntervalSetting(
            meanPeriodMicroseconds: best.throughputMeanPeriodMicroseconds, rounding: .up)
        guard setting.limit != .longest else {
            return "This is beyond saturation, and with the longest interval, 10.24 s, it still is: put fewer beacons "
                + "in range of a receiver, by less radio power or wider spacing."
        }
        let fleet = try AdvertiserGroup(
            count: streams, intervalMicroseconds: Double(setting.interval.microseconds), airtimeMicroseconds: airtime)
        let arrivals = try CollisionModel(groups: [fleet], background: background).arrivalsPerSecondPerBeacon
        return "This is beyond saturation: with an interval of \(setting.interval) more would arrive, "
            + "\(PlanNumber.text(arrivals)) a second from each beacon"
            + (frames.count > 1 ? " and advertisement." : ".")
    }
}

extension PlannedFrame {
    /// E in µs.
    var meanPeriod: Double { Double(interval.meanPeriodMicroseconds) }

    /// T in ms.
    var milliseconds: Double { Double(interval.microseconds) / 1000 }

    var json: JSONValue {
        .record([
            ("type", .string(name)), ("intervalMs", .real(milliseconds)), ("payloadOctets", .integer(payloadOctets)),
            ("airtimeMicroseconds", .real(airtime)),
        ])
    }
}
