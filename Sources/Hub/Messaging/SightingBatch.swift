public import Configuration

/// The sightings of one receiver in one window, for the beacons of one shard of a site.
public struct SightingBatch: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// The unique identifier of this run of the receiver.
    public var boot: String
    /// The number of the batch in its run, from 1. With ``boot`` it identifies a batch that arrives twice.
    public var sequence: Int
    /// The end of the window, in milliseconds since the machine started. Wall clocks are not used.
    public var bootMilliseconds: Int
    public var windowMilliseconds: Int
    /// Stands for the names that the receiver knows: receivers with the same names have the same text. A batch without
    /// a beacon is evidence only if the receiver knows the beacon's name. `nil` if this is not known.
    public var knownNames: String?
    public var beacons: [Heard]

    /// The sightings of one beacon.
    public struct Heard: Hashable, Sendable {
        /// The name of the beacon, or the text of its identity.
        public var id: String
        public var reports: Int
        /// The mean level in dBm; `nil` if no report had a level.
        public var mean: Double?
        public var minimum: Int?
        public var maximum: Int?
        /// The time from the last report to the end of the window.
        public var agoMilliseconds: Int
        /// From its telemetry, in millivolts and in thousandths of a degree Celsius; `nil` if it sent none.
        public var batteryMillivolts: Int?
        public var temperature: Int?
    }

    /// The payload of `…/sightings/SHARD/RECEIVER`.
    public var json: JSONValue {
        .record(
            [
                ("v", .integer(Self.version)), ("boot", .string(boot)), ("seq", .integer(sequence)),
                ("bootMs", .integer(bootMilliseconds)), ("windowMs", .integer(windowMilliseconds)),
            ] + (knownNames.map { [("known", .string($0))] } ?? []) + [("b", .array(beacons.map(\.json)))])
    }
}

extension SightingBatch.Heard {
    /// Unknown values have no key, so that a batch is small.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .string(id)), ("n", .integer(reports)),
            ("rssi", .optional(mean) { Rounded.number($0, 100) }), ("min", .optional(minimum, JSONValue.integer)),
            ("max", .optional(maximum, JSONValue.integer)), ("agoMs", .integer(agoMilliseconds)),
        ]
        if let batteryMillivolts { members.append(("batteryV", .number(JSONNumber(thousandths: batteryMillivolts)))) }
        if let temperature { members.append(("temperatureC", .number(JSONNumber(thousandths: temperature)))) }
        return .record(members)
    }
}
