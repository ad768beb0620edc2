internal import BluetoothTypes
public import Configuration

extension FleetLock {
    /// Reads a lock file.
    ///
    /// Its own lines are read fast; lines that somebody has written or changed by hand are read as the JSON that they
    /// are.
    ///
    /// - Returns: `nil` where there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8], file: String) -> (lock: FleetLock?, problems: [FileProblem]) {
        var reader = LockReader(octets, file: file)
        reader.read()
        let hasErrors = reader.problems.hasErrors
        return (hasErrors ? nil : reader.lock, reader.problems.sorted)
    }

    static let keys = ["version", "fleet", "groups", "beacons"]
    static let groupKeys = ["group", "major"]
    static let beaconKeys = [
        "name", "in", "minor", "instance", "address", "eidEpoch", "box", "earlierBoxes", "retired",
    ]
    /// Larger files have one line a beacon, or they are not read.
    static let reformattedLimit = 1 << 25
}

extension DeviceAddress {
    /// The 48 bits as a number.
    var number: UInt64 { octets.octets.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The lowest 48 bits of a number.
    init(number: UInt64) {
        var octets = FixedOctets<6>()
        for index in 0..<6 { octets[index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * (5 - index))) }
        self.init(octets)
    }
}
