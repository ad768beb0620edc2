internal import BluetoothTypes
public import Configuration
public import Sightings

/// A moment of this run, or one before it, of which only the wall clock is known.
public enum ZoneMoment: Hashable, Sendable {
    case heard(HeardInstant)
    /// In microseconds since 1970.
    case unix(Int64)
}

/// Something that happened in a zone.
public struct ZoneEvent: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case enter
        case exit
        /// Somebody has been inside for as long as the zone's rule says.
        case dwell
        /// Nothing could be heard for 5 s: nobody knows who is inside.
        case unknown
        /// It can be heard again.
        case known
    }

    /// Why a zone was left.
    public enum Cause: String, Hashable, Sendable {
        /// The beacon was too far, or too weak.
        case level
        /// The beacon was silent for longer than losses explain.
        case silence
        /// Another zone of the exclusive group is nearer.
        case exclusive
    }

    public let kind: Kind
    /// From 1, without a gap, in the order of the events.
    public let sequence: Int
    /// The zone's place among the rules.
    public let zoneIndex: Int
    public let zone: String
    /// Whom it is about; `nil` where it is about the zone as a whole.
    public let beacon: String?
    public let instant: HeardInstant
    /// When it was entered; of `unknown` and `known` since when nothing could be heard.
    public let since: ZoneMoment
    /// How many of the zone's dwell times have been told.
    public let dwells: Int
    public let cause: Cause?
    /// The median in the window, in dBm; `nil` where it says nothing.
    public let level: Double?
    /// In metres; `nil` where it cannot be told.
    public let distance: Double?
    public let proof: ZoneRule.Proof
    /// With the attachments in their places.
    public let content: ZoneRule.Content?
    public let attachments: [ZoneBeacon.Attachment]
    /// Whether the beacon has its own place in the zone; otherwise all beacons of the zone share one.
    public let isOfOne: Bool
}

extension ZoneEvent {
    /// What a line of JSON says beside the event itself.
    public struct Telling: Sendable {
        /// Who tells: the name of the listener.
        public var receiver: String
        /// What all ids of one run begin with.
        public var boot: String
        /// Whether the wall clock is known to be right, in a word.
        public var clock: String
        /// What the wall clock showed, in microseconds since 1970; `nil` where nobody knows.
        public var unixMicroseconds: @Sendable (HeardInstant) -> Int64?

        /// See the properties of the same names.
        public init(
            receiver: String, boot: String, clock: String,
            unixMicroseconds: @escaping @Sendable (HeardInstant) -> Int64?
        ) {
            self.receiver = receiver
            self.boot = boot
            self.clock = clock
            self.unixMicroseconds = unixMicroseconds
        }

        /// When a moment was by the wall clock.
        public func unix(_ moment: ZoneMoment) -> Int64? {
            switch moment {
            case .heard(let instant): unixMicroseconds(instant)
            case .unix(let time): time
            }
        }
    }

    /// The id that no other event has: `BOOT-SEQ`.
    public func id(_ telling: Telling) -> String { "\(telling.boot)-\(sequence)" }

    /// How long it has lasted, in microseconds; `nil` where nobody knows.
    public func lastedMicroseconds(_ telling: Telling) -> Int? {
        switch since {
        case .heard(let start): instant.microseconds(since: start)
        case .unix(let start): telling.unixMicroseconds(instant).map { Int(clamping: max(0, $0 &- start)) }
        }
    }

    /// Writes the event as one line.
    public func write(_ telling: Telling, into row: inout JSONRow) {
        row.beginObject()
        row.add("event", kind.rawValue)
        row.add("id", id(telling))
        row.add("zone", zone)
        row.add("beacon", beacon)
        row.add("receiver", telling.receiver)
        row.add("at", telling.unixMicroseconds(instant).map(Self.time))
        row.add("since", telling.unix(since).map(Self.time))
        row.add("dwellS", thousandths: beacon == nil ? nil : lastedMicroseconds(telling).map { ($0 + 500) / 1000 })
        row.add("cause", cause?.rawValue)
        row.add("rssiDbm", thousandths: level.map { Int(($0 * 1000).rounded()) })
        row.add("distanceM", thousandths: distance.map { Int((min(1e6, $0) * 100).rounded()) * 10 })
        row.add("clock", telling.clock)
        row.add("proof", proof.rawValue)
        row.add("content", Self.value(content))
        row.add("attachments", .object(attachments.map { .init($0.key, .string($0.text)) }))
        row.endObject()
    }

    private static func value(_ content: ZoneRule.Content?) -> JSONValue {
        .optional(content) {
            .record([
                ("title", .optional($0.title, JSONValue.string)), ("body", .optional($0.body, JSONValue.string)),
            ])
        }
    }

    /// RFC 3339 with microseconds.
    ///
    /// - Parameter unix: Microseconds since 1970.
    public static func time(_ unix: Int64) -> String {
        let remainder = Int(unix % 1_000_000)
        let fraction = remainder < 0 ? remainder + 1_000_000 : remainder
        let second = (Int(unix) - fraction) / 1_000_000
        let whole = RFC3339Time(secondsSince1970: second).description.utf8.dropLast()
        return String(decoding: whole, as: UTF8.self) + "."
            + String(decoding: String(1_000_000 + fraction).utf8.dropFirst(), as: UTF8.self) + "Z"
    }
}

extension ZoneEngine {
    /// Who is inside of a place, for whoever keeps it over a restart.
    public struct Presence: Hashable, Sendable {
        public var zone: String
        /// Who entered; of a zone that all its beacons share, the first.
        public var beacon: String
        /// When it entered, in microseconds since 1970.
        public var since: Int64
        /// How many of the zone's dwell times have been told.
        public var dwells: Int

        /// See the properties of the same names.
        public init(zone: String, beacon: String, since: Int64, dwells: Int) {
            self.zone = zone
            self.beacon = beacon
            self.since = since
            self.dwells = dwells
        }
    }
}
