internal import BeaconFrames
internal import BluetoothTypes
package import Configuration
package import Sightings

/// One beacon of a scan, as the cells of a table.
package struct ScanRow {
    private let track: BeaconTrack
    private let now: HeardInstant
    private let rule: DistanceEstimate.Rule
    /// Whether nothing is known of intervals.
    private let isPresenceOnly: Bool

    package init(_ track: BeaconTrack, _ now: HeardInstant, _ rule: DistanceEstimate.Rule, isPresenceOnly: Bool) {
        self.isPresenceOnly = isPresenceOnly
        self.track = track
        self.now = now
        self.rule = rule
    }

    package static let header = [
        "beacon", "dBm", "mean", "last 30 s", "distance", "interval ms", "share", "last heard", "address",
    ]
    package static let alignment: [Table.Alignment] = [
        .left, .right, .right, .left, .left, .right, .right, .right, .left,
    ]

    /// Levels are those of the last 10 s.
    package var cells: [String] {
        let tally = track.window.tally(over: 10_000_000, until: now)
        return [
            title, track.lastLevel.map { "\($0)" } ?? "-", tally.trimmedMean.map(Self.tenths) ?? "-", trace,
            track.distance(tally, rule).map(Self.text) ?? "-",
            isPresenceOnly ? "-" : track.periodMicroseconds.map { "\(Int((($0 - 5000) / 1000).rounded()))" } ?? "-",
            isPresenceOnly ? "-" : track.share(until: now).map { "\(Int(($0 * 100).rounded())) %" } ?? "-",
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

    private static func tenths(_ value: Double) -> String { NumberFormat.rounded(value, 1) }
}
