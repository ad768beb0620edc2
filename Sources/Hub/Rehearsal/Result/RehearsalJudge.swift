internal import Airtime
internal import BluetoothTypes
internal import Configuration
public import Sites

extension RehearsalReport {
    /// Judges the counts of a run, or of several runs that were added.
    ///
    /// - Parameter site: The floor for the page; nil for a report without a floor.
    public init(_ tallies: RehearsalTallies, version: String, site: Site?) {
        var judge = RehearsalJudge(tallies)
        judge.judge()
        let subject = tallies.subject
        self.init(
            version: version, file: subject.file, fleet: subject.fleet, seeds: tallies.seeds.map { UInt64($0) },
            hours: Double(subject.milliseconds) / 3_600_000, phones: subject.phones, scanners: subject.scanners,
            site: site,
            beacons: tallies.beacons.map { beacon in
                Beacon(
                    name: beacon.name,
                    position: beacon.position.count < 2
                        ? nil
                        : FloorPosition(
                            x: Double(beacon.position[0]) / 1000, y: Double(beacon.position[1]) / 1000))
            }, replay: "rehearse \(subject.arguments)" + (tallies.seeds.first.map { " --seed \($0)" } ?? ""))
        promises =
            judge.promises.filter { $0.verdict == .broken } + judge.promises.filter { $0.verdict == .unjudged }
            + judge.promises.filter { $0.verdict == .holds }
        faults = tallies.faults.enumerated().map { index, fault in
            Fault(
                kind: fault.kind, subject: fault.subject, atS: Double(fault.at) / 1000,
                isFound: promises.contains { $0.verdict == .broken && $0.fault == index })
        }
        notes =
            tallies.notes + [
                "If a fleet keeps all promises, about one run in \(Int((1 / RehearsalJudge.falseAlarm).rounded())) "
                    + "still reports a broken promise by chance.",
                "The levels follow the path loss and the walls of the site. The shadowing of each link is random "
                    + "and depends on the seed; there is no fading from packet to packet.",
            ]
        self.tallies = tallies
    }
}

/// Compares counts with promises.
///
/// Each comparison allows for its own statistical error, so that all comparisons together give a false alarm with the
/// probability ``falseAlarm``.
struct RehearsalJudge {
    /// The probability of a false alarm in a whole report.
    static let falseAlarm = 1e-4
    /// Losses are not independent: one loss is often followed by others. The standard error of a share is therefore
    /// larger than with independent losses, by this factor.
    private static let lossDependence = 1.5
    /// The allowed difference of a share from the model.
    private static let shareTolerance = 0.01
    /// The allowed relative difference of the 95th percentile from that of the plan.
    private static let percentileTolerance = 0.02
    /// The smallest fall of a level that is reported, in dB.
    private static let levelStep = 6.0
    /// The smallest share of a beacon's events that a receiver in range is expected to receive.
    private static let smallestShare = 0.1
    /// The time in s without a line after which the collector reports a receiver as dead.
    private static let longestAbsence = 15.0

    private let tallies: RehearsalTallies
    private(set) var promises: [RehearsalPromise] = []
    /// The number of comparisons.
    private let comparisonCount: Double
    /// The deviation in standard errors that is allowed.
    private let z: Double
    /// The simulated time of one run, in s.
    private let time: Double

    init(_ tallies: RehearsalTallies) {
        self.tallies = tallies
        let advertisements = tallies.beacons.reduce(0) { $0 + $1.advertisements.count }
        comparisonCount = Double(
            advertisements * (RehearsalTallies.parts + 4) + 5 * tallies.beacons.count + 5 * tallies.receivers.count
                + tallies.places.count + tallies.paths.count + 2)
        z = -NormalDistribution.quantile(Self.falseAlarm / comparisonCount / 2)
        time = Double(tallies.subject.milliseconds) / 1000
    }

    mutating func judge() {
        for index in tallies.beacons.indices { judgeBeacon(index) }
        for receiver in tallies.receivers { judge(receiver) }
        judgeLevels()
        for place in tallies.places { judge(place) }
        for path in tallies.paths { judge(path) }
        judgePhoneCollisions()
        judgePercentile()
        judgeBatteries()
        judgeRooms()
    }

    // MARK: Beacons

    private mutating func judgeBeacon(_ index: Int) {
        let beacon = tallies.beacons[index]
        for advertisement in beacon.advertisements {
            let name = "\(beacon.name): \(advertisement.type)"
            judgeInterval(advertisement, name, index)
            judgeSilence(advertisement, name, index, beacon.refusal)
            if advertisement.type == "eddystone-tlm" { judgeTelemetry(advertisement, name, index) }
            if advertisement.type == "eddystone-eid" { judgeRotation(advertisement, name, index) }
        }
        var identity = RehearsalPromise(
            .identity, beacon.name, beacon: index, relation: .atMost, expected: 0,
            measured: Double(beacon.unexpectedEvents + beacon.foreignPackets), unit: "",
            count: beacon.advertisements.reduce(0) { $0 + $1.events.reduce(0, +) }, verdict: .holds)
        if beacon.unexpectedEvents > 0 {
            explain(
                &identity,
                "\(beacon.name) sent \(beacon.unexpectedEvents) events with data that are not in its profile",
                faults: ["identity"], beacon.name)
        } else if beacon.foreignPackets > 0 {
            explain(
                &identity,
                "another device sends the advertisements of \(beacon.name): \(beacon.foreignPackets) packets",
                faults: ["clone"], beacon.name)
        }
        promises.append(identity)
    }

    private mutating func judgeInterval(_ advertisement: RehearsalTallies.Advertisement, _ name: String, _ index: Int) {
        let period = Double(advertisement.period)
        var promise = RehearsalPromise(
            .interval, name, beacon: index, relation: .equal, expected: period / 1000, measured: nil, unit: "ms",
            count: advertisement.events.reduce(0, +), verdict: .unjudged)
        defer { promises.append(promise) }
        let sum = advertisement.gapSum.reduce(0, +)
        let gaps = advertisement.gaps.reduce(0, +)
        guard gaps > 0 else {
            promise.reason = "fewer than two events were sent"
            return
        }
        let mean = Double(sum) / Double(gaps)
        promise.measured = mean / 1000
        guard !advertisement.hasPattern else {
            promise.reason = "the advertisement has a pattern of several intervals"
            return
        }
        let deviation = advertisement.isShared ? 0.3 * period : 2887
        promise.standardError = deviation / Double(gaps).squareRoot() / 1000
        promise.verdict = .holds
        var worst: (part: Int, mean: Double, excess: Double)?
        for part in advertisement.gaps.indices where advertisement.gaps[part] >= 5 {
            let count = Double(advertisement.gaps[part])
            let mean = Double(advertisement.gapSum[part]) / count
            let allowed =
                0.02 * period + z * deviation / count.squareRoot() + (advertisement.isShared ? 3 * period / count : 0)
            let excess = abs(mean - period) / allowed
            if excess > 1, excess > worst?.excess ?? 0 { worst = (part, mean, excess) }
        }
        guard let worst else { return }
        promise.measured = worst.mean / 1000
        explain(
            &promise,
            "\(name) was sent every \(milliseconds(worst.mean)) instead of \(milliseconds(period)) from about "
                + "\(clock(part: worst.part))", faults: ["interval"], tallies.beacons[index].name)
    }

    private mutating func judgeSilence(
        _ advertisement: RehearsalTallies.Advertisement, _ name: String, _ index: Int, _ refusal: String
    ) {
        let limit = silenceLimit(advertisement)
        let silence = Double(advertisement.longestSilence) / 1e6
        var promise = RehearsalPromise(
            .silence, name, beacon: index, relation: .atMost, expected: limit, measured: silence, unit: "s",
            count: advertisement.events.reduce(0, +), verdict: .holds)
        if !refusal.isEmpty {
            explain(&promise, "\(name) was never sent: \(refusal)", faults: [], tallies.beacons[index].name)
        } else if silence > limit {
            explain(
                &promise,
                "\(name) was silent for \(seconds(silence)) from "
                    + "\(seconds(Double(advertisement.silenceFrom) / 1e6)) on",
                faults: ["stops", "identity", "interval"], tallies.beacons[index].name)
        }
        promises.append(promise)
    }

    /// The longest silence in s that an advertisement may have: two intervals, and 2 s for a recovery. On a shared set,
    /// an event may be lost because it falls into the slot of another advertisement; this happens to at most about half
    /// of the events.
    private func silenceLimit(_ advertisement: RehearsalTallies.Advertisement) -> Double {
        let longest = Double(advertisement.longestPeriod) / 1e6
        guard advertisement.isShared else { return 2 * longest + 2 }
        let events = time * Double(tallies.seeds.count) / (Double(advertisement.period) / 1e6)
        return longest * (2 + log(max(1, events) * comparisonCount / Self.falseAlarm) / 0.6) + 2
    }

    private mutating func judgeTelemetry(_ advertisement: RehearsalTallies.Advertisement, _ name: String, _ index: Int)
    {
        let limit = 2 * max(1, Double(advertisement.longestPeriod) / 1e6) + silenceLimit(advertisement)
        let age = Double(advertisement.oldestTelemetry) / 1e6
        var promise = RehearsalPromise(
            .telemetry, name, beacon: index, relation: .atMost, expected: limit, measured: age, unit: "s",
            count: advertisement.events.reduce(0, +),
            verdict: advertisement.events.reduce(0, +) == 0 ? .unjudged : .holds)
        if promise.verdict == .unjudged { promise.reason = "no telemetry was sent" }
        if age > limit {
            explain(
                &promise, "the telemetry of \(name) was up to \(seconds(age)) old", faults: ["stops"],
                tallies.beacons[index].name)
        }
        promises.append(promise)
    }

    private mutating func judgeRotation(_ advertisement: RehearsalTallies.Advertisement, _ name: String, _ index: Int) {
        let idEvents = advertisement.rightIDs + advertisement.wrongIDs
        var promise = RehearsalPromise(
            .rotation, name, beacon: index, relation: .atLeast, expected: 100,
            measured: idEvents == 0 ? nil : 100 * Double(advertisement.rightIDs) / Double(idEvents), unit: "%",
            count: idEvents, verdict: idEvents == 0 ? .unjudged : .holds)
        if idEvents == 0 { promise.reason = "no ephemeral id was sent" }
        if advertisement.wrongIDs > 0 {
            explain(
                &promise,
                "\(advertisement.wrongIDs) of \(idEvents) ephemeral ids of \(name) were not valid when they "
                    + "were sent, so the clock of the machine is wrong",
                faults: ["clock-jump"], tallies.beacons[index].name)
        } else if advertisement.sentIDs < advertisement.dueIDs {
            explain(
                &promise, "\(name) changed its id \(advertisement.sentIDs) times instead of \(advertisement.dueIDs)",
                faults: ["stops"], tallies.beacons[index].name)
        }
        promises.append(promise)
    }

    // MARK: Receivers

    private mutating func judge(_ receiver: RehearsalTallies.Receiver) {
        judgeCollisions(receiver)
        for link in receiver.links { judgeShare(link, receiver.name) }
        let gap = Double(receiver.meanGap) / 1e6
        let limit = max(Self.longestAbsence, 40 * gap)
        let silence = Double(receiver.longestDeafness) / 1e6
        var receptionPromise = RehearsalPromise(
            .receiver, receiver.name, relation: .atMost, expected: limit, measured: silence, unit: "s",
            count: receiver.links.reduce(0) { $0 + $1.copies.received }, verdict: gap > 0 ? .holds : .unjudged,
            reason: gap > 0 ? "" : "no beacon is in its range")
        if gap > 0, silence > limit {
            explain(
                &receptionPromise,
                "\(receiver.name) received nothing for \(seconds(silence)) from "
                    + "\(seconds(Double(receiver.deafFrom) / 1e6)) on", faults: ["deaf"], receiver.name)
        }
        promises.append(receptionPromise)
        let absence = Double(receiver.longestAbsence) / 1e6
        var absencePromise = RehearsalPromise(
            .receiver, "\(receiver.name): lines at the collector", relation: .atMost, expected: Self.longestAbsence,
            measured: absence, unit: "s", verdict: .holds)
        if absence > Self.longestAbsence {
            explain(
                &absencePromise,
                "no line of \(receiver.name) arrived at the collector for \(seconds(absence)) from "
                    + "\(seconds(Double(receiver.absentFrom) / 1e6)) on", faults: ["broker-away"], "")
        }
        promises.append(absencePromise)
    }

    private mutating func judgeCollisions(_ receiver: RehearsalTallies.Receiver) {
        var copies = RehearsalTallies.Copies()
        for link in receiver.links { copies.add(link.copies) }
        judgeCollisions("at \(receiver.name)", copies)
    }

    private mutating func judgePhoneCollisions() {
        if tallies.subject.phones > 0 { judgeCollisions("at phones", tallies.phoneCopies) }
    }

    private mutating func judgeCollisions(_ subject: String, _ copies: RehearsalTallies.Copies) {
        var promise = RehearsalPromise(
            .collisions, subject, relation: .equal, expected: nil, measured: nil, unit: "%", count: copies.offered,
            verdict: .unjudged)
        defer { promises.append(promise) }
        guard copies.offered >= 1000 else {
            promise.reason = "fewer than 1000 packets arrived"
            return
        }
        let expectedOverlap = 1 - copies.expectedShare
        let measured = 1 - Double(copies.clear) / Double(copies.offered)
        let error =
            Self.lossDependence
            * (max(expectedOverlap * (1 - expectedOverlap), 1e-4) / Double(copies.offered)).squareRoot()
        promise.expected = 100 * expectedOverlap
        promise.measured = 100 * measured
        promise.standardError = 100 * error
        promise.verdict = .holds
        guard abs(measured - expectedOverlap) > Self.shareTolerance + z * error else { return }
        explain(
            &promise,
            "\(percent(measured)) of the packets \(subject) overlapped with others; the model expects "
                + percent(expectedOverlap), faults: [], nil)
    }

    private mutating func judgeShare(_ link: RehearsalTallies.Link, _ receiver: String) {
        let beacon = tallies.beacons[link.beacon].name
        let copies = link.copies
        guard copies.offered >= 200 else { return }
        let expectedShare = copies.expectedShare
        let measured = Double(copies.received) / Double(copies.offered)
        let error =
            Self.lossDependence * (max(expectedShare * (1 - expectedShare), 1e-4) / Double(copies.offered)).squareRoot()
        var promise = RehearsalPromise(
            .share, "\(beacon) at \(receiver)", beacon: link.beacon, relation: .atLeast, expected: 100 * expectedShare,
            measured: 100 * measured, unit: "%", standardError: 100 * error, count: copies.offered, verdict: .holds)
        if measured < expectedShare - Self.shareTolerance - z * error {
            explain(
                &promise,
                "\(receiver) received \(percent(measured)) of the packets of \(beacon) instead of "
                    + percent(expectedShare), faults: ["clone", "interval"], beacon)
        }
        promises.append(promise)
    }

    // MARK: Levels

    private mutating func judgeLevels() {
        guard tallies.subject.hasFloor, !tallies.receivers.isEmpty else {
            promises.append(
                RehearsalPromise(
                    .level, "all beacons", relation: .atLeast, expected: nil, measured: nil, unit: "dB",
                    verdict: .unjudged,
                    reason: tallies.subject.hasFloor
                        ? "the site has no receivers" : "there is no floor: give --site"))
            return
        }
        for index in tallies.beacons.indices { judgeLevel(index) }
    }

    private mutating func judgeLevel(_ index: Int) {
        let name = tallies.beacons[index].name
        var deviations: [Double] = []
        var count = 0
        var fall: (decibels: Double, part: Int, receiver: String)?
        for receiver in tallies.receivers {
            guard let link = receiver.links.first(where: { $0.beacon == index }) else { continue }
            let sum = link.levelSum.reduce(0, +)
            let packets = link.count.reduce(0, +)
            guard packets >= 20 else { continue }
            count += packets
            deviations.append(Double(sum) / Double(packets) / 100 - Double(link.expectedLevel) / 100)
            // Changes over time are judged only in a single run, because each run has other random shadowing, and thus
            // other levels.
            guard tallies.seeds.count == 1 else { continue }
            var highest = -Double.infinity
            for part in link.count.indices where link.count[part] >= 5 {
                let mean = Double(link.levelSum[part]) / Double(link.count[part]) / 100
                let step = highest - mean
                if step > Self.levelStep, step > fall?.decibels ?? 0 { fall = (step, part, receiver.name) }
                highest = max(highest, mean)
            }
        }
        var promise = RehearsalPromise(
            .level, name, beacon: index, relation: .atLeast, expected: nil, measured: nil, unit: "dB", count: count,
            verdict: .unjudged, reason: "no receiver is in its range")
        defer { promises.append(promise) }
        if fall == nil, let (receivers, part) = loss(of: index) {
            let others = receivers.count > 1 ? " and \(receivers.count - 1) other receivers" : ""
            explain(
                &promise,
                "\(receivers[0])\(others) received nothing of \(name) from about \(clock(part: part)) on, although it sent "
                    + "and other beacons were received", faults: ["weak"], name)
            return
        }
        guard !deviations.isEmpty else { return }
        let mean = deviations.reduce(0, +) / Double(deviations.count)
        let error = Double(tallies.subject.shadowing) / 100 / Double(deviations.count).squareRoot()
        promise.expected = 0
        promise.measured = mean
        promise.standardError = error
        promise.verdict = .holds
        promise.reason = "mean difference of the levels from the plan at \(deviations.count) receivers"
        if let fall {
            explain(
                &promise,
                "\(name) became \(NumberFormat.rounded(fall.decibels, 1)) dB weaker at \(fall.receiver) from about "
                    + "\(clock(part: fall.part))", faults: ["weak"], name)
        } else if mean < -max(Self.levelStep, z * error) {
            explain(
                &promise,
                "\(name) is \(NumberFormat.rounded(-mean, 1)) dB weaker than the plan expects, at \(deviations.count) "
                    + "receivers", faults: ["weak"], name)
        }
    }

    /// Finds the receivers that received nothing more of a beacon, or never received it, although the beacon still sent
    /// and the receivers still received other beacons. Returns their names, and the index of the first part of the
    /// rehearsal (see `RehearsalTallies.parts`) in which one of them received nothing; `nil` without such receivers.
    private func loss(of index: Int) -> (receivers: [String], part: Int)? {
        let sent = (0..<RehearsalTallies.parts).map { part in
            tallies.beacons[index].advertisements.reduce(0) { $0 + $1.events[part] }
        }
        var receivers: [String] = []
        var firstPart = RehearsalTallies.parts
        for receiver in tallies.receivers {
            guard let link = receiver.links.first(where: { $0.beacon == index }) else { continue }
            let end = (link.count.lastIndex { $0 > 0 } ?? -1) + 1
            let received = Double(link.count.reduce(0, +))
            // If the receiver never received the beacon, its share is not known. A receiver in range is expected to
            // receive at least the smallest share.
            let share = end == 0 ? Self.smallestShare : received / Double(max(1, sent[..<end].reduce(0, +)))
            let missed = (end..<RehearsalTallies.parts).reduce(0) { sum, part in
                let receivesOthers = receiver.links.contains { $0.beacon != index && $0.count[part] > 0 }
                return receivesOthers ? sum + sent[part] : sum
            }
            guard
                share * Double(missed) > Self.lossDependence * Self.lossDependence
                    * log(comparisonCount / Self.falseAlarm)
            else { continue }
            receivers.append(receiver.name)
            firstPart = min(firstPart, end)
        }
        return receivers.isEmpty ? nil : (receivers, firstPart)
    }

    // MARK: Phones

    private mutating func judge(_ place: RehearsalTallies.Place) {
        let plan = Double(place.expected) / 1e6
        let target = Double(tallies.subject.targetShare) / 1e6
        let expectedShare = min(plan, target)
        let goal = "within \(seconds(Double(tallies.subject.targetTime) / 1e6))"
        var promise = RehearsalPromise(
            .detection, "\(place.name), \(goal)", beacon: place.beacon, relation: .atLeast,
            expected: 100 * expectedShare,
            measured: nil, unit: "%", count: place.visits, verdict: .unjudged)
        defer { promises.append(promise) }
        guard place.visits >= 10 else {
            promise.reason = "fewer than 10 phones stood at this place"
            return
        }
        let count = Double(place.visits)
        let measured = Double(place.detected) / count
        let error = (max(expectedShare * (1 - expectedShare), 1 / count) / count).squareRoot()
        promise.measured = 100 * measured
        promise.standardError = 100 * error
        promise.verdict = .holds
        if plan < target { promise.reason = "the plan does not reach the target of \(percent(target)) here" }
        guard measured + 2 * Self.shareTolerance + z * error < expectedShare else { return }
        let name = tallies.beacons.indices.contains(place.beacon) ? tallies.beacons[place.beacon].name : ""
        explain(
            &promise,
            "\(percent(measured)) of the phones at \(place.name) found the beacon \(goal) instead of "
                + percent(expectedShare),
            faults: ["stops", "weak", "interval", "identity"], name)
    }

    private mutating func judge(_ path: RehearsalTallies.Path) {
        let expectedShare = Double(path.expected) / 1e6
        var promise = RehearsalPromise(
            .walk, path.name, relation: .atLeast, expected: 100 * expectedShare, measured: nil, unit: "%",
            count: path.walks, verdict: .unjudged)
        defer { promises.append(promise) }
        guard path.walks >= 10 else {
            promise.reason = "fewer than 10 phones walked on this path"
            return
        }
        let count = Double(path.walks)
        let measured = Double(path.detected) / count
        let error = (max(expectedShare * (1 - expectedShare), 1 / count) / count).squareRoot()
        promise.measured = 100 * measured
        promise.standardError = 100 * error
        promise.verdict = .holds
        promise.reason =
            "\(NumberFormat.rounded(Double(path.beacons) / count, 1)) beacons per walk; the plan expects "
            + NumberFormat.rounded(Double(path.expectedBeacons) / 1000, 1)
        // The plan treats each beacon as either in range or out of range, which gives an error of up to about 5
        // percentage points.
        guard measured + 0.05 + z * error < expectedShare else { return }
        explain(
            &promise,
            "\(percent(measured)) of the phones on the path \(path.name) found a beacon instead of "
                + percent(expectedShare),
            faults: ["stops", "weak"], nil)
    }

    private mutating func judgePercentile() {
        guard tallies.subject.phones > 0 else { return }
        let subject = "95th percentile of the detection time, as a share of the planned time"
        var promise = percentile(tallies.ratios, subject)
        let hasTurns = tallies.turnRatios.counts.contains { $0 > 0 }
        if promise.measured != nil {
            let error = z * Self.shareError(tallies.ratios)
            let range = [0.95 - error, 0.95 + error].map { Self.quantile($0, of: tallies.ratios.counts) }
            promise.verdict = .holds
            if range[0] > 1 + Self.percentileTolerance || range[1] < 1 - Self.percentileTolerance {
                explain(
                    &promise,
                    "95 % of the phones found a beacon in \(ratioText(promise)) of the time that the plan expects",
                    faults: [], nil)
            }
        } else if hasTurns {
            promise.reason = "too few machines send each advertisement on its own advertising set"
        }
        for exclusion in RehearsalTallies.Exclusion.allCases where tallies.excluded[exclusion.rawValue] > 0 {
            promise.reason +=
                (promise.reason.isEmpty ? "" : "; ") + "\(tallies.excluded[exclusion.rawValue]) visits do not count: "
                + reason(of: exclusion)
        }
        promises.append(promise)
        guard hasTurns else { return }
        var turns = percentile(tallies.turnRatios, "several advertisements on one advertising set: \(subject)")
        if turns.measured != nil { turns.reason = Self.turnsReason }
        promises.append(turns)
    }

    /// The reason why machines with several advertisements on one set are not compared with the plan.
    private static let turnsReason =
        "these machines send their advertisements in turn on one advertising set, so each advertisement is sent at "
        + "multiples of the set's interval; the plan assumes that each is sent at its own interval"

    private func reason(of exclusion: RehearsalTallies.Exclusion) -> String {
        switch exclusion {
        case .fault: "a fault is planted in the machine of the beacon"
        case .pattern:
            "the pattern of the beacon takes longer than a tenth of the rehearsal, so all machines are in the same part of the pattern"
        case .channels: "other devices occupy some channels more than others; the plan assumes the mean of all channels"
        case .late: "the planned 95th percentile is longer than \(seconds(VisitPlan.longestSeconds95))"
        }
    }

    /// Returns the promise about the 95th percentile of the times to detection, not judged yet.
    private func percentile(_ ratios: RehearsalTallies.Ratios, _ subject: String) -> RehearsalPromise {
        let counts = ratios.counts
        var promise = RehearsalPromise(
            .percentile, subject, relation: .equal, expected: 100, measured: nil, unit: "%", count: counts.reduce(0, +),
            verdict: .unjudged)
        guard promise.count >= 200 else {
            promise.reason = "fewer than 200 phones were compared"
            return promise
        }
        let error = Self.shareError(ratios)
        promise.measured = 100 * Self.quantile(0.95, of: counts)
        promise.standardError =
            50 * (Self.quantile(0.95 + error, of: counts) - Self.quantile(0.95 - error, of: counts))
        if ratios.beacons.count == 1, tallies.phoneCopies.expectedClear < 1_000_000 * tallies.phoneCopies.offered {
            promise.reason = "all phones looked for the same beacon, so only several seeds show how its collisions vary"
        }
        return promise
    }

    /// The measured percentile in words. Longer times than the shortest visit are not measured.
    private func ratioText(_ promise: RehearsalPromise) -> String {
        let ratio = (promise.measured ?? 0) / 100
        return ratio < PhoneVisits.leastRatio ? percent(ratio) : "at least \(percent(PhoneVisits.leastRatio))"
    }

    /// The standard error of the share of the detections that took at most the 95th percentile.
    ///
    /// The variance is that of independent detections, plus the larger of two values: the additional scatter between
    /// beacons, and the additional scatter between parts of the time.
    private static func shareError(_ ratios: RehearsalTallies.Ratios) -> Double {
        let all = Double(ratios.counts.reduce(0, +))
        let late = Double(ratios.counts.dropFirst(Int(1 / RehearsalTallies.Ratios.step)).reduce(0, +)) / all
        func excess(_ clusters: RehearsalTallies.Clusters) -> Double {
            guard clusters.count > 1 else { return 0 }
            let squares =
                Double(clusters.lateSquares) - 2 * late * Double(clusters.products)
                + late * late * Double(clusters.squares)
            let count = Double(clusters.count)
            return max(0, count / (count - 1) * squares / (all * all) - late * (1 - late) / all)
        }
        // The excess between beacons counts twice, because a collision delays the detection of two beacons.
        return (0.95 * 0.05 / all + max(2 * excess(ratios.beacons), excess(ratios.times))).squareRoot()
    }

    /// The quantile of a histogram of ratios, with linear interpolation within a bin.
    private static func quantile(_ share: Double, of counts: [Int]) -> Double {
        let wanted = min(max(share, 0), 1) * Double(counts.reduce(0, +))
        var sum = 0.0
        for (bin, count) in counts.enumerated() {
            if sum + Double(count) >= wanted, count > 0 {
                return (Double(bin) + (wanted - sum) / Double(count)) * RehearsalTallies.Ratios.step
            }
            sum += Double(count)
        }
        return Double(counts.count) * RehearsalTallies.Ratios.step
    }

    // MARK: Batteries and rooms

    private mutating func judgeBatteries() {
        guard tallies.beacons.contains(where: { $0.plannedLife > 0 }) else {
            promises.append(
                RehearsalPromise(
                    .battery, "all beacons", relation: .atLeast, expected: nil, measured: nil, unit: "days",
                    verdict: .unjudged, reason: "no battery is given: use --chip and --battery"))
            return
        }
        for (index, beacon) in tallies.beacons.enumerated() {
            let (planned, rehearsed) = (Double(beacon.plannedLife) / 1000, Double(beacon.rehearsedLife) / 1000)
            var promise = RehearsalPromise(
                .battery, beacon.name, beacon: index, relation: .atLeast, expected: planned, measured: rehearsed,
                unit: "days", count: beacon.advertisements.reduce(0) { $0 + $1.events.reduce(0, +) },
                verdict: .holds)
            if rehearsed < 0.97 * planned {
                explain(
                    &promise, "the battery of \(beacon.name) lasts \(Int(rehearsed)) days instead of \(Int(planned))",
                    faults: ["interval"], beacon.name)
            }
            promises.append(promise)
        }
    }

    private mutating func judgeRooms() {
        guard tallies.subject.hasRooms else {
            promises.append(
                RehearsalPromise(
                    .room, "all beacons", relation: .atMost, expected: nil, measured: nil, unit: "%",
                    verdict: .unjudged,
                    reason: "the site has no rooms or no receivers, so no collector ran"))
            return
        }
        var (time, wrong, expected, variance) = (0.0, 0.0, 0.0, 0.0)
        for (index, beacon) in tallies.beacons.enumerated() {
            var presence = RehearsalPromise(
                .presence, beacon.name, beacon: index, relation: .atMost, expected: 0,
                measured: Double(beacon.falseExits), unit: "", count: beacon.roomSeconds, verdict: .holds)
            if beacon.falseExits > 0 {
                explain(
                    &presence,
                    "the collector reported \(beacon.falseExits) exits of \(beacon.name), which was on the air",
                    faults: ["interval"], beacon.name)
            }
            promises.append(presence)
            guard beacon.roomSeconds > 0, !beacon.room.isEmpty else { continue }
            time += Double(beacon.roomSeconds)
            wrong += Double(beacon.wrongRoomSeconds)
            let expectedWrong = Double(beacon.expectedWrongMilliseconds) / 1000
            expected += expectedWrong
            // The shadowing is constant, so the collector reports a wrong room for a beacon either all the time or
            // never.
            let share = expectedWrong / Double(beacon.roomSeconds)
            variance += share * (1 - share) * Double(beacon.roomSeconds) * Double(beacon.roomSeconds)
        }
        var promise = RehearsalPromise(
            .room, "all beacons, wrong rooms", relation: .atMost, expected: nil, measured: nil, unit: "%",
            count: Int(time), verdict: .unjudged, reason: "no beacon stands in a room")
        defer { promises.append(promise) }
        guard time > 0 else { return }
        promise.expected = 100 * expected / time
        promise.measured = 100 * wrong / time
        promise.standardError = 100 * variance.squareRoot() / time
        promise.verdict = .holds
        promise.reason = "the limit is the mean probability of other rooms that the collector reports"
        guard wrong / time > expected / time + 0.05 + z * variance.squareRoot() / time else { return }
        explain(
            &promise,
            "beacons were in a wrong room for \(percent(wrong / time)) of the time; the collector expects "
                + percent(expected / time), faults: [], nil)
    }

    // MARK: Reasons

    /// Marks a promise as broken, and adds the reason and the planted fault that explains it, if there is one.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of faults that break this promise, the likeliest first.
    ///   - name: The name of the beacon or receiver with the fault; empty for faults of all receivers; nil if no fault
    ///     can explain the broken promise.
    private func explain(
        _ promise: inout RehearsalPromise, _ reason: String, faults kinds: [String], _ name: String?
    ) {
        promise.verdict = .broken
        promise.reason = reason
        guard let name else { return }
        for kind in kinds {
            guard let index = tallies.faults.firstIndex(where: { $0.kind == kind && $0.subject == name }) else {
                continue
            }
            promise.fault = index
            promise.reason += " (planted: \(tallies.faults[index].text))"
            return
        }
    }

    private func seconds(_ value: Double) -> String { "\(NumberFormat.significant(value, 4)) s" }
    private func milliseconds(_ microseconds: Double) -> String {
        "\(NumberFormat.rounded(microseconds / 1000, 1)) ms"
    }
    private func percent(_ share: Double) -> String { "\(NumberFormat.rounded(100 * share, 1)) %" }
    private func clock(part: Int) -> String {
        seconds((Double(part) * time / Double(RehearsalTallies.parts)).rounded())
    }
}
