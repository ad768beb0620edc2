public import BluetoothTypes
public import Configuration
public import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// The identity keys of a fleet, as its directory of keys holds them: one for each beacon with ephemeral ids or
/// encrypted telemetry.
public struct FleetKeys: Sendable {
    private let fleet: NamedFleet
    /// Where the keys are.
    public let directory: KeyDirectory

    /// - Parameters:
    ///   - fleet: Whose beacons need keys.
    ///   - keys: The directory of the keys; `nil` for `keys` beside the fleet file, and beside the directory that was
    ///     generated: what lies in that is replaced.
    public init(of fleet: NamedFleet, in keys: String? = nil) {
        self.fleet = fleet
        directory = KeyDirectory(keys ?? fleet.keysDirectory)
    }

    /// What became of the key of each beacon, by its name.
    public struct Report: Hashable, Sendable {
        public var made: [String] = []
        public var replaced: [String] = []
        public var kept: [String] = []
        /// Beacons without a public key, which no key can be agreed on with.
        public var missing: [String] = []
    }

    /// Is told how many of how many are done.
    public typealias Progress = (_ done: Int, _ all: Int) -> Void

    /// Makes a random key for every beacon that needs one and has none.
    ///
    /// - Parameters:
    ///   - replacing: Beacons that get another key than the one they have.
    ///   - progress: Gets how many beacons of how many have been looked at.
    /// - Throws: ``FleetStoreError/Kind/request`` where one of these needs no key.
    public func generate(
        replacing: [String] = [], progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        let rotations = try rotations()
        let names = Set(rotations.map(\.name))
        for name in replacing where !names.contains(name) {
            throw FleetStoreError(.request, "--replace \(name): there is no beacon of that name that needs a key")
        }
        return try work(on: rotations, for: "generate", progress) { (rotation, report) throws(FleetStoreError) in
            let key = IdentityKey(FixedOctets.random())
            if try directory.add(key, of: rotation) {
                report.made.append(rotation.name)
            } else if replacing.contains(rotation.name) {
                try directory.replace(key, of: rotation)
                report.replaced.append(rotation.name)
            } else {
                report.kept.append(rotation.name)
            }
        }
    }

    /// The beacons' side of an agreement by X25519: every beacon without a key gets one, and its public key beside it.
    /// Private keys are needed for one moment, and kept nowhere.
    public func agree(
        resolverPublicKey: FixedOctets<32>, progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        try work(on: rotations(), for: "agree", progress) { (rotation, report) throws(FleetStoreError) in
            guard !directory.hasKey(of: rotation) else {
                report.kept.append(rotation.name)
                return
            }
            let privateKey = FixedOctets<32>.random()
            let (key, publicKey) = try agreed { () throws(EddystoneSecurityError) in
                (
                    try IdentityKey(beaconPrivateKey: privateKey, resolverPublicKey: resolverPublicKey),
                    try IdentityKey.publicKey(of: privateKey)
                )
            }
            // First the public one: a key without it would be of no use to the resolver.
            try directory.setPublicKey(publicKey, of: rotation)
            if try directory.add(key, of: rotation) { report.made.append(rotation.name) }
        }
    }

    /// The resolver's side of the agreement, from the public keys of the beacons.
    ///
    /// - Throws: Also where a beacon has another key than the one agreed on, which is left as it is.
    public func resolve(
        resolverPrivateKey: FixedOctets<32>, progress: Progress = { _, _ in }
    ) throws(FleetStoreError) -> Report {
        try work(on: rotations(), for: "agree", progress) { (rotation, report) throws(FleetStoreError) in
            guard let publicKey = try directory.publicKey(of: rotation) else {
                report.missing.append(rotation.name)
                return
            }
            let key = try agreed { () throws(EddystoneSecurityError) in
                try IdentityKey(resolverPrivateKey: resolverPrivateKey, beaconPublicKey: publicKey)
            }
            if try directory.add(key, of: rotation) {
                report.made.append(rotation.name)
            } else if try directory.key(of: rotation)?.octets == key.octets {
                report.kept.append(rotation.name)
            } else {
                throw FleetStoreError(
                    .invalid,
                    "\(directory.path)\(rotation.keyName) is another key than the one agreed on; it was left as it is")
            }
        }
    }

    /// Goes through the beacons that need keys, alone in the directory, and makes sure that new keys outlast a power cut.
    ///
    /// - Parameter command: Of `pharos fleet keys`, for whoever finds the directory in use.
    private func work(
        on rotations: [BeaconRotation], for command: String, _ progress: Progress,
        _ body: (BeaconRotation, inout Report) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) -> Report {
        let claim = try rotations.isEmpty ? nil : directory.claim("pharos fleet keys \(command)")
        defer { claim?.release() }
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

    private func agreed<Value>(
        _ agree: () throws(EddystoneSecurityError) -> Value
    ) throws(FleetStoreError) -> Value {
        do throws(EddystoneSecurityError) {
            return try agree()
        } catch {
            throw FleetStoreError(.invalid, "\(error)")
        }
    }
}

extension FleetKeys {
    /// What was done, in one line.
    public func text(of report: Report) -> String {
        let parts = [(report.made, "made"), (report.replaced, "replaced"), (report.kept, "kept")]
            .filter { !$0.0.isEmpty }
        guard !parts.isEmpty else { return "No beacon of this fleet has ephemeral ids or encrypted telemetry.\n" }
        return "Identity keys in \(directory.path): "
            + parts.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ") + "\n"
    }

    /// The same for programs, with the names.
    public func json(of report: Report) -> JSONValue {
        func list(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
        return .record([
            ("directory", .string(directory.path)), ("made", list(report.made)), ("replaced", list(report.replaced)),
            ("kept", list(report.kept)),
        ])
    }

    /// Says which beacons have no public key to agree with; `nil` where all have.
    public func lack(in report: Report) -> FleetStoreError? {
        guard !report.missing.isEmpty else { return nil }
        let names = report.missing.prefix(5).joined(separator: ", ") + (report.missing.count > 5 ? ", …" : "")
        return FleetStoreError(
            .missing, "\(directory.path): the public keys of \(report.missing.count) beacons are missing: \(names)")
    }
}
