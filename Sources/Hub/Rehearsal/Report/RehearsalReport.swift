public import Airtime
public import Configuration
public import Sites

/// The result of a rehearsal: the promises with the measured values and, if requested, a period of the rehearsal to
/// play.
public struct RehearsalReport: Sendable {
    /// A beacon of the fleet.
    public struct Beacon: Hashable, Sendable {
        public var name: String
        /// The beacon's position on the floor; nil without a floor.
        public var position: FloorPosition?

        public init(name: String, position: FloorPosition?) {
            self.name = name
            self.position = position
        }
    }

    /// A planted fault.
    public struct Fault: Hashable, Sendable {
        /// The kind of the fault, as in the faults file, such as `stops`.
        public var kind: String
        /// The name of the beacon, or of the receiver with `deaf`; empty for faults of the whole site.
        public var subject: String
        /// The beginning of the fault, in s from the beginning of the rehearsal.
        public var atS: Double
        /// True if a broken promise names this fault as its reason.
        public var isFound: Bool

        public init(kind: String, subject: String, atS: Double, isFound: Bool) {
            self.kind = kind
            self.subject = subject
            self.atS = atS
            self.isFound = isFound
        }
    }

    /// The version of Pharos.
    public var version: String
    /// The path of the fleet file, or of the site file that names the fleet.
    public var file: String
    /// The name of the fleet.
    public var fleet: String
    /// The seeds of the runs that the report combines, in ascending order.
    public var seeds: [UInt64]
    /// The simulated time of one run, in hours.
    public var hours: Double
    /// The number of phones.
    public var phones: Int
    /// The scanners of the phones in words, such as `android-balanced`.
    public var scanners: String
    /// The floor with walls, paths, rooms, receivers and the picture; nil without a site file.
    public var site: Site?
    public var beacons: [Beacon]
    /// The promises: first the broken promises, then the promises that cannot be judged, then the promises that hold.
    public var promises: [RehearsalPromise]
    public var faults: [Fault]
    /// Assumptions and limits, one sentence each.
    public var notes: [String]
    /// The arguments of the command that repeats the run, such as `rehearse museum.json --seed 1`.
    public var replay: String
    /// The period of the rehearsal to play; nil if none was requested.
    public var playback: RehearsalPlayback?
    /// The counts from which the report was made. They are needed to add other runs. Nil for a sample report.
    var tallies: RehearsalTallies?

    /// Creates a report without promises, faults and notes.
    public init(
        version: String, file: String, fleet: String, seeds: [UInt64], hours: Double, phones: Int, scanners: String,
        site: Site?, beacons: [Beacon], replay: String
    ) {
        self.version = version
        self.file = file
        self.fleet = fleet
        self.seeds = seeds
        self.hours = hours
        self.phones = phones
        self.scanners = scanners
        self.site = site
        self.beacons = beacons
        self.replay = replay
        promises = []
        faults = []
        notes = []
    }

    /// True if no promise is broken.
    public var holds: Bool { !promises.contains { $0.verdict == .broken } }

    /// The report as JSON.
    public var json: JSONValue { .record(members) }

    /// The keys of the report with their values.
    var members: [(String, JSONValue)] {
        [
            ("version", .string(version)), ("file", .string(file)), ("fleet", .string(fleet)),
            ("seeds", .array(seeds.map { .integer($0) })), ("hours", .rounded(hours)), ("phones", .integer(phones)),
            ("scanners", .string(scanners)), ("holds", .boolean(holds)), ("replay", .string(replay)),
            ("floor", .optional(site) { Self.floor($0) }),
            (
                "beacons",
                .array(
                    beacons.map {
                        .record([
                            ("name", .string($0.name)), ("position", .optional($0.position) { Self.point($0) }),
                        ])
                    })
            ),
            ("promises", .array(promises.map(\.json))),
            (
                "faults",
                .array(
                    faults.map {
                        .record([
                            ("kind", .string($0.kind)), ("subject", .string($0.subject)), ("atS", .rounded($0.atS)),
                            ("isFound", .boolean($0.isFound)),
                        ])
                    })
            ),
            ("notes", .array(notes.map { .string($0) })), ("play", .optional(playback) { $0.json }),
            ("tallies", .optional(tallies) { $0.json }),
        ]
    }

    private static func point(_ position: FloorPosition) -> JSONValue {
        .array([.rounded(position.x), .rounded(position.y)])
    }

    private static func points(_ positions: [FloorPosition]) -> JSONValue { .array(positions.map { point($0) }) }

    /// The floor as JSON. Coordinates are in metres.
    private static func floor(_ site: Site) -> JSONValue {
        .record([
            ("name", .string(site.name)), ("outline", points(site.outline?.corners ?? [])),
            (
                "walls",
                .array(
                    site.walls.map {
                        .record([
                            ("from", point($0.from)), ("to", point($0.to)), ("attenuationDb", .rounded($0.attenuation)),
                        ])
                    })
            ),
            (
                "paths",
                .array(
                    site.paths.map {
                        .record([
                            ("name", .string($0.name)), ("points", points($0.walk.corners)),
                            ("speedMps", .rounded($0.walk.speed)),
                        ])
                    })
            ),
            (
                "rooms",
                .array(
                    site.rooms.map {
                        .record([("name", .string($0.name)), ("outline", points($0.outline.corners))])
                    })
            ),
            (
                "receivers",
                .array(
                    site.receivers.map {
                        .record([("name", .string($0.name)), ("position", point($0.position))])
                    })
            ),
            (
                "target",
                .record([
                    ("detectWithinS", .rounded(site.target.seconds)),
                    ("probability", .rounded(site.target.probability)),
                ])
            ),
        ])
    }
}
