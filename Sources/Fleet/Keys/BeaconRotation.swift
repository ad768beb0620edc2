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
