public import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// What has to be known of a beacon with ephemeral ids, or with encrypted telemetry, to use its identity key.
public struct BeaconRotation: Hashable, Sendable {
    /// The beacon's name, by which its key is kept.
    public let name: String
    /// Where the box looks for its key, as its profile has it.
    public let identityKeyFile: String
    /// When the counter was 65280; `nil` where the fleet has no epoch, and then ids cannot be resolved.
    public let epoch: RFC3339Time?
    /// K of each advertisement with ephemeral ids, each once; none where only telemetry is encrypted.
    public let exponents: [RotationExponent]

    /// `nil` for a beacon that needs no key.
    ///
    /// - Throws: ``BeaconRotationError`` where the beacon names several files, because a fleet keeps one key a beacon,
    ///   and where what it names is no file.
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

    /// What all beacons of a fleet need, in its order.
    ///
    /// - Throws: ``BeaconRotationError`` as for one beacon, and where two beacons would share a key.
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

    /// The file that holds the key where the fleet keeps its own: the last part of what the profile names.
    public var keyName: String { identityKeyFile.split(separator: "/").last.map(String.init) ?? "" }

    /// The file beside it with the beacon's public key, where the key was agreed on.
    public var publicKeyName: String { keyName + ".pub" }
}

/// Why a beacon's identity key cannot be kept.
public struct BeaconRotationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What of the beacon contradicts itself.
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
            "\(name) names several identity keys (\(files.joined(separator: ", "))); a fleet keeps one key a beacon"
        case .noFile(let file):
            "\(name) names \"\(file)\" as its identity key, which is no name of a file"
        case .shared(let file, let other):
            "\(name) and \(other) would share the identity key \(file); "
                + "let identityKeyFile contain ${name}, so that each has its own"
        }
    }
}

/// Which beacon was it? An ephemeral id, when it was heard, and how far a beacon's clock may be off by then.
///
/// A beacon counts seconds from 65280 at its epoch on (eid-computation.md); what it sends turns over with its counter
/// every 2^K seconds.
public struct EphemeralIDQuestion: Hashable, Sendable {
    public let id: FixedOctets<8>
    public let time: RFC3339Time
    /// `nil` asks for the window that the time falls into and for one more on each side.
    public let driftSeconds: Int?

    /// - Parameter driftSeconds: Negative ones count as 0.
    public init(_ id: FixedOctets<8>, at time: RFC3339Time, driftSeconds: Int? = nil) {
        self.id = id
        self.time = time
        self.driftSeconds = driftSeconds.map { max(0, $0) }
    }

    /// When a beacon sent the id.
    public struct Answer: Hashable, Sendable {
        /// The beacon's counter at the start of the window.
        public let counter: UInt32
        public let exponent: RotationExponent
        /// The window by the wall clock, if the beacon's clock were right.
        public let from: RFC3339Time
        public let to: RFC3339Time
    }

    /// `nil` where the beacon with this key does not send the id at that time; also where it has no epoch.
    public func answer(
        _ rotation: BeaconRotation, key: IdentityKey
    ) throws(EddystoneSecurityError) -> Answer? {
        guard let epoch = rotation.epoch else { return nil }
        return try answer(key, epoch: epoch, exponents: rotation.exponents)
    }

    /// The same for a key of a ring.
    public func answer(_ entry: KeyRingReader.Entry) throws(EddystoneSecurityError) -> Answer? {
        try answer(entry.key, epoch: entry.epoch, exponents: entry.exponents)
    }

    private func answer(
        _ key: IdentityKey, epoch: RFC3339Time, exponents: [RotationExponent]
    ) throws(EddystoneSecurityError) -> Answer? {
        for exponent in exponents {
            guard let seconds = counters(since: epoch, exponent),
                let counter = try key.turnOver(to: id, in: seconds, exponent: exponent)
            else { continue }
            let from = epoch.secondsSince1970 + Int(counter) - Int(IdentityKey.firstCounter)
            return Answer(
                counter: counter, exponent: exponent, from: RFC3339Time(secondsSince1970: from),
                to: RFC3339Time(secondsSince1970: from + Int(exponent.periodSeconds)))
        }
        return nil
    }

    /// The counters that a beacon may have had; `nil` before and after all that there are.
    private func counters(since epoch: RFC3339Time, _ exponent: RotationExponent) -> ClosedRange<UInt32>? {
        let now = time.secondsSince1970 - epoch.secondsSince1970 + Int(IdentityKey.firstCounter)
        let period = Int(exponent.periodSeconds)
        let (earliest, latest): (Int, Int)
        if let driftSeconds {
            // More than any counter can be off, and far from overflow.
            let drift = min(driftSeconds, Int(UInt32.max))
            (earliest, latest) = (now - drift, now + drift)
        } else {
            let start = now - ((now % period) + period) % period
            (earliest, latest) = (start - period, start + 2 * period - 1)
        }
        guard latest >= 0, earliest <= Int(UInt32.max) else { return nil }
        return UInt32(max(0, earliest))...UInt32(min(latest, Int(UInt32.max)))
    }
}
