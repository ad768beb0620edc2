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
        let logarithm = models.first?.log10CollisionFreeProbability ?? 0
        let load = try groups(beacons).reduce(0) {
            $0 + Double($1.count) * $1.airtimeMicroseconds / $1.meanPeriodMicroseconds
        }
        var answer = PlanAnswer(title: "Collisions of \(beacons) beacons", answer: sentence(share, arrivals, logarithm))
        answer.member("beacons", Double(beacons))
        answer.json.append(("intervalMs", .array(frames.map { .real(Double($0.interval.microseconds) / 1000) })))
        answer.member("collisionFreeProbability", share)
        answer.member("arrivalsPerSecondPerBeacon", arrivals)
        answer.figure("collision-free packets", PlanNumber.percent(share), remark: "on one channel")
        answer.figure(
            "arriving", PlanNumber.text(arrivals), unit: "1/s",
            remark: "for each beacon, of \(PlanNumber.text(offered)) sent")
        try addRuns(to: &answer)
        try addCopies(to: &answer)
        answer.member("airtimeMicroseconds", frames.count == 1 ? frames.first?.airtime : nil)
        answer.member("channelLoad", load + background.share)
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
        if load > 0.5 {
            answer.note(
                "This is beyond saturation: with an interval of \(try best()) more would arrive, from every beacon.")
        }
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
        let every = frames.count == 1 ? " every \(frames[0].interval)" : " with \(frames.count) frames each"
        if share < 1e-9 {
            return
                "\(beacons) beacons\(every) drown each other: the share of packets that arrive is about 10^\(Int(logarithm.rounded(.down))), practically none."
        }
        return
            "Of the packets of \(beacons) beacons\(every), \(PlanNumber.percent(share)) reach a receiver without a collision: "
            + "\(PlanNumber.text(arrivals)) a second from each beacon."
    }

    /// How losses follow each other; only equal intervals have a law for that.
    private func addRuns(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard frames.count == 1, let frame = frames.first else { return answer.member("lossAfterLossProbability", nil) }
        let runs = try RunsModel(
            group: try frame.group(beacons),
            otherClearProbability: background.clearProbability(forPacketOf: frame.airtime))
        answer.member("lossAfterLossProbability", runs.lossAfterLossProbability)
        let lengths = [2, 3, 5, 10]
        answer.json.append(
            ("lossRunProbability", .record(lengths.map { ("\($0)", .real(runs.lossRunProbability(length: $0))) })))
        guard let again = runs.lossAfterLossProbability else { return }
        answer.figure(
            "lost after a loss", PlanNumber.percent(again), remark: "losses come in runs: the same two meet again")
        for length in [3, 10] {
            answer.figure("\(length) lost in a row", PlanNumber.percent(runs.lossRunProbability(length: length)))
        }
    }

    private func addCopies(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard frames.count == 1, let frame = frames.first else { return answer.member("anyOfThreeProbability", nil) }
        let spacing = if let copySpacing { copySpacing } else { try CopySpacing(identicalMicroseconds: 1000) }
        let any = try AnyOfThreeModel(groups: [try frame.group(beacons)], spacing: spacing, background: background)
            .atLeastOneProbability
        answer.member("anyOfThreeProbability", any)
        answer.figure(
            "one of three copies", PlanNumber.percent(any),
            remark: copySpacing == nil
                ? "identical firmware: the copies collide together" : "for a receiver that hears three channels at once"
        )
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

    /// The page with its controls, for one frame with strangers' packets as long as ours.
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

    private func best() throws(AirtimeError) -> AdvertisingInterval {
        let airtime = frames.map(\.airtime).max() ?? 376
        let best = try BestInterval(beacons: beacons, airtimeMicroseconds: airtime, background: background)
        return try IntervalSetting(meanPeriodMicroseconds: best.throughputMeanPeriodMicroseconds, rounding: .up)
            .interval
    }
}

extension PlannedFrame {
    /// E in µs.
    var meanPeriod: Double { Double(interval.meanPeriodMicroseconds) }
}
