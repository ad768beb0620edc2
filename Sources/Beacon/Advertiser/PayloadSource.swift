public import BeaconFrames
public import BluetoothTypes
public import EddystoneSecurity

/// Builds the payload of one advertisement from the counters, the sensor values and the clock of a moment.
///
/// Time, counters and random numbers are parameters, so the same inputs give the same bytes.
public struct PayloadSource: Sendable {
    public let advertisement: Advertisement
    private let identityKey: IdentityKey?
    /// The salt of the first encrypted telemetry; `nil` for a random salt. Later payloads have other salts, because no
    /// salt may be used twice.
    public let firstSalt: UInt16?
    /// The smallest number of an encrypted BTHome packet.
    public let firstPacket: UInt32

    /// - Parameters:
    ///   - identityKey: The key that EID, encrypted TLM and encrypted BTHome require.
    ///   - firstSalt: The salt of the first encrypted telemetry; `nil` for a random salt.
    ///   - firstPacket: The smallest packet number of encrypted BTHome. It must be larger than the number of every
    ///     earlier packet with this key. The number of seconds since 1970 is suitable, because a beacon sends at most
    ///     one new packet a second.
    public init(
        _ advertisement: Advertisement, identityKey: IdentityKey? = nil, firstSalt: UInt16? = nil,
        firstPacket: UInt32 = 0
    ) {
        self.advertisement = advertisement
        self.identityKey = identityKey
        self.firstSalt = firstSalt
        self.firstPacket = firstPacket
    }

    /// The values of one moment from which a payload is built.
    public struct Moment: Hashable, Sendable {
        /// The radio power that the controller granted or reported; `nil` if unknown.
        public var radioPower: RadioPower?
        /// The telemetry counters.
        public var counters: TelemetryCounters
        public var batteryMillivolts: UInt16?
        public var batteryPercent: UInt8?
        public var temperature: FixedPointTemperature?
        /// The text of each measurement's value for BTHome, in the order of the measurements; `nil` for an unknown
        /// value.
        public var measurements: [String?] = []
        /// The beacon's seconds counter t, from which ephemeral ids and nonces are computed.
        public var eidTime: UInt32
        /// The salt of encrypted telemetry. Each payload needs another salt.
        public var salt: UInt16
        /// The number of a BTHome packet. Each payload needs another number.
        public var packet: UInt32

        /// Creates a moment. The default values are those of a new beacon.
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

    /// Returns the payload for `moment`.
    public func payload(_ moment: Moment) throws(SessionError) -> AdvertisingData {
        var values = Advertisement.LiveValues(radioPower: moment.radioPower)
        switch advertisement.content {
        case .eddystoneTLM(let source, let encryption):
            let telemetry = source.telemetry(
                sensorBattery: moment.batteryMillivolts, sensorTemperature: moment.temperature,
                advertisements: moment.counters.advertisements, uptimeDeciseconds: moment.counters.uptimeDeciseconds)
            if let encryption {
                values.encryptedTelemetry = try withKey(encryption) { key, exponent throws(EddystoneSecurityError) in
                    try key.seal(telemetry, at: moment.eidTime, exponent: exponent, salt: moment.salt)
                }
            } else {
                values.telemetry = telemetry
            }
        case .eddystoneEID(let rotation):
            values.ephemeralID = try withKey(rotation) { key, exponent throws(EddystoneSecurityError) in
                try key.ephemeralID(at: moment.eidTime, exponent: exponent)
            }
        case .btHome(let source):
            values.btHome = try packet(source, moment)
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw:
            break
        }
        do throws(PayloadError) {
            return try advertisement.payload(values)
        } catch {
            throw .payload("\(error)")
        }
    }

    /// The time after which the payload must be built again, in microseconds; `nil` if it never changes, or changes
    /// only with the ephemeral id.
    ///
    /// Telemetry, and BTHome with values that change, is renewed once in each interval, but at most once a second,
    /// because each renewal wakes up the machine.
    var renewalMicroseconds: Int? {
        switch advertisement.content {
        case .eddystoneTLM: break
        case .btHome(let source): if !source.hasValues { return nil }
        default: return nil
        }
        return max(advertisement.interval.microseconds, Self.shortestRenewalMicroseconds)
    }

    /// The shortest time between two renewals of a payload, in microseconds: 1 s.
    static let shortestRenewalMicroseconds = 1_000_000

    private func packet(_ source: Advertisement.BTHomeSource, _ moment: Moment) throws(SessionError) -> BTHome {
        let plainPacket: BTHome
        do throws(BeaconFrameError) {
            plainPacket = try source.packet(
                temperature: moment.temperature?.hundredths, battery: moment.batteryPercent.map { Int($0) },
                voltage: moment.batteryMillivolts.map { Int($0) },
                advertisements: Int(moment.counters.advertisements),
                uptime: Int(moment.counters.uptimeDeciseconds / 10), packet: Int(moment.packet),
                values: moment.measurements)
        } catch {
            throw .payload("\(error)")
        }
        guard source.isEncrypted else { return plainPacket }
        guard let identityKey, case .staticRandom(let address) = advertisement.address else {
            throw .payload(
                "encrypted BTHome needs a key and a static random address, because the encryption uses the address")
        }
        do throws(EddystoneSecurityError) {
            return try identityKey.seal(plainPacket, from: address, counter: moment.packet)
        } catch {
            throw .payload("\(error)")
        }
    }

    private func withKey<Result>(
        _ rotation: Advertisement.RotatingKey,
        _ body: (IdentityKey, RotationExponent) throws(EddystoneSecurityError) -> Result
    ) throws(SessionError) -> Result {
        guard let identityKey, let exponent = RotationExponent(rawValue: rotation.rotationExponent) else {
            throw .payload("this advertisement needs an identity key and a rotation exponent of 0...15")
        }
        do throws(EddystoneSecurityError) {
            return try body(identityKey, exponent)
        } catch {
            throw .payload("\(error)")
        }
    }
}

/// Reads the machine's sensors for Eddystone-TLM and BTHome. Each sensor is read at most once a second.
///
/// A sensor's name is the name in the profile; if it is `auto`, the source chooses the sensor. The result `nil` means
/// that the value is unknown, and it is sent as unknown.
public protocol TelemetrySource: AnyObject {
    /// The battery's voltage, in millivolts.
    func batteryMillivolts(_ sensor: String) -> UInt16?
    /// The battery's charge, in percent.
    func batteryPercent(_ sensor: String) -> UInt8?
    /// The temperature.
    func temperature(_ sensor: String) -> FixedPointTemperature?
    /// The value of a BTHome object, as a number in the object's unit.
    func measurement(_ kind: BTHomeKind, _ sensor: String) -> String?
}

extension TelemetrySource {
    /// Returns `nil`: the default for a source without a charge sensor.
    public func batteryPercent(_ sensor: String) -> UInt8? { nil }
    /// Returns `nil`: the default for a source without other sensors.
    public func measurement(_ kind: BTHomeKind, _ sensor: String) -> String? { nil }
}

/// The counters of Eddystone-TLM since power-on.
public struct TelemetryCounters: Hashable, Sendable {
    /// ADV_CNT: the number of advertising events of all advertisements.
    public var advertisements: UInt32
    /// SEC_CNT: the time since power-on, in units of 0.1 s.
    public var uptimeDeciseconds: UInt32

    /// Creates counters, by default those of a new beacon.
    public init(advertisements: UInt32 = 0, uptimeDeciseconds: UInt32 = 0) {
        self.advertisements = advertisements
        self.uptimeDeciseconds = uptimeDeciseconds
    }

    /// Returns the counters after this number of events and this time. Both counters wrap around at 2³².
    func advanced(byEvents events: UInt64, microseconds: Int) -> TelemetryCounters {
        TelemetryCounters(
            advertisements: advertisements &+ UInt32(truncatingIfNeeded: events),
            uptimeDeciseconds: uptimeDeciseconds &+ UInt32(truncatingIfNeeded: microseconds / 100_000))
    }
}
