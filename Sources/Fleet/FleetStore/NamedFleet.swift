internal import Configuration
internal import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// A fleet that somebody named: its file, the directory that `fleet generate` wrote, or the manifest in it.
public struct NamedFleet: Sendable {
    /// As it was named.
    public let path: String

    /// - Parameter path: Of the fleet file, the directory or the manifest; nothing is read yet.
    public init(path: String) { self.path = path }

    /// The directory that the fleet lies in, with its last slash; empty for the directory where we are.
    public var directory: String { SourceFile.directory(of: file) }

    /// Where its keys lie unless somebody says otherwise: beside the fleet file, and so beside the directory that was
    /// generated from it. Keys that lie in that directory already stay theirs.
    var keysDirectory: String {
        let inside = directory + "keys"
        guard file.hasSuffix("/manifest.json") || file == "manifest.json", !Files.isDirectory(inside) else {
            return inside
        }
        return directory.isEmpty ? "../keys" : SourceFile.directory(of: String(directory.dropLast())) + "keys"
    }

    private var file: String {
        Files.isDirectory(path) ? path + (path.hasSuffix("/") ? "" : "/") + "manifest.json" : path
    }

    /// The whole manifest: the one that was generated, or the one that the fleet file and its lock make.
    ///
    /// - Parameter progress: Gets how many beacons of how many are made from a fleet file.
    public func manifest(
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetManifest {
        if let manifest = try written() { return manifest }
        var files = try FleetFiles(file)
        let (fleet, allocation) = try locked(&files)
        return try files.manifest(fleet, allocation, progress: progress)
    }

    /// The manifest for a question in which identities play no part. Beacons of a fleet file may have no identity yet.
    public func plannedManifest() throws(FleetStoreError) -> FleetManifest {
        if let manifest = try written() { return manifest }
        var files = try FleetFiles(file)
        return try files.manifest()
    }

    /// The advertisements of each site, whether the beacons have identities yet or not.
    ///
    /// - Throws: Also when a beacon of a manifest sends nothing, or at an interval that no controller supports.
    public func traffic() throws(FleetStoreError) -> (name: String, traffic: FleetTraffic) {
        guard let manifest = try written() else {
            var files = try FleetFiles(file)
            let (fleet, allocation) = try files.allocated()
            let report = try files.check(fleet, allocation, ignoringKeys: true)
            guard !files.hasErrors else { throw files.refusal }
            return (fleet.name, report.traffic)
        }
        var traffic = FleetTraffic()
        for beacon in manifest.beacons {
            guard traffic.add(beacon) else { throw Self.silent(beacon.name, file) }
        }
        return (manifest.fleet, traffic)
    }

    /// The profiles of these beacons of its manifest: those that lie beside it, or as the fleet file makes them.
    ///
    /// - Throws: Also where a profile is another one than its manifest was made with.
    public func profiles(
        of beacons: [FleetManifest.Beacon]
    ) throws(FleetStoreError) -> [(name: String, text: [UInt8])] {
        guard try written() == nil else {
            return try beacons.map { (beacon) throws(FleetStoreError) in
                let path = directory + beacon.name + ".json"
                let text = try SourceFile.read(path, limit: 1 << 24)
                guard Fingerprint.text(of: text) == beacon.profileHash else {
                    throw FleetStoreError(
                        .invalid,
                        "\(path): this is not the profile that the manifest beside it was made with; `pharos fleet "
                            + "generate` makes both anew")
                }
                return (beacon.name, text)
            }
        }
        let names = Set(beacons.map(\.name))
        var files = try FleetFiles(file)
        let (fleet, allocation) = try locked(&files)
        let generator = FleetGenerator(fleet, allocation)
        return (0..<generator.count).map { generator.beacon($0) }
            .filter { $0.beacon != nil && names.contains($0.name) }.map { ($0.name, $0.profile) }
    }

    /// What is said of a beacon of a manifest that cannot be on the air.
    public static func silent(_ beacon: String, _ file: String) -> FleetStoreError {
        FleetStoreError(
            .malformed,
            "\(file): the beacon \(ProblemText.quoted(beacon)) sends nothing, or at an interval that no controller knows "
                + "(20 ms...10485.76 s)")
    }

    /// The manifest that was generated; `nil` when a fleet file is named.
    private func written() throws(FleetStoreError) -> FleetManifest? {
        let octets = try SourceFile.readNamed(file, limit: 1 << 30)
        guard Files.isDirectory(path) || octets.starts(with: FleetManifest.firstOctets) else { return nil }
        let (manifest, problems) = FleetManifest.decode(octets)
        guard let manifest else {
            throw FleetStoreError(.malformed, problems.filter(\.isError).map { $0.text(file: file) })
        }
        return manifest
    }

    /// The fleet file's beacons with the identities that the lock has for them.
    private func locked(
        _ files: inout FleetFiles
    ) throws(FleetStoreError) -> (fleet: Fleet, allocation: FleetAllocation) {
        let (fleet, allocation) = try files.allocated()
        // An identity that is in no lock yet may be given to another beacon.
        guard allocation.changes.added == 0 else {
            throw FleetStoreError(
                .invalid,
                "\(file): \(allocation.changes.added) of its beacons have no identity yet; run `pharos fleet generate`")
        }
        return (fleet, allocation)
    }
}

/// Which beacons of a fleet are meant: those that satisfy every part that is not empty.
public struct BeaconSelection: Sendable {
    /// Only beacons of these names.
    public var names: [String]
    /// Only beacons of these sites.
    public var sites: [String]
    /// Only beacons of these groups, such as `museum/ground`, and of those below them.
    public var groups: [String]

    /// All beacons, unless a part is given.
    public init(names: [String] = [], sites: [String] = [], groups: [String] = []) {
        self.names = names
        self.sites = sites
        self.groups = groups
    }

    /// The beacons that are left, in their order.
    ///
    /// - Parameter fleet: How errors call the fleet.
    /// - Throws: ``FleetStoreError/Kind/request``, naming the first part that no beacon has.
    public func beacons(
        of beacons: [FleetManifest.Beacon], in fleet: String
    ) throws(FleetStoreError) -> [FleetManifest.Beacon] {
        let paths = groups.map { $0.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }
        let knownNames = Set(beacons.map(\.name))
        if let name = names.first(where: { !knownNames.contains($0) }) { throw Self.unknown("beacon", name, fleet) }
        let knownSites = Set(beacons.compactMap(\.site))
        if let site = sites.first(where: { !knownSites.contains($0) }) { throw Self.unknown("site", site, fleet) }
        for (group, path) in zip(groups, paths) where !beacons.contains(where: { $0.group.starts(with: path) }) {
            throw Self.unknown("group", group, fleet)
        }
        let (wantedNames, wantedSites) = (Set(names), Set(sites))
        return beacons.filter { beacon in
            (names.isEmpty || wantedNames.contains(beacon.name))
                && (sites.isEmpty || beacon.site.map(wantedSites.contains) == true)
                && (groups.isEmpty || paths.contains { beacon.group.starts(with: $0) })
        }
    }

    private static func unknown(_ kind: String, _ name: String, _ fleet: String) -> FleetStoreError {
        FleetStoreError(.request, "--\(kind) \(name): there is no \(kind) of that name in \(fleet)")
    }
}
