internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// What payloads are made from as time goes by, by whatever way they are sent: the beacon's own clock, its ephemeral ids
/// on their way, the salts and numbers that encryption must not use
/// twice, and the sensors.
struct LiveContent {
    private(set) var clock: EIDClock
    private(set) var turns: [EphemeralTurn] = []
    private var salts: TelemetrySalts
    /// The number of the next packet of BTHome, and whether any was encrypted with such a number.
    private var nextPacket: UInt32
    private(set) var hasSealedPackets = false
    private var randomness: any RandomNumberGenerator
    private let telemetry: (any TelemetrySource)?
    private let memoryAtStart: BeaconMemory?

    init(
        _ clock: EIDClock, memory: BeaconMemory?, telemetry: (any TelemetrySource)?,
        randomness: any RandomNumberGenerator
    ) {
        self.clock = clock
        memoryAtStart = memory
        salts = memory?.salts ?? TelemetrySalts()
        nextPacket = memory?.nextPacket ?? 0
        self.telemetry = telemetry
        self.randomness = randomness
    }

    /// From now on these are the ids that turn over. Those that were there before go on.
    mutating func keep(_ keys: [Advertisement.RotatingKey], at now: HCIInstant) {
        let old = turns
        turns = []
        for key in keys where !turns.contains(where: { $0.key == key }) {
            let memory = memoryAtStart?.turns.first { $0.key == key }
            turns.append(
                old.first { $0.key == key }
                    ?? EphemeralTurn(key, counter: clock.microseconds(at: now), memory: memory, &randomness))
        }
    }

    /// The ids are those of before: what was to take their place has failed.
    mutating func goBack(to turns: [EphemeralTurn]) { self.turns = turns }

    /// The id of this key; `nil` for advertisements without one.
    func turn(of key: Advertisement.RotatingKey?) -> EphemeralTurn? { turns.first { $0.key == key } }

    /// When the next id turns over.
    var nextTurn: HCIInstant? {
        turns.isEmpty ? nil : turns.lazy.map { clock.instant(ofMicroseconds: $0.dueMicroseconds) }.min()
    }

    /// Turns an id over where it is due.
    ///
    /// - Parameter index: Its position in ``turns``.
    /// - Returns: the id as it is now; `nil` where it is not due.
    mutating func turnIfDue(_ index: Int, at now: HCIInstant) -> EphemeralTurn? {
        guard clock.instant(ofMicroseconds: turns[index].dueMicroseconds) <= now else { return nil }
        turns[index].turn(counter: clock.microseconds(at: now), &randomness)
        return turns[index]
    }

    /// The wall clock shows this. An id whose window is not the clock's any more is due at once.
    mutating func synchronize(unixMicroseconds: Int, isTrusted: Bool, at now: HCIInstant) -> EIDClock.Correction {
        let correction = clock.synchronize(unixMicroseconds: unixMicroseconds, isTrusted: isTrusted, at: now)
        if case .setBack = correction {
            for index in turns.indices { turns[index].makeDue(counter: clock.microseconds(at: now)) }
        }
        return correction
    }

    /// The octets of an advertisement.
    ///
    /// - Parameters:
    ///   - power: What the radio sends with, as far as it is known.
    ///   - counters: What telemetry tells.
    ///   - isFirst: Whether it has not been on the air yet.
    /// - Returns: `nil` where encryption has no salt or number left: what was told before goes on until the window ends.
    mutating func payload(
        _ source: PayloadSource, power: RadioPower?, counters: TelemetryCounters, isFirst: Bool, at now: HCIInstant
    ) throws(SessionError) -> AdvertisingData? {
        let content = source.advertisement.content
        // For an ephemeral id and its telemetry the counter of the window which is on the air.
        var moment = PayloadSource.Moment(
            radioPower: power, counters: counters,
            eidTime: turn(of: content.rotatingKey)?.window ?? clock.counter(at: now))
        if case .eddystoneTLM(let wanted, let encryption) = content {
            if case .sensor(let name) = wanted.battery {
                moment.batteryMillivolts = telemetry?.batteryMillivolts(name)
            }
            if case .sensor(let name) = wanted.temperature { moment.temperature = telemetry?.temperature(name) }
            if let encryption {
                let salt = salts.salt(
                    for: encryption, at: moment.eidTime, first: isFirst ? source.firstSalt : nil, &randomness)
                guard let salt else { return nil }
                moment.salt = salt
            }
        }
        if case .btHome(let wanted) = content {
            moment.batteryMillivolts = wanted.voltage.flatMap { telemetry?.batteryMillivolts($0) }
            moment.batteryPercent = wanted.battery.flatMap { telemetry?.batteryPercent($0) }
            moment.temperature = wanted.temperature.flatMap { telemetry?.temperature($0) }
            moment.packet = wanted.isEncrypted ? max(nextPacket, source.firstPacket) : nextPacket
            guard moment.packet < .max else { return nil }
            nextPacket = moment.packet + 1
            hasSealedPackets = hasSealedPackets || wanted.isEncrypted
        }
        return try source.payload(moment)
    }

    /// What must survive a restart.
    func memory(at now: HCIInstant) -> BeaconMemory {
        BeaconMemory(
            eidCounter: clock.counter(at: now),
            turns: turns.map { .init(key: $0.key, window: $0.window, address: $0.address) }, salts: salts,
            nextPacket: nextPacket)
    }
}
