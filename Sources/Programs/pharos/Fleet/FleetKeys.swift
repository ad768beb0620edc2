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
        commandName: "keys", abstract: "Make and use the identity keys of beacons with ephemeral ids.",
        subcommands: [
            FleetKeysGenerate.self, FleetKeysRotate.self, FleetKeysAgree.self, FleetKeysCollect.self,
            FleetKeysResolve.self,
        ])
}

/// The arguments of the key commands: the fleet, and the directory of its keys.
struct FleetKeyOptions: ParsableArguments {
    @OptionGroup var source: FleetArgument

    @Option(
        help: ArgumentHelp(
            "Directory with a key file for each beacon (default: keys, next to the fleet).",
            valueName: "directory"), completion: .directory)
    var keys: String?

    var fleetKeys: FleetKeys { FleetKeys(of: source.named, in: keys) }
}

extension FleetKeys {
    /// Returns the number of beacons without a key as a sentence.
    func text(ofMissing count: Int) -> String {
        "\(count) \(count == 1 ? "beacon has" : "beacons have") no key in \(directory.path)"
    }

    /// Prints which keys were made, replaced or kept.
    func show(_ report: Report, asJSON: Bool) {
        Terminal.show(text(of: report), or: json(of: report), asJSON: asJSON)
    }
}

struct FleetKeysGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make a random identity key for every beacon that needs one and has none.",
        discussion: """
            Existing keys are not changed, except those of the beacons that --replace names. Their former keys are \
            kept in a directory next to the keys, as by `pharos fleet keys rotate`.
            """)

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("Give this beacon a new key, and keep the former key. May be repeated.", valueName: "name"))
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

struct FleetKeysRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give all beacons, or some of them, new random identity keys.",
        discussion: """
            The former keys are kept in a directory next to the keys, because ids that were received before can be \
            resolved only with them. Afterwards the machines need the new keys: roll them out in the same way as \
            the profiles. Examples:

              pharos fleet keys rotate museum.json --all
              pharos fleet keys rotate museum.json --group museum/ground
            """)

    @OptionGroup var options: FleetKeyOptions
    @OptionGroup var filter: BeaconFilter

    @Flag(help: "Give every beacon of the fleet a new key.")
    var all = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard all == (filter.beacon + filter.site + filter.group).isEmpty else {
            throw ValidationError("Give either --all, or the beacons with --beacon, --site or --group.")
        }
    }

    func run() throws {
        let keys = options.fleetKeys
        let progress = ProgressLine()
        let report = try keys.rotate(filter.selection, at: .now) { progress.report($0, of: $1, "keys") }
        keys.show(report, asJSON: json)
    }
}

struct FleetKeysCollect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Copy the keys of a fleet into one file, for a fast search with `resolve`.",
        discussion: """
            Only its owner may read the file. Run the command again after keys are replaced, or beacons are added or \
            removed. `pharos fleet keys resolve ID FILE` uses the file in place of the fleet.
            """)

    @OptionGroup var options: FleetKeyOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var output: String

    func validate() throws {
        let fleet = options.source.fleet
        try OutputFiles.refuseOverwriting([("--output", output)], read: [fleet, fleet + "/manifest.json"])
    }

    func run() throws {
        let (collected, withoutKey) = try KeyRingFile.collect(options.fleetKeys, to: output)
        Terminal.writeLine("\(output): \(collected) identity keys; only you may read the file")
        if withoutKey > 0 {
            Terminal.writeMessage(options.fleetKeys.text(ofMissing: withoutKey))
        }
    }
}

struct FleetKeysAgree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agree",
        abstract: "Make identity keys with X25519, so that no secret key is sent.",
        discussion: """
            1. On the machine that resolves ids, --resolver-key-file FILE makes a private key and prints its public key.

            2. On the machine that sets up the beacons, --resolver-public-key HEX makes a key for every beacon without \
            one, and a file NAME.pub with the public key of the beacon.

            3. Copy the .pub files to the first machine. There, --resolver-key-file FILE computes the same keys.
            """)

    @Argument(
        help: "The directory that `pharos fleet generate` wrote, or the manifest.json in it.", completion: .file())
    var fleet: String?

    @Option(
        help: ArgumentHelp(
            "Directory with a key file for each beacon (default: keys, next to the fleet).",
            valueName: "directory"), completion: .directory)
    var keys: String?

    @Option(
        help: ArgumentHelp(
            "Make keys for beacons, with this public key of the machine that resolves ids.", valueName: "hex"),
        transform: Self.publicKey)
    var resolverPublicKey: FixedOctets<32>?

    @Option(
        help: ArgumentHelp(
            "File with the private key of the machine that resolves ids. It is created if it does not exist.",
            valueName: "file"),
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
            return Terminal.show(
                "\(publicKey)\n", or: .record([("publicKey", .string("\(publicKey)"))]), asJSON: json)
        }
        let report = try keys.resolve(resolverPrivateKey: privateKey) { progress.report($0, of: $1, "keys") }
        keys.show(report, asJSON: json)
        if let error = keys.missingPublicKeysError(in: report) { throw error }
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
        abstract: "Print the beacon that sent an ephemeral id. Exit with 1 if no beacon of the fleet sent it.",
        discussion: """
            An ephemeral id is valid for one rotation period. The command searches the period of the given time, the \
            period before and the period after. With --drift-s, it searches all periods that are possible with this \
            error of the beacon's clock. For a large fleet, name the file of `pharos fleet keys collect`, which is \
            much faster than a file for each beacon.
            """)

    @Argument(help: "The ephemeral id: 16 hexadecimal digits.", transform: Self.identifier)
    var id: FixedOctets<8>

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("Time of reception, such as 2026-03-01T12:00:00Z (default: now).", valueName: "time"),
        transform: Self.time)
    var at: RFC3339Time?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Largest error of the beacon's clock in seconds.", valueName: "s"), transform: Self.seconds)
    var driftS: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let question = EphemeralIDQuestion(id, at: at ?? .now, driftSeconds: driftS)
        let keys = options.fleetKeys
        let search = try EphemeralIDSearch(question, path: options.source.fleet, keys: keys)
        Terminal.show(search.text, or: search.json, asJSON: json)
        if search.withoutKey > 0 {
            Terminal.writeMessage(keys.text(ofMissing: search.withoutKey))
        }
        guard search.matches.isEmpty else { return }
        let former = keys.formerDirectories.map { "`--keys \($0)`" }.joined(separator: " or ")
        let advice = former.isEmpty ? "" : "; if the keys were replaced after that time, try \(former)"
        throw Failure(
            .failure, json ? "" : "\(id) belongs to none of \(search.triedCount) beacons at \(question.time)\(advice)")
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
