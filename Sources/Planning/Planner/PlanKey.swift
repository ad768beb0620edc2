public import Configuration

/// A key of the JSON of answers, declared once: its path, its meaning, and its row in the text.
///
/// JSON and text of the answers are written from these declarations, and the manual page lists them
/// (``PlanReference``).
public struct PlanKey: Hashable, Sendable {
    /// The path in the JSON object, such as `curve[].p50`.
    let path: String
    /// The documentation: a sentence with the meaning, the unit, the range, and the condition for null.
    let meaning: String
    /// The label of the row in the text; nil if the value is only in JSON.
    let label: String?
    /// The unit that follows a number in the text; may be empty.
    let unit: String

    init(_ path: String, _ meaning: String, label: String? = nil, unit: String = "") {
        self.path = path
        self.meaning = meaning
        self.label = label
        self.unit = unit
    }

    /// The last part of the path, without the brackets of a list.
    var name: String {
        let last = path.split(separator: ".").last ?? ""
        return String(last.hasSuffix("[]") ? last.dropLast(2) : last)
    }

    /// Returns the key as a member of an object or a list, such as `model` or `curve[]`. If `meaning` is not nil, it
    /// replaces the meaning of this key.
    func within(_ parent: String, _ meaning: String? = nil) -> PlanKey {
        PlanKey("\(parent).\(path)", meaning ?? self.meaning)
    }
}

/// The documentation of the JSON of all questions.
public enum PlanReference {
    /// An object with one member for each command. The member is an object that maps the path of each key to its
    /// meaning.
    public static var json: JSONValue {
        .record(
            commands.map { command, keys in (command, .record(keys.map { ($0.path, .string($0.meaning)) })) })
    }

    /// The keys of each command, in the order of the manual page.
    static let commands: [(command: String, keys: [PlanKey])] = [
        ("interval", IntervalQuestion.keys),
        ("collisions", CollisionQuestion.keys),
        ("latency", LatencyQuestion.keys),
        ("pattern", PatternQuestion.keys),
        ("density", DensityQuestion.keys),
        ("walk", WalkQuestion.keys),
        ("energy", EnergyQuestion.keys),
        ("range", RangeQuestion.keys),
        ("site", SiteQuestion.keys),
        ("simulate collisions, pharos plan simulate merge of its parts", SimulatedCollisions.keys),
        ("simulate latency, pharos plan simulate merge of its parts", SimulatedLatency.keys),
        ("thesis", ThesisQuestion.keys),
        ("scanners", ScannerList.keys),
    ]
}

// Keys that several questions share.

extension PlanKey {
    static let fleet = PlanKey("fleet", "With --from-fleet: name of the fleet.")
    static let site = PlanKey("site", "With --from-fleet: name of the site; empty for beacons without a site.")
    static let beacons = PlanKey("beacons", "Number of beacons in range of the receiver.")
    static let scanner = PlanKey(
        "scanner",
        "Name of the scanner, or its scan window and scan interval as given; with --scanners, the mix.",
        label: "scanner")
    static let interval = PlanKey("intervalMs", "Advertising interval in ms.")
    static let collisionFree = PlanKey(
        "collisionFreeProbability", "Share of packets that do not collide, 0 to 1.", label: "collision-free packets")
    static let airtime = PlanKey(
        "airtimeMicroseconds", "Airtime of a packet in µs; null if the beacons send different packets.", unit: "µs")
    static let range = PlanKey("rangeM", "Range of a beacon in m.", label: "range", unit: "m")

    /// The target advertisement.
    static let advertisement = PlanKey(
        "advertisement", "With --from-fleet: the advertisement for which the answer is computed.")
    static let frameType = PlanKey("type", "Type of the advertisement; the word advertisement if it is unknown.")
    static let framePayload = PlanKey("payloadOctets", "Bytes of advertising data.")
    static let frameAirtime = PlanKey(
        "airtimeMicroseconds", "Airtime of one of its packets on a primary channel, in µs.")
    static let framePHY = PlanKey("phy", "PHY of extended advertising; absent for legacy PDUs.")
    static let frameAuxiliary = PlanKey(
        "auxiliaryAirtimeMicroseconds",
        "Airtime of the auxiliary packets of an extended advertising event, in µs; absent for legacy PDUs.")
    static let frame = [frameType, interval, framePayload, frameAirtime]
    static let extendedFrame = frame + [framePHY, frameAuxiliary]
    /// The packets of one event.
    static let packets = [framePHY, frameAuxiliary]
    static let extendedTarget = [advertisement] + extendedFrame.map { $0.within("advertisement") }

    /// A time to discovery.
    static let latency = PlanKey("latencyS", "Times to discovery in s, by percentile.")
    static let percentiles: [(key: PlanKey, percent: Int, share: Double)] = [
        (50, 0.5), (90, 0.9), (95, 0.95), (99, 0.99),
    ].map { percent, share in
        let meaning = "Time in s within which a beacon is found in \(percent) % of the cases; null if it is unknown."
        return (PlanKey("latencyS.p\(percent)", meaning), percent, share)
    }
    static let mean = PlanKey(
        "latencyS.mean", "Mean time in s; null if it is unknown, because more than 1 % of the cases take too long.")
    static let horizon = PlanKey("horizonS", "Longest time that the model computes, in s.")
    static let knownError = PlanKey(
        "knownErrorExceeds2Percent", "True if long times are extrapolated and may be more than 2 % wrong.")
    static let undiscovered = PlanKey(
        "undiscoveredAfterS",
        "Share of cases in which the beacon is not yet found at the time --undiscovered-after-s.")
    static let discovery = [latency] + percentiles.map(\.key) + [mean, horizon, knownError] + mix + mixLatency

    /// The scanners of a mix.
    static let scanners = PlanKey("scanners", "With --scanners: the results with each scanner of the mix.")
    static let mixScanner = PlanKey("scanners[].scanner", "Name of the scanner.")
    static let mixShare = PlanKey("scanners[].share", "Share of the visitors that have this scanner, 0 to 1.")
    static let mixDetected = PlanKey(
        "scanners[].detectedShare", "Share of cases in which this scanner finds the beacon in time, 0 to 1.")
    static let mix = [scanners, mixScanner, mixShare]
    static let mixLatency = ([latency] + percentiles.map(\.key) + [mean]).map { $0.within("scanners[]") }

    /// A simulation.
    static let seed = PlanKey("seed", "Seed of the random numbers. The same seed gives the same numbers again.")
    static let batches = PlanKey("batches", "Number of batches that were simulated.", label: "batches")
    static let confidence = PlanKey("confidence95", "95 % confidence intervals of the simulated values.")
    static let model = PlanKey("model", "The values that the model computes for the simulated values.")
    static let interrupted = PlanKey("interrupted", "True if the run was stopped before it was complete.")

    static let origin = [fleet, site]
    static let simulation = [seed, batches, interrupted]

    /// Returns the keys of the confidence intervals and of the model's values, for simulated values with these keys.
    static func comparisons(_ values: [PlanKey]) -> [PlanKey] {
        [confidence]
            + values.map {
                $0.within("confidence95", "Both ends of the 95 % confidence interval of \($0.path); null if unknown.")
            }
            + [model]
            + values.map { $0.within("model", "The model's value of \($0.path); null if the model has no such value.") }
    }
}
