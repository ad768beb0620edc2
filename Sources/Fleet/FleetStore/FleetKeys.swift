public import BluetoothTypes
public import Configuration
public import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// The identity keys of a fleet in its directory of keys: a key for each beacon with ephemeral ids or encrypted
/// telemetry.
public struct FleetKeys: Sendable {
    private let fleet: NamedFleet
    /// The directory of the keys.
    public let directory: KeyDirectory

    /// - Parameters:
    ///   - fleet: The fleet whose beacons need keys.
    ///   - keys: The directory of the keys; `nil` for `keys` next to the fleet file. The directory of the keys cannot
    ///     be inside the generated directory, which is replaced as a whole.
    public init(of fleet: NamedFleet, in keys: String? = nil) {
        self.fleet = fleet
        directory = KeyDirectory(keys ?? fleet.keysDirectory)
    }

    /// The names of the beacons whose keys were made, replaced or kept.
    public struct Report: Equatable, Sendable {
        public var made: [String] = []
        public var replaced: [String] = []
        public var kept: [String] = []
        /// Beacons whose public key is missing.
        public var missing: [String] = []
        /// The directory with the former keys of the beacons in ``replaced``, with a slash at the end.
        public var former: String?
    }

    /// Receives the number of finished beacons and the total number.
    public typealias Progress = (_ done: Int, _ all: Int) -> Void

    /// Makes a random key for every beacon that needs a key and has none.
    ///
    /// - Parameters:
    ///   - replacing: The names of beacons that get a new key even if they have a key. Their former keys are kept as in
    ///     ``rotate(_:at:progress:)``.
    ///   - now: The time, which becomes part of the name of the directory with the former keys; `nil` for the present.
    /// - Throws: ``FleetStoreError/Kind/request`` when one of the beacons in `replacing` needs no key, or has a key
    ///   that was agreed on with a resolver.
    public func generate(
        replacing: [String] = [], at now: RFC3339Time? = nil, progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        let rotations = try rotations()
        let names = Set(rotations.map(\.name))
        for name in replacing where !names.contains(name) {
            throw FleetStoreError(.request, "--replace \(name): there is no beacon of that name that needs a key")
        }
        let formerKeys = formerDirectory(at: now ?? .now)
        let changeLock = try lock(
            formerKeys, replacing: rotations.filter { replacing.contains($0.name) }, for: "generate")
        defer { changeLock?.release() }
        var report = try work(on: rotations, for: "generate", progress) {
            (rotation, report) throws(FleetStoreError) in
            if replacing.contains(rotation.name), try replaceKey(of: rotation, keepingIn: formerKeys) {
                report.replaced.append(rotation.name)
            } else if try directory.add(IdentityKey(FixedOctets.random()), of: rotation) {
                report.made.append(rotation.name)
            } else {
                report.kept.append(rotation.name)
            }
        }
        if !report.replaced.isEmpty { report.former = formerKeys.path }
        return report
    }

    /// Gives beacons new random keys, and keeps the former keys in a separate directory next to the directory of the
    /// keys. The former keys can resolve ids that were received earlier, or ids from machines that do not have the new
    /// keys yet.
    ///
    /// - Parameters:
    ///   - selection: The beacons that get new keys. Beacons that need no key are left out.
    ///   - now: The time, which becomes part of the name of the directory with the former keys.
    /// - Throws: ``FleetStoreError/Kind/request`` when none of the beacons needs a key, and when the key of a beacon
    ///   was agreed on with a resolver.
    public func rotate(
        _ selection: BeaconSelection, at now: RFC3339Time, progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        let names = Set(try selection.beacons(of: fleet.manifest().beacons, in: fleet.path).map(\.name))
        let selectedRotations = try rotations().filter { names.contains($0.name) }
        guard !names.isEmpty else {
            throw FleetStoreError(.request, "\(fleet.path): no beacon matches all of the given options")
        }
        guard !selectedRotations.isEmpty else {
            throw FleetStoreError(
                .request,
                names.count == 1
                    ? "\(fleet.path): this beacon has neither ephemeral ids nor encrypted telemetry"
                    : "\(fleet.path): none of these \(names.count) beacons has ephemeral ids or encrypted telemetry")
        }
        let formerKeys = formerDirectory(at: now)
        let changeLock = try lock(formerKeys, replacing: selectedRotations, for: "rotate")
        defer { changeLock?.release() }
        var report = try work(on: selectedRotations, for: "rotate", progress) {
            (rotation, report) throws(FleetStoreError) in
            if try replaceKey(of: rotation, keepingIn: formerKeys) {
                report.replaced.append(rotation.name)
            } else if try directory.add(IdentityKey(FixedOctets.random()), of: rotation) {
                report.made.append(rotation.name)
            }
        }
        if !report.replaced.isEmpty { report.former = formerKeys.path }
        return report
    }

    /// The directories with former keys next to the directory of the keys, oldest first.
    public var formerDirectories: [String] {
        let keys = String(directory.path.dropLast())
        let parent = Files.directory(of: keys)
        let start = "\(keys.dropFirst(parent.count))-before-"
        return Files.names(in: parent.isEmpty ? "." : parent).sorted().filter { $0.hasPrefix(start) }
            .map { parent + $0 }
    }

    /// The directory for keys that are replaced at a time, next to the directory of the keys.
    private func formerDirectory(at now: RFC3339Time) -> KeyDirectory {
        let timeText = "\(now)".filter { $0 != ":" }
        return KeyDirectory(directory.path.dropLast() + "-before-" + timeText)
    }

    /// Takes the right to change the directory of former keys, if any of the beacons has a key.
    ///
    /// - Throws: ``FleetStoreError/Kind/request`` when the key of a beacon was agreed on with a resolver; also when a
    ///   key cannot be read.
    private func lock(
        _ formerKeys: KeyDirectory, replacing rotations: [BeaconRotation], for command: String
    ) throws(FleetStoreError) -> FileLock? {
        for rotation in rotations where try directory.publicKey(of: rotation) != nil {
            throw FleetStoreError(
                .request,
                "\(directory.path)\(rotation.publicKeyName): the key of \(rotation.name) was agreed on with a resolver, and "
                    + "nothing was changed; remove this file and the key, and run `pharos fleet keys agree` again")
        }
        // All keys are read first: otherwise a key that cannot be read could end the work when only some of the beacons
        // have new keys.
        for rotation in rotations { _ = try directory.key(of: rotation) }
        guard rotations.contains(where: { directory.hasKey(of: $0) }) else { return nil }
        return try formerKeys.lock("pharos fleet keys \(command)")
    }

    /// Gives a beacon a new random key, and keeps its former key in `formerKeys`.
    ///
    /// - Returns: `false` if the beacon has no key yet; nothing is changed then.
    private func replaceKey(
        of rotation: BeaconRotation, keepingIn formerKeys: KeyDirectory
    ) throws(FleetStoreError) -> Bool {
        guard let oldKey = try directory.key(of: rotation) else { return false }
        guard try formerKeys.add(oldKey, of: rotation) else {
            throw FleetStoreError(
                .request, "\(formerKeys.path)\(rotation.keyName) exists; wait a second and try again")
        }
        try formerKeys.synchronize()
        try directory.replace(IdentityKey(FixedOctets.random()), of: rotation)
        return true
    }

    /// Makes keys with X25519 on the side of the beacons. Every beacon without an identity key gets an identity key and
    /// a public key. The private keys are not stored.
    public func agree(
        resolverPublicKey: FixedOctets<32>, progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        try work(on: rotations(), for: "agree", progress) { (rotation, report) throws(FleetStoreError) in
            guard !directory.hasKey(of: rotation) else {
                report.kept.append(rotation.name)
                return
            }
            let privateKey = FixedOctets<32>.random()
            let (key, publicKey) = try Self.rethrowing { () throws(EddystoneSecurityError) in
                (
                    try IdentityKey(beaconPrivateKey: privateKey, resolverPublicKey: resolverPublicKey),
                    try IdentityKey.publicKey(of: privateKey)
                )
            }
            // The public key is stored first, because the resolver could not compute the identity key without it.
            try directory.setPublicKey(publicKey, of: rotation)
            if try directory.add(key, of: rotation) { report.made.append(rotation.name) }
        }
    }

    /// Makes keys with X25519 on the side of the resolver, from the public keys of the beacons.
    ///
    /// - Throws: ``FleetStoreError``, also when a beacon already has another key. The other key is not changed.
    public func resolve(
        resolverPrivateKey: FixedOctets<32>, progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        try work(on: rotations(), for: "agree", progress) { (rotation, report) throws(FleetStoreError) in
            guard let publicKey = try directory.publicKey(of: rotation) else {
                report.missing.append(rotation.name)
                return
            }
            let key = try Self.rethrowing { () throws(EddystoneSecurityError) in
                try IdentityKey(resolverPrivateKey: resolverPrivateKey, beaconPublicKey: publicKey)
            }
            if try directory.add(key, of: rotation) {
                report.made.append(rotation.name)
            } else if try directory.key(of: rotation)?.octets == key.octets {
                report.kept.append(rotation.name)
            } else {
                throw FleetStoreError(
                    .invalid,
                    "\(directory.path)\(rotation.keyName) differs from the key that was agreed on; it was not "
                        + "changed")
            }
        }
    }

    /// Calls `body` for each beacon that needs a key while no other process changes the directory, and then makes the
    /// new keys durable.
    ///
    /// - Parameter command: The subcommand of `pharos fleet keys`, for the messages of other processes.
    private func work(
        on rotations: [BeaconRotation], for command: String, _ progress: Progress,
        _ body: (BeaconRotation, inout Report) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) -> Report {
        let changeLock = try rotations.isEmpty ? nil : directory.lock("pharos fleet keys \(command)")
        defer { changeLock?.release() }
        var report = Report()
        for (done, rotation) in rotations.enumerated() {
            progress(done, rotations.count)
            try body(rotation, &report)
        }
        if !report.made.isEmpty { try directory.synchronize() }
        return report
    }

    /// Calls `body` for every beacon that needs a key, with its key if it has one.
    public func forEach(
        _ body: (FleetManifest.Beacon, BeaconRotation, IdentityKey?) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) {
        for beacon in try fleet.manifest().beacons {
            let rotation: BeaconRotation?
            do throws(BeaconRotationError) {
                rotation = try BeaconRotation(beacon)
            } catch {
                throw FleetStoreError(.invalid, "\(fleet.path): \(error)")
            }
            if let rotation { try body(beacon, rotation, try directory.key(of: rotation)) }
        }
    }

    /// The beacons that need keys.
    private func rotations() throws(FleetStoreError) -> [BeaconRotation] {
        let manifest = try fleet.manifest()
        do throws(BeaconRotationError) {
            return try BeaconRotation.all(in: manifest)
        } catch {
            throw FleetStoreError(.invalid, "\(fleet.path): \(error)")
        }
    }

    /// Calls `body`, and throws its error as a ``FleetStoreError``.
    private static func rethrowing<Value>(
        _ body: () throws(EddystoneSecurityError) -> Value
    ) throws(FleetStoreError) -> Value {
        do throws(EddystoneSecurityError) {
            return try body()
        } catch {
            throw FleetStoreError(.invalid, "\(error)")
        }
    }
}

extension FleetKeys {
    /// A sentence about the beacons that need a key and have none in the directory of the keys; `nil` if all these
    /// beacons have a key, and also if none of them has a key.
    public func missingKeys() throws(FleetStoreError) -> String? {
        let rotations = try rotations()
        let missing = rotations.filter { !directory.hasKey(of: $0) }.map(\.name)
        guard !missing.isEmpty, missing.count < rotations.count else { return nil }
        return FleetFiles.missingKeys(missing, in: directory.path)
    }

    /// The report in one line, and the next steps if keys were replaced.
    public func text(of report: Report) -> String {
        let parts = [(report.made, "made"), (report.replaced, "replaced"), (report.kept, "kept")]
            .filter { !$0.0.isEmpty }
        guard !parts.isEmpty else {
            return report.missing.isEmpty ? "No beacon of this fleet has ephemeral ids or encrypted telemetry.\n" : ""
        }
        return "Identity keys in \(directory.path): "
            + parts.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ") + "\n"
            + (report.former.map(Self.nextSteps) ?? "")
    }

    private static func nextSteps(_ formerDirectory: String) -> String {
        """
        The former keys are in \(formerDirectory).
        Next:
          1. Roll the new keys out (`pharos fleet export ansible`). Until then the beacons send ids of the former keys.
          2. Run `pharos fleet keys collect` again if you use its file, and reload the listeners that resolve ids.
          3. Resolve earlier ids with `pharos fleet keys resolve ID FLEET --keys \(formerDirectory)`.
             Remove that directory when you no longer need it.

        """
    }

    /// The report as JSON, with the names.
    public func json(of report: Report) -> JSONValue {
        func list(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
        return .record(
            [
                ("directory", .string(directory.path)), ("made", list(report.made)),
                ("replaced", list(report.replaced)),
                ("kept", list(report.kept)),
            ] + (report.former.map { [("formerKeys", .string($0))] } ?? []))
    }

    /// The error that names the beacons whose public key is missing; `nil` when there are none.
    public func missingPublicKeysError(in report: Report) -> FleetStoreError? {
        guard !report.missing.isEmpty else { return nil }
        let names = report.missing.prefix(5).joined(separator: ", ") + (report.missing.count > 5 ? ", …" : "")
        return FleetStoreError(
            .missing, "\(directory.path): the public keys of \(report.missing.count) beacons are missing: \(names)")
    }
}
