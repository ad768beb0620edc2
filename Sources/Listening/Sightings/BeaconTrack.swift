public import BeaconFrames
internal import BluetoothTypes

/// What is known of one beacon from what was heard of it. Of a fixed size but for its name.
public struct BeaconTrack: Sendable {
    /// What it was heard as; of a beacon that is known by its ephemeral ids alone, the last of them. `nil` before the
    /// first one.
    public private(set) var identity: BeaconIdentity?
    /// `nil` for a stranger.
    public let known: KnownBeacon?
    /// Who sent it last.
    public private(set) var sender: Sender?
    /// Whether anything was heard of it.
    public var isHeard: Bool { lastHeard != nil }
    public private(set) var firstHeard: HeardInstant?
    public private(set) var lastHeard: HeardInstant?
    /// Reports since it was first heard, those joined to it by their sender included.
    public private(set) var reports = 0
    /// Advertising events since it was first heard: reports of the same event on two channels are one.
    public private(set) var events = 0
    /// The last level in dBm; `nil` where none was told.
    public private(set) var lastLevel: Int8?
    /// Levels of this round.
    public private(set) var round = LevelTally()
    /// Reports of this round.
    public private(set) var roundReports = 0
    /// Levels of the last seconds.
    public private(set) var window = LevelWindow()
    public private(set) var trace = LevelTrace()
    public private(set) var interval = IntervalEstimate()
    /// What the beacon says of its own level at 1 m, in dBm: of Eddystone 41 less than the octet. `nil` where it says
    /// nothing.
    public private(set) var claimedPowerAtOneMeter: Int?
    /// The telemetry that was heard last.
    public private(set) var telemetry: EddystoneTLM?
    /// The local name as it was received, at most ``nameLimit`` octets: not escaped, perhaps no UTF-8.
    public private(set) var nameOctets: [UInt8] = []

    /// Octets of a name that are kept.
    public static let nameLimit = 248

    /// When the last event of its own was heard, and whether the time since then was listened through.
    private var lastEvent: HeardInstant?
    private var stretch = 0
    /// Whether it stands among those that were heard in this round.
    private(set) var isInRound = false

    init(_ known: KnownBeacon) {
        self.known = known
        identity = known.identity
    }

    /// A stranger.
    ///
    /// - Parameter isInRound: Whether the one in whose place it comes was heard in this round.
    init(_ identity: BeaconIdentity, isInRound: Bool = false) {
        known = nil
        self.identity = identity
        self.isInRound = isInRound
    }

    /// A report with the beacon's own identity.
    mutating func hear(_ sighting: Sighting, as identity: BeaconIdentity, power: Int?, stretch: Int) {
        self.identity = identity
        if let power { claimedPowerAtOneMeter = power }
        if !sighting.isScanResponse { countEvent(sighting, stretch) }
        count(sighting)
    }

    /// A report that belongs to it by its sender alone.
    mutating func join(_ sighting: Sighting) { count(sighting) }

    private mutating func count(_ sighting: Sighting) {
        if firstHeard == nil { firstHeard = sighting.instant }
        lastHeard = sighting.instant
        sender = sighting.sender
        reports += 1
        roundReports += 1
        guard let level = sighting.rssi, LevelTally.range.contains(level) else { return }
        lastLevel = level
        round.add(level)
        window.add(level, at: sighting.instant)
        trace.add(level, at: sighting.instant)
    }

    private mutating func countEvent(_ sighting: Sighting, _ stretch: Int) {
        if let lastEvent, sender == sighting.sender {
            let gap = sighting.instant.microseconds(since: lastEvent)
            if gap < IntervalEstimate.sameEventMicroseconds { return }
            // What lies on both sides of a time without listening is no gap, nor what two senders send.
            if self.stretch == stretch { interval.add(gapMicroseconds: gap) }
        }
        events += 1
        lastEvent = sighting.instant
        self.stretch = stretch
    }

    mutating func remember(_ telemetry: EddystoneTLM) { self.telemetry = telemetry }

    /// Allocates only where the name is another one than before.
    mutating func rename(_ octets: Span<UInt8>, _ range: Range<Int>) {
        let range = range.prefix(Self.nameLimit)
        if range.count == nameOctets.count, range.allSatisfy({ octets[$0] == nameOctets[$0 - range.lowerBound] }) {
            return
        }
        nameOctets = range.map { octets[$0] }
    }

    /// Whether it is the first report of this round.
    mutating func enterRound() -> Bool {
        defer { isInRound = true }
        return !isInRound
    }

    mutating func beginRound() {
        isInRound = false
        round = LevelTally()
        roundReports = 0
    }
}

extension BeaconTrack {
    /// The mean time between two events that were sent, in microseconds: from the interval that is configured, or from
    /// the one that was learned; `nil` where neither is known.
    public var periodMicroseconds: Double? {
        known?.intervalMicroseconds.map { Double($0 + IntervalEstimate.meanDelayMicroseconds) }
            ?? interval.periodMicroseconds
    }

    /// The share of its events that is heard, 0...1; `nil` where it is not known yet.
    public func share(until now: HeardInstant) -> Double? {
        guard let lastEvent, let period = periodMicroseconds else { return nil }
        return interval.share(periodMicroseconds: period, silenceMicroseconds: now.microseconds(since: lastEvent))
    }

    /// What a receiver sees at 1 m, in dBm: as measured, or as the beacon says.
    public var powerAtOneMeter: Int? { known?.calibrationAtOneMeter ?? claimedPowerAtOneMeter }

    /// How far it seems to be by the levels in `tally`; `nil` where that cannot be told.
    public func distance(_ tally: LevelTally, _ rule: DistanceEstimate.Rule) -> DistanceEstimate? {
        guard let level = tally.trimmedMean, let power = powerAtOneMeter else { return nil }
        return DistanceEstimate(
            level: level, deviation: tally.standardDeviation ?? 0, count: tally.count, powerAtOneMeter: power, rule)
    }
}
