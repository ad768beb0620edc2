internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

/// A fleet that somebody named: its file, the directory that `fleet generate` wrote, or the manifest in it.
struct NamedFleet {
    let path: String

    /// The directory that the fleet lies in, with its last slash.
    var directory: String { FleetFiles.folder(of: file) }

    private var file: String {
        Files.isDirectory(path) ? path + (path.hasSuffix("/") ? "" : "/") + "manifest.json" : path
    }

    /// The whole manifest: as it lies there, or as the fleet file with its lock makes it.
    func manifest() throws -> FleetManifest {
        guard let octets = try written() else {
            let generator = try lockedGenerator()
            var manifest = FleetManifest(fleet: generator.fleetName)
            FleetManifest.forEachBeacon(of: generator) { manifest.beacons.append($0) }
            return manifest
        }
        let (manifest, problems) = FleetManifest.decode(octets)
        guard let manifest else {
            let lines = problems.filter { $0.severity == .error }.map { $0.text(file: file) }
            throw Failure(.dataFormat, lines.joined(separator: "\npharos: "))
        }
        return manifest
    }

    /// One beacon after the other, so that a million of them need no memory.
    func forEachBeacon(_ body: (FleetManifest.Beacon) -> Void) throws {
        if let octets = try written() {
            _ = try read(octets, body)
        } else {
            FleetManifest.forEachBeacon(of: try lockedGenerator(), body)
        }
    }

    /// The same for a question in which no identity plays a part: those that are in no lock yet do not matter, only what
    /// is wrong with the fleet does.
    ///
    /// - Returns: The fleet's name.
    func forEachPlannedBeacon(_ body: (FleetManifest.Beacon) -> Void) throws -> String {
        if let octets = try written() { return try read(octets, body) }
        let (fleet, allocation, _) = try checked()
        FleetManifest.forEachBeacon(of: FleetGenerator(fleet, allocation), body)
        return fleet.name
    }

    /// What the fleet sends, whether its beacons have identities yet or not.
    func traffic() throws -> (name: String, traffic: FleetTraffic) {
        guard let octets = try written() else {
            let (fleet, _, report) = try checked()
            return (fleet.name, report.traffic)
        }
        var traffic = FleetTraffic()
        var fault: String?
        let name = try read(octets) { beacon in
            if !traffic.add(beacon) { fault = fault ?? beacon.name }
        }
        if let fault { throw Self.silent(fault, file) }
        return (name, traffic)
    }

    /// The profiles of these beacons of its manifest: those that lie beside it, or as the fleet file makes them.
    func profiles(of beacons: [FleetManifest.Beacon]) throws -> [(name: String, text: [UInt8])] {
        guard try written() == nil else {
            return try beacons.map { beacon in
                let path = directory + beacon.name + ".json"
                let text = try InputFile.read(path, limit: 1 << 24)
                guard Fingerprint.text(of: text) == beacon.profileHash else {
                    throw Failure(
                        .configuration,
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
    static func silent(_ beacon: String, _ file: String) -> Failure {
        Failure(
            .dataFormat,
            "\(file): the beacon \(ProblemText.quoted(beacon)) sends nothing, or at an interval that no controller knows "
                + "(20 ms...10485.76 s)")
    }

    /// The manifest's text as it lies there; `nil` where a fleet file is named.
    private func written() throws -> [UInt8]? {
        let octets = try InputFile.read(file, limit: 1 << 31)
        return Files.isDirectory(path) || octets.starts(with: FleetManifest.firstOctets) ? octets : nil
    }

    private func read(_ octets: [UInt8], _ body: (FleetManifest.Beacon) -> Void) throws -> String {
        do throws(FileProblem) {
            return try FleetManifest.forEachBeacon(in: octets, body)
        } catch {
            throw Failure(.dataFormat, error.text(file: file))
        }
    }

    /// The fleet file's beacons with the identities that the lock has for them.
    private func lockedGenerator() throws -> FleetGenerator {
        var files = try FleetFiles(file)
        guard !files.hasErrors, let fleet = files.fleet, let allocation = files.allocate() else { throw files.refusal }
        // An identity that is in no lock yet is nobody's.
        guard allocation.changes.added == 0 else {
            throw Failure(
                .configuration,
                "\(file): \(allocation.changes.added) of its beacons have no identity yet; `pharos fleet generate` gives "
                    + "them theirs")
        }
        return FleetGenerator(fleet, allocation)
    }

    /// The fleet file's beacons, with identities as they have them or would get them, and without an error.
    private func checked() throws -> (Fleet, FleetAllocation, FleetReport) {
        var files = try FleetFiles(file)
        guard !files.hasErrors, let fleet = files.fleet, let allocation = files.allocate() else { throw files.refusal }
        let report = fleet.check(allocation)
        files.add(report.problems)
        guard !files.hasErrors else { throw files.refusal }
        return (fleet, allocation, report)
    }
}
