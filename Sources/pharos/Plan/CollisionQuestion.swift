internal import Airtime
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

/// What `plan collisions` asks: boxes with their frames, before one receiver on one channel.
struct CollisionQuestion {
    let air: PlannedAir
    let background: BackgroundLoad
    let captureDecibels: Double?
    let copySpacing: CopySpacing?

    func answer() throws(AirtimeError) -> PlanAnswer {
        let model = try BoxCollisionModel(boxes: air.kinds(), background: background)
        let share = model.collisionFreeProbability
        let arrivals = model.arrivalsPerSecondPerBox
        let logarithm = model.log10CollisionFreeProbability
        let isDrowned = share < Self.drownedShare
        let streams = air.streams(model.collisionFreeProbabilities)
        var answer = PlanAnswer(
            title: "Collisions of \(air.origin?.name ?? PlanNumber.beacons(air.beacons))",
            answer: sentence(share, arrivals, logarithm))
        answer.origin(of: air)
        answer.member("beacons", Double(air.beacons))
        answer.member("intervalMs", air.onlyFrame?.milliseconds)
        answer.member("collisionFreeProbability", share)
        answer.member("arrivalsPerSecondPerBeacon", arrivals)
        answer.member("log10CollisionFreeProbability", logarithm)
        answer.figure(
            "collision-free packets",
            isDrowned ? "10^\(Int(logarithm.rounded(.down)))" : PlanNumber.percent(share), remark: "on one channel")
        answer.figure(
            "arriving", isDrowned ? "none" : PlanNumber.text(arrivals), unit: "1/s",
            remark: "for each beacon, of \(PlanNumber.text(model.offeredPerSecondPerBox)) sent")
        try addRuns(to: &answer, isDrowned)
        try addCopies(to: &answer)
        answer.member("airtimeMicroseconds", air.onlyFrame?.airtime)
        answer.member("channelLoad", model.channelLoad)
        answer.json.append(("saturated", .boolean(model.fleetLoad > Self.saturation)))
        answer.json.append(("advertisements", .array(streams.map { json($0) })))
        answer.figure(
            "channel load", PlanNumber.percent(model.channelLoad), remark: "packets that overlap counted twice")
        add(streams, to: &answer)
        try addCapture(to: &answer)
        try addPicture(to: &answer)
        if model.fleetLoad > Self.saturation { answer.note(try saturation()) }
        if air.onlyFrame == nil { answer.note(Self.mixture) }
        return answer
    }

    private static let mixture =
        "A box has one radio, so its own advertisements do not collide with each other. Runs of losses, copies and "
        + "capture are told only where all beacons send one advertisement at one interval."

    private func json(_ stream: (frame: PlannedFrame, beacons: Int, clear: Double)) -> JSONValue {
        guard air.origin != nil, case .object(let members) = stream.frame.json else { return stream.frame.json }
        return .object(
            members + [
                .init("beacons", .integer(stream.beacons)), .init("collisionFreeProbability", .real(stream.clear)),
            ])
    }

    private func add(_ streams: [(frame: PlannedFrame, beacons: Int, clear: Double)], to answer: inout PlanAnswer) {
        for (frame, beacons, _) in streams.prefix(Self.frameLimit) {
            let what = air.onlyFrame == nil ? ": \(frame.name), every \(frame.interval)" : ""
            let who = air.origin == nil ? "" : ", \(PlanNumber.beacons(beacons))"
            answer.figure(
                "airtime of a packet", PlanNumber.text(frame.airtime), unit: "µs",
                remark: "\(frame.payloadOctets) octets of data" + what + who)
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
                "\(PlanNumber.beacons(air.beacons))\(place) that send \(what) drown each other: the share of packets that "
                + "arrive is about 10^\(Int(logarithm.rounded(.down))), practically none."
        }
        let who =
            air.beacons == 1
            ? "one beacon\(place) that sends" : "\(air.beacons) beacons\(place) that send"
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
        guard let frame = air.onlyFrame else { return answer.member("lossAfterLossProbability", nil) }
        let runs = try RunsModel(
            group: try frame.group(air.beacons),
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
        guard let frame = air.onlyFrame else { return answer.member("anyOfThreeProbability", nil) }
        let spacing = if let copySpacing { copySpacing } else { try CopySpacing(identicalMicroseconds: 1000) }
        let any = try AnyOfThreeModel(groups: [try frame.group(air.beacons)], spacing: spacing, background: background)
            .atLeastOneProbability
        answer.member("anyOfThreeProbability", any)
        guard any > Self.drownedShare else { return }
        answer.figure(
            "one of three copies", PlanNumber.percent(any),
            remark: copySpacing == nil && air.beacons > 1
                ? "identical firmware: the copies of two beacons collide together"
                : "for a receiver that hears three channels at once")
    }

    private func addCapture(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let captureDecibels, let frame = air.onlyFrame else { return }
        let others = try CaptureModel.Interferers(frame.group(air.beacons - 1), advantageDecibels: 0)
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
        let airtime = air.boxes.flatMap(\.frames).map(\.airtime).max() ?? 376
        let streams = air.advertisements
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
            + (air.onlyFrame == nil ? " and advertisement." : ".")
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
