public import BeaconFrames
internal import BluetoothTypes

/// What was received from one beacon, updated with each report. A track has a fixed size, apart from the beacon's name.
public struct BeaconTrack: Sendable {
    /// The beacon's identity. If the beacon is known only by its ephemeral ids, this is the last received id; `nil`
    /// before the first one.
    public private(set) var identity: BeaconIdentity?
    /// The description of a known beacon; `nil` for a stranger, that is, a beacon without a description.
    public let known: KnownBeacon?
    /// The sender of the beacon's last report.
    public private(set) var sender: Sender?
    /// True if a report of the beacon has been received.
    public var isHeard: Bool { lastHeard != nil }
    public private(set) var firstHeard: HeardInstant?
    public private(set) var lastHeard: HeardInstant?
    /// The number of reports so far, including reports without an identity that were assigned to the beacon because of
    /// their sender.
    public private(set) var reports = 0
    /// The number of advertising events so far. Reports of one event on several channels count once.
    public private(set) var events = 0
    /// The last received level, in dBm; `nil` if no report had a level.
    public private(set) var lastLevel: Int8?
    /// The levels of the current round.
    public private(set) var round = LevelTally()
    /// The number of reports in the current round.
    public private(set) var roundReports = 0
    /// The most recent levels.
    public private(set) var window = LevelWindow()
    /// The strongest level of each of the last 30 s.
    public private(set) var trace = LevelTrace()
    public private(set) var interval = IntervalEstimate()
    /// The level at 1 m that the beacon's frame states, in dBm (for Eddystone, the byte minus 41); `nil` if no frame
    /// states it.
    public private(set) var claimedPowerAtOneMeter: Int?
    /// The last received telemetry.
    public private(set) var telemetry: EddystoneTLM?
    /// The last received BTHome packet.
    public private(set) var btHome: BTHome?
    /// The company identifier of the last manufacturer data; `nil` if there was none, and for beacons with a frame.
    public private(set) var companyID: UInt16?
    /// The local name as received, at most ``nameLimit`` bytes. It is not escaped, and may be invalid UTF-8.
    public private(set) var nameOctets: [UInt8] = []

    /// Detects that two devices send the beacon's identity. Used only for an identity that a single device should send.
    public private(set) var clones = CloneWatch()
    /// True if only one device should send the identity. False for strangers, for a group of devices, and for an
    /// identity that several known beacons have.
    private let hasOneSender: Bool

    /// The maximum length of a name, in bytes.
    public static let nameLimit = 248

    /// The time of the last advertising event; `nil` before the first.
    private var lastEvent: HeardInstant?
    /// The number of the listening period (see ``ListeningClock/period``) in which the last event was received.
    private var listeningPeriod = 0
    /// True if the beacon was received in the current round.
    private(set) var isInRound = false

    /// - Parameter isShared: Whether another known beacon has the same identity.
    init(_ known: KnownBeacon, isShared: Bool = false) {
        self.known = known
        identity = known.identity
        hasOneSender = !isShared && !known.isGroup
    }

    /// Creates the track of a stranger.
    ///
    /// - Parameter isInRound: Whether the stranger that this one replaces in the table was received in the current
    ///   round.
    init(_ identity: BeaconIdentity, isInRound: Bool = false) {
        known = nil
        hasOneSender = false
        self.identity = identity
        self.isInRound = isInRound
    }

    /// Takes a report that contains the beacon's identity.
    mutating func receive(_ sighting: Sighting, as identity: BeaconIdentity, power: Int?, listeningPeriod: Int) {
        self.identity = identity
        if let power { claimedPowerAtOneMeter = power }
        if !sighting.isScanResponse { countEvent(sighting, listeningPeriod) }
        if hasOneSender { watchForClones(sighting, identity) }
        count(sighting)
    }

    /// Takes a report of a device that belongs to this group. Scan responses are counted as events, too, and the level
    /// at 1 m is replaced by that of this device.
    mutating func receiveFromMember(
        _ sighting: Sighting, as identity: BeaconIdentity?, power: Int?, listeningPeriod: Int
    ) {
        self.identity = identity
        claimedPowerAtOneMeter = power
        countEvent(sighting, listeningPeriod)
        count(sighting)
    }

    private mutating func watchForClones(_ sighting: Sighting, _ identity: BeaconIdentity) {
        // A phone with several advertisements uses an address for each of them, so two addresses do not mean two
        // devices.
        if case .address = identity, known?.identity == nil, known?.region == nil { return }
        clones.add(sighting)
    }

    /// Takes a report without an identity that is assigned to the beacon because of the report's sender.
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

    private mutating func countEvent(_ sighting: Sighting, _ listeningPeriod: Int) {
        if let lastEvent, sender == sighting.sender {
            let gap = sighting.instant.microseconds(since: lastEvent)
            if gap < IntervalEstimate.sameEventMicroseconds { return }
            // A gap does not measure the interval if the receiver paused in it, or if two devices may have sent the two
            // events.
            if self.listeningPeriod == listeningPeriod, known?.isGroup != true { interval.add(gapMicroseconds: gap) }
        }
        events += 1
        lastEvent = sighting.instant
        self.listeningPeriod = listeningPeriod
    }

    mutating func remember(_ telemetry: EddystoneTLM) { self.telemetry = telemetry }

    /// Takes the level at 1 m that a frame of the beacon states; `nil` if the frame states none.
    mutating func claim(_ power: Int?) { claimedPowerAtOneMeter = power ?? claimedPowerAtOneMeter }

    mutating func remember(_ packet: BTHome) { btHome = packet }

    mutating func remember(companyID: UInt16) { self.companyID = companyID }

    /// Sets the name. Allocates only if the name has changed.
    mutating func rename(_ octets: Span<UInt8>, _ range: Range<Int>) {
        let range = range.prefix(Self.nameLimit)
        if range.count == nameOctets.count, range.allSatisfy({ octets[$0] == nameOctets[$0 - range.lowerBound] }) {
            return
        }
        nameOctets = range.map { octets[$0] }
    }

    /// Marks the beacon as received in the current round. Returns whether this is its first report of the round.
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
    /// The mean time between two transmitted events, in microseconds: that of the configured interval, otherwise that
    /// of the learned interval; `nil` if neither is known.
    public var periodMicroseconds: Double? {
        known?.intervalMicroseconds.map { Double($0 + IntervalEstimate.meanDelayMicroseconds) }
            ?? interval.periodMicroseconds
    }

    /// Returns the share of events that were received, 0...1; `nil` if it is not known yet.
    public func share(until now: HeardInstant) -> Double? {
        guard let lastEvent, let period = periodMicroseconds else { return nil }
        return interval.share(periodMicroseconds: period, silenceMicroseconds: now.microseconds(since: lastEvent))
    }

    /// The level at 1 m, in dBm: the calibration if there is one, otherwise the value that the beacon states.
    public var powerAtOneMeter: Int? { known?.calibrationAtOneMeter ?? claimedPowerAtOneMeter }

    /// ``powerAtOneMeter`` if distances can be estimated with it; otherwise `nil`.
    public var plausiblePower: Int? {
        powerAtOneMeter.flatMap { DistanceEstimate.plausiblePowers.contains($0) ? $0 : nil }
    }

    /// ``powerAtOneMeter`` if it is not plausible, so that no distance can be estimated; otherwise `nil`.
    public var implausiblePower: Int? { plausiblePower == nil ? powerAtOneMeter : nil }

    /// Returns the distance estimated from the levels in `tally`; `nil` if it cannot be estimated.
    public func distance(_ tally: LevelTally, _ rule: DistanceEstimate.Rule) -> DistanceEstimate? {
        guard let level = tally.trimmedMean, let power = powerAtOneMeter else { return nil }
        return DistanceEstimate(
            level: level, deviation: tally.packetDeviation, count: tally.count, powerAtOneMeter: power, rule)
    }
}
