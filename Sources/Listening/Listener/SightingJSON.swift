public import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import HCI
internal import HCITransports
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

    /// Writes one advertisement with its data, as one line.
    ///
    /// - Parameter beacon: The name of a known one.
    public func write(
        _ report: HeardReport, _ data: [UInt8], _ frames: [BeaconFrame], _ identity: BeaconIdentity?, beacon: String?,
        into row: inout JSONRow
    ) {
        row.beginObject()
        row.add("event", "report")
        row.add("at", source.clock.text(report.sighting.instant))
        row.add("bootNs", Int(report.sighting.instant.nanoseconds))
        row.add("adapter", source.adapter?.description)
        row.add("address", report.sighting.sender?.address.description)
        row.add("addressType", report.addressType.name ?? "reserved")
        row.add("pdu", report.type.description)
        row.add("phy", report.primaryPHY.name ?? "reserved")
        row.add("rssiDbm", report.sighting.rssi.map(Int.init))
        row.add("data", Hexadecimal.text(data))
        row.beginArray("frames")
        for frame in frames { row.add(FrameJSON.value(frame)) }
        row.endArray()
        row.add("identity", identity?.description)
        row.add("beacon", beacon)
        row.endObject()
    }

    /// Writes a round that is over, as one line: of ten thousand beacons a tree of values would take many times as much.
    ///
    /// - Parameters:
    ///   - places: The beacons to tell of.
    ///   - heading: Adds what else is said of the round.
    ///   - more: Adds what else is said of the beacon at a place.
    public func write(
        round from: HeardInstant, _ to: HeardInstant, _ table: SightingTable, of places: [Int], into row: inout JSONRow,
        heading: (inout JSONRow) -> Void = { _ in }, more: (Int, inout JSONRow) -> Void = { _, _ in }
    ) {
        row.beginObject()
        row.add("event", "beacons")
        row.add("at", source.clock.text(to))
        heading(&row)
        row.add("windowS", thousandths: (to.microseconds(since: from) + 500) / 1000)
        row.beginArray("beacons")
        for place in places {
            row.beginObject()
            write(table.tracks[place], at: to, into: &row)
            more(place, &row)
            row.endObject()
        }
        row.endArray()
        row.beginObject("strangers")
        row.add("addresses", table.strangerSendersInRound)
        row.add("reports", table.strangersInRound)
        row.endObject()
        row.beginObject("lost")
        row.add("kernel", source.counts.lostInKernel)
        row.add("flood", table.counts.evicted)
        row.add("malformed", source.counts.malformedEvents + table.counts.malformed)
        row.add("incomplete", source.counts.incomplete)
        row.endObject()
        row.endObject()
    }

    /// One beacon of a round: levels are those of the round.
    private func write(_ track: BeaconTrack, at now: HeardInstant, into row: inout JSONRow) {
        let distance = track.distance(track.round, rule)
        row.add("identity", track.identity?.description)
        row.add("beacon", track.known?.name)
        row.add("heard", track.roundReports)
        if track.round.count == 0 {
            row.add("rssiDbm", .null)
        } else {
            row.beginObject("rssiDbm")
            row.add("last", track.lastLevel.map(Int.init))
            row.add("mean", thousandths: Self.thousandths(track.round.trimmedMean, 10))
            row.add("min", track.round.minimum)
            row.add("max", track.round.maximum)
            row.add("sd", thousandths: Self.thousandths(track.round.standardDeviation, 10))
            row.endObject()
        }
        row.add("distanceM", thousandths: Self.thousandths(distance?.meters, 10))
        row.add("distanceLowM", thousandths: Self.thousandths(distance?.lowMeters, 10))
        row.add("distanceHighM", thousandths: Self.thousandths(distance?.highMeters, 10))
        row.add("proximity", (distance?.proximity ?? .unknown).rawValue)
        let period = isCounting ? track.periodMicroseconds : nil
        row.add("intervalMs", thousandths: Self.thousandths(period.map { ($0 - 5000) / 1000 }, 100))
        row.add("share", thousandths: isCounting ? Self.thousandths(track.share(until: now), 1) : nil)
        row.add("lastHeard", track.lastHeard.flatMap(source.clock.text))
        row.add("telemetry", .optional(track.telemetry) { FrameJSON.value(.eddystoneTLM($0)) })
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
    public func state(_ state: ListeningState, at now: HeardInstant) -> JSONValue {
        .record([
            ("event", "state"), ("at", source.clock.json(now)), ("state", .string(state.rawValue)),
            ("restarts", .integer(source.counts.restarts)),
        ])
    }

    /// Rounded to so many thousandths.
    private static func thousandths(_ value: Double?, _ step: Int) -> Int? {
        value.map { Int(min(1e12, max(-1e12, ($0 * 1000 / Double(step)).rounded()))) * step }
    }
}
