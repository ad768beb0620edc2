internal import BluetoothTypes
public import Configuration
public import Sightings

/// A moment of this run of the listener, or of an earlier run. For a moment of an earlier run, only the wall-clock time
/// is known.
public enum ZoneMoment: Hashable, Sendable {
    /// A moment of this run.
    case heard(HeardInstant)
    /// A moment of an earlier run, in microseconds since 1970.
    case unix(Int64)
}

/// An event of a zone.
public struct ZoneEvent: Hashable, Sendable {
    /// The kind of event.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case enter
        case exit
        /// A beacon has been inside for one of the zone's dwell times.
        case dwell
        /// The receiver may have failed, so it is no longer known which beacons are inside the zone.
        case unknown
        /// Reports arrive again.
        case known
    }

    /// The reason why a beacon left.
    public enum Cause: String, Hashable, Sendable {
        /// The beacon was too far away, or its level was too low.
        case level
        /// The beacon was silent for longer than lost reports can explain.
        case silence
        /// The beacon of another zone of the exclusive group is nearer.
        case exclusive
    }

    public let kind: Kind
    /// The number of the event in this run: 1, 2, 3, and so on.
    public let sequence: Int
    /// The index of the zone in ``ZoneEngine/rules``.
    public let zoneIndex: Int
    public let zone: String
    /// The beacon's name; `nil` for an event of the whole zone.
    public internal(set) var beacon: String?
    public let instant: HeardInstant
    /// The time at which the zone was entered. For `unknown` and `known`: the time of the last report before the zones
    /// became unknown.
    public let since: ZoneMoment
    /// The number of the zone's dwell times that have been reported.
    public internal(set) var dwells = 0
    public internal(set) var cause: Cause?
    /// The proof that the receiver worked until the beacon left; `nil` if the event is not an exit.
    public internal(set) var receiverProof: ListeningClock.Proof?
    /// The median level of the window, in dBm; `nil` if the event does not depend on the level.
    public internal(set) var level: Double?
    /// The estimated distance in metres; `nil` if the beacon's power is not known.
    public internal(set) var distance: Double?
    public let proof: ZoneRule.Proof
    /// True if two devices were found to send the beacon's identity; `nil` for an event of the whole zone.
    public internal(set) var isCloned: Bool?
    /// The zone's texts for this event. Each `${key}` in them has been replaced by the beacon's attachment.
    public internal(set) var content: ZoneRule.Content?
    public internal(set) var attachments: [BeaconAttachment] = []
    /// True if the beacon enters and leaves independently. False if all beacons of the zone enter and leave as one.
    public internal(set) var hasOwnPresence = false
    /// True if several beacons share the zone. The event then belongs to the zone, not to ``beacon``: the zone is
    /// entered with its first beacon and left with its last one.
    public internal(set) var isOfSharedZone = false
}

extension ZoneEvent {
    /// The values that an event's JSON line contains in addition to the event itself.
    public struct Context: Sendable {
        /// The name of the listener.
        public var receiver: String
        /// The prefix of the ids of all events of one run.
        public var boot: String
        /// The quality of the wall clock in one word, such as `synchronized`.
        public var clock: String
        /// Converts a moment into microseconds since 1970; `nil` if the wall clock is not known.
        public var unixMicroseconds: @Sendable (HeardInstant) -> Int64?

        /// Creates a context for the events of one run.
        public init(
            receiver: String, boot: String, clock: String,
            unixMicroseconds: @escaping @Sendable (HeardInstant) -> Int64?
        ) {
            self.receiver = receiver
            self.boot = boot
            self.clock = clock
            self.unixMicroseconds = unixMicroseconds
        }

        /// Returns a moment in microseconds since 1970; `nil` if this needs the wall clock and it is not known.
        public func unix(_ moment: ZoneMoment) -> Int64? {
            switch moment {
            case .heard(let instant): unixMicroseconds(instant)
            case .unix(let time): time
            }
        }
    }

    /// Returns the unique id of the event: the context's `boot`, a hyphen, and the sequence number.
    public func id(_ context: Context) -> String { "\(context.boot)-\(sequence)" }

    /// Returns the time from ``since`` to the event in microseconds; `nil` if this needs the wall clock and it is not
    /// known.
    public func lastedMicroseconds(_ context: Context) -> Int? {
        switch since {
        case .heard(let start): instant.microseconds(since: start)
        case .unix(let start): context.unixMicroseconds(instant).map { Int(clamping: max(0, $0 &- start)) }
        }
    }

    /// Writes the event as one line of JSON.
    public func write(_ context: Context, into row: inout JSONWriter) {
        row.beginObject()
        row.add("event", kind.rawValue)
        row.add("id", id(context))
        row.add("zone", zone)
        row.add("beacon", beacon)
        row.add("receiver", context.receiver)
        row.add("at", context.unixMicroseconds(instant).map(Self.time))
        row.add("since", context.unix(since).map(Self.time))
        row.add("dwellS", thousandths: beacon == nil ? nil : lastedMicroseconds(context).map { ($0 + 500) / 1000 })
        row.add("cause", cause?.rawValue)
        row.add("provenBy", receiverProof?.rawValue)
        row.add("rssiDbm", thousandths: level.map { Int(($0 * 1000).rounded()) })
        row.add("distanceM", thousandths: distance.map { Int((min(1e6, $0) * 100).rounded()) * 10 })
        row.add("clock", context.clock)
        row.add("proof", proof.rawValue)
        row.add("cloned", .optional(isCloned, JSONValue.boolean))
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

    /// Returns a time as RFC 3339 text with microseconds.
    ///
    /// - Parameter unix: The time in microseconds since 1970.
    public static func time(_ unix: Int64) -> String { RFC3339Time.text(microseconds: Int(unix)) }
}
