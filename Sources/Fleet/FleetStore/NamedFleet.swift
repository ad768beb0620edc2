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

    /// The whole manifest: as it lies there, or as the fleet file with its lock makes it.
    ///
    /// - Parameter progress: Gets how many beacons of how many are made from a fleet file, one after the other.
    public func manifest(
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(FleetStoreError) -> FleetManifest {
        guard let octets = try written() else {
            let generator = try lockedGenerator()
            var manifest = FleetManifest(fleet: generator.fleetName)
            while generator.next() {
                if let beacon = generator.beacon { manifest.beacons.append(beacon) }
                progress(generator.done, generator.count)
            }
            return manifest
        }
        let (manifest, problems) = FleetManifest.decode(octets)
        guard let manifest else {
            throw FleetStoreError(.malformed, problems.filter(\.isError).map { $0.text(file: file) })
        }
        return manifest
    }

    /// One beacon after the other, so that a million of them need no memory.
    ///
    /// - Throws: Also what `body` throws, and then no further beacon is handed to it.
    public func forEachBeacon(
        _ body: (FleetManifest.Beacon) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) {
        if let octets = try written() {
            _ = try read(octets, body)
        } else {
            try Self.forEachBeacon(of: try lockedGenerator(), body)
        }
    }

    /// The same for a question in which no identity plays a part: those that are in no lock yet do not matter, only what
    /// is wrong with the fleet does.
    ///
    /// - Returns: The fleet's name.
    public func forEachPlannedBeacon(
        _ body: (FleetManifest.Beacon) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) -> String {
        if let octets = try written() { return try read(octets, body) }
        let (fleet, allocation, _) = try checked()
        try Self.forEachBeacon(of: FleetGenerator(fleet, allocation), body)
        return fleet.name
    }

    /// What the fleet sends, whether its beacons have identities yet or not.
    ///
    /// - Throws: Also where a beacon of a manifest cannot be on the air.
    public func traffic() throws(FleetStoreError) -> (name: String, traffic: FleetTraffic) {
        guard let octets = try written() else {
            let (fleet, _, report) = try checked()
            return (fleet.name, report.traffic)
        }
        var traffic = FleetTraffic()
        let name = try read(octets) { (beacon) throws(FleetStoreError) in
            guard traffic.add(beacon) else { throw Self.silent(beacon.name, file) }
        }
        return (name, traffic)
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
        let generator = try lockedGenerator()
        var profiles: [(name: String, text: [UInt8])] = []
        while generator.next() {
            if names.contains(generator.name) { profiles.append((generator.name, generator.profile)) }
        }
        return profiles
    }

    /// What is said of a beacon of a manifest that cannot be on the air.
    public static func silent(_ beacon: String, _ file: String) -> FleetStoreError {
        FleetStoreError(
            .malformed,
            "\(file): the beacon \(ProblemText.quoted(beacon)) sends nothing, or at an interval that no controller knows "
                + "(20 ms...10485.76 s)")
    }

    /// The manifest's text as it lies there; `nil` where a fleet file is named.
    private func written() throws(FleetStoreError) -> [UInt8]? {
        let octets = try SourceFile.readNamed(file, limit: 1 << 31)
        return Files.isDirectory(path) || octets.starts(with: FleetManifest.firstOctets) ? octets : nil
    }

    private func read(
        _ octets: [UInt8], _ body: (FleetManifest.Beacon) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) -> String {
        var failure: FleetStoreError?
        let name: String
        do throws(FileProblem) {
            name = try FleetManifest.forEachBeacon(in: octets) { beacon in
                guard failure == nil else { return }
                do throws(FleetStoreError) { try body(beacon) } catch { failure = error }
            }
        } catch {
            throw FleetStoreError(.malformed, error.text(file: file))
        }
        if let failure { throw failure }
        return name
    }

    private static func forEachBeacon(
        of generator: FleetGenerator, _ body: (FleetManifest.Beacon) throws(FleetStoreError) -> Void
    ) throws(FleetStoreError) {
        while generator.next() {
            if let beacon = generator.beacon { try body(beacon) }
        }
    }

    /// The fleet file's beacons with the identities that the lock has for them.
    private func lockedGenerator() throws(FleetStoreError) -> FleetGenerator {
        var files = try FleetFiles(file)
        let (fleet, allocation) = try files.allocated()
        // An identity that is in no lock yet is nobody's.
        guard allocation.changes.added == 0 else {
            throw FleetStoreError(
                .invalid,
                "\(file): \(allocation.changes.added) of its beacons have no identity yet; `pharos fleet generate` gives "
                    + "them theirs")
        }
        return FleetGenerator(fleet, allocation)
    }

    /// The fleet file's beacons, with identities as they have them or would get them, and without an error.
    private func checked() throws(FleetStoreError) -> (Fleet, FleetAllocation, FleetReport) {
        var files = try FleetFiles(file)
        let (fleet, allocation) = try files.allocated()
        let report: FleetReport
        do throws(SystemError) {
            report = try FleetAssembly.check(fleet, allocation, keys: nil)
        } catch {
            throw FleetStoreError(error, at: file)
        }
        files.add(report.problems)
        guard !files.hasErrors else { throw files.refusal }
        return (fleet, allocation, report)
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
