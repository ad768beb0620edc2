public import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import HCI
internal import HCITransports
public import Listener
internal import Payloads
public import Sightings

/// What was heard as JSON: the keys that scripts rely on. Times are those of the source's wall clock.
public struct SightingJSON {
    private let source: SightingSource
    private let rule: DistanceEstimate.Rule

    /// - Parameter rule: How levels become distances.
    public init(_ source: SightingSource, _ rule: DistanceEstimate.Rule = .init()) {
        self.source = source
        self.rule = rule
    }

    /// One advertisement with its data.
    ///
    /// - Parameter beacon: The name of a known one.
    public func report(
        _ report: HeardReport, _ data: [UInt8], _ frames: [BeaconFrame], _ identity: BeaconIdentity?, beacon: String?
    ) -> JSONValue {
        .record([
            ("event", "report"), ("at", source.clock.json(report.sighting.instant)),
            ("bootNs", .integer(report.sighting.instant.nanoseconds)),
            ("adapter", .optional(source.adapter) { .string($0.description) }),
            ("address", .optional(report.sighting.sender) { .string($0.address.description) }),
            ("addressType", .string(report.addressType.name ?? "reserved")),
            ("pdu", .string(report.type.description)), ("phy", .string(report.primaryPHY.name ?? "reserved")),
            ("rssiDbm", .optional(report.sighting.rssi) { .integer($0) }), ("data", .hex(data)),
            ("frames", .array(frames.map { FrameJSON.value($0) })),
            ("identity", .optional(identity) { .string($0.description) }),
            ("beacon", .optional(beacon, JSONValue.string)),
        ])
    }

    /// A round that is over, in one line: of ten thousand beacons the tree would take many times as much.
    ///
    /// - Parameter places: The beacons to tell of.
    public func round(_ from: HeardInstant, _ to: HeardInstant, _ table: SightingTable, of places: [Int]) -> String {
        let window = JSONNumber(thousandths: (to.microseconds(since: from) + 500) / 1000)
        let pieces = JSONTemplate.object([
            ("event", .value("beacons")), ("at", .value(source.clock.json(to))), ("windowS", .value(.number(window))),
            ("beacons", .array([.gap])),
            (
                "strangers",
                .value([
                    "addresses": .integer(table.strangerSendersInRound), "reports": .integer(table.strangersInRound),
                ])
            ),
            (
                "lost",
                .value([
                    "kernel": .optional(source.counts.lostInKernel) { .integer($0) },
                    "flood": .integer(table.counts.evicted),
                    "malformed": .integer(source.counts.malformedEvents + table.counts.malformed),
                    "incomplete": .integer(source.counts.incomplete),
                ])
            ),
        ]).linePieces
        var line = pieces[0]
        for (index, place) in places.enumerated() {
            if index > 0 { line += "," }
            line += beacon(table.tracks[place], at: to).line
        }
        return line + pieces[1]
    }

    /// One beacon of a round: levels are those of the round.
    public func beacon(_ track: BeaconTrack, at now: HeardInstant) -> JSONValue {
        let distance = track.distance(track.round, rule)
        return .record([
            ("identity", .optional(track.identity) { .string($0.description) }),
            ("beacon", .optional(track.known) { .string($0.name) }),
            ("heard", .integer(track.roundReports)),
            ("rssiDbm", track.round.count == 0 ? .null : Self.levels(track)),
            ("distanceM", Self.number(distance?.meters, 10)),
            ("distanceLowM", Self.number(distance?.lowMeters, 10)),
            ("distanceHighM", Self.number(distance?.highMeters, 10)),
            ("proximity", .string((distance?.proximity ?? .unknown).rawValue)),
            ("intervalMs", isCounting ? Self.number(track.periodMicroseconds.map { ($0 - 5000) / 1000 }, 100) : .null),
            ("share", isCounting ? Self.number(track.share(until: now), 1) : .null),
            ("lastHeard", source.clock.json(track.lastHeard)),
            ("telemetry", .optional(track.telemetry) { FrameJSON.value(.eddystoneTLM($0)) }),
        ])
    }

    /// Whether each advertisement that is heard is told.
    private var isCounting: Bool { !source.isPresenceOnly }

    /// A region that was entered or left.
    public func region(_ event: RegionMonitor.Event, name: String) -> JSONValue {
        .record([
            ("event", .string(event.isEnter ? "enter" : "exit")), ("at", source.clock.json(event.instant)),
            ("region", .string(name)), ("cause", event.isEnter ? .null : "silence"),
            ("lastHeard", source.clock.json(event.lastHeard)),
        ])
    }

    /// How listening is from now on.
    public func state(_ state: ScanKeeper.State, at now: HeardInstant) -> JSONValue {
        .record([
            ("event", "state"), ("at", source.clock.json(now)), ("state", .string(state.rawValue)),
            ("restarts", .integer(source.counts.restarts)),
        ])
    }

    private static func levels(_ track: BeaconTrack) -> JSONValue {
        .record([
            ("last", .optional(track.lastLevel) { .integer($0) }), ("mean", number(track.round.trimmedMean, 10)),
            ("min", .optional(track.round.minimum) { .integer($0) }),
            ("max", .optional(track.round.maximum) { .integer($0) }),
            ("sd", number(track.round.standardDeviation, 10)),
        ])
    }

    /// Rounded to so many thousandths.
    private static func number(_ value: Double?, _ step: Int) -> JSONValue {
        .optional(value) { value in
            let rounded = Int(min(1e12, max(-1e12, (value * 1000 / Double(step)).rounded()))) * step
            return .number(JSONNumber(thousandths: rounded))
        }
    }
}
