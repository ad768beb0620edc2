public import EddystoneSecurity
public import Profiles

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
    /// - Throws: ``BeaconRotationError`` where the beacon names several files: a fleet keeps one key a beacon.
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
        guard files.count == 1 else { throw BeaconRotationError(name: beacon.name, files: files) }
        name = beacon.name
        identityKeyFile = file
        epoch = beacon.eidEpoch
        self.exponents = exponents
    }

    /// The file in a directory of keys that holds this beacon's.
    public var keyName: String { name + ".key" }

    /// The file beside it with the beacon's public key, where the key was agreed on.
    public var publicKeyName: String { name + ".pub" }
}

/// A beacon with more than one identity key.
public struct BeaconRotationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let name: String
    public let files: [String]

    public var description: String {
        "\(name) names several identity keys (\(files.joined(separator: ", "))); a fleet keeps one key a beacon"
    }
}
