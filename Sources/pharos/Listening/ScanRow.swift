internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import Sightings
internal import TextEscaping

/// One beacon of a scan: the cells of a table, or the members of a JSON object.
struct ScanRow {
    private let track: BeaconTrack
    private let now: HeardInstant
    private let rule: DistanceEstimate.Rule

    init(_ track: BeaconTrack, _ now: HeardInstant, _ rule: DistanceEstimate.Rule) {
        self.track = track
        self.now = now
        self.rule = rule
    }

    static let header = [
        "beacon", "dBm", "mean", "last 30 s", "distance", "interval ms", "share", "last heard", "address",
    ]
    static let alignment: [Table.Alignment] = [.left, .right, .right, .left, .left, .right, .right, .right, .left]

    /// Levels are those of the last 10 s.
    var cells: [String] {
        let tally = track.window.tally(over: 10_000_000, until: now)
        return [
            title, track.lastLevel.map { "\($0)" } ?? "-", tally.trimmedMean.map(Self.tenths) ?? "-", trace,
            track.distance(tally, rule).map(Self.text) ?? "-",
            track.periodMicroseconds.map { "\(Int((($0 - 5000) / 1000).rounded()))" } ?? "-",
            track.share(until: now).map { "\(Int(($0 * 100).rounded())) %" } ?? "-",
            track.lastHeard.map { "\(Self.tenths(Double(now.microseconds(since: $0)) / 1_000_000)) s" } ?? "-",
            track.sender.map { "\($0.address)" } ?? "-",
        ]
    }

    /// A name in a file may be anything, and one from the air comes from anybody.
    private var title: String {
        if let known = track.known { return TerminalText.line(TerminalText.shortened(known.name, to: 40)) }
        let identity = track.identity?.description ?? "-"
        guard !track.nameOctets.isEmpty else { return identity }
        return identity + " " + TerminalText.quoted(String(decoding: track.nameOctets, as: UTF8.self), to: 20)
    }

    private static let bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// -100 dBm and less is the lowest bar, -40 and more the highest.
    private var trace: String {
        track.trace.levels(until: now).map { level in
            level.map { Self.bars[min(7, max(0, (Int($0) + 100) * 8 / 60))] } ?? " "
        }.joined()
    }

    private static func text(_ distance: DistanceEstimate) -> String {
        "\(tenths(distance.meters)) m (\(tenths(distance.lowMeters))–\(tenths(distance.highMeters)))"
    }

    private static func tenths(_ value: Double) -> String { DecimalText.thousandths(thousandths(value, to: 100)) }

    /// Rounded to so many thousandths.
    private static func thousandths(_ value: Double, to step: Int) -> Int {
        Int(min(1e12, max(-1e12, (value * 1000 / Double(step)).rounded()))) * step
    }

    // MARK: JSON

    /// Levels are those of the round.
    var json: JSONValue {
        let distance = track.distance(track.round, rule)
        return .record([
            ("identity", .optional(track.identity) { .string($0.description) }),
            ("beacon", .optional(track.known) { .string($0.name) }),
            ("heard", .integer(track.roundReports)),
            ("rssiDbm", track.round.count == 0 ? .null : levels),
            ("distanceM", Self.number(distance?.meters, 10)),
            ("distanceLowM", Self.number(distance?.lowMeters, 10)),
            ("distanceHighM", Self.number(distance?.highMeters, 10)),
            ("proximity", .string((distance?.proximity ?? .unknown).rawValue)),
            ("intervalMs", Self.number(track.periodMicroseconds.map { ($0 - 5000) / 1000 }, 100)),
            ("share", Self.number(track.share(until: now), 1)),
            ("lastHeard", ScanTime.json(track.lastHeard)),
            ("telemetry", .optional(track.telemetry) { PayloadJSON.frame(.eddystoneTLM($0), nil) }),
        ])
    }

    private var levels: JSONValue {
        .record([
            ("last", .optional(track.lastLevel) { .integer($0) }), ("mean", Self.number(track.round.trimmedMean, 10)),
            ("min", .optional(track.round.minimum) { .integer($0) }),
            ("max", .optional(track.round.maximum) { .integer($0) }),
            ("sd", Self.number(track.round.standardDeviation, 10)),
        ])
    }

    private static func number(_ value: Double?, _ step: Int) -> JSONValue {
        .optional(value) { .number(JSONNumber(thousandths: thousandths($0, to: step))) }
    }
}
