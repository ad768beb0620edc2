internal import BluetoothTypes
internal import EddystoneSecurity
internal import Sightings

/// The key of a device that changes its address.
struct AddressKey {
    /// Its place among the known beacons.
    let beacon: Int
    let key: IdentityResolvingKey
}

/// Tells whose a resolvable private address is, by trying all keys once for each address.
///
/// Whoever sends fresh addresses all the time gets no more of the processor for it than ``trialsPerSecond``: what comes
/// beyond that is nobody's for the moment, and is tried when it is heard again. A flood does not come back to its
/// addresses and a device stays with one for minutes, so half of the trials are kept for addresses that are heard again.
struct AddressResolver {
    /// Each is one AES block with its key's schedule: 0.25 µs on a server's core, so that all of them take 1.5 % of it, and
    /// no more than a quarter of one that is 16 times slower. A constant, because a replay has to find what was found live:
    /// the time that trials take on the machine at hand cannot decide.
    static let trialsPerSecond = 60_000
    /// Addresses that are remembered, at most twice as many for a while. An address is kept for 15 minutes as a rule.
    static let remembered = 4096
    /// Addresses that wait for their second report, at most: a power of two.
    static let waiting = 32_768

    private let keys: [AddressKey]
    /// Whose an address is, `nil` for nobody's: those of late, and those before them.
    private var recent: [DeviceAddress: Int?] = [:]
    private var older: [DeviceAddress: Int?] = [:]
    /// Of addresses that could not be tried, a part that tells them apart, at a place that the rest decides; 0 is nobody.
    /// Empty until there was too much to do.
    private var untried: [UInt32] = []
    private var trials = Double(Self.trialsPerSecond)
    private var last = HeardInstant(nanoseconds: 0)

    init(_ keys: [AddressKey]) {
        self.keys = keys
    }

    mutating func beacon(_ address: DeviceAddress, at now: HeardInstant) -> Int? {
        if let known = recent[address] { return known }
        let known: Int?
        if let found = older[address] {
            known = found
        } else {
            guard mayTry(address, at: now) else { return nil }
            known = keys.first { $0.key.resolves(address) }?.beacon
        }
        if recent.count >= Self.remembered { (older, recent) = (recent, [:]) }
        recent.updateValue(known, forKey: address)
        return known
    }

    /// Whether trials are left for this address, which are used up then.
    private mutating func mayTry(_ address: DeviceAddress, at now: HeardInstant) -> Bool {
        let needed = Double(keys.count)
        let limit = max(Double(Self.trialsPerSecond), needed)
        trials = min(limit, trials + Double(now.microseconds(since: last)) * limit / 1_000_000)
        last = max(last, now)
        guard trials < max(needed, limit / 2) else {
            trials -= needed
            return true
        }
        let (place, mark) = Self.mark(address)
        if untried.isEmpty { untried = [UInt32](repeating: 0, count: Self.waiting) }
        guard untried[place] == mark, trials >= needed else {
            untried[place] = mark
            return false
        }
        untried[place] = 0
        trials -= needed
        return true
    }

    /// Both halves of a resolvable address are as good as random (Core Specification 5.4, Vol 6 Part B 1.3.2.2).
    private static func mark(_ address: DeviceAddress) -> (place: Int, mark: UInt32) {
        let octets = address.octets
        let high = UInt32(octets[0]) << 16 | UInt32(octets[1]) << 8 | UInt32(octets[2])
        let low = UInt32(octets[3]) << 16 | UInt32(octets[4]) << 8 | UInt32(octets[5])
        // The upper one is never 0: its first bits are 01.
        return (Int(low) % waiting, high << 8 | low >> 16)
    }
}
