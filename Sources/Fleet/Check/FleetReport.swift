internal import Airtime
public import Configuration

/// What ``Fleet/check(_:keys:)`` found.
public struct FleetReport: Sendable {
    /// In the order of the files.
    public var problems: [FileProblem]
    public var beacons: Int
    public var sites: [Site]
    /// What is sent where.
    public var traffic = FleetTraffic()

    public var isGood: Bool { !problems.contains(where: \.isError) }

    /// The air of one site, as if every receiver heard all of it.
    public struct Site: Hashable, Sendable {
        /// Empty for beacons without a site.
        public var name: String
        public var beacons: Int
        public var advertisements: Int
        /// How likely a packet meets no other one on its channel; `nil` where the model does not say.
        public var collisionFreeProbability: Double?

        init(_ site: FleetTraffic.Site) {
            name = site.name
            beacons = site.beacons
            advertisements = site.advertisements
            collisionFreeProbability = (try? site.collisions())?.collisionFreeProbability
        }
    }
}

/// Which identity keys lie in a fleet's folder for them.
public struct FleetKeyFolder: Sendable {
    /// As the fleet file names it.
    public var path: String
    /// The names of all files in it; `nil` where there is no such folder.
    public var files: Set<String>?
    /// Those of them that others may read.
    public var exposed: Set<String>

    public init(path: String, files: Set<String>?, exposed: Set<String> = []) {
        self.path = path
        self.files = files
        self.exposed = exposed
    }
}
