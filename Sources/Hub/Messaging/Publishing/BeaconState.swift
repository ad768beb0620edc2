public import Configuration
public import Sightings

/// What is said of one beacon, by one receiver or by all of a site.
public struct BeaconState: Hashable, Sendable {
    /// `nil` before that was ever known.
    public var isPresent: Bool?
    /// Where it is; `nil` where nobody knows, or it is nowhere here.
    public var room: String?
    /// The zones that it is in.
    public var zones: [String]
    /// Whether somebody hears who would notice a change: otherwise everything here is what was known last.
    public var isKnown: Bool
    /// The mean of what was heard last, in dBm.
    public var level: Double?
    public var distance: DistanceEstimate?
    /// When it was heard last, as RFC 3339.
    public var lastHeard: String?
    /// Of its telemetry, in millivolts.
    public var batteryMillivolts: Int?

    /// See the properties of the same names.
    public init(
        isPresent: Bool?, room: String?, zones: [String] = [], isKnown: Bool, level: Double?,
        distance: DistanceEstimate?, lastHeard: String?, batteryMillivolts: Int? = nil
    ) {
        self.isPresent = isPresent
        self.room = room
        self.zones = zones
        self.isKnown = isKnown
        self.level = level
        self.distance = distance
        self.lastHeard = lastHeard
        self.batteryMillivolts = batteryMillivolts
    }

    /// What stands under `…/beacons/NAME/state`.
    public var json: JSONValue {
        .record([
            ("present", .optional(isPresent) { $0 ? "ON" : "OFF" }), ("room", .optional(room, JSONValue.string)),
            ("zones", .array(zones.map(JSONValue.string))), ("known", .boolean(isKnown)),
            ("rssiDbm", .optional(level) { .integer(Int($0.rounded())) }),
            ("distanceM", Rounded.meters(distance?.meters)), ("distanceLowM", Rounded.meters(distance?.lowMeters)),
            ("distanceHighM", Rounded.meters(distance?.highMeters)),
            ("lastHeard", .optional(lastHeard, JSONValue.string)),
        ])
    }

    /// What stands under `…/beacons/NAME/attributes`: `in_zones` is what Home Assistant reads of trackers.
    public var attributes: JSONValue {
        var members: [(String, JSONValue)] = [
            ("in_zones", isPresent == true ? [.string(Self.homeZone)] : []),
            ("room", .optional(room, JSONValue.string)),
        ]
        if let batteryMillivolts { members.append(("batteryV", .number(JSONNumber(thousandths: batteryMillivolts)))) }
        return .record(members)
    }

    /// Home Assistant's zone around itself.
    static let homeZone = "zone.home"
}

/// What is in a zone.
public struct ZoneState: Hashable, Sendable {
    /// The names of the beacons, in the order of the file.
    public var inside: [String]
    public var isKnown: Bool

    /// See the properties of the same names.
    public init(inside: [String], isKnown: Bool) {
        self.inside = inside
        self.isKnown = isKnown
    }

    /// What stands under `…/zones/NAME/state`.
    public var json: JSONValue {
        .record([
            ("inside", .array(inside.map(JSONValue.string))), ("count", .integer(inside.count)),
            ("known", .boolean(isKnown)),
        ])
    }
}

/// How a receiver hears.
public struct ReceiverState: Hashable, Sendable {
    /// `listening`, `deaf`, `recovering` or `off`.
    public var state: String
    /// RFC 3339; `nil` while it hears.
    public var deafSince: String?
    public var reportsPerSecond: Int
    /// Reports that were lost since it began.
    public var lost: Int

    /// See the properties of the same names.
    public init(state: String, deafSince: String?, reportsPerSecond: Int, lost: Int) {
        self.state = state
        self.deafSince = deafSince
        self.reportsPerSecond = reportsPerSecond
        self.lost = lost
    }

    /// What stands under `…/receivers/NAME/state`.
    public var json: JSONValue {
        .record([
            ("state", .string(state)), ("deafSince", .optional(deafSince, JSONValue.string)),
            ("reportsPerS", .integer(reportsPerSecond)), ("lost", .integer(lost)),
        ])
    }
}

/// Numbers as they are published.
enum Rounded {
    /// To centimetres.
    static func meters(_ value: Double?) -> JSONValue { value.map { number($0, 10) } ?? .null }

    /// To so many thousandths.
    static func number(_ value: Double, _ step: Int) -> JSONValue {
        .number(JSONNumber(thousandths: Int(min(1e12, max(-1e12, (value * 1000 / Double(step)).rounded()))) * step))
    }
}

/// Levels and distances change with every advertisement. They are told at once where the beacon has moved by half a metre,
/// otherwise every five seconds.
public struct PublishingPace: Hashable, Sendable {
    /// 5 s, in microseconds.
    public static let restMicroseconds = 5_000_000
    /// In metres.
    public static let step = 0.5

    private var last: (at: HeardInstant, meters: Double?)?

    /// Nothing was told.
    public init() {}

    /// Whether it is time to tell of a beacon that is now so far away, and notes that it was told.
    ///
    /// - Parameter meters: `nil` where nobody knows.
    public mutating func isDue(_ meters: Double?, at now: HeardInstant) -> Bool {
        if let last, now.microseconds(since: last.at) < Self.restMicroseconds {
            guard let meters, let before = last.meters, abs(meters - before) >= Self.step else { return false }
        }
        last = (now, meters)
        return true
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.last?.at == right.last?.at && left.last?.meters == right.last?.meters
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(last?.at)
        hasher.combine(last?.meters)
    }
}
