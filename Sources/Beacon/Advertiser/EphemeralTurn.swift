public import BeaconFrames
public import BluetoothTypes
internal import EddystoneSecurity
public import HCI

/// One ephemeral id on its way through time: which window's id is on the air, from which address, and when both turn
/// over together.
///
/// The id of a window appears at a random moment of it, not at its start, so that the turn-overs of many beacons, or of
/// one beacon's id and another's, cannot be told apart by the second. Whoever resolves ids therefore looks at the current
/// window and at the one before.
struct EphemeralTurn: Hashable, Sendable {
    let key: Advertisement.RotatingKey
    /// The first second of the window whose id is on the air.
    private(set) var window: UInt32
    private(set) var address: DeviceAddress
    /// What the beacon's counter is at the next turn-over, in microseconds.
    private(set) var dueMicroseconds = Int.max

    /// - Parameters:
    ///   - counter: the beacon's seconds counter, in microseconds.
    ///   - memory: what was on the air before a restart; taken up where it is not out of date.
    init(
        _ key: Advertisement.RotatingKey, counter: Int, memory: BeaconMemory.Turn?,
        _ randomness: inout some RandomNumberGenerator
    ) {
        self.key = key
        let period = Self.period(key)
        let now = counter / 1_000_000 / period * period
        if let memory, memory.key == key, memory.address.isValidStaticRandom,
            [now, now - period].contains(Int(memory.window))
        {
            window = memory.window
            address = memory.address
            if Int(memory.window) < now {
                // Its turn-over would have come in this window: at some moment of what is left of it.
                dueMicroseconds = Int.random(in: counter...max(counter, (now + period) * 1_000_000), using: &randomness)
                return
            }
        } else {
            window = UInt32(clamping: now)
            address = Self.newAddress(&randomness)
        }
        planTurn(&randomness)
    }

    /// Takes up the id of the current window, and an address that nobody has seen before.
    mutating func turn(counter: Int, _ randomness: inout some RandomNumberGenerator) {
        let period = Self.period(key)
        window = UInt32(clamping: counter / 1_000_000 / period * period)
        address = Self.newAddress(&randomness)
        planTurn(&randomness)
    }

    /// The clock was set back: the window that is on the air lies ahead, and the turn-over comes at once.
    ///
    /// - Parameter counter: the beacon's seconds counter, in microseconds.
    mutating func makeDue(counter: Int) { dueMicroseconds = counter }

    private mutating func planTurn(_ randomness: inout some RandomNumberGenerator) {
        let period = Self.period(key)
        let next = (Int(window) + period) * 1_000_000
        dueMicroseconds = next + Int.random(in: 0..<period * 1_000_000, using: &randomness)
    }

    /// 2^K s.
    private static func period(_ key: Advertisement.RotatingKey) -> Int { 1 << Int(min(key.rotationExponent, 15)) }

    private static func newAddress(_ randomness: inout some RandomNumberGenerator) -> DeviceAddress {
        var octets = FixedOctets<6>()
        for index in 0..<6 { octets[index] = UInt8.random(in: 0...255, using: &randomness) }
        return .staticRandom(from: octets)
    }
}

/// The salts of a beacon's encrypted telemetry, counted for each key.
public struct TelemetrySalts: Hashable, Sendable {
    /// By the key's file: exponents that share a key share its nonces.
    private var counters: [String?: SaltCounter] = [:]

    /// None has been used.
    public init() {}

    /// - Returns: `nil` when all are used up in this window.
    mutating func salt(
        for key: Advertisement.RotatingKey, at seconds: UInt32, first: UInt16?,
        _ randomness: inout some RandomNumberGenerator
    ) -> UInt16? {
        guard let exponent = RotationExponent(rawValue: key.rotationExponent) else { return nil }
        return counters[key.identityKeyFile, default: SaltCounter()].next(
            at: seconds, exponent: exponent, first: first, using: &randomness)
    }
}

/// What of a beacon must survive a restart, so that ids neither go backwards nor are seen from two addresses.
public struct BeaconMemory: Hashable, Sendable {
    /// The seconds counter t.
    public var eidCounter: UInt32
    /// One for each ephemeral id.
    public var turns: [Turn]
    /// What encrypted telemetry must not use again.
    public var salts: TelemetrySalts
    /// The number of the next packet of BTHome: no two that are encrypted have the same.
    public var nextPacket: UInt32

    /// The window of an ephemeral id that is on the air, and the address that it is sent from.
    public struct Turn: Hashable, Sendable {
        public var key: Advertisement.RotatingKey
        /// The first second of the window whose id is on the air.
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
        eidCounter: UInt32, turns: [Turn] = [], salts: TelemetrySalts = TelemetrySalts(), nextPacket: UInt32 = 0
    ) {
        self.eidCounter = eidCounter
        self.turns = turns
        self.salts = salts
        self.nextPacket = nextPacket
    }
}

/// The beacon's own seconds counter t, from which ephemeral ids and the nonces of encrypted telemetry are made.
///
/// It goes on by itself, from what was saved, and is compared with the wall clock, at which it should be
/// 65280 + wall clock − epoch. It advances to there, but not by more than ``tolerance`` unless somebody says that the
/// wall clock is right: one that is wrong for a moment must not spoil the counter. It never goes backwards, but for a
/// counter that is ahead by more than that of a wall clock which is right.
/// A value: what of it must survive a restart is ``counter(at:)``, handed back as `saved`.
public struct EIDClock: Hashable, Sendable {
    /// The instant at which the counter was 65280, in seconds since 1970 (UTC); `nil` where nobody knows.
    public let epochUnixSeconds: Int?
    /// What the counter was, in microseconds, and when.
    private var microseconds: Int
    private var instant: HCIInstant
    /// Whether the counter was saved, or has been compared: a new beacon believes the first time that it is told.
    private var isSettled: Bool

    private static let limit = Int(UInt32.max) * 1_000_000

    /// How far the wall clock may be from the counter while nobody says that it is right: one day, in seconds.
    public static let tolerance = 86_400

    /// What came of a look at the wall clock. Times are in seconds.
    public enum Correction: Hashable, Sendable {
        /// The counter is where it should be, or a little ahead, or has no epoch.
        case none
        /// The counter was behind, and is right now.
        case advanced
        /// The counter was far ahead by this, and is right now: ids turn over at once.
        case setBack(seconds: Int)
        /// The counter stays, which is ahead of the wall clock by this, or behind it where it is negative: by more than
        /// ``tolerance``, and nobody says that the wall clock is right.
        case doubted(ahead: Int)
    }

    /// - Parameters:
    ///   - epochUnixSeconds: When the counter was 65280; `nil` where nobody knows.
    ///   - saved: The counter that was saved last; `nil` for a new beacon, which starts at 65280.
    public init(epochUnixSeconds: Int? = nil, saved: UInt32? = nil, at now: HCIInstant) {
        self.epochUnixSeconds = epochUnixSeconds
        microseconds = Int(saved ?? IdentityKey.firstCounter) * 1_000_000
        isSettled = saved != nil
        instant = now
    }

    /// The wall clock shows this.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: Since 1970.
    ///   - isTrusted: Whether somebody says that it is right.
    @discardableResult
    public mutating func synchronize(unixMicroseconds: Int, isTrusted: Bool, at now: HCIInstant) -> Correction {
        guard let epochUnixSeconds else { return .none }
        let (epoch, epochOverflow) = epochUnixSeconds.multipliedReportingOverflow(by: 1_000_000)
        let (since, overflow) = unixMicroseconds.subtractingReportingOverflow(epoch)
        guard !epochOverflow, !overflow, since < Self.limit, since > -Self.limit else { return .none }
        // Before its epoch a beacon stands at its start.
        let wanted = min(max(0, since) + Int(IdentityKey.firstCounter) * 1_000_000, Self.limit)
        let ahead = (microseconds(at: now) - wanted) / 1_000_000
        let isFar = abs(ahead) > Self.tolerance
        if isFar, !isTrusted, isSettled { return .doubted(ahead: ahead) }
        isSettled = true
        guard wanted > microseconds(at: now) || isFar else { return .none }
        microseconds = wanted
        instant = max(instant, now)
        return ahead > 0 ? .setBack(seconds: ahead) : .advanced
    }

    /// t in seconds. It stands still at 2³² − 1, after 136 years.
    public func counter(at now: HCIInstant) -> UInt32 {
        UInt32(clamping: microseconds(at: now) / 1_000_000)
    }

    /// t in microseconds.
    func microseconds(at now: HCIInstant) -> Int {
        let elapsed = max(0, now.microseconds(since: instant))
        return min(microseconds + min(elapsed, Self.limit), Self.limit)
    }

    /// When the counter shows so many microseconds.
    func instant(ofMicroseconds wanted: Int) -> HCIInstant {
        instant.advanced(byMicroseconds: wanted - microseconds)
    }
}
