public import Configuration
public import Sightings

/// The state of one beacon, as published by one receiver or by the collector of a site.
public struct BeaconState: Hashable, Sendable {
    /// True if the beacon is present, false if it is absent; `nil` if the presence was never known.
    public var isPresent: Bool?
    /// The room of the beacon, or the last known room; `nil` if the room was never known, or the beacon is not present.
    public var room: String?
    /// The names of the zones that the beacon is inside.
    public var zones: [String]
    /// True if the properties are up to date. False if the room is unknown, or if no working receiver could detect a
    /// change. The properties are then the last known values.
    public var isKnown: Bool
    /// The mean level of the last reports, in dBm.
    public var level: Double?
    public var distance: DistanceEstimate?
    /// The time of the last report, as RFC 3339.
    public var lastHeard: String?
    /// The battery voltage from the beacon's telemetry, in millivolts.
    public var batteryMillivolts: Int?
    /// The reason in words why the room is not known; `nil` if it is known.
    public var reason: String?
    /// True if two devices send the beacon's identity.
    public var isCloned = false

    /// Creates a state.
    public init(
        isPresent: Bool?, room: String?, zones: [String] = [], isKnown: Bool, level: Double?,
        distance: DistanceEstimate?, lastHeard: String?, batteryMillivolts: Int? = nil, reason: String? = nil
    ) {
        self.isPresent = isPresent
        self.room = room
        self.zones = zones
        self.isKnown = isKnown
        self.level = level
        self.distance = distance
        self.lastHeard = lastHeard
        self.batteryMillivolts = batteryMillivolts
        self.reason = reason
    }

    /// The room as JSON. It is null if the room is not known now, so that no program reads an outdated room as the
    /// present room.
    private var roomJSON: JSONValue { .optional(isKnown ? room : nil, JSONValue.string) }

    /// The payload of `…/beacons/NAME/state`.
    public var json: JSONValue {
        .record([
            ("present", .optional(isPresent) { $0 ? "ON" : "OFF" }), ("room", roomJSON),
            ("zones", .array(zones.map(JSONValue.string))), ("known", .boolean(isKnown)),
            ("rssiDbm", .optional(level) { .integer(Int($0.rounded())) }),
            ("distanceM", Rounded.meters(distance?.meters)), ("distanceLowM", Rounded.meters(distance?.lowMeters)),
            ("distanceHighM", Rounded.meters(distance?.highMeters)),
            ("lastHeard", .optional(lastHeard, JSONValue.string)),
        ])
    }

    /// The payload of `…/beacons/NAME/attributes`. Home Assistant reads its member `in_zones` for trackers.
    public var attributes: JSONValue {
        var members: [(String, JSONValue)] = [("room", roomJSON)]
        // Home Assistant interprets an empty list as absent. So the list is left out while the presence is unknown.
        if let isPresent { members.insert(("in_zones", isPresent ? [.string(Self.homeZone)] : []), at: 0) }
        if isCloned { members.append(("cloned", true)) }
        if let reason { members.append(("reason", .string(reason))) }
        if let batteryMillivolts { members.append(("batteryV", .number(JSONNumber(thousandths: batteryMillivolts)))) }
        return .record(members)
    }

    /// The entity id of Home Assistant's predefined zone.
    static let homeZone = "zone.home"
}

/// The state of a zone.
public struct ZoneState: Hashable, Sendable {
    /// The names of the beacons inside, in the order of the file.
    public var inside: [String]
    public var isKnown: Bool
    /// The name of the receiver that has the zone.
    public var receiver: String

    /// Creates a state.
    public init(inside: [String], isKnown: Bool, receiver: String) {
        self.inside = inside
        self.isKnown = isKnown
        self.receiver = receiver
    }

    /// The payload of `…/zones/NAME/state`.
    public var json: JSONValue {
        .record([
            ("inside", .array(inside.map(JSONValue.string))), ("count", .integer(inside.count)),
            ("known", .boolean(isKnown)), ("receiver", .string(receiver)),
        ])
    }
}

/// The state of a receiver.
public struct ReceiverState: Hashable, Sendable {
    /// `listening`, `deaf`, `recovering` or `off`.
    public var state: String
    /// The time at which the receiver stopped working, as RFC 3339; `nil` while it works.
    public var deafSince: String?
    public var reportsPerSecond: Int
    /// The number of reports that have been lost since the start of the listener.
    public var lost: Int

    /// The payload of `…/receivers/NAME/state`.
    public var json: JSONValue {
        .record([
            ("state", .string(state)), ("deafSince", .optional(deafSince, JSONValue.string)),
            ("reportsPerS", .integer(reportsPerSecond)), ("lost", .integer(lost)),
        ])
    }
}

/// Rounds numbers for payloads.
package enum Rounded {
    /// Returns a number of metres, rounded to centimetres, as JSON; null for `nil`.
    static func meters(_ value: Double?) -> JSONValue { value.map { number($0, 10) } ?? .null }

    /// Returns a number as JSON, rounded to a multiple of `step` thousandths.
    package static func number(_ value: Double, _ step: Int) -> JSONValue {
        .number(JSONNumber(thousandths: Int(min(1e12, max(-1e12, (value * 1000 / Double(step)).rounded()))) * step))
    }
}

/// Limits how often the level and the distance of a beacon are published, because they change with every advertisement.
/// They are published at once if the distance has changed by at least 0.5 m, otherwise every 5 s.
public struct PublishingPace: Sendable {
    /// The pause between two publications if the distance changes little, in microseconds.
    public static let pauseMicroseconds = 5_000_000
    /// The smallest change of the distance that is published at once, in metres.
    public static let step = 0.5

    private var lastPublication: (at: HeardInstant, meters: Double?)?

    /// Creates a pace whose first publication is due at once.
    public init() {}

    /// Returns true if a publication is due, and records it as published.
    ///
    /// - Parameter meters: The distance of the beacon; `nil` if it is not known.
    public mutating func isDue(_ meters: Double?, at now: HeardInstant) -> Bool {
        if let lastPublication, now.microseconds(since: lastPublication.at) < Self.pauseMicroseconds {
            guard let meters, let lastMeters = lastPublication.meters, abs(meters - lastMeters) >= Self.step else {
                return false
            }
        }
        lastPublication = (now, meters)
        return true
    }
}
