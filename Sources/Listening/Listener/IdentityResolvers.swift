internal import BluetoothTypes
internal import EddystoneSecurity
internal import Sightings

/// The key of a beacon with ephemeral ids.
struct EphemeralKey {
    /// The position of the beacon among the known beacons. In an audit: the index of the advertisement.
    let beacon: Int
    let key: IdentityKey
    let exponent: RotationExponent
    /// The time at which the beacon's clock showed 65280, in seconds since 1970; `nil` if it is not known. Ids cannot
    /// be resolved then.
    let epochSeconds: Int?
}

/// The ephemeral ids of all keys in the current rotation period and in the periods before and after it. Older ids are
/// unknown, so an id that was recorded and is sent again later is not accepted.
struct EphemeralTable {
    private struct Window {
        /// The number of the current rotation period of the key.
        var period: Int?
        var ids: [FixedOctets<8>] = []
    }

    private let keys: [EphemeralKey]
    /// For each key, the current rotation period and the valid ids.
    private var windows: [Window]
    /// The beacon of each id that is valid now.
    private var beacons: [FixedOctets<8>: Int] = [:]
    /// The time of the last update of all keys, in seconds since 1970.
    private var checkedSecond: Int?

    init(_ keys: [EphemeralKey]) {
        self.keys = keys
        windows = keys.map { _ in Window() }
    }

    mutating func beacon(_ id: FixedOctets<8>, unixSeconds: Int) -> Int? {
        if checkedSecond != unixSeconds {
            checkedSecond = unixSeconds
            for index in keys.indices { update(index, unixSeconds) }
        }
        return beacons[id]
    }

    /// Computes the ids of a key again if a new rotation period has begun.
    private mutating func update(_ index: Int, _ unixSeconds: Int) {
        let key = keys[index]
        guard let epoch = key.epochSeconds else { return }
        let period = Int(key.exponent.periodSeconds)
        let counter = Int(IdentityKey.firstCounter) + unixSeconds - epoch
        guard counter >= 0, windows[index].period != counter / period else { return }
        for id in windows[index].ids { beacons[id] = nil }
        let times = [counter - period, counter, counter + period].compactMap { UInt32(exactly: $0) }
        let ids = times.compactMap { try? key.key.ephemeralID(at: $0, exponent: key.exponent) }
        for id in ids { beacons[id] = key.beacon }
        windows[index] = Window(period: counter / period, ids: ids)
    }
}

/// The key of a device that changes its address.
struct AddressKey {
    /// The position of the device among the known beacons.
    let beacon: Int
    let key: IdentityResolvingKey
}

/// Finds the device that uses a resolvable private address, by trying each key once per address.
///
/// A flood of new addresses must not use up the processor, so at most ``trialsPerSecond`` keys are tried per second. An
/// address beyond this limit stays unknown, and the keys are tried when it is received again. Half of the trials are
/// reserved for repeated addresses: a device keeps its address for minutes, but a flood consists of new addresses.
struct AddressResolver {
    /// The number of trials per second. A trial computes two AES blocks with their key schedules, one for each order of
    /// the key's bytes, and takes 0.5 µs on a server core. So all trials take 3 % of such a core, and at most half of a
    /// core that is 16 times slower. The number is constant, not measured, so that a replay finds the same devices as
    /// the live scan.
    static let trialsPerSecond = 60_000
    /// The number of recent addresses that are stored. Up to as many older addresses are stored in addition. Devices
    /// usually keep an address for 15 minutes.
    static let remembered = 4096
    /// The number of slots for addresses that wait for their second report: a power of two.
    static let waitingSlots = 32_768

    private let keys: [AddressKey]
    /// The devices of recent addresses; the value `nil` means that the device is unknown.
    private var recent: [DeviceAddress: Int?] = [:]
    /// The devices of older addresses: the former contents of ``recent``, moved here when it was last full.
    private var older: [DeviceAddress: Int?] = [:]
    /// A hash table of addresses for which the keys could not be tried. One part of the address selects the slot, and
    /// another part is the value in the slot. 0 marks an empty slot. The array is empty until the limit is reached for
    /// the first time.
    private var untried: [UInt32] = []
    /// The number of keys that may be tried now. It grows with time up to the limit.
    private var trials = Double(Self.trialsPerSecond)
    /// The time at which `trials` was last increased.
    private var lastIncrease = HeardInstant(nanoseconds: 0)

    init(_ keys: [AddressKey]) {
        self.keys = keys
    }

    mutating func beacon(_ address: DeviceAddress, at now: HeardInstant) -> Int? {
        if let known = recent[address] { return known }
        let known: Int?
        if let device = older[address] {
            known = device
        } else {
            guard mayTry(address, at: now) else { return nil }
            known = keys.first { $0.key.resolves(address) }?.beacon
        }
        if recent.count >= Self.remembered { (older, recent) = (recent, [:]) }
        recent.updateValue(known, forKey: address)
        return known
    }

    /// Returns whether the keys may be tried for this address now, and counts the trials.
    private mutating func mayTry(_ address: DeviceAddress, at now: HeardInstant) -> Bool {
        let needed = Double(keys.count)
        let limit = max(Double(Self.trialsPerSecond), needed)
        trials = min(limit, trials + Double(now.microseconds(since: lastIncrease)) * limit / 1_000_000)
        lastIncrease = max(lastIncrease, now)
        guard trials < max(needed, limit / 2) else {
            trials -= needed
            return true
        }
        let (slot, value) = Self.slot(address)
        if untried.isEmpty { untried = [UInt32](repeating: 0, count: Self.waitingSlots) }
        guard untried[slot] == value, trials >= needed else {
            untried[slot] = value
            return false
        }
        untried[slot] = 0
        trials -= needed
        return true
    }

    /// Returns the slot and the value of an address in ``untried``. Both halves of a resolvable address are practically
    /// random (Core Specification 5.4, Vol 6 Part B 1.3.2.2).
    private static func slot(_ address: DeviceAddress) -> (slot: Int, value: UInt32) {
        let octets = address.octets
        let high = UInt32(octets[0]) << 16 | UInt32(octets[1]) << 8 | UInt32(octets[2])
        let low = UInt32(octets[3]) << 16 | UInt32(octets[4]) << 8 | UInt32(octets[5])
        // The upper half is never 0, because its first bits are 01.
        return (Int(low) % waitingSlots, high << 8 | low >> 16)
    }
}
