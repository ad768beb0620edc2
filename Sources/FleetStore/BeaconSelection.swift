public import Fleet

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
