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
/// beyond that is nobody's for the moment, and is tried when it is heard again.
struct AddressResolver {
    /// Each is one AES block; the keys are ready for it.
    static let trialsPerSecond = 60_000
    /// Addresses that are remembered, at most twice as many for a while. An address is kept for 15 minutes as a rule.
    static let remembered = 4096

    private let keys: [AddressKey]
    /// Whose an address is, `nil` for nobody's: those of late, and those before them.
    private var recent: [DeviceAddress: Int?] = [:]
    private var older: [DeviceAddress: Int?] = [:]
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
            let limit = Double(max(Self.trialsPerSecond, keys.count))
            trials = min(limit, trials + Double(now.microseconds(since: last)) * limit / 1_000_000)
            last = max(last, now)
            guard trials >= Double(keys.count) else { return nil }
            trials -= Double(keys.count)
            known = keys.first { $0.key.resolves(address) }?.beacon
        }
        if recent.count >= Self.remembered { (older, recent) = (recent, [:]) }
        recent.updateValue(known, forKey: address)
        return known
    }
}
