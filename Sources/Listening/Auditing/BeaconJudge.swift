internal import BeaconFrames
internal import BluetoothTypes
internal import Sightings

extension Auditor {
    /// Returns the result of all sightings so far.
    ///
    /// - Parameters:
    ///   - place: The place of the receivers; `nil` if all beacons must be received.
    ///   - isWalk: Whether the receiver was carried past the beacons. Then each beacon must only be received once with
    ///     the right bytes, and with the right interval if enough of its events were received. Shares and silences are
    ///     not judged.
    ///   - model: The model of silences, which stores its computations for the next report.
    public func report(
        at place: AuditPlace? = nil, isWalk: Bool = false, _ model: inout SilenceModel
    ) -> AuditReport {
        let spans = ListenedTime.union(receivers.map(\.listened))
        var audits: [AdvertisementAudit] = []
        var warnings: [AuditWarning] = []
        var firstIndex = 0
        let radios = beacons.indices.count { beacon in
            advertisements.indices.contains {
                advertisements[$0].beacon == beacon && heard[$0].contains(where: \.isHeard)
            }
        }
        for beacon in beacons.indices {
            let range = firstIndex..<firstIndex + beacons[beacon].advertisements.count
            firstIndex = range.upperBound
            var judge = BeaconJudge(self, beacon: beacon, range, spans: spans, radios: radios, isWalk: isWalk)
            let name = beacons[beacon].name
            let chance = isWalk ? nil : expectedLevels?.chanceOfSilentBeacon(name)
            let isNear = (place?.contains(beacons[beacon].group) ?? true) && chance == nil
            if judge.isSilent, spans.isEmpty || !isNear {
                warnings.append(.notInRange(beacon: name, chance: chance))
                audits += judge.advertisementAudits
                continue
            }
            judge.judge(&model)
            audits += judge.advertisementAudits
            for audit in judge.advertisementAudits where !audit.expected.isJudgeable {
                warnings.append(.unjudged(beacon: audit.beacon, type: audit.expected.type))
            }
        }
        let strangers = strangers.values.sorted {
            ($1.reports, $0.identity.description) < ($0.reports, $1.identity.description)
        }
        warnings += strangers.map { .stranger($0.identity, from: $0.sender, reports: $0.reports) }
        warnings += receivers.filter { $0.truncated > 0 }.map {
            .truncated(receiver: $0.name, advertisements: $0.truncated)
        }
        return AuditReport(
            advertisements: audits, warnings: warnings, receivers: receivers,
            listenedMicroseconds: ListenedTime.length(spans), isWalk: isWalk)
    }
}

/// Judges the advertisements of one beacon together, because they share its radio.
struct BeaconJudge {
    /// The smallest number of wrong reports that cannot be chance: reports from another sender, with wrong bytes, or on
    /// a wrong PHY.
    private static let fewestReports = 2
    /// The number of returns of a sender, a level or the right bytes after which two senders must be present.
    private static let fewestReturns = CloneWatch.signs

    private(set) var advertisementAudits: [AdvertisementAudit]
    private let auditor: Auditor
    /// The indices of the beacon's advertisements in the auditor.
    private let range: Range<Int>
    /// The periods that are judged, in microseconds; in a walk, only the time in which the receiver passed this beacon.
    private let spans: [ClosedRange<Int>]
    /// The number of radios on the air, which determines how many events are lost by collisions.
    private let radios: Int
    private let isWalk: Bool
    /// The share of events below which a beacon is weak, if collisions lose none.
    private static let weakShare = 2.0 / 3
    /// A receiver is near the beacon if it receives at least this share of the events per second that the best receiver
    /// receives.
    private static let nearShare = 0.5
    /// By type, the frames that come from the beacon's address, but belong to none of its advertisements.
    private let unexpected: [String: Auditor.Unexpected]
    /// For each advertisement, the sender and its events.
    private var owners: [Owner]

    /// The sender of an advertisement and its events.
    private struct Owner {
        /// The sender; `nil` before it is found. The inner value is `nil` for an address that changes.
        var sender: Sender??
        var events = EventTimes()
    }

    init(
        _ auditor: Auditor, beacon: Int, _ range: Range<Int>, spans: [ClosedRange<Int>], radios: Int, isWalk: Bool
    ) {
        self.auditor = auditor
        self.range = range
        self.isWalk = isWalk
        self.spans = isWalk ? Self.passage(auditor, range, within: spans) : Self.listened(auditor, range) ?? spans
        self.radios = radios
        unexpected = auditor.unexpected[beacon]
        advertisementAudits = range.map {
            AdvertisementAudit(
                beacon: auditor.beacons[beacon].name, group: auditor.beacons[beacon].group,
                expected: auditor.advertisements[$0].expected)
        }
        owners = range.map { _ in Owner() }
    }

    /// Returns the times in which a receiver near the beacon listened; `nil` if no receiver received the beacon. While
    /// only distant receivers listen, a silence of the beacon means nothing.
    private static func listened(_ auditor: Auditor, _ range: Range<Int>) -> [ClosedRange<Int>]? {
        let times = auditor.receivers.map { Double($0.listened.microseconds) }
        let events = auditor.receivers.indices.map { receiver in
            Double(range.flatMap { auditor.heard[$0][receiver].sources }.reduce(0) { $0 + $1.events.times.count })
        }
        // In a short time with few events, the rate may be high by chance, so two standard deviations are subtracted.
        let highestRate = zip(events, times).map { $1 > 0 ? ($0 - 2 * $0.squareRoot()) / $1 : 0 }.max() ?? 0
        guard highestRate > 0 else { return nil }
        let nearReceivers = auditor.receivers.indices.filter { events[$0] >= nearShare * highestRate * times[$0] }
        return ListenedTime.union(nearReceivers.map { auditor.receivers[$0].listened })
    }

    /// Returns the parts of `spans` that lie between the first and the last received event of the advertisements in
    /// `range`.
    private static func passage(
        _ auditor: Auditor, _ range: Range<Int>, within spans: [ClosedRange<Int>]
    ) -> [ClosedRange<Int>] {
        let times = range.flatMap { index in
            auditor.heard[index].flatMap(\.sources).flatMap(\.events.times)
        }
        guard let first = times.min(), let last = times.max() else { return [] }
        return spans.compactMap { span in
            let (start, end) = (max(span.lowerBound, first), min(span.upperBound, last))
            return start <= end ? start...end : nil
        }
    }

    /// The number of reports that receivers lost. Each of them may have been a report of this beacon.
    private var lostReports: Int { auditor.receivers.reduce(0) { $0 + $1.lost } }

    private func recordsPerReceiver(_ index: Int) -> [ReceivedAdvertisement] { auditor.heard[range.lowerBound + index] }

    /// True if nothing was received from the beacon.
    var isSilent: Bool { unexpected.isEmpty && range.allSatisfy { !auditor.heard[$0].contains(where: \.isHeard) } }

    mutating func judge(_ model: inout SilenceModel) {
        for index in advertisementAudits.indices where advertisementAudits[index].expected.isJudgeable {
            judgeSenders(index)
        }
        var rhythms = rhythms()
        if advertisementAudits.indices.contains(where: isSentByTwoDevices) {
            // Events of a second sender lie between those of the beacon, so a wrong rhythm need not be the beacon's
            // fault.
            for index in rhythms.indices where rhythms[index].isWrong { rhythms[index] = .init() }
        }
        let commonPeriod = rhythms.map(\.turnMicroseconds).max() ?? 0
        let commonEventsPerSecond = commonPeriod > 0 ? 1_000_000 / commonPeriod : nil
        for index in advertisementAudits.indices where advertisementAudits[index].expected.isJudgeable {
            judgeRhythm(index, rhythms[index], &model)
        }
        for index in advertisementAudits.indices where advertisementAudits[index].expected.isJudgeable {
            judgeTelemetry(index, commonEventsPerSecond)
            judgeLevel(index)
            if advertisementAudits[index].verdicts.isEmpty { advertisementAudits[index].verdicts = [.ok] }
        }
    }

    // MARK: Who sends what

    private mutating func judgeSenders(_ index: Int) {
        let records = recordsPerReceiver(index)
        guard records.contains(where: \.isHeard) else {
            if let frames = unexpected[advertisementAudits[index].expected.type] {
                advertisementAudits[index].wrongOctets = frames.octets
                owners[index].events = .union(frames.events, window: window(index))
                advertisementAudits[index].add(.wrongOctets, "its address sends other bytes instead")
            } else {
                advertisementAudits[index].add(.silent, "it was not received")
            }
            return
        }
        var reports: [Sender?: Int] = [:]
        for source in records.flatMap(\.sources) { reports[source.sender, default: 0] += source.reports }
        let expected = advertisementAudits[index].expected.address
        let owner = reports.keys.filter { Self.isExpected($0, expected) }.max { reports[$0] ?? 0 < reports[$1] ?? 0 }
        guard let sender = owner ?? reports.keys.max(by: { reports[$0] ?? 0 < reports[$1] ?? 0 }) else { return }
        owners[index].sender = sender
        advertisementAudits[index].sender = sender
        let isElsewhere = owner == nil
        if isElsewhere, let sender { advertisementAudits[index].add(.wrongAddress, "it comes from \(sender.address)") }
        let ownSources = records.flatMap(\.sources).filter { $0.sender == sender }
        judgeOthers(index, records)
        judgeOctets(index, ownSources)
        judgePHY(index, ownSources)
        var levels = LevelTally()
        for source in ownSources { levels.merge(source.levels) }
        advertisementAudits[index].meanLevel = levels.mean
        advertisementAudits[index].levelDeviation = levels.standardDeviation
        // If an impostor sends from the same address, its reports cause the jumps.
        if !advertisementAudits[index].verdicts.contains(.impostor),
            ownSources.contains(where: { $0.levelJumps >= Self.fewestReturns })
        {
            advertisementAudits[index].add(
                .cloned, "its level jumps by more than 30 dB and back: two devices send it from one address")
        }
        owners[index].events =
            ownSources.count == 1 ? ownSources[0].events : .union(ownSources.map(\.events), window: window(index))
    }

    /// Returns the time in microseconds within which reports of several receivers are one event, because the clocks of
    /// the receivers may differ slightly.
    private func window(_ index: Int) -> Int {
        min(50_000, advertisementAudits[index].expected.shortestMicroseconds / 2)
    }

    private static func isExpected(_ sender: Sender?, _ address: ExpectedAdvertisement.Address) -> Bool {
        switch (address, sender) {
        case (.changing, _), (_, nil): true
        case (.exactly(let expected), let sender?): sender == expected
        case (.anyStatic, let sender?): sender.isRandom && sender.address.isValidStaticRandom
        case (.anyPublic, let sender?): !sender.isRandom
        }
    }

    private mutating func judgeOthers(_ index: Int, _ records: [ReceivedAdvertisement]) {
        let returns = records.map(\.senderReturns).max() ?? 0
        if advertisementAudits[index].expected.address == .changing {
            if returns >= Self.fewestReturns {
                advertisementAudits[index].add(.cloned, "the same id comes from two addresses at once")
            }
            return
        }
        let sender = owners[index].sender ?? nil
        let others = records.flatMap(\.sources).filter { $0.sender != sender }
        let (right, wrong) = others.reduce((0, 0)) { ($0.0 + $1.right, $0.1 + $1.wrong) }
        guard right + wrong >= Self.fewestReports, let other = others.max(by: { $0.reports < $1.reports })?.sender
        else {
            return
        }
        if wrong > right {
            advertisementAudits[index].add(.impostor, "\(other.address) sends this identity with other bytes")
        } else if returns >= Self.fewestReturns {
            advertisementAudits[index].add(.cloned, "\(other.address) sends the same bytes at the same time")
        } else {
            advertisementAudits[index].add(.impostor, "\(other.address) sends this identity, too")
        }
    }

    private mutating func judgeOctets(_ index: Int, _ ownSources: [ReceivedAdvertisement.Source]) {
        let (right, wrong) = ownSources.reduce((0, 0)) { ($0.0 + $1.right, $0.1 + $1.wrong) }
        guard wrong >= (right == 0 ? 1 : Self.fewestReports) else { return }
        advertisementAudits[index].wrongOctets = ownSources.first { !$0.wrongOctets.isEmpty }?.wrongOctets ?? []
        if ownSources.contains(where: { $0.octetReturns >= Self.fewestReturns }) {
            advertisementAudits[index].add(
                .impostor, "right and wrong bytes alternate: another device uses its address")
        } else {
            advertisementAudits[index].add(.wrongOctets, "\(wrong) of \(right + wrong) reports have wrong bytes")
        }
    }

    private mutating func judgePHY(_ index: Int, _ ownSources: [ReceivedAdvertisement.Source]) {
        let wrong = ownSources.reduce(0) { $0 + $1.wrongPHYs }
        let reports = ownSources.reduce(0) { $0 + $1.reports }
        guard wrong >= (wrong == reports ? 1 : Self.fewestReports),
            let source = ownSources.first(where: { $0.wrongPHYs > 0 })
        else {
            return
        }
        func text(_ phy: ExtendedPHY?) -> String { phy.map { "extended PDUs on \($0.name)" } ?? "legacy PDUs" }
        advertisementAudits[index].add(
            .wrongPHY,
            "it is sent in \(text(source.wrongPHY)) instead of \(text(advertisementAudits[index].expected.phy))")
    }

    // MARK: How often

    /// Returns the rhythms of the advertisements, measured by the receiver with the most events.
    private func rhythms() -> [RadioRhythm.Judgement] {
        let receivers = auditor.receivers.indices
        func events(_ index: Int, _ receiver: Int) -> EventTimes {
            guard let sender = owners[index].sender else {
                return unexpected[advertisementAudits[index].expected.type]?.events[receiver] ?? EventTimes()
            }
            return recordsPerReceiver(index)[receiver].sources.first { $0.sender == sender }?.events ?? EventTimes()
        }
        let bestReceiver = receivers.max { left, right in
            advertisementAudits.indices.reduce(0) { $0 + events($1, left).times.count }
                < advertisementAudits.indices.reduce(0) { $0 + events($1, right).times.count }
        }
        var judgements = advertisementAudits.map { _ in RadioRhythm.Judgement() }
        guard let bestReceiver else { return judgements }
        let times = isWalk ? spans : auditor.receivers[bestReceiver].listened.spans
        // A pattern has an advertising set of its own, so it never takes turns with the other advertisements.
        let constantIndices = advertisementAudits.indices.filter { advertisementAudits[$0].expected.pattern == nil }
        let judged = RadioRhythm.judge(
            constantIndices.map { Double(advertisementAudits[$0].expected.intervalMicroseconds) },
            constantIndices.map { events($0, bestReceiver) }, within: times)
        for (index, judgement) in zip(constantIndices, judged) { judgements[index] = judgement }
        if !isWalk, !judged.contains(where: { $0.isWrong || $0.isMixed }) {
            judgeLatest(constantIndices, constantIndices.map { events($0, bestReceiver) }, within: times, &judgements)
        }
        for index in advertisementAudits.indices {
            guard let pattern = advertisementAudits[index].expected.pattern else { continue }
            judgements[index].isWrong = PatternRhythm(pattern).isWrong(events(index, bestReceiver), within: times)
        }
        return judgements
    }

    /// Judges the last half of the time separately, then the last quarter and so on. This finds an interval that has
    /// changed during a long audit.
    private func judgeLatest(
        _ constantIndices: [Int], _ events: [EventTimes], within times: [ClosedRange<Int>],
        _ judgements: inout [RadioRhythm.Judgement]
    ) {
        guard let first = times.first?.lowerBound, let last = times.last?.upperBound else { return }
        var start = first
        while true {
            start += (last - start) / 2
            let latestTimes = times.filter { $0.upperBound > start }.map { max($0.lowerBound, start)...$0.upperBound }
            let latestEvents = events.map { events in EventTimes(events.times.filter { $0 >= start }) }
            guard latestEvents.contains(where: { $0.times.count > Self.neededEvents }) else { return }
            let judged = RadioRhythm.judge(
                constantIndices.map { Double(advertisementAudits[$0].expected.intervalMicroseconds) }, latestEvents,
                within: latestTimes)
            guard judged.contains(where: { $0.isWrong && !$0.isMixed }) else { continue }
            for (index, judgement) in zip(constantIndices, judged) where judgement.isWrong && !judgement.isMixed {
                judgements[index] = judgement
            }
            return
        }
    }

    /// The number of events that a part of an audit needs to be judged separately.
    private static let neededEvents = 200

    private mutating func judgeRhythm(_ index: Int, _ rhythm: RadioRhythm.Judgement, _ model: inout SilenceModel) {
        let expected = advertisementAudits[index].expected
        let listened = Double(ListenedTime.length(spans))
        advertisementAudits[index].heard = owners[index].events.times.count { time in
            spans.isEmpty || spans.contains { $0.contains(time) }
        }
        if !isWalk { advertisementAudits[index].dueEvents = Int((listened / expected.periodMicroseconds).rounded()) }
        guard listened > 0, isWalk || advertisementAudits[index].dueEvents > 0 else { return }
        if !isWalk {
            let heardMicroseconds = Double(advertisementAudits[index].heard) * expected.periodMicroseconds
            advertisementAudits[index].share = min(1, heardMicroseconds / listened)
        }
        guard advertisementAudits[index].heard > 0 else { return }
        // Two senders with one address have no common interval.
        guard !isSentByTwoDevices(index) else { return }
        advertisementAudits[index].intervalMicroseconds = rhythm.interval.map { Int($0.rounded()) }
        if rhythm.isMixed, !isWalk,
            Double(advertisementAudits[index].heard) > 1.2 * Double(advertisementAudits[index].dueEvents)
        {
            advertisementAudits[index].add(.cloned, "more reports than one device sends: two devices use this address")
            return
        }
        if rhythm.isWrong, let pattern = expected.pattern {
            advertisementAudits[index].add(.wrongInterval, "its events do not follow its pattern, \(pattern)")
        } else if rhythm.isWrong {
            let interval = rhythm.interval.map { "\(NumberFormat.rounded($0 / 1000, 1)) ms" } ?? "another interval"
            advertisementAudits[index].add(
                .wrongInterval,
                "it comes every \(interval), not \(NumberFormat.rounded(Double(expected.intervalMicroseconds) / 1000, 1)) ms"
            )
        }
        if isWalk { return }
        // Faults that follow from a wrong interval are not reported.
        let interval = (rhythm.isWrong ? rhythm.interval : nil) ?? Double(expected.intervalMicroseconds)
        judgeSilence(index, interval: max(1, interval), turn: rhythm.turnMicroseconds, &model)
    }

    private func isSentByTwoDevices(_ index: Int) -> Bool {
        guard let sender = owners[index].sender else { return false }
        return recordsPerReceiver(index).flatMap(\.sources).contains {
            $0.sender == sender && ($0.levelJumps >= Self.fewestReturns || $0.octetReturns >= Self.fewestReturns)
        }
    }

    private mutating func judgeSilence(
        _ index: Int, interval: Double, turn: Double, _ model: inout SilenceModel
    ) {
        let receivedEvents = Double(advertisementAudits[index].heard)
        let octets = advertisementAudits[index].expected.octets?.count ?? 31
        let period = interval + Double(IntervalEstimate.meanDelayMicroseconds)
        let dueEvents = Double(ListenedTime.length(spans)) / period
        // With a pattern, the limit is computed for the part with the longest interval.
        let longestInterval =
            advertisementAudits[index].expected.pattern == nil
            ? interval : Double(advertisementAudits[index].expected.longestMicroseconds)
        let silence = owners[index].events.longestSilence(within: spans)
        advertisementAudits[index].longestSilenceMicroseconds = silence
        // The longest silence is left out of the loss. The largest loss that is likely with this number of events is
        // used.
        let dueOutsideSilence = max(1, dueEvents - Double(silence) / period)
        let lost = max(0, dueOutsideSilence - receivedEvents)
        let loss = min(0.98, (lost + 2 + 2 * (lost + 1).squareRoot()) / (dueOutsideSilence + 4))
        let limit =
            model.longestSilence(
                radios: radios, interval: longestInterval, octets: octets, dueEvents: dueEvents, loss: loss,
                advertisements: auditor.expectedCount) + 2 * turn
        advertisementAudits[index].silenceLimitMicroseconds = Int(min(limit, 1e15))
        // Lost reports may have been reports of this beacon.
        let isLong = Double(silence) > limit && Double(lostReports) * period < Double(silence) - limit
        let receivableShare =
            auditor.listeningShare * model.clearShare(radios: radios, interval: interval, octets: octets)
        let due = isLong ? dueOutsideSilence : dueEvents
        let possiblyReceivedEvents = receivedEvents + Double(lostReports)
        let isCovered = advertisementAudits[index].expected.pattern.map { PatternRhythm($0).covers(spans) } ?? true
        // If few events are due, many of them can be lost by chance. So the margin is two standard deviations; one is at
        // most half the square root of `due`. An incomplete cycle of a pattern may have fewer events than its share of
        // time.
        let margin = due.squareRoot() + (advertisementAudits[index].expected.pattern?.eventsPerCycle ?? 0) / 2
        let isWeak = isCovered && possiblyReceivedEvents + margin < Self.weakShare * receivableShare * due
        if isWeak {
            let explainedPercent = max(0, Int(((1 - receivableShare) * 100).rounded()))
            advertisementAudits[index].add(
                .weak,
                "\(advertisementAudits[index].heard) of \(Int(due.rounded())) events were received; "
                    + (auditor.listeningShare < 1 ? "listening to two PHYs in turn and " : "")
                    + "collisions explain a loss of "
                    + "\(explainedPercent) %")
        }
        if isLong {
            advertisementAudits[index].add(
                .longSilence,
                "silent for \(NumberFormat.rounded(Double(silence) / 1_000_000, 1)) s; losses explain at most \(NumberFormat.rounded(limit / 1_000_000, 1)) s"
            )
        }
    }

    /// Compares the levels at all receivers with those of the plan, even if no event was lost.
    private mutating func judgeLevel(_ index: Int) {
        guard !isWalk, let expected = auditor.expectedLevels, let sender = owners[index].sender else { return }
        let received = recordsPerReceiver(index).map { record in
            record.sources.first { $0.sender == sender }?.lowestLevel.value
        }
        let finding = expected.finding(
            of: advertisementAudits[index].beacon, received: received, receivers: auditor.receivers.map(\.name),
            advertisements: auditor.expectedCount)
        switch finding {
        case .weak(let reason): advertisementAudits[index].add(.weak, reason)
        case .obstructed(let reason): advertisementAudits[index].add(.obstructed, reason)
        case nil: break
        }
    }

    // MARK: Telemetry

    /// - Parameter commonEventsPerSecond: The number of events of all advertisements per second, if they are sent in
    ///   turn.
    private mutating func judgeTelemetry(_ index: Int, _ commonEventsPerSecond: Double?) {
        if let percent = recordsPerReceiver(index).compactMap(\.batteryPercent).last {
            advertisementAudits[index].batteryPercent = percent
            if percent < Auditor.lowBatteryPercent {
                advertisementAudits[index].add(.lowBattery, "its battery has \(percent) %")
            }
        }
        guard case .telemetry = advertisementAudits[index].expected.content else { return }
        let records = recordsPerReceiver(index).map(\.telemetry)
        guard let record = records.max(by: { $0.count < $1.count }), let last = record.last else { return }
        advertisementAudits[index].telemetry = last.frame
        if let battery = last.frame.batteryMillivolts, TelemetryRule.batteries.contains(Int(battery)),
            Int(battery) < auditor.lowBatteryMillivolts
        {
            advertisementAudits[index].add(
                .lowBattery, "its battery has \(battery) mV, less than \(auditor.lowBatteryMillivolts)")
        }
        guard !advertisementAudits[index].verdicts.contains(where: { $0 == .cloned || $0 == .impostor }) else { return }
        if let resets = records.map(\.resets).max(), resets > 0 {
            if resets >= Self.fewestReturns {
                advertisementAudits[index].add(.cloned, "its counters go back and forth: two devices send it")
            } else {
                advertisementAudits[index].add(.telemetry, "its counters went back: the beacon was restarted")
            }
            return
        }
        let eventsPerSecond =
            commonEventsPerSecond
            ?? advertisementAudits.reduce(0.0) { sum, audit in
                if audit.verdicts.contains(.silent) { return sum }
                let isWrong = audit.verdicts.contains(.wrongInterval)
                let interval = (isWrong ? audit.intervalMicroseconds : nil) ?? audit.expected.intervalMicroseconds
                return sum + 1_000_000 / Double(interval + IntervalEstimate.meanDelayMicroseconds)
            }
        let renewalSeconds = max(1, Double(advertisementAudits[index].expected.intervalMicroseconds) / 1_000_000)
        if let fault = TelemetryRule(eventsPerSecond: eventsPerSecond, renewalSeconds: renewalSeconds).fault(record) {
            advertisementAudits[index].add(.telemetry, fault)
        }
    }
}
