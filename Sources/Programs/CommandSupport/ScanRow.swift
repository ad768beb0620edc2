internal import BeaconFrames
internal import BluetoothTypes
package import Configuration
package import Sightings

/// One beacon of a scan, as the cells of a table.
package struct ScanRow {
    private let track: BeaconTrack
    private let now: HeardInstant
    private let rule: DistanceEstimate.Rule
    /// True if the receiver reports only that beacons are present, so that no intervals are known.
    private let isPresenceOnly: Bool
    /// True if another row has the same name.
    private let sharesName: Bool

    /// - Parameter sharesName: Whether another row has the same name, so that the title needs the identity too.
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

    /// The positions of the most important cells: identity, level, distance, time and address.
    package static let essential = [0, 1, 4, 7, 8]

    /// The name of a known beacon, which may be anything, or the whole identity, which other commands take.
    private var title: String {
        let identity = track.identity?.description
        guard let known = track.known else { return identity ?? "-" }
        let name = TerminalText.line(TerminalText.shortened(known.name, to: 40))
        return sharesName ? name + (identity.map { " " + $0 } ?? "") : name
    }

    /// Further facts that the device sends: its name, maker, telemetry and BTHome values; empty without any.
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
