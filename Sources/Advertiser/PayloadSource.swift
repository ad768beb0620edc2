public import BeaconFrames
public import BluetoothTypes
public import EddystoneSecurity

/// Makes the octets of one advertisement at any moment of its life: counters advance, ids turn over.
///
/// Time on the air and chance are handed in, so the same inputs give the same octets.
public struct PayloadSource: Sendable {
    public let advertisement: Advertisement
    private let identityKey: IdentityKey?
    private let eidTimeAtStart: UInt32
    private let countersAtStart: TelemetryCounters
    /// For the first encrypted telemetry; every later one has a new salt, which must not be used twice.
    public let firstSalt: UInt16?

    /// What Eddystone-TLM counts since power-on.
    public struct TelemetryCounters: Hashable, Sendable {
        public var advertisements: UInt32
        public var uptimeDeciseconds: UInt32

        public init(advertisements: UInt32 = 0, uptimeDeciseconds: UInt32 = 0) {
            self.advertisements = advertisements
            self.uptimeDeciseconds = uptimeDeciseconds
        }
    }

    /// - Parameters:
    ///   - identityKey: for EID and encrypted TLM; must be there for these.
    ///   - eidTimeAtStart: the beacon's seconds counter when it goes on the air.
    ///   - countersAtStart: what telemetry starts to count from.
    ///   - firstSalt: `nil` leaves the first salt to chance too.
    public init(
        _ advertisement: Advertisement, identityKey: IdentityKey? = nil,
        eidTimeAtStart: UInt32 = IdentityKey.firstCounter, countersAtStart: TelemetryCounters = TelemetryCounters(),
        firstSalt: UInt16? = nil
    ) {
        self.advertisement = advertisement
        self.identityKey = identityKey
        self.eidTimeAtStart = eidTimeAtStart
        self.countersAtStart = countersAtStart
        self.firstSalt = firstSalt
    }

    /// The octets to send `elapsed` microseconds after the start.
    ///
    /// - Parameters:
    ///   - radioPower: what the controller granted or reported.
    ///   - events: advertising events sent so far.
    ///   - salt: for encrypted telemetry, a new one each time.
    public func payload(
        elapsed: Int, events: UInt64, radioPower: RadioPower?, salt: UInt16
    ) throws(AdvertisingError) -> AdvertisingData {
        var live = Advertisement.LiveValues(radioPower: radioPower)
        switch advertisement.content {
        case .eddystoneTLM(let source, let encryption):
            let telemetry = source.telemetry(
                sensorBattery: nil, sensorTemperature: nil,
                advertisements: countersAtStart.advertisements &+ UInt32(truncatingIfNeeded: events),
                uptimeDeciseconds: countersAtStart.uptimeDeciseconds &+ UInt32(truncatingIfNeeded: elapsed / 100_000))
            if let encryption {
                live.encryptedTelemetry = try withKey(encryption) { key, exponent throws(EddystoneSecurityError) in
                    try key.seal(telemetry, at: time(elapsed), exponent: exponent, salt: salt)
                }
            } else {
                live.telemetry = telemetry
            }
        case .eddystoneEID(let rotation):
            live.ephemeralID = try withKey(rotation) { key, exponent throws(EddystoneSecurityError) in
                try key.ephemeralID(at: time(elapsed), exponent: exponent)
            }
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw:
            break
        }
        do throws(PayloadError) {
            return try advertisement.payload(live)
        } catch {
            throw .payload("\(error)")
        }
    }

    /// When, in microseconds after the start, the octets of `elapsed` are out of date; `nil` for never.
    ///
    /// Telemetry is renewed once in each interval, but not more than once a second: that is as fine as anybody reads
    /// it, and a small box need not wake up more often.
    public func nextChange(after elapsed: Int) -> Int? {
        switch advertisement.content {
        case .eddystoneTLM:
            let step = max(advertisement.interval.microseconds, 1_000_000)
            return (elapsed / step + 1) * step
        case .eddystoneEID(let rotation):
            let window = 1 << Int(min(rotation.rotationExponent, 15))
            let now = Int(time(elapsed))
            return elapsed + ((now / window + 1) * window - now) * 1_000_000 - elapsed % 1_000_000
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw:
            return nil
        }
    }

    /// Whether the device address turns over with the octets: an ephemeral id is of no use under a lasting address.
    public var changesAddress: Bool {
        if case .eddystoneEID = advertisement.content { return true }
        return false
    }

    private func time(_ elapsed: Int) -> UInt32 {
        eidTimeAtStart &+ UInt32(truncatingIfNeeded: elapsed / 1_000_000)
    }

    private func withKey<Result>(
        _ rotation: Advertisement.RotatingKey,
        _ body: (IdentityKey, RotationExponent) throws(EddystoneSecurityError) -> Result
    ) throws(AdvertisingError) -> Result {
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
