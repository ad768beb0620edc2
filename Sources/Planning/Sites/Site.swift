public import Airtime
public import BluetoothTypes
public import Configuration

/// A floor plan from a site file. All values are checked, and have the types that the models use.
public struct Site: Sendable {
    public var name: String
    /// The picture that is drawn behind the floor; nil if the file has no picture.
    public var picture: Picture?
    /// The outline of the floor; nil if the file has no outline.
    public var outline: FloorOutline?
    public var walls: [Wall]
    public var beacons: [SiteBeacon]
    /// The fleet that contains the beacons; nil if the site file itself lists the beacons.
    public var fleet: FleetReference?
    public var paths: [Path]
    /// The rooms. Where two rooms overlap, a position belongs to the first room.
    public var rooms: [Room] = []
    public var receivers: [Receiver] = []
    /// The possible positions of beacons; empty if any position on the floor is possible.
    public var mounts: [FloorPosition]
    /// The path loss, the shadowing and the sensitivity of receivers.
    public var radio: SiteRadio
    /// The share of the time in which other devices occupy each channel, 0..<1.
    public var backgroundLoad: ChannelLoads
    /// The scanner of all visitors, or the scanners of the visitors with their shares.
    public var scanners: ScannerMix
    public var target: SiteCoverage.Target
    /// False if the file has no target. In this case ``target`` is ``SiteCoverage/Target/usual``.
    public var hasOwnTarget = true
    /// The values of beacons for which the file sets no values, and of proposed beacons.
    public var defaults: Defaults

    /// The fleet of this site's beacons. The caller reads the fleet and sets ``beacons``.
    public struct FleetReference: Sendable {
        /// The path as written in the file: a fleet file, the folder that `fleet generate` wrote, or the manifest in
        /// this folder; relative to the site file.
        public var path: String
        /// The name of a site of the fleet; nil if the fleet has only one site.
        public var site: String?
        /// The floor of that site; `nil` for all floors.
        public var floor: String?
        /// The reference in the site file, with its position for messages.
        public var node: JSONNode
    }

    /// A path on which people walk.
    public struct Path: Sendable {
        public var name: String
        public var walk: SiteWalk
    }

    /// A room of the floor.
    public struct Room: Hashable, Sendable {
        public let name: String
        public let outline: FloorOutline

        public init(name: String, outline: FloorOutline) {
            (self.name, self.outline) = (name, outline)
        }
    }

    /// The values of beacons for which the file sets no values.
    public struct Defaults: Hashable, Sendable {
        /// T, the advertising interval in µs.
        public var intervalMicroseconds = 500_000.0
        public var payloadOctets = 31
        /// The radiated power in dBm.
        public var radioPower = 0.0
    }

    /// The version of the file format.
    public static let version = 1

    /// The rectangle around the outline, or around everything if there is no outline; `nil` for a site without an
    /// outline, walls, beacons, paths and mounts.
    public var bounds: FloorBounds? {
        if let outline { return FloorBounds(outline.corners) }
        return FloorBounds(
            walls.flatMap { [$0.from, $0.to] } + beacons.map(\.position) + paths.flatMap(\.walk.corners) + mounts)
    }
}

/// A beacon at a position, with its interval, airtime and power.
public struct SiteBeacon: Hashable, Sendable {
    public let name: String
    public let position: FloorPosition
    /// T, the advertising interval in µs; with a pattern, the constant interval with the same mean number of events per
    /// second.
    public let intervalMicroseconds: Double
    /// The pattern of intervals; nil for a constant interval.
    public let pattern: AdvertisingPattern?
    /// tau, the airtime of a packet in µs; with extended PDUs, of the packet on one primary channel.
    public let airtimeMicroseconds: Double
    /// The radiated power in dBm.
    public let radioPower: Double
    /// The other advertisements of this beacon, each with a count of 1. Their packets collide with packets of other
    /// beacons, but never with packets of this beacon.
    public let companions: [AdvertiserGroup]
    /// A group of one advertiser that sends the beacon's advertisement.
    package let group: AdvertiserGroup

    /// - Parameter extended: The auxiliary packets of extended PDUs; nil for legacy PDUs.
    ///
    /// Throws the errors of `AdvertiserGroup`, and throws for positions that are not finite, and for a radio power
    /// outside -127...20 dBm.
    public init(
        name: String, position: FloorPosition, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        radioPower: Double, pattern: AdvertisingPattern? = nil, extended: ExtendedTraffic? = nil,
        companions: [AdvertiserGroup] = []
    ) throws(AirtimeError) {
        group = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds,
            extended: extended)
        guard position.x.isFinite, position.y.isFinite else {
            throw .quantity(name: "a position", value: position.x.isFinite ? position.y : position.x)
        }
        guard radioPower >= -127, radioPower <= 20 else {
            throw .quantity(name: "a radio power in dBm (-127...20)", value: radioPower)
        }
        self.name = name
        self.position = position
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
        self.radioPower = radioPower
        self.pattern = pattern
        self.companions = companions
    }

    /// The bytes of advertising data.
    public var payloadOctets: Int {
        group.extended?.payloadOctets ?? PacketTiming.payloadOctets(airtimeMicroseconds: airtimeMicroseconds)
    }
}

/// The path loss, the shadowing and the sensitivity of receivers on a floor.
public struct SiteRadio: Hashable, Sendable {
    /// The mean loss over a distance, without walls.
    public let pathLoss: PathLoss
    /// σ of the shadowing on each link, in dB.
    public let shadowing: Double
    /// The weakest power that is received, in dBm.
    public let sensitivity: Double

    /// Throws for a shadowing outside 0...20 dB and a sensitivity outside -130...0 dBm.
    public init(
        pathLoss: PathLoss, shadowing: Double, sensitivity: Double
    ) throws(AirtimeError) {
        guard shadowing >= 0, shadowing <= 20 else {
            throw .quantity(name: "a shadowing in dB (0...20)", value: shadowing)
        }
        guard sensitivity >= -130, sensitivity <= 0 else {
            throw .quantity(name: "a sensitivity in dBm (-130...0)", value: sensitivity)
        }
        self.shadowing = shadowing
        self.sensitivity = sensitivity
        self.pathLoss = pathLoss
    }

    /// Returns the mean loss in dB over a distance in m.
    func meanLoss(_ distance: Double) -> Double { (try? pathLoss.decibels(atMeters: distance)) ?? .infinity }

    /// Returns the distance in m, at most `limit`, up to which a transmitter is received if shadowing raises its level
    /// by `deviations` standard deviations. With 4 deviations, the probability of reception beyond this distance is
    /// below 1 in 30,000.
    func reach(radioPower: Double, limit: Double, deviations: Double = 4) -> Double {
        let acceptableLoss = radioPower - sensitivity + deviations * shadowing
        guard meanLoss(limit) > acceptableLoss else { return limit }
        var (near, far) = (0.0, limit)
        for _ in 0..<40 {
            let middle = (near + far) / 2
            if meanLoss(middle) > acceptableLoss { far = middle } else { near = middle }
        }
        return far
    }
}
