internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Keep the identity keys of beacons with ephemeral ids.",
        subcommands: [
            FleetKeysGenerate.self, FleetKeysAgree.self, FleetKeysCollect.self, FleetKeysResolve.self,
        ])
}

/// The fleet, and where its keys are.
struct FleetKeyOptions: ParsableArguments {
    @OptionGroup var source: FleetArgument

    @Option(
        help: ArgumentHelp(
            "Where the keys are, one file a beacon (default: keys, beside the fleet).",
            valueName: "directory"), completion: .directory)
    var keys: String?

    var fleetKeys: FleetKeys { FleetKeys(of: source.named, in: keys) }
}

extension FleetKeys {
    /// Prints what became of each beacon's key.
    func show(_ report: Report, asJSON: Bool) {
        Terminal.write(asJSON ? json(of: report).line + "\n" : text(of: report))
    }
}

struct FleetKeysGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make a random identity key for every beacon that needs one and has none.",
        discussion: "Keys that are there stay as they are, unless --replace names their beacon.")

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("Give this beacon a new key; may be given more than once.", valueName: "name"))
    var replace: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let keys = options.fleetKeys
        let progress = ProgressLine()
        let report = try keys.generate(replacing: replace) { progress.report($0, of: $1, "keys") }
        keys.show(report, asJSON: json)
    }
}

struct FleetKeysCollect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Copy the keys of a fleet into one file, in which `resolve` finds an id fast.",
        discussion: """
            The file is for its owner alone, as the keys are, and holds what they were when it was made: collect them \
            anew when keys are replaced and when beacons come or go. `pharos fleet keys resolve ID FILE` takes it in \
            place of the fleet.
            """)

    @OptionGroup var options: FleetKeyOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write them.", valueName: "file"), completion: .file())
    var output: String

    func run() throws {
        let (collected, withoutKey) = try KeyRingFile.collect(options.fleetKeys, to: output)
        Terminal.write("\(output): \(collected) identity keys, which nobody else may read\n")
        if withoutKey > 0 {
            Terminal.writeError("pharos: \(withoutKey) beacons have no key in \(options.fleetKeys.directory.path)\n")
        }
    }
}

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

struct FleetKeysResolve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Print which beacon an ephemeral id belongs to; exit 1 when it is none of the fleet's.",
        discussion: """
            Looks into the window of the given time and into one more on each side, by each beacon's epoch; \
            --drift-s looks as far as its clock may be off. Of a large fleet name the ring that `pharos fleet keys \
            collect` makes: it is read much faster than one file a beacon.
            """)

    @Argument(help: "The ephemeral id: 16 hexadecimal digits.", transform: Self.identifier)
    var id: FixedOctets<8>

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("When it was heard, such as 2026-03-01T12:00:00Z (default: now).", valueName: "time"),
        transform: Self.time)
    var at: RFC3339Time?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds by which the beacon's clock may be off.", valueName: "s"), transform: Self.seconds)
    var driftS: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let now = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        let question = EphemeralIDQuestion(id, at: at ?? now, driftSeconds: driftS)
        let keys = options.fleetKeys
        let search = try EphemeralIDSearch(question, path: options.source.fleet, keys: keys)
        Terminal.write(json ? search.json.line + "\n" : search.text)
        if search.withoutKey > 0 {
            Terminal.writeError("pharos: \(search.withoutKey) beacons have no key in \(keys.directory.path)\n")
        }
        guard search.matches.isEmpty else { return }
        throw Failure(.failure, json ? "" : "\(id) belongs to none of \(search.tried) beacons at \(question.time)")
    }

    private static func identifier(_ text: String) throws -> FixedOctets<8> {
        do {
            return try FixedOctets<8>(hexadecimal: text)
        } catch {
            throw Mistake("an ephemeral id has 16 hexadecimal digits: \(error)")
        }
    }

    private static func time(_ text: String) throws -> RFC3339Time {
        guard let time = RFC3339Time(text) else { throw Mistake("write a time as 2026-03-01T12:00:00Z") }
        return time
    }

    private static func seconds(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard value >= 0 else { throw Mistake("\(value) is below 0") }
        return value
    }
}
