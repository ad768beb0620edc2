internal import BeaconFrames
internal import BluetoothTypes
package import Configuration
package import Sightings

/// One beacon of a scan as a table row.
package struct ScanRow {
    private let track: BeaconTrack
    private let now: HeardInstant
    private let rule: DistanceEstimate.Rule
    /// True if the receiver only reports that beacons are present, so that advertising intervals cannot be measured.
    private let isPresenceOnly: Bool
    /// True if another row has the same name, so that the title needs the identity too.
    private let sharesName: Bool

    /// - Parameter sharesName: True if another row has the same name, so that the title needs the identity too.
    package init(
        _ track: BeaconTrack, _ now: HeardInstant, _ rule: DistanceEstimate.Rule, isPresenceOnly: Bool,
        sharesName: Bool = false
    ) {
        self.isPresenceOnly = isPresenceOnly
        self.sharesName = sharesName
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

    /// The cells of the row. The mean level and the distance are computed from the last 10 s.
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

    /// The indices of the most important cells: name or identity, last level, distance, time of the last report, and
    /// address.
    package static let essential = [0, 1, 4, 7, 8]

    /// The name of a known beacon, or the whole identity of another beacon, which can be copied into other commands.
    private var title: String {
        let identity = track.identity?.description
        guard let known = track.known else { return identity ?? "-" }
        let name = TerminalText.line(TerminalText.shortened(known.name, to: 40))
        return sharesName ? name + (identity.map { " " + $0 } ?? "") : name
    }

    /// Further data that the device sends: its local name, maker, telemetry and BTHome values; empty if there is none.
    package var details: String {
        var parts: [String] = []
        if !track.nameOctets.isEmpty {
            parts.append(TerminalText.quoted(String(decoding: track.nameOctets, as: UTF8.self), to: 20))
        }
        if let company = track.companyID { parts.append(CompanyName.text(company)) }
        if let telemetry = track.telemetry {
            if let battery = telemetry.batteryMillivolts {
                parts.append("battery \(NumberFormat.rounded(Double(battery) / 1000, 2)) V")
            }
            if let temperature = telemetry.temperature { parts.append("\(Self.tenths(temperature.celsius)) °C") }
        }
        if let packet = track.btHome {
            parts += packet.isEncrypted ? ["encrypted BTHome"] : packet.objects.map(\.description)
        }
        if let power = track.implausiblePower {
            parts.append("no distance: measured power \(power) dBm")
        }
        return parts.joined(separator: ", ")
    }

    private static let bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The levels of the last 30 s as bars. The lowest bar is -100 dBm or less, the highest is about -40 dBm or more.
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
