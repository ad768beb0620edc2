public import BeaconFrames
public import BluetoothTypes
public import EddystoneSecurity

/// Makes the octets of one advertisement at any moment of its life: counters advance, ids turn over.
///
/// Time, counters and chance are handed in, so the same inputs give the same octets.
public struct PayloadSource: Sendable {
    public let advertisement: Advertisement
    private let identityKey: IdentityKey?
    /// For the first encrypted telemetry; every later one has a new salt, which must not be used twice.
    public let firstSalt: UInt16?
    /// The number of the first encrypted packet of BTHome, where no later one has been sent.
    public let firstPacket: UInt32

    /// - Parameters:
    ///   - identityKey: for EID, encrypted TLM and encrypted BTHome; must be there for these.
    ///   - firstSalt: `nil` leaves the first salt to chance too.
    ///   - firstPacket: for BTHome. Encryption needs one that no earlier packet with the key had, and that is no smaller:
    ///     seconds since 1970 are, because no packets follow each other faster.
    public init(
        _ advertisement: Advertisement, identityKey: IdentityKey? = nil, firstSalt: UInt16? = nil,
        firstPacket: UInt32 = 0
    ) {
        self.advertisement = advertisement
        self.identityKey = identityKey
        self.firstSalt = firstSalt
        self.firstPacket = firstPacket
    }

    /// All that a payload depends on beside its advertisement.
    public struct Moment: Hashable, Sendable {
        /// What the controller granted or reported.
        public var radioPower: RadioPower?
        /// What telemetry tells.
        public var counters: TelemetryCounters
        public var batteryMillivolts: UInt16?
        public var batteryPercent: UInt8?
        public var temperature: FixedPointTemperature?
        /// The beacon's seconds counter t, from which ephemeral ids and nonces are made.
        public var eidTime: UInt32
        /// For encrypted telemetry, a new one each time.
        public var salt: UInt16
        /// The number of a packet of BTHome, a new one each time.
        public var packet: UInt32

        /// The moment of a new beacon, but for what is given.
        public init(
            radioPower: RadioPower? = nil, counters: TelemetryCounters = TelemetryCounters(),
            batteryMillivolts: UInt16? = nil, temperature: FixedPointTemperature? = nil,
            eidTime: UInt32 = IdentityKey.firstCounter, salt: UInt16 = 0, packet: UInt32 = 0
        ) {
            self.radioPower = radioPower
            self.counters = counters
            self.batteryMillivolts = batteryMillivolts
            self.temperature = temperature
            self.eidTime = eidTime
            self.salt = salt
            self.packet = packet
        }
    }

    /// The octets to send at `moment`.
    public func payload(_ moment: Moment) throws(SessionError) -> AdvertisingData {
        var live = Advertisement.LiveValues(radioPower: moment.radioPower)
        switch advertisement.content {
        case .eddystoneTLM(let source, let encryption):
            let telemetry = source.telemetry(
                sensorBattery: moment.batteryMillivolts, sensorTemperature: moment.temperature,
                advertisements: moment.counters.advertisements, uptimeDeciseconds: moment.counters.uptimeDeciseconds)
            if let encryption {
                live.encryptedTelemetry = try withKey(encryption) { key, exponent throws(EddystoneSecurityError) in
                    try key.seal(telemetry, at: moment.eidTime, exponent: exponent, salt: moment.salt)
                }
            } else {
                live.telemetry = telemetry
            }
        case .eddystoneEID(let rotation):
            live.ephemeralID = try withKey(rotation) { key, exponent throws(EddystoneSecurityError) in
                try key.ephemeralID(at: moment.eidTime, exponent: exponent)
            }
        case .btHome(let source):
            live.btHome = try packet(source, moment)
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw:
            break
        }
        do throws(PayloadError) {
            return try advertisement.payload(live)
        } catch {
            throw .payload("\(error)")
        }
    }

    /// How long, in microseconds, the octets are true enough; `nil` for ever, or until the id turns over.
    ///
    /// Telemetry, and BTHome that has live values, is renewed once in each interval, but not more than once a second: that is as fine as anybody reads
    /// it, and a small box need not wake up more often.
    var renewalMicroseconds: Int? {
        switch advertisement.content {
        case .eddystoneTLM: break
        case .btHome(let source): if !source.hasValues { return nil }
        default: return nil
        }
        return max(advertisement.interval.microseconds, Self.shortestRenewalMicroseconds)
    }

    static let shortestRenewalMicroseconds = 1_000_000

    private func packet(_ source: Advertisement.BTHomeSource, _ moment: Moment) throws(SessionError) -> BTHome {
        let plain: BTHome
        do throws(BeaconFrameError) {
            plain = try source.packet(
                temperature: moment.temperature?.hundredths, battery: moment.batteryPercent.map { Int($0) },
                voltage: moment.batteryMillivolts.map { Int($0) },
                advertisements: Int(moment.counters.advertisements),
                uptime: Int(moment.counters.uptimeDeciseconds / 10), packet: Int(moment.packet))
        } catch {
            throw .payload("\(error)")
        }
        guard source.isEncrypted else { return plain }
        guard let identityKey, case .staticRandom(let address) = advertisement.address else {
            throw .payload(
                "encrypted BTHome needs a key, and a static random address, which the encryption is made with")
        }
        do throws(EddystoneSecurityError) {
            return try identityKey.seal(plain, from: address, counter: moment.packet)
        } catch {
            throw .payload("\(error)")
        }
    }

    private func withKey<Result>(
        _ rotation: Advertisement.RotatingKey,
        _ body: (IdentityKey, RotationExponent) throws(EddystoneSecurityError) -> Result
    ) throws(SessionError) -> Result {
        guard let identityKey, let exponent = RotationExponent(rawValue: rotation.rotationExponent) else {
            throw .payload("this advertisement needs an identity key, and a rotation exponent of 0...15")
        }
        do throws(EddystoneSecurityError) {
            return try body(identityKey, exponent)
        } catch {
            throw .payload("\(error)")
        }
    }
}

/// The box's sensors, as far as Eddystone-TLM and BTHome tell of them. Asked once a second at most.
///
/// The names are those of the profile; `auto` leaves the choice to the source. What is not known is `nil`, and sent as
/// unknown.
public protocol TelemetrySource: AnyObject {
    /// In millivolts.
    func batteryMillivolts(_ sensor: String) -> UInt16?
    /// The charge, 0...100.
    func batteryPercent(_ sensor: String) -> UInt8?
    func temperature(_ sensor: String) -> FixedPointTemperature?
}

extension TelemetrySource {
    /// A source that knows no charge.
    public func batteryPercent(_ sensor: String) -> UInt8? { nil }
}

/// What Eddystone-TLM counts since power-on.
public struct TelemetryCounters: Hashable, Sendable {
    /// ADV_CNT: advertising events of every frame.
    public var advertisements: UInt32
    /// SEC_CNT, in 0.1 s.
    public var uptimeDeciseconds: UInt32

    /// Counts advertising events, and tenths of a second, since power-on.
    public init(advertisements: UInt32 = 0, uptimeDeciseconds: UInt32 = 0) {
        self.advertisements = advertisements
        self.uptimeDeciseconds = uptimeDeciseconds
    }

    /// Later by so much; both wrap round together with their octets.
    func advanced(byEvents events: UInt64, microseconds: Int) -> TelemetryCounters {
        TelemetryCounters(
            advertisements: advertisements &+ UInt32(truncatingIfNeeded: events),
            uptimeDeciseconds: uptimeDeciseconds &+ UInt32(truncatingIfNeeded: microseconds / 100_000))
    }
}
