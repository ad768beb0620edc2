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
        let keys = FleetKeys(of: NamedFleet(path: fleet ?? ""), in: keys)
        let progress = ProgressLine()
        if let resolverPublicKey {
            let report = try keys.agree(resolverPublicKey: resolverPublicKey) { progress.report($0, of: $1, "keys") }
            return keys.show(report, asJSON: json)
        }
        guard let resolverKeyFile else { return }
        let privateKey = try AgreementKey.privateKey(resolverKeyFile)
        guard fleet != nil else {
            let publicKey = try IdentityKey.publicKey(of: privateKey)
            return Terminal.write(
                json ? JSONValue.record([("publicKey", .string("\(publicKey)"))]).line + "\n" : "\(publicKey)\n")
        }
        let report = try keys.resolve(resolverPrivateKey: privateKey) { progress.report($0, of: $1, "keys") }
        keys.show(report, asJSON: json)
        if let lack = keys.lack(in: report) { throw lack }
    }

    private static func publicKey(_ text: String) throws -> FixedOctets<32> {
        do {
            return try FixedOctets<32>(hexadecimal: text)
        } catch {
            throw Mistake("a public key has 64 hexadecimal digits: \(error)")
        }
    }
}
