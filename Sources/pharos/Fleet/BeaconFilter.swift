internal import ArgumentParser
internal import Fleet

/// Which beacons of a fleet are meant: those that satisfy every option that is given.
struct BeaconFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only this beacon. May be repeated.", valueName: "name"))
    var beacon: [String] = []

    @Option(help: ArgumentHelp("Only beacons of this site. May be repeated.", valueName: "name"))
    var site: [String] = []

    @Option(
        help: ArgumentHelp("Only beacons of this group, such as museum/ground. May be repeated.", valueName: "path"),
        completion: .file())
    var group: [String] = []

    /// The beacons that are left, in their order.
    ///
    /// - Throws: A ``Failure`` that names what the fleet does not have.
    func apply(to beacons: [FleetManifest.Beacon], of fleet: String) throws -> [FleetManifest.Beacon] {
        let groups = group.map { $0.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }
        try refuseUnknown(beacon, "--beacon", "beacon", fleet, Set(beacons.map(\.name)))
        try refuseUnknown(site, "--site", "site", fleet, Set(beacons.compactMap(\.site)))
        for (text, path) in zip(group, groups) where !beacons.contains(where: { $0.group.starts(with: path) }) {
            try refuseUnknown([text], "--group", "group", fleet, [])
        }
        let (names, sites) = (Set(beacon), Set(site))
        return beacons.filter { beacon in
            (names.isEmpty || names.contains(beacon.name))
                && (sites.isEmpty || beacon.site.map(sites.contains) == true)
                && (groups.isEmpty || groups.contains { beacon.group.starts(with: $0) })
        }
    }

    private func refuseUnknown(
        _ names: [String], _ option: String, _ kind: String, _ fleet: String, _ known: Set<String>
    ) throws {
        guard let name = names.first(where: { !known.contains($0) }) else { return }
        throw Failure(.usage, "\(option) \(name): there is no \(kind) of that name in \(fleet)")
    }
}
