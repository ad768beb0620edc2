internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

struct FleetKeysAgree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agree",
        abstract: "Agrees on identity keys by X25519, so that no key has to be sent.",
        discussion: """
            The resolver makes its pair with --resolver-key-file FILE, which prints the public key. Whoever sets up the \
            beacons gives it as --resolver-public-key: every beacon without a key gets one, and beside it its public \
            key, which the resolver needs, in a file that ends in .pub. With these files and --resolver-key-file the \
            resolver computes the same keys.
            """)

    @Argument(help: "What `pharos fleet generate` wrote: its directory, or the manifest.json in it.")
    var fleet: String?

    @Option(
        help: ArgumentHelp(
            "Where the keys are, one file a beacon (default: keys, beside the fleet).",
            valueName: "directory"))
    var keys: String?

    @Option(
        help: ArgumentHelp("Set up the beacons: the resolver's public key.", valueName: "hex"),
        transform: KeyText.publicKey)
    var resolverPublicKey: FixedOctets<32>?

    @Option(
        help: ArgumentHelp("Be the resolver: its private key, made when there is no such file.", valueName: "file"))
    var resolverKeyFile: String?

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        guard (resolverPublicKey == nil) != (resolverKeyFile == nil) else {
            throw ValidationError("Give --resolver-public-key to set up beacons, or --resolver-key-file to resolve.")
        }
        guard fleet != nil || resolverKeyFile != nil else { throw ValidationError("Name the fleet.") }
    }

    func run() throws {
        if let resolverPublicKey { return try setUp(resolverPublicKey) }
        guard let resolverKeyFile else { return }
        let privateKey = try Self.privateKey(resolverKeyFile)
        if fleet == nil {
            let publicKey = try IdentityKey.publicKey(of: privateKey)
            Terminal.write(
                json ? JSONValue.record([("publicKey", .string("\(publicKey)"))]).line + "\n" : "\(publicKey)\n")
        } else {
            try resolve(privateKey)
        }
    }

    /// The beacons' side. Their private keys are needed for one moment, and kept nowhere.
    private func setUp(_ resolverPublicKey: FixedOctets<32>) throws {
        let (rotations, directory) = try beacons()
        var report = KeyReport(directory: directory.path)
        for rotation in rotations {
            guard !directory.hasKey(of: rotation) else {
                report.kept.append(rotation.name)
                continue
            }
            let privateKey = FixedOctets<32>.random()
            let key = try Self.agreed {
                try IdentityKey(beaconPrivateKey: privateKey, resolverPublicKey: resolverPublicKey)
            }
            // First the public one: a key without it would be of no use to the resolver.
            try directory.setPublicKey(try IdentityKey.publicKey(of: privateKey), of: rotation)
            if try directory.add(key, of: rotation) { report.made.append(rotation.name) }
        }
        if !report.made.isEmpty { try directory.synchronize() }
        report.show(asJSON: json)
    }

    /// The resolver's side, from the public keys of the beacons.
    private func resolve(_ resolverPrivateKey: FixedOctets<32>) throws {
        let (rotations, directory) = try beacons()
        var report = KeyReport(directory: directory.path)
        var missing: [String] = []
        for rotation in rotations {
            guard let publicKey = try directory.publicKey(of: rotation) else {
                missing.append(rotation.name)
                continue
            }
            let key = try Self.agreed {
                try IdentityKey(resolverPrivateKey: resolverPrivateKey, beaconPublicKey: publicKey)
            }
            if try directory.add(key, of: rotation) {
                report.made.append(rotation.name)
            } else if try directory.key(of: rotation)?.octets == key.octets {
                report.kept.append(rotation.name)
            } else {
                throw Failure(
                    .configuration,
                    "\(directory.path)\(rotation.keyName) is another key than the one agreed on; it was left as it is")
            }
        }
        if !report.made.isEmpty { try directory.synchronize() }
        report.show(asJSON: json)
        guard missing.isEmpty else {
            let names = missing.prefix(5).joined(separator: ", ") + (missing.count > 5 ? ", …" : "")
            throw Failure(
                .noInput, "\(directory.path): the public keys of \(missing.count) beacons are missing: \(names)")
        }
    }

    private func beacons() throws -> ([BeaconRotation], KeyDirectory) {
        var options = FleetKeyOptions()
        options.source = FleetArgument()
        options.source.fleet = fleet ?? ""
        options.keys = keys
        let rotations = try options.rotations()
        if !rotations.isEmpty { try options.directory.make() }
        return (rotations, options.directory)
    }

    private static func agreed(_ agree: () throws -> IdentityKey) throws -> IdentityKey {
        do { return try agree() } catch { throw Failure(.configuration, "\(error)") }
    }

    /// Reads the resolver's private key, or makes one.
    private static func privateKey(_ path: String) throws -> FixedOctets<32> {
        if !Files.exists(path) {
            let key = FixedOctets<32>.random()
            do throws(SystemError) {
                try Files.create(path, with: Array("\(key)\n".utf8))
                return key
            } catch {
                // Somebody else was quicker.
                guard error.errno == SystemError.alreadyThere else { throw error }
            }
        }
        return try KeyText.octets(try KeyFile.secret(path), path)
    }
}
