public import BeaconFrames
public import BluetoothTypes
internal import EddystoneSecurity

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
    mutating func hurry(counter: Int) { dueMicroseconds = counter }

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
    public init(eidCounter: UInt32, turns: [Turn] = [], salts: TelemetrySalts = TelemetrySalts()) {
        self.eidCounter = eidCounter
        self.turns = turns
        self.salts = salts
    }
}
