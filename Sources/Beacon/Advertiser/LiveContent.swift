internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// The values of a session from which payloads are built: the beacon's clock, its ephemeral ids, the time on the air,
/// the numbers that an encryption must not use twice, and the sensors.
///
/// Each ``BeaconSession`` and each ``ManagedSession`` has its own ``LiveContent``.
public final class LiveContent {
    /// The time at which all advertisements were first on the air together; `nil` before that.
    var onAirSince: HCIInstant?
    /// The time at which the session was stopped; `nil` while it runs. Counters do not change after this time.
    var stoppedAt: HCIInstant?
    /// The telemetry counters at ``onAirSince``.
    var countersAtStart: TelemetryCounters
    private(set) var clock: EIDClock
    private(set) var idSchedules: [EphemeralIDSchedule] = []
    /// `true` if an encrypted BTHome packet has been built.
    private(set) var hasSealedPackets = false
    private var salts: TelemetrySalts
    /// The number of the next BTHome packet.
    private var nextPacket: UInt32
    private var randomness: any RandomNumberGenerator
    private let telemetry: (any TelemetrySource)?
    private let memoryAtStart: BeaconMemory?

    init(
        _ clock: EIDClock, memory: BeaconMemory?, countersAtStart: TelemetryCounters,
        telemetry: (any TelemetrySource)?, randomness: any RandomNumberGenerator
    ) {
        self.clock = clock
        self.countersAtStart = countersAtStart
        memoryAtStart = memory
        salts = memory?.salts ?? TelemetrySalts()
        nextPacket = memory?.nextPacket ?? 0
        self.telemetry = telemetry
        self.randomness = randomness
    }

    // MARK: Time on the air

    /// Returns the instant up to which time and events are counted: `now`, or ``stoppedAt`` after the end.
    func countedUntil(_ now: HCIInstant) -> HCIInstant { stoppedAt ?? now }

    /// Returns the time since ``onAirSince`` in microseconds; 0 before it.
    func elapsed(at now: HCIInstant) -> Int { onAirSince.map { max(0, now.microseconds(since: $0)) } ?? 0 }

    /// Returns the telemetry counters after `events` advertising events.
    func counters(afterEvents events: UInt64, at now: HCIInstant) -> TelemetryCounters {
        countersAtStart.advanced(byEvents: events, microseconds: elapsed(at: now))
    }

    // MARK: Ephemeral ids

    /// Sets the keys of the session's ephemeral ids. If a key was already set before, its id continues.
    func setRotatingKeys(_ keys: [Advertisement.RotatingKey], at now: HCIInstant) {
        let oldSchedules = idSchedules
        idSchedules = []
        for key in keys where !idSchedules.contains(where: { $0.key == key }) {
            let memory = memoryAtStart?.ephemeralIDs.first { $0.key == key }
            idSchedules.append(
                oldSchedules.first { $0.key == key }
                    ?? EphemeralIDSchedule(key, counter: clock.microseconds(at: now), memory: memory, &randomness))
        }
    }

    /// Restores the schedules of ids after a failed change of the advertisements.
    func restoreIDs(_ schedules: [EphemeralIDSchedule]) { idSchedules = schedules }

    /// Returns the schedule of the ephemeral id with this key; `nil` if the session has none.
    func idSchedule(of key: Advertisement.RotatingKey?) -> EphemeralIDSchedule? { idSchedules.first { $0.key == key } }

    /// The time of the next change of an id; `nil` for never.
    var nextIDChange: HCIInstant? {
        idSchedules.isEmpty
            ? nil : idSchedules.lazy.map { self.clock.instant(ofMicroseconds: $0.dueMicroseconds) }.min()
    }

    /// Changes an id if its time has come.
    ///
    /// - Parameter index: The position of the id in ``idSchedules``.
    /// - Returns: The schedule with the new id; `nil` if no change is due.
    func changeIDIfDue(_ index: Int, at now: HCIInstant) -> EphemeralIDSchedule? {
        guard clock.instant(ofMicroseconds: idSchedules[index].dueMicroseconds) <= now else { return nil }
        idSchedules[index].advance(counter: clock.microseconds(at: now), &randomness)
        return idSchedules[index]
    }

    /// Sets the epoch of a new profile. The caller must compare the clock with the wall clock afterwards.
    package func changeEpoch(to epochUnixSeconds: Int?) { clock.change(epochUnixSeconds: epochUnixSeconds) }

    /// The clock of the beacon and the schedules of its ephemeral ids.
    package struct IDState {
        fileprivate let clock: EIDClock
        fileprivate let schedules: [EphemeralIDSchedule]
    }

    package var idState: IDState { IDState(clock: clock, schedules: idSchedules) }

    /// Restores the clock and the schedules after a failed change of the advertisements. This also cancels changes of
    /// ids that became due only because of the new epoch.
    package func restoreIDState(_ state: IDState) { (clock, idSchedules) = (state.clock, state.schedules) }

    /// Compares the beacon's clock with the wall clock. If the clock was set back, all ids are due at once.
    func synchronize(unixMicroseconds: Int, isTrusted: Bool, at now: HCIInstant) -> EIDClock.Correction {
        let correction = clock.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted, at: now)
        if case .setBack = correction {
            for index in idSchedules.indices { idSchedules[index].makeDue(counter: clock.microseconds(at: now)) }
        }
        return correction
    }

    /// `true` if ``memory(at:)`` must be saved, because there are ephemeral ids or encrypted BTHome packets.
    var hasMemory: Bool { !idSchedules.isEmpty || hasSealedPackets }

    /// Returns the values that must be saved for the next start.
    func memory(at now: HCIInstant) -> BeaconMemory {
        BeaconMemory(
            eidCounter: clock.counter(at: now),
            ephemeralIDs: idSchedules.map { .init(key: $0.key, window: $0.window, address: $0.address) }, salts: salts,
            nextPacket: nextPacket)
    }

    // MARK: Payloads

    /// Builds the payload of an advertisement.
    ///
    /// - Parameters:
    ///   - power: The radio power in use; `nil` if it is not known.
    ///   - counters: The telemetry counters.
    ///   - isFirst: `true` for the advertisement's first payload.
    /// - Returns: The payload; `nil` if the encryption has no unused salt or number left. The old payload must then
    ///   stay on the air until the id changes.
    func payload(
        _ source: PayloadSource, power: RadioPower?, counters: TelemetryCounters, isFirst: Bool, at now: HCIInstant
    ) throws(SessionError) -> AdvertisingData? {
        let content = source.advertisement.content
        // An ephemeral id, and telemetry with the same key, are computed from the window of the id that is on the air.
        var moment = PayloadSource.Moment(
            radioPower: power, counters: counters,
            eidTime: idSchedule(of: content.rotatingKey)?.window ?? clock.counter(at: now))
        if case .eddystoneTLM(let readings, let encryption) = content {
            if case .sensor(let name) = readings.battery {
                moment.batteryMillivolts = telemetry?.batteryMillivolts(name)
            }
            if case .sensor(let name) = readings.temperature { moment.temperature = telemetry?.temperature(name) }
            if let encryption {
                let salt = salts.salt(
                    for: encryption, at: moment.eidTime, first: isFirst ? source.firstSalt : nil, &randomness)
                guard let salt else { return nil }
                moment.salt = salt
            }
        }
        if case .btHome(let btHome) = content {
            moment.batteryMillivolts = btHome.voltage.flatMap { telemetry?.batteryMillivolts($0) }
            moment.batteryPercent = btHome.battery.flatMap { telemetry?.batteryPercent($0) }
            moment.temperature = btHome.temperature.flatMap { telemetry?.temperature($0) }
            moment.measurements = btHome.measurements.map { telemetry?.measurement($0.kind, $0.sensor) }
            moment.packet = btHome.isEncrypted ? max(nextPacket, source.firstPacket) : nextPacket
            guard moment.packet < .max else { return nil }
            nextPacket = moment.packet + 1
            hasSealedPackets = hasSealedPackets || btHome.isEncrypted
        }
        return try source.payload(moment)
    }
}
