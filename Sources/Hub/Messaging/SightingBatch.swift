public import Configuration

/// The sightings of one receiver in one time window, for the beacons of one shard of a site. A shard is one of the
/// groups into which the beacons of a site are divided (``TopicTree/shards``).
public struct SightingBatch: Hashable, Sendable {
    /// The version of the format.
    public static let version = 1

    /// The unique identifier of this run of the receiver.
    public var boot: String
    /// The number of the batch in its run, from 1. Two batches with the same number and the same ``boot`` are one batch
    /// that has arrived twice.
    public var sequence: Int
    /// The end of the window, in milliseconds since the receiver's machine started. This time does not depend on the
    /// wall clock.
    public var bootMilliseconds: Int
    /// The length of the window, in milliseconds.
    public var windowMilliseconds: Int
    /// A text computed from the set of beacon names that the receiver knows. Receivers with the same names have the
    /// same text; `nil` if it is not known. A beacon that the receiver knows and that is missing from a batch was not
    /// received in its window.
    public var knownNames: String?
    public var beacons: [Beacon]

    /// The sightings of one beacon.
    public struct Beacon: Hashable, Sendable {
        /// The name of the beacon, or the text of its identity.
        public var id: String
        public var reports: Int
        /// The mean level in dBm; `nil` if no report had a level.
        public var mean: Double?
        public var minimum: Int?
        public var maximum: Int?
        /// The time from the beacon's last report to the end of the window, in milliseconds.
        public var agoMilliseconds: Int
        /// The battery voltage from the beacon's telemetry, in millivolts; `nil` if there is none.
        public var batteryMillivolts: Int?
        /// The temperature from the beacon's telemetry, in thousandths of a degree Celsius; `nil` if there is none.
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

extension SightingBatch.Beacon {
    /// The sightings as JSON. Unknown telemetry values are left out, so that a batch is small.
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
