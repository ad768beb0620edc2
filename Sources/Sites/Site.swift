public import Airtime
public import Configuration

/// A floor plan as a site file describes it: checked, in the models' own types.
public struct Site: Sendable {
    public var name: String
    /// The floor's outline; `nil` where the file has none.
    public var outline: FloorOutline?
    public var walls: [Wall]
    public var beacons: [SiteBeacon]
    /// Where the beacons come from instead; `nil` where the file lists them itself.
    public var fleet: FleetReference?
    public var paths: [Path]
    /// Where beacons can be mounted; empty where anywhere on the floor will do.
    public var mounts: [FloorPosition]
    /// How radio waves reach a receiver here, and what it can still hear.
    public var radio: SiteRadio
    /// The share of the channel that strangers keep busy, 0..<1.
    public var backgroundLoad: Double
    public var scanner: ScannerPreset
    public var target: SiteSurvey.Target
    /// What beacons are that say nothing of themselves, and those that are proposed.
    public var defaults: Defaults

    /// The fleet whose beacons stand here. Who reads the site reads the fleet, too, and puts them into ``beacons``.
    public struct FleetReference: Sendable {
        /// As it stands in the file: a fleet file, the folder that `fleet generate` wrote, or the manifest in it,
        /// relative to the site file.
        public var path: String
        /// Which of its sites; `nil` where it has one only.
        public var site: String?
        /// Which floor of that; `nil` for all.
        public var floor: String?
        /// Where in the site file it is named.
        public var node: JSONNode
    }

    /// A way that people walk.
    public struct Path: Sendable {
        public var name: String
        public var walk: SiteWalk
    }

    /// What a beacon is that does not say otherwise.
    public struct Defaults: Hashable, Sendable {
        /// T in µs.
        public var intervalMicroseconds = 500_000.0
        public var payloadOctets = 31
        /// dBm.
        public var radioPower = 0.0
    }

    /// The version of the file format.
    public static let version = 1

    /// The rectangle around the outline, around everything where there is none; `nil` for a site with neither an
    /// outline, walls, beacons, paths nor mounts.
    public var bounds: FloorBounds? {
        if let outline { return FloorBounds(outline.corners) }
        return FloorBounds(
            walls.flatMap { [$0.from, $0.to] } + beacons.map(\.position) + paths.flatMap(\.walk.corners) + mounts)
    }
}
