public import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import HCI
public import Sightings

/// Sightings as JSON. Scripts rely on these keys. Times are wall clock times of the source.
public struct SightingJSON {
    private let source: SightingSource
    private let rule: DistanceEstimate.Rule

    /// - Parameter rule: Converts levels into distances.
    public init(_ source: SightingSource, _ rule: DistanceEstimate.Rule = .init()) {
        self.source = source
        self.rule = rule
    }

    /// Writes an advertisement with its data as one line.
    ///
    /// - Parameters:
    ///   - beacon: The name of a known beacon.
    ///   - network: The network whose devices send such data.
    public func write(
        _ report: HeardReport, _ data: [UInt8], _ frames: [BeaconFrame], _ identity: BeaconIdentity?, beacon: String?,
        network: DeviceNetwork? = nil, into row: inout JSONWriter
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
        if report.secondaryPHY != .none { row.add("secondaryPhy", report.secondaryPHY.name ?? "reserved") }
        row.add("rssiDbm", report.sighting.rssi.map(Int.init))
        row.add("data", Hexadecimal.text(data))
        row.beginArray("frames")
        for frame in frames { row.add(FrameJSON.value(frame)) }
        row.endArray()
        row.add("identity", identity?.description)
        row.add("beacon", beacon)
        row.add("network", network?.rawValue)
        row.endObject()
    }

    /// Writes a finished round as one line. It is written directly, because a tree of values for ten thousand beacons
    /// would take much longer.
    ///
    /// - Parameters:
    ///   - positions: The positions of the beacons in the table.
    ///   - heading: Adds members to the round.
    ///   - more: Adds members to the beacon at a position.
    public func write(
        round from: HeardInstant, _ to: HeardInstant, _ table: SightingTable, of positions: [Int],
        into row: inout JSONWriter,
        heading: (inout JSONWriter) -> Void = { _ in }, more: (Int, inout JSONWriter) -> Void = { _, _ in }
    ) {
        row.beginObject()
        row.add("event", "beacons")
        row.add("at", source.clock.text(to))
        heading(&row)
        row.add("windowS", thousandths: (to.microseconds(since: from) + 500) / 1000)
        row.beginArray("beacons")
        for position in positions {
            row.beginObject()
            write(table.tracks[position], at: to, into: &row)
            more(position, &row)
            row.endObject()
        }
        row.endArray()
        row.beginObject("strangers")
        row.add("addresses", table.strangerSendersInRound)
        row.add("reports", table.strangersInRound)
        row.beginArray("networks")
        for summary in table.networks.summaries(until: to) {
            row.beginObject()
            row.add("network", summary.network.rawValue)
            row.add("addresses", summary.addresses)
            row.add("reports", summary.reports)
            row.add("strongestRssiDbm", summary.strongest.map(Int.init))
            row.endObject()
        }
        row.endArray()
        row.endObject()
        row.beginObject("lost")
        row.add("kernel", source.counts.lostInKernel)
        row.add("flood", table.counts.evicted)
        row.add("malformed", source.counts.malformedEvents + table.counts.malformed)
        row.add("incomplete", source.counts.incomplete)
        row.endObject()
        row.endObject()
    }

    /// Writes a beacon with the levels of the round.
    private func write(_ track: BeaconTrack, at now: HeardInstant, into row: inout JSONWriter) {
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
        row.add("bthome", .optional(track.btHome) { FrameJSON.value(.btHome($0)) })
        row.add("name", track.nameOctets.isEmpty ? nil : String(decoding: track.nameOctets, as: UTF8.self))
        row.add("manufacturer", track.companyID.map(CompanyName.text))
    }

    /// True if the source reports every advertisement.
    private var isCounting: Bool { !source.isPresenceOnly }

    /// Returns an event of a region.
    public func region(_ event: RegionMonitor.Event, name: String) -> JSONValue {
        .record([
            ("event", .string(event.kind.rawValue)), ("at", source.clock.json(event.instant)),
            ("region", .string(name)), ("cause", event.kind == .exit ? "silence" : .null),
            ("provenBy", .optional(event.proof) { .string($0.rawValue) }),
            ("lastHeard", source.clock.json(event.lastHeard)),
        ])
    }

    /// Returns an event for a change of state.
    public func state(_ state: ListeningState, at now: HeardInstant) -> JSONValue {
        .record([
            ("event", "state"), ("at", source.clock.json(now)), ("state", .string(state.rawValue)),
            ("restarts", .integer(source.counts.restarts)),
        ])
    }

    /// Returns the value in thousandths, rounded to a multiple of `step`.
    private static func thousandths(_ value: Double?, _ step: Int) -> Int? {
        value.map { Int(min(1e12, max(-1e12, ($0 * 1000 / Double(step)).rounded()))) * step }
    }
}
