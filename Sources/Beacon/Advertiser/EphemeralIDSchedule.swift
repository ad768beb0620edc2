public import BeaconFrames
public import BluetoothTypes
internal import EddystoneSecurity
public import HCI

/// Decides when one ephemeral id changes. An ephemeral id is computed from a window, which is a period of 2^K seconds.
/// The schedule contains the window of the id on the air, the address, and the time of the next change of both.
///
/// The beacon starts to send the id of a window at a random moment of the window, not at its start. Otherwise an
/// observer could recognise a beacon by the second at which its id changes. A receiver that resolves ids therefore
/// tries the current window and the previous window.
struct EphemeralIDSchedule: Hashable, Sendable {
    let key: Advertisement.RotatingKey
    /// The start of the window of the id on the air, as a value of the beacon's seconds counter.
    private(set) var window: UInt32
    private(set) var address: DeviceAddress
    /// The value of the beacon's seconds counter at which the id changes next, in microseconds.
    private(set) var dueMicroseconds = Int.max

    /// - Parameters:
    ///   - counter: The current value of the beacon's seconds counter, in microseconds.
    ///   - memory: The window and the address before a restart; `nil` if there are none. They are used again if the
    ///     window is the current window or the previous window.
    init(
        _ key: Advertisement.RotatingKey, counter: Int, memory: BeaconMemory.EphemeralID?,
        _ randomness: inout some RandomNumberGenerator
    ) {
        self.key = key
        let period = Self.period(key)
        let currentWindow = counter / 1_000_000 / period * period
        if let memory, memory.key == key, memory.address.isValidStaticRandom,
            [currentWindow, currentWindow - period].contains(Int(memory.window))
        {
            window = memory.window
            address = memory.address
            if Int(memory.window) < currentWindow {
                // The beacon changes to the id of the current window at a random moment in the rest of this window.
                let endOfWindow = (currentWindow + period) * 1_000_000
                dueMicroseconds = Int.random(in: counter...max(counter, endOfWindow), using: &randomness)
                return
            }
        } else {
            window = UInt32(clamping: currentWindow)
            address = Self.newAddress(&randomness)
        }
        planChange(&randomness)
    }

    /// Changes to the id of the current window, with a new random address.
    mutating func advance(counter: Int, _ randomness: inout some RandomNumberGenerator) {
        let period = Self.period(key)
        window = UInt32(clamping: counter / 1_000_000 / period * period)
        address = Self.newAddress(&randomness)
        planChange(&randomness)
    }

    /// Makes the next change due at once. Call this after the clock was set back.
    ///
    /// - Parameter counter: The beacon's seconds counter, in microseconds.
    mutating func makeDue(counter: Int) { dueMicroseconds = counter }

    private mutating func planChange(_ randomness: inout some RandomNumberGenerator) {
        let period = Self.period(key)
        let nextWindow = (Int(window) + period) * 1_000_000
        dueMicroseconds = nextWindow + Int.random(in: 0..<period * 1_000_000, using: &randomness)
    }

    /// The length of a window: 2^K s.
    private static func period(_ key: Advertisement.RotatingKey) -> Int { 1 << Int(min(key.rotationExponent, 15)) }

    private static func newAddress(_ randomness: inout some RandomNumberGenerator) -> DeviceAddress {
        var octets = FixedOctets<6>()
        for index in 0..<6 { octets[index] = UInt8.random(in: 0...255, using: &randomness) }
        return .staticRandom(from: octets)
    }
}

/// The salts that the encrypted telemetry of a beacon has already used, for each key.
public struct TelemetrySalts: Hashable, Sendable {
    /// The used salts of each key. The dictionary's key is the name of the key file, because all ids with the same
    /// identity key share the same nonces, even if their rotation exponents differ.
    private var counters: [String?: SaltCounter] = [:]

    /// Creates a value in which no salts are used.
    public init() {}

    /// Returns an unused salt; `nil` if all salts of this window are used.
    mutating func salt(
        for key: Advertisement.RotatingKey, at seconds: UInt32, first firstSalt: UInt16?,
        _ randomness: inout some RandomNumberGenerator
    ) -> UInt16? {
        guard let exponent = RotationExponent(rawValue: key.rotationExponent) else { return nil }
        return counters[key.identityKeyFile, default: SaltCounter()].next(
            at: seconds, exponent: exponent, first: firstSalt, using: &randomness)
    }
}

/// The values that must be saved for the next start. Without them, an old id could be sent again, or one id could be
/// sent with two addresses.
public struct BeaconMemory: Hashable, Sendable {
    /// The seconds counter t of ``EIDClock``.
    public var eidCounter: UInt32
    /// One element for each ephemeral id.
    public var ephemeralIDs: [EphemeralID]
    /// The salts that encrypted telemetry must not use again.
    public var salts: TelemetrySalts
    /// The number of the next BTHome packet. Each encrypted packet must have a different number.
    public var nextPacket: UInt32

    /// The window and the address of an ephemeral id on the air.
    public struct EphemeralID: Hashable, Sendable {
        public var key: Advertisement.RotatingKey
        /// The start of the window of the id on the air, as a value of the beacon's seconds counter.
        public var window: UInt32
        public var address: DeviceAddress

        public init(key: Advertisement.RotatingKey, window: UInt32, address: DeviceAddress) {
            self.key = key
            self.window = window
            self.address = address
        }
    }

    /// - Parameter eidCounter: The counter t, in seconds.
    public init(
        eidCounter: UInt32, ephemeralIDs: [EphemeralID] = [], salts: TelemetrySalts = TelemetrySalts(),
        nextPacket: UInt32 = 0
    ) {
        self.eidCounter = eidCounter
        self.ephemeralIDs = ephemeralIDs
        self.salts = salts
        self.nextPacket = nextPacket
    }
}

/// The beacon's own seconds counter t, from which ephemeral ids and the nonces of encrypted telemetry are computed.
///
/// It continues from the saved counter, and is compared with the wall clock. Its correct value is 65280 + wall clock −
/// epoch. If it is behind, it is set to this value. A correction of more than ``tolerance`` requires that the wall
/// clock is synchronised, so that a temporarily wrong wall clock cannot damage the counter. The counter is set back
/// only if it is ahead of a synchronised wall clock by more than ``tolerance``.
///
/// After a restart, pass ``counter(at:)`` of the last run as `saved`.
public struct EIDClock: Hashable, Sendable {
    /// The time at which the counter was 65280, in seconds since 1970 (UTC); `nil` if unknown.
    public private(set) var epochUnixSeconds: Int?
    /// The counter at ``instant``, in microseconds.
    private var microseconds: Int
    private var instant: HCIInstant
    /// `true` if the counter was saved by an earlier run, or has been compared with the wall clock. While it is
    /// `false`, the counter is set from any wall clock, even if that is not synchronised.
    private var isSettled: Bool

    /// The largest counter, in microseconds.
    private static let limit = Int(UInt32.max) * 1_000_000

    /// The largest correction from a wall clock that is not synchronised: one day, in seconds.
    public static let tolerance = 86_400

    /// The result of a comparison with the wall clock.
    public enum Correction: Hashable, Sendable {
        /// The counter was not changed: it is correct, or at most ``tolerance`` ahead, or there is no epoch.
        case none
        /// The counter was behind and has been corrected.
        case advanced
        /// The counter was ahead by `seconds`, which is more than ``tolerance``, and has been corrected. Ids change at
        /// once.
        case setBack(seconds: Int)
        /// The counter differs by more than ``tolerance`` from a wall clock that is not synchronised, and was not
        /// corrected. `ahead` is the counter minus the wall clock, in seconds: negative if the counter is behind.
        case doubted(ahead: Int)
    }

    /// - Parameters:
    ///   - epochUnixSeconds: The time at which the counter was 65280, in seconds since 1970 (UTC); `nil` if unknown.
    ///   - saved: The saved counter; `nil` for a new beacon, which starts at 65280.
    public init(epochUnixSeconds: Int? = nil, saved: UInt32? = nil, at now: HCIInstant) {
        self.epochUnixSeconds = epochUnixSeconds
        microseconds = Int(saved ?? IdentityKey.firstCounter) * 1_000_000
        isSettled = saved != nil
        instant = now
    }

    /// Replaces the epoch. At the next comparison, the counter is set from any wall clock, like the counter of a new
    /// beacon.
    mutating func change(epochUnixSeconds new: Int?) {
        guard new != epochUnixSeconds else { return }
        (epochUnixSeconds, isSettled) = (new, false)
    }

    /// Compares the counter with the wall clock and corrects it.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: The wall clock, in microseconds since 1970.
    ///   - isTrusted: `true` if the wall clock is synchronised.
    @discardableResult
    public mutating func synchronize(unixMicroseconds: Int, isTrusted: Bool, at now: HCIInstant) -> Correction {
        guard let epochUnixSeconds else { return .none }
        let (epoch, epochOverflow) = epochUnixSeconds.multipliedReportingOverflow(by: 1_000_000)
        let (sinceEpoch, overflow) = unixMicroseconds.subtractingReportingOverflow(epoch)
        guard !epochOverflow, !overflow, sinceEpoch < Self.limit, sinceEpoch > -Self.limit else { return .none }
        // Before its epoch, the counter stays at 65280.
        let expected = min(max(0, sinceEpoch) + Int(IdentityKey.firstCounter) * 1_000_000, Self.limit)
        let ahead = (microseconds(at: now) - expected) / 1_000_000
        let isFar = abs(ahead) > Self.tolerance
        if isFar, !isTrusted, isSettled { return .doubted(ahead: ahead) }
        isSettled = true
        guard expected > microseconds(at: now) || isFar else { return .none }
        microseconds = expected
        instant = max(instant, now)
        return ahead > 0 ? .setBack(seconds: ahead) : .advanced
    }

    /// The counter t, in seconds. It stops at 2³² − 1, after 136 years.
    public func counter(at now: HCIInstant) -> UInt32 {
        UInt32(clamping: microseconds(at: now) / 1_000_000)
    }

    /// The counter t, in microseconds.
    func microseconds(at now: HCIInstant) -> Int {
        let elapsed = max(0, now.microseconds(since: instant))
        return min(microseconds + min(elapsed, Self.limit), Self.limit)
    }

    /// The time at which the counter reaches `counter` microseconds.
    func instant(ofMicroseconds counter: Int) -> HCIInstant {
        instant.advanced(byMicroseconds: counter - microseconds)
    }
}
