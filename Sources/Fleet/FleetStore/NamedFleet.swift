public import Configuration
internal import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// A fleet on the command line: the fleet file, the directory that `fleet generate` wrote, or the manifest in it.
public struct NamedFleet: Sendable {
    /// The path on the command line.
    public let path: String

    /// `true` if another file contains the path. The path must then be that of a regular file, because reading a pipe
    /// could wait forever.
    private let isNamedInFile: Bool

    /// Creates a fleet without reading its files.
    ///
    /// - Parameters:
    ///   - path: The fleet file, the directory or the manifest.
    ///   - isNamedInFile: `true` if another file names the path, `false` if the user does.
    public init(path: String, isNamedInFile: Bool = false) {
        self.path = path
        self.isNamedInFile = isNamedInFile
    }

    /// The directory of the fleet with a slash at the end; empty for the current directory.
    public var directory: String { Files.directory(of: file) }

    /// The default directory of the keys: `keys` next to the fleet file, and so next to the directory that was
    /// generated from it. A directory `keys` that exists in the generated directory is used instead.
    var keysDirectory: String {
        let inside = directory + "keys"
        guard file.hasSuffix("/manifest.json") || file == "manifest.json", !Files.isDirectory(inside) else {
            return inside
        }
        return directory.isEmpty ? "../keys" : Files.directory(of: String(directory.dropLast())) + "keys"
    }

    private var file: String {
        Files.isDirectory(path) ? path + (path.hasSuffix("/") ? "" : "/") + "manifest.json" : path
    }

    /// The manifest that `fleet generate` wrote, or the manifest made from the fleet file and its lock.
    ///
    /// - Parameter progress: Receives the number of finished beacons and the total number, if the manifest is made from
    ///   a fleet file.
    public func manifest(
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetManifest {
        if let manifest = try generatedManifest() { return manifest }
        var files = try FleetFiles(file)
        let allocation = try files.locked()
        return try files.manifest(allocation, progress: progress)
    }

    /// The names of the columns of the fleet's table, by the values that they contain; empty for a manifest.
    public func columnNames() throws(FleetStoreError) -> [String: String] {
        try generatedManifest() == nil ? FleetFiles(file).fleet?.columnNames ?? [:] : [:]
    }

    /// The paths of the fleet file, its lock and its tables; empty for a manifest.
    public func sources() throws(FleetStoreError) -> [String] {
        try generatedManifest() == nil ? FleetFiles(file).sources : []
    }

    /// The manifest, for uses that do not depend on identities. Beacons without an identity get the identity that
    /// `fleet generate` would give them now.
    public func plannedManifest() throws(FleetStoreError) -> FleetManifest {
        if let manifest = try generatedManifest() { return manifest }
        var files = try FleetFiles(file)
        let allocation = try files.allocated()
        return try files.manifest(allocation)
    }

    /// The manifest, and the profile of each of its beacons. Beacons without an identity get the identity that `fleet
    /// generate` would give them now.
    public func plannedProfiles() throws(FleetStoreError) -> (
        manifest: FleetManifest, profiles: [(name: String, text: [UInt8])]
    ) {
        if let manifest = try generatedManifest() { return (manifest, try profiles(of: manifest.beacons)) }
        var files = try FleetFiles(file)
        let allocation = try files.allocated()
        let manifest = try files.manifest(allocation)
        let profiles = (0..<allocation.count).map { allocation.beacon($0) }.filter { $0.beacon != nil }
        return (manifest, profiles.map { ($0.name, $0.profile) })
    }

    /// The advertisements of each site. Beacons may have no identity yet.
    ///
    /// - Throws: ``FleetStoreError``, also when a beacon of a manifest has no advertisements, or an interval that no
    ///   controller supports.
    public func traffic() throws(FleetStoreError) -> (name: String, traffic: FleetTraffic) {
        guard let manifest = try generatedManifest() else {
            var files = try FleetFiles(file)
            let allocation = try files.allocated()
            let traffic = try files.check(allocation, keys: nil)
            guard !files.hasErrors else { throw files.refusal }
            return (allocation.fleet.name, traffic)
        }
        var traffic = FleetTraffic()
        for beacon in manifest.beacons {
            guard traffic.add(beacon) else { throw Self.silentBeaconError(beacon.name, file) }
        }
        return (manifest.fleet, traffic)
    }

    /// The profiles of beacons of the manifest: the files next to the manifest, or the profiles that are made from the
    /// fleet file.
    ///
    /// - Throws: ``FleetStoreError``, also when a file has changed since the manifest was written.
    public func profiles(
        of beacons: [FleetManifest.Beacon]
    ) throws(FleetStoreError) -> [(name: String, text: [UInt8])] {
        guard try generatedManifest() == nil else {
            return try beacons.map { (beacon) throws(FleetStoreError) in
                let path = directory + beacon.name + ".json"
                let text = try SourceFile.read(path, limit: 1 << 24)
                guard Fingerprint.text(of: text) == beacon.profileHash else {
                    throw FleetStoreError(
                        .invalid,
                        "\(path): this profile does not belong to the manifest next to it; run `pharos fleet generate` "
                            + "to write both again")
                }
                return (beacon.name, text)
            }
        }
        let names = Set(beacons.map(\.name))
        var files = try FleetFiles(file)
        let allocation = try files.locked()
        return (0..<allocation.count).map { allocation.beacon($0) }
            .filter { $0.beacon != nil && names.contains($0.name) }.map { ($0.name, $0.profile) }
    }

    /// The error for a beacon of a manifest that no controller can send.
    public static func silentBeaconError(_ beacon: String, _ file: String) -> FleetStoreError {
        FleetStoreError(
            .malformed,
            "\(file): the beacon \(ProblemText.quoted(beacon)) sends nothing, or sends at an interval that no controller "
                + "supports "
                + "(20 ms...10485.76 s)")
    }

    /// The manifest that `fleet generate` wrote; `nil` when the path is that of a fleet file.
    private func generatedManifest() throws(FleetStoreError) -> FleetManifest? {
        let isDirectory = Files.isDirectory(path)
        return try FleetManifest.read(file, isManifest: isDirectory, mustBeRegular: isDirectory || isNamedInFile)
    }
}

extension FleetManifest {
    /// The maximum size of a manifest, in bytes.
    static let sizeLimit = 1 << 30

    /// Reads `manifest.json`.
    ///
    /// - Parameters:
    ///   - isManifest: `true` if a file that is not a manifest is an error.
    ///   - mustBeRegular: `true` if the file must be a regular file, because another file names it.
    /// - Returns: `nil` when the file does not begin like a manifest.
    static func read(
        _ path: String, isManifest: Bool = false, mustBeRegular: Bool = false
    ) throws(FleetStoreError) -> FleetManifest? {
        let octets =
            try mustBeRegular
            ? SourceFile.read(path, limit: sizeLimit) : SourceFile.readArgument(path, limit: sizeLimit)
        guard isManifest || octets.starts(with: firstOctets) else { return nil }
        return try checked(decode(octets), path)
    }

    /// Reads `manifest.csv`, which does not contain the name of the fleet.
    static func readTable(_ path: String) throws(FleetStoreError) -> FleetManifest {
        try checked(decodeCSV(try SourceFile.readArgument(path, limit: sizeLimit), fleet: "old"), path)
    }

    private static func checked(
        _ result: (manifest: FleetManifest?, problems: [FileProblem]), _ path: String
    ) throws(FleetStoreError) -> FleetManifest {
        if let manifest = result.manifest { return manifest }
        throw FleetStoreError(.malformed, result.problems.filter(\.isError).map { $0.text(file: path) })
    }
}

extension FleetDiff {
    /// Compares the fleet file at `file` with an earlier state.
    ///
    /// - Parameter path: A directory that `fleet generate` wrote, a manifest (JSON or CSV), or an older fleet file. An
    ///   older fleet file that has no lock gets the identities of the lock of `file`.
    public init(of file: String, against path: String) throws(FleetStoreError) {
        var files = try FleetFiles(file)
        let allocation = try files.allocated()
        let new = try files.manifest(allocation)
        let old = try Self.earlierManifest(path, allocation.lock)
        self.init(from: old, to: path.hasSuffix(".csv") ? new.asInTable : new)
    }

    /// Warnings about a comparison that may be misleading: some beacons would get other identities, or the lock is lost
    /// and all beacons would get new identities.
    public static func warnings(of file: String, against path: String) throws(FleetStoreError) -> [FileProblem] {
        var files = try FleetFiles(file)
        let lostLockWarning = files.lostLockFault(path).map {
            let advice = "; without it, all beacons have new identities in this comparison; restore the lock"
            return FileProblem($0 + advice, at: .init(line: 1, column: 1), severity: .warning, in: files.lockFile)
        }
        return [lostLockWarning].compactMap { $0 } + (try files.allocated().renumberingWarnings)
    }

    private static func earlierManifest(_ name: String, _ lock: FleetLock) throws(FleetStoreError) -> FleetManifest {
        let path = Files.isDirectory(name) ? name + "/manifest.json" : name
        if path.hasSuffix(".csv") { return try FleetManifest.readTable(path) }
        if let manifest = try FleetManifest.read(path) { return manifest }
        var files = try FleetFiles(path)
        files.useWithoutLockFile(lock)
        let allocation = try files.allocated()
        return try files.manifest(allocation)
    }
}

/// A selection of beacons of a fleet. A beacon must match each list that is not empty.
public struct BeaconSelection: Sendable {
    /// The names of the selected beacons; empty for all names.
    public var names: [String]
    /// The sites of the selected beacons; empty for all sites.
    public var sites: [String]
    /// The groups of the selected beacons, such as `museum/ground`, with their subgroups; empty for all groups.
    public var groups: [String]

    /// Selects all beacons when all lists are empty.
    public init(names: [String] = [], sites: [String] = [], groups: [String] = []) {
        self.names = names
        self.sites = sites
        self.groups = groups
    }

    /// The selected beacons, in their order.
    ///
    /// - Parameter fleet: The name of the fleet in messages.
    /// - Throws: ``FleetStoreError/Kind/request`` for the first name, site or group that the fleet does not have.
    public func beacons(
        of beacons: [FleetManifest.Beacon], in fleet: String
    ) throws(FleetStoreError) -> [FleetManifest.Beacon] {
        let paths = groups.map { $0.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }
        let knownNames = Set(beacons.map(\.name))
        if let name = names.first(where: { !knownNames.contains($0) }) {
            throw Self.unknownNameError("beacon", name, fleet, knownNames)
        }
        let knownSites = Set(beacons.compactMap(\.site))
        if let site = sites.first(where: { !knownSites.contains($0) }) {
            throw Self.unknownNameError("site", site, fleet, knownSites)
        }
        for (group, path) in zip(groups, paths) where !beacons.contains(where: { $0.group.starts(with: path) }) {
            let knownGroups = beacons.reduce(into: Set<String>()) { known, beacon in
                for depth in beacon.group.indices { known.insert(beacon.group[...depth].joined(separator: "/")) }
            }
            throw Self.unknownNameError("group", group, fleet, knownGroups)
        }
        let (wantedNames, wantedSites) = (Set(names), Set(sites))
        return beacons.filter { beacon in
            (names.isEmpty || wantedNames.contains(beacon.name))
                && (sites.isEmpty || beacon.site.map(wantedSites.contains) == true)
                && (groups.isEmpty || paths.contains { beacon.group.starts(with: $0) })
        }
    }

    private static func unknownNameError(
        _ kind: String, _ name: String, _ fleet: String, _ known: Set<String>
    ) -> FleetStoreError {
        // Users often give a group without the groups around it.
        let fullPaths = known.filter { $0.hasSuffix("/" + name) }
        let nearest = fullPaths.count == 1 ? fullPaths.first : NearestWord.find(name, among: known.sorted())
        let listedNames =
            known.count <= 10 && !known.isEmpty ? "; it has \(known.sorted().joined(separator: ", "))" : ""
        return FleetStoreError(
            .request,
            "--\(kind) \(name): there is no \(kind) of that name in \(fleet)"
                + (nearest.map { "; did you mean \"\($0)\"?" } ?? listedNames))
    }
}
