public import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// The values of a beacon with ephemeral ids or encrypted telemetry that are needed to use its identity key.
public struct BeaconRotation: Hashable, Sendable {
    /// The name of the beacon.
    public let name: String
    /// The path of the key file on the machine, from the profile.
    public let identityKeyFile: String
    /// The time at which the beacon's counter was 65280; `nil` when the beacon has no epoch, so that its ids cannot be
    /// resolved.
    public let epoch: RFC3339Time?
    /// The rotation exponents K of the advertisements with ephemeral ids, which change every 2^K seconds; empty when
    /// only telemetry is encrypted.
    public let exponents: [RotationExponent]

    /// Returns `nil` for a beacon that needs no key.
    ///
    /// - Throws: ``BeaconRotationError`` when the beacon has several key files, because a fleet has one key for each
    ///   beacon, or when the path of the key does not end with a valid file name.
    public init?(_ beacon: FleetManifest.Beacon) throws(BeaconRotationError) {
        var files: [String] = []
        var exponents: [RotationExponent] = []
        for advertisement in beacon.advertisements {
            guard let file = advertisement.identityKeyFile else { continue }
            if !files.contains(file) { files.append(file) }
            if advertisement.type == "eddystone-eid", let octet = advertisement.rotationExponent.flatMap(UInt8.init),
                let exponent = RotationExponent(rawValue: octet), !exponents.contains(exponent)
            {
                exponents.append(exponent)
            }
        }
        guard let file = files.first else { return nil }
        guard files.count == 1 else { throw BeaconRotationError(.severalKeys(files), of: beacon.name) }
        name = beacon.name
        identityKeyFile = file
        epoch = beacon.eidEpoch
        self.exponents = exponents
        guard !keyName.isEmpty, !keyName.hasPrefix("."), !keyName.utf8.contains(0) else {
            throw BeaconRotationError(.noFile(file), of: beacon.name)
        }
    }

    /// The beacons of a fleet that need keys, in the order of the fleet.
    ///
    /// - Throws: ``BeaconRotationError``, also when two beacons would share a key.
    public static func all(in manifest: FleetManifest) throws(BeaconRotationError) -> [BeaconRotation] {
        var rotations: [BeaconRotation] = []
        var owners: [String: String] = [:]
        for beacon in manifest.beacons {
            guard let rotation = try BeaconRotation(beacon) else { continue }
            if let owner = owners.updateValue(rotation.name, forKey: rotation.keyName) {
                throw BeaconRotationError(.shared(rotation.keyName, with: owner), of: rotation.name)
            }
            rotations.append(rotation)
        }
        return rotations
    }

    /// The name of the key file in the fleet's directory of keys: the last part of the path in the profile.
    public var keyName: String { identityKeyFile.split(separator: "/").last.map(String.init) ?? "" }

    /// The name of the file with the beacon's public key, next to the key file. The file exists if the key was agreed
    /// on with a resolver.
    public var publicKeyName: String { keyName + ".pub" }
}

/// The reason why a beacon's identity key cannot be stored.
public struct BeaconRotationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the error.
    public enum Reason: Hashable, Sendable {
        case severalKeys([String])
        case noFile(String)
        case shared(String, with: String)
    }

    public let reason: Reason
    /// The beacon's name.
    public let name: String

    init(_ reason: Reason, of name: String) {
        self.reason = reason
        self.name = name
    }

    public var description: String {
        switch reason {
        case .severalKeys(let files):
            "\(name) names several identity keys (\(files.joined(separator: ", "))); a fleet keeps one key for each beacon"
        case .noFile(let file):
            "\(name) names \"\(file)\" as its identity key, which is not a file name"
        case .shared(let file, let other):
            "\(name) and \(other) would share the identity key \(file); "
                + "let identityKeyFile contain ${name}, so that each beacon has its own key"
        }
    }
}

/// A search for the beacon that sent an ephemeral id at a given time. The clock of the beacon may have an error.
///
/// The counter of a beacon is 65280 at its epoch and counts seconds (eid-computation.md). The id changes every 2^K
/// seconds.
public struct EphemeralIDQuestion: Hashable, Sendable {
    public let id: FixedOctets<8>
    public let time: RFC3339Time
    /// The largest error of the beacon's clock, in seconds. If `nil`, the search covers the window that contains the
    /// time, and one window on each side.
    public let driftSeconds: Int?

    /// - Parameter driftSeconds: A negative value counts as 0.
    public init(_ id: FixedOctets<8>, at time: RFC3339Time, driftSeconds: Int? = nil) {
        self.id = id
        self.time = time
        self.driftSeconds = driftSeconds.map { max(0, $0) }
    }

    /// The window in which a beacon sent the id.
    public struct Answer: Hashable, Sendable {
        /// The beacon's counter at the start of the window.
        public let counter: UInt32
        public let exponent: RotationExponent
        /// The start of the window, if the clock of the beacon is exact.
        public let from: RFC3339Time
        /// The end of the window, if the clock of the beacon is exact.
        public let to: RFC3339Time
    }

    /// Returns the window in which the beacon with this key sent the id; `nil` when it did not send the id at that
    /// time, or has no epoch.
    public func answer(
        _ rotation: BeaconRotation, key: IdentityKey
    ) throws(EddystoneSecurityError) -> Answer? {
        guard let epoch = rotation.epoch else { return nil }
        return try answer(key, epoch: epoch, exponents: rotation.exponents)
    }

    /// Returns the answer for a key of a key ring.
    public func answer(_ entry: KeyRingReader.Entry) throws(EddystoneSecurityError) -> Answer? {
        try answer(entry.key, epoch: entry.epoch, exponents: entry.exponents)
    }

    private func answer(
        _ key: IdentityKey, epoch: RFC3339Time, exponents: [RotationExponent]
    ) throws(EddystoneSecurityError) -> Answer? {
        for exponent in exponents {
            guard let seconds = counters(since: epoch, exponent),
                let counter = try key.startCounter(of: id, in: seconds, exponent: exponent)
            else { continue }
            let from = epoch.secondsSince1970 + Int(counter) - Int(IdentityKey.firstCounter)
            return Answer(
                counter: counter, exponent: exponent, from: RFC3339Time(secondsSince1970: from),
                to: RFC3339Time(secondsSince1970: from + Int(exponent.periodSeconds)))
        }
        return nil
    }

    /// The range of values that a beacon's counter may have had at ``time``; `nil` when no value of the range fits into
    /// 32 bits.
    private func counters(since epoch: RFC3339Time, _ exponent: RotationExponent) -> ClosedRange<UInt32>? {
        let counter = time.secondsSince1970 - epoch.secondsSince1970 + Int(IdentityKey.firstCounter)
        let period = Int(exponent.periodSeconds)
        let (earliest, latest): (Int, Int)
        if let driftSeconds {
            // The limit is larger than any error of a counter, and prevents an overflow.
            let drift = min(driftSeconds, Int(UInt32.max))
            (earliest, latest) = (counter - drift, counter + drift)
        } else {
            let start = counter - ((counter % period) + period) % period
            (earliest, latest) = (start - period, start + 2 * period - 1)
        }
        guard latest >= 0, earliest <= Int(UInt32.max) else { return nil }
        return UInt32(max(0, earliest))...UInt32(min(latest, Int(UInt32.max)))
    }
}
