internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import FleetStore
internal import LinuxHost

struct FleetKeysAgree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agree",
        abstract: "Agree on identity keys by X25519, so that no key has to be sent.",
        discussion: """
            The resolver makes its pair with --resolver-key-file FILE, which prints the public key. Whoever sets up the \
            beacons gives it as --resolver-public-key: every beacon without a key gets one, and beside it its public \
            key, which the resolver needs, in a file that ends in .pub. With these files and --resolver-key-file the \
            resolver computes the same keys.
            """)

    @Argument(
        help: "What `pharos fleet generate` wrote: its directory, or the manifest.json in it.", completion: .file())
    var fleet: String?

    @Option(
        help: ArgumentHelp(
            "Where the keys are, one file a beacon (default: keys, beside the fleet).",
            valueName: "directory"), completion: .directory)
    var keys: String?

    @Option(
        help: ArgumentHelp("Set up the beacons: the resolver's public key.", valueName: "hex"),
        transform: Self.publicKey)
    var resolverPublicKey: FixedOctets<32>?

    @Option(
        help: ArgumentHelp("Be the resolver: its private key, made when there is no such file.", valueName: "file"),
        completion: .file())
    var resolverKeyFile: String?

    @Flag(help: "Print one JSON object.")
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
        let privateKey = try AgreementKey.privateKey(resolverKeyFile)
        if fleet == nil {
            let publicKey = try IdentityKey.publicKey(of: privateKey)
            Terminal.write(
                json ? JSONValue.record([("publicKey", .string("\(publicKey)"))]).line + "\n" : "\(publicKey)\n")
        } else {
            try resolve(privateKey)
        }
    }

    private var fleetKeys: FleetKeys { FleetKeys(of: NamedFleet(path: fleet ?? ""), in: keys) }

    private func setUp(_ resolverPublicKey: FixedOctets<32>) throws {
        let keys = fleetKeys
        let report = try keys.agree(resolverPublicKey: resolverPublicKey)
        KeyReportText(report: report, directory: keys.directory).show(asJSON: json)
    }

    private func resolve(_ resolverPrivateKey: FixedOctets<32>) throws {
        let keys = fleetKeys
        let report = try keys.resolve(resolverPrivateKey: resolverPrivateKey)
        KeyReportText(report: report, directory: keys.directory).show(asJSON: json)
        guard report.missing.isEmpty else {
            let names = report.missing.prefix(5).joined(separator: ", ") + (report.missing.count > 5 ? ", …" : "")
            throw Failure(
                .noInput,
                "\(keys.directory.path): the public keys of \(report.missing.count) beacons are missing: \(names)")
        }
    }

    private static func publicKey(_ text: String) throws -> FixedOctets<32> {
        do {
            return try FixedOctets<32>(hexadecimal: text)
        } catch {
            throw Mistake("a public key has 64 hexadecimal digits: \(error)")
        }
    }
}
