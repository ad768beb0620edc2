public import Configuration

/// One promise of the fleet or its plan, compared with the result of a rehearsal.
public struct RehearsalPromise: Hashable, Sendable {
    /// The kind of a promise.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The mean time between two advertising events of an advertisement.
        case interval
        /// The share of a beacon's packets that a receiver in range receives.
        case share
        /// The longest time in which an advertisement of a beacon was not sent.
        case silence
        /// The level of a beacon at the receivers, compared with the plan.
        case level
        /// Only the beacon's own machine sends its identity.
        case identity
        /// The share of packets that overlap with other packets, compared with the model.
        case collisions
        /// The share of visits in which a phone detects a beacon within the target time at a place.
        case detection
        /// The share of walks along a path on which a phone detects a beacon.
        case walk
        /// The 95th percentile of the time to detection, compared with the 95th percentile of the plan.
        case percentile
        /// The largest age of a beacon's telemetry when it was sent.
        case telemetry
        /// The share of the sent ephemeral ids that were correct for their time.
        case rotation
        /// The number of exits that the collector reported for a beacon that was on the air.
        case presence
        /// The share of the time in which the collector reports a wrong room for a beacon.
        case room
        /// The longest time in which a receiver received nothing, or in which none of its lines arrived at the
        /// collector.
        case receiver
        /// The battery life of a beacon.
        case battery
    }

    /// The comparison of the measured value with the expected value.
    public enum Relation: String, Hashable, Sendable {
        case atLeast = "at-least"
        case atMost = "at-most"
        case equal
    }

    /// The result of the comparison.
    public enum Verdict: String, Hashable, Sendable {
        case holds
        case broken
        /// The promise cannot be judged, because there are too few data or the rehearsal has no model for it; see
        /// ``RehearsalPromise/reason``.
        case unjudged
    }

    public var kind: Kind
    /// The beacon, receiver, place or path, such as `hall-desk` or `hall-desk: ibeacon`.
    public var subject: String
    /// The index of the beacon in the report's ``RehearsalReport/beacons``; nil if the promise is not about one beacon.
    public var beacon: Int?
    public var relation: Relation
    /// The promised value in ``unit``; nil if there is none.
    public var expected: Double?
    /// The measured value in ``unit``; nil if there is none.
    public var measured: Double?
    /// The unit of the values: `ms`, `s`, `%`, `dB` or `days`; empty for a count.
    public var unit: String
    /// The standard error of the measured value in ``unit``; nil if the measured value is exact or missing.
    public var standardError: Double?
    /// The number of packets, visits or times from which the value was computed.
    public var count: Int
    public var verdict: Verdict
    /// The reason why the promise is broken or cannot be judged, in one sentence. For a promise that holds: a remark,
    /// or empty.
    public var reason: String
    /// The index of the planted fault that explains the broken promise, in the report's ``RehearsalReport/faults``; nil
    /// if no planted fault explains it.
    public var fault: Int?

    /// Creates a promise. Each parameter sets the property of the same name.
    public init(
        _ kind: Kind, _ subject: String, beacon: Int? = nil, relation: Relation, expected: Double?, measured: Double?,
        unit: String, standardError: Double? = nil, count: Int = 0, verdict: Verdict, reason: String = "",
        fault: Int? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.beacon = beacon
        self.relation = relation
        self.expected = expected
        self.measured = measured
        self.unit = unit
        self.standardError = standardError
        self.count = count
        self.verdict = verdict
        self.reason = reason
        self.fault = fault
    }

    /// The promise as JSON.
    public var json: JSONValue {
        .record([
            ("kind", .string(kind.rawValue)), ("subject", .string(subject)),
            ("beacon", .optional(beacon) { .integer($0) }), ("relation", .string(relation.rawValue)),
            ("expected", .rounded(expected)), ("measured", .rounded(measured)), ("unit", .string(unit)),
            ("standardError", .rounded(standardError)), ("count", .integer(count)),
            ("verdict", .string(verdict.rawValue)), ("reason", .string(reason)),
            ("fault", .optional(fault) { .integer($0) }),
        ])
    }
}
