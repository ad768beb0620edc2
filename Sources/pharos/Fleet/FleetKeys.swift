internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

struct FleetKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Keeps the identity keys of beacons with ephemeral ids.",
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
            valueName: "directory"))
    var keys: String?

    var directory: KeyDirectory { KeyDirectory(keys ?? source.directory + "keys") }

    /// The beacons that need keys.
    func rotations() throws -> [BeaconRotation] {
        do {
            return try BeaconRotation.all(in: source.manifest())
        } catch let error as BeaconRotationError {
            throw Failure(.configuration, "\(source.fleet): \(error)")
        }
    }

    /// One beacon that needs a key after the other, with its key where it has one.
    func forEachKey(_ body: (FleetManifest.Beacon, BeaconRotation, IdentityKey?) throws -> Void) throws {
        let directory = directory
        var failure: (any Error)?
        try source.forEachBeacon { beacon in
            guard failure == nil else { return }
            do {
                guard let rotation = try BeaconRotation(beacon) else { return }
                try body(beacon, rotation, try directory.key(of: rotation))
            } catch let error as BeaconRotationError {
                failure = Failure(.configuration, "\(source.fleet): \(error)")
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

extension IdentityKey {
    /// Any 16 octets from the system's generator.
    static func random() -> IdentityKey { IdentityKey(FixedOctets.random()) }
}

extension FixedOctets {
    /// Octets from the system's generator, which is good for keys.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        var octets = Self()
        for index in 0..<count { octets[index] = UInt8.random(in: 0...255, using: &generator) }
        return octets
    }
}

/// What became of each beacon's key.
struct KeyReport {
    var directory: String
    var made: [String] = []
    var replaced: [String] = []
    var kept: [String] = []

    var json: JSONValue {
        .record([
            ("directory", .string(directory)), ("made", .array(made.map(JSONValue.string))),
            ("replaced", .array(replaced.map(JSONValue.string))), ("kept", .array(kept.map(JSONValue.string))),
        ])
    }

    func show(asJSON: Bool) {
        if asJSON { return Terminal.write(json.line + "\n") }
        guard !(made + replaced + kept).isEmpty else {
            return Terminal.write("No beacon of this fleet has ephemeral ids or encrypted telemetry.\n")
        }
        let parts = [(made, "made"), (replaced, "replaced"), (kept, "kept")].filter { !$0.0.isEmpty }
        Terminal.write(
            "Identity keys in \(directory): " + parts.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ") + "\n")
    }
}

struct FleetKeysGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Makes a random identity key for every beacon that needs one and has none.",
        discussion: "Keys that are there stay as they are, unless --replace names their beacon.")

    @OptionGroup var options: FleetKeyOptions

    @Option(
        help: ArgumentHelp("Give this beacon a new key; may be given more than once.", valueName: "name"))
    var replace: [String] = []

    @Flag(help: "One JSON object.")
    var json = false

    func run() throws {
        let rotations = try options.rotations()
        let names = Set(rotations.map(\.name))
        for name in replace where !names.contains(name) {
            throw Failure(.usage, "--replace \(name): there is no beacon of that name that needs a key")
        }
        let directory = options.directory
        var report = KeyReport(directory: directory.path)
        if !rotations.isEmpty { try directory.make() }
        for rotation in rotations {
            if try directory.add(.random(), of: rotation) {
                report.made.append(rotation.name)
            } else if replace.contains(rotation.name) {
                try directory.replace(.random(), of: rotation)
                report.replaced.append(rotation.name)
            } else {
                report.kept.append(rotation.name)
            }
        }
        if !report.made.isEmpty { try directory.synchronize() }
        report.show(asJSON: json)
    }
}
