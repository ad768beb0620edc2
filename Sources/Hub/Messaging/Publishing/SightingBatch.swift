public import Configuration

/// What one receiver has heard in one window of the beacons of one part of a site.
public struct SightingBatch: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// Tells one run of a receiver from all others.
    public var boot: String
    /// From 1, in the order of the batches of a run: with ``boot`` it makes one that comes twice visible.
    public var sequence: Int
    /// When the window ended, in milliseconds since the machine started: wall clocks do not matter.
    public var bootMilliseconds: Int
    public var windowMilliseconds: Int
    public var beacons: [Heard]

    /// What was heard of one beacon.
    public struct Heard: Hashable, Sendable {
        /// Its name, or the text of its identity.
        public var id: String
        public var reports: Int
        /// In dBm; `nil` where no report had a level.
        public var mean: Double?
        public var minimum: Int?
        public var maximum: Int?
        /// How long before the end of the window it was heard last.
        public var agoMilliseconds: Int
        /// Of its telemetry, in millivolts and in thousandths of a degree Celsius; `nil` where it has told of none.
        public var batteryMillivolts: Int?
        public var temperature: Int?

        /// See the properties of the same names.
        public init(
            id: String, reports: Int, mean: Double?, minimum: Int?, maximum: Int?, agoMilliseconds: Int,
            batteryMillivolts: Int? = nil, temperature: Int? = nil
        ) {
            self.id = id
            self.reports = reports
            self.mean = mean
            self.minimum = minimum
            self.maximum = maximum
            self.agoMilliseconds = agoMilliseconds
            self.batteryMillivolts = batteryMillivolts
            self.temperature = temperature
        }
    }

    /// See the properties of the same names.
    public init(boot: String, sequence: Int, bootMilliseconds: Int, windowMilliseconds: Int, beacons: [Heard]) {
        self.boot = boot
        self.sequence = sequence
        self.bootMilliseconds = bootMilliseconds
        self.windowMilliseconds = windowMilliseconds
        self.beacons = beacons
    }

    /// What stands under `…/sightings/SHARD/RECEIVER`.
    public var json: JSONValue {
        .record([
            ("v", .integer(Self.version)), ("boot", .string(boot)), ("seq", .integer(sequence)),
            ("bootMs", .integer(bootMilliseconds)), ("windowMs", .integer(windowMilliseconds)),
            ("b", .array(beacons.map(\.json))),
        ])
    }
}

extension SightingBatch.Heard {
    /// What nobody knows has no key: a batch is small.
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
