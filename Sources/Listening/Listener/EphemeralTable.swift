internal import BluetoothTypes
internal import EddystoneSecurity

/// The key of a beacon with ephemeral ids.
struct EphemeralKey {
    /// Its place among the known beacons.
    let beacon: Int
    let key: IdentityKey
    let exponent: RotationExponent
    /// When its clock stood at 65280, in seconds since 1970; `nil` where that is not known: then it cannot be told.
    let epochSeconds: Int?
}

/// The ids that all keys make in the window of now and in one on each side. What is in no window is nobody's: an id that
/// was recorded and sent again later is none of ours.
struct EphemeralTable {
    private struct Window {
        var number: Int?
        var ids: [FixedOctets<8>] = []
    }

    private let keys: [EphemeralKey]
    private var windows: [Window]
    private var beacons: [FixedOctets<8>: Int] = [:]
    private var checkedSecond: Int?

    init(_ keys: [EphemeralKey]) {
        self.keys = keys
        windows = keys.map { _ in Window() }
    }

    mutating func beacon(_ id: FixedOctets<8>, unixSeconds: Int) -> Int? {
        if checkedSecond != unixSeconds {
            checkedSecond = unixSeconds
            for index in keys.indices { turn(index, unixSeconds) }
        }
        return beacons[id]
    }

    private mutating func turn(_ index: Int, _ unixSeconds: Int) {
        let key = keys[index]
        guard let epoch = key.epochSeconds else { return }
        let period = Int(key.exponent.periodSeconds)
        let counter = Int(IdentityKey.firstCounter) + unixSeconds - epoch
        guard counter >= 0, windows[index].number != counter / period else { return }
        for id in windows[index].ids { beacons[id] = nil }
        let times = [counter - period, counter, counter + period].compactMap { UInt32(exactly: $0) }
        let ids = times.compactMap { try? key.key.ephemeralID(at: $0, exponent: key.exponent) }
        for id in ids { beacons[id] = key.beacon }
        windows[index] = Window(number: counter / period, ids: ids)
    }
}
