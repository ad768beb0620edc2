internal import Airtime
internal import BluetoothTypes
internal import Planner

/// The floor of a rehearsal's page with its player, and the data that the player draws.
struct RehearsalPlayer {
    private let report: RehearsalReport
    private let floor: RehearsalFloor
    /// The period that the player plays; nil for a page without a player.
    private let playback: RehearsalPlayback?
    /// The number of advertising events that the page plays.
    private let eventCount: Int

    /// The largest number of advertising events on a page. They take about 3 MB.
    private static let eventLimit = 200_000

    /// The player of a report; nil if no beacon has a position.
    init?(_ report: RehearsalReport) {
        guard let floor = RehearsalFloor(report) else { return nil }
        self.report = report
        self.floor = floor
        var playback = report.playback
        eventCount = min(Self.eventLimit, playback?.events.count ?? 0)
        if let events = playback?.events, eventCount < events.count {
            playback?.toS = events.milliseconds[eventCount] / 1000
        }
        self.playback = playback
    }

    /// The drawing and, if a period is stored, the controls. The controls are hidden until a script shows them.
    ///
    /// - Parameter markup: The table with the same data as the drawing.
    func figure(table markup: String) -> String {
        let scanners = report.scanners.isEmpty ? "" : " (\(HTMLEscaping.shortened(report.scanners, to: 160)))"
        let caption =
            "The colours show the result of the whole rehearsal: \(NumberFormat.significant(report.hours, unit: "h")) with "
            + "\(NumberFormat.count(report.phones, "phone"))\(scanners)."
            + (playback.map {
                " Press Play to watch \(RehearsalClock.text($0.fromS)) to \(RehearsalClock.text($0.toS))."
            } ?? "")
        let moving = playback == nil ? "" : "<div id=\"moving\" hidden>\(floor.playbackLegend)</div>"
        let canvas = playback == nil ? "" : "<canvas id=\"air\" aria-hidden=\"true\"></canvas>"
        let stage =
            "<div id=\"stage\">\(floor.drawing.element(label: floor.label, id: "drawing"))\(canvas)</div>"
        return HTML.figure(
            id: "floor", title: "The floor",
            drawing: "<div class=\"theatre\">\(stage)<div class=\"beside\"><div id=\"still\">\(floor.legend)</div>"
                + "\(moving)\(playback == nil ? "" : RehearsalScript.nowPlaying)</div>"
                + (playback == nil ? "" : RehearsalScript.player) + "</div>",
            caption: caption, table: markup + changes)
    }

    /// The table of the changes in the period for the player.
    private var changes: String {
        guard let playback, !playback.changes.isEmpty else { return "" }
        return HTML.table(
            caption: "Changes in the time that the player replays", header: ["time", "change"],
            rows: playback.changes.prefix(200).map { [RehearsalClock.text($0.atS), $0.text] })
    }

    var notes: [String] {
        guard let playback, let total = report.playback?.events.count, eventCount < total else { return [] }
        return [
            "The page plays the first \(eventCount) of \(total) advertising events, until "
                + "\(RehearsalClock.text(playback.toS))."
        ]
    }

    /// The data for the script of the player: times in ms, and positions in units of the drawing.
    var data: PageData {
        guard let playback else { return .null }
        return .object([
            ("from", .number((playback.fromS * 1000).rounded())), ("to", .number((playback.toS * 1000).rounded())),
            ("radius", .number(floor.radius)), ("ring", .number(floor.ring)),
            (
                "beacons",
                .list(
                    report.beacons.map { beacon in
                        let spot = beacon.position.map(floor.place)
                        return .object([
                            ("name", .text(HTMLEscaping.shortened(beacon.name, to: 60))), ("x", short(spot?.x)),
                            ("y", short(spot?.y)),
                        ])
                    })
            ),
            ("sends", events(playback)), ("phones", .list(playback.phones.map(phone))),
            (
                "changes",
                .list(
                    playback.changes.map { change in
                        .object([
                            ("time", milliseconds(change.atS)), ("beacon", .number(change.beacon.map(Double.init))),
                            ("text", .text(HTMLEscaping.shortened(change.text, to: 160))),
                        ])
                    })
            ),
        ])
    }

    /// The advertising events as columns of numbers, separated by spaces. Each time is the difference from the previous
    /// event in ms, because short numbers keep the page small.
    private func events(_ playback: RehearsalPlayback) -> PageData {
        func column(_ values: some Sequence<Int>) -> PageData {
            .text(values.prefix(eventCount).map { "\($0)" }.joined(separator: " "))
        }
        var previous = Int((playback.fromS * 1000).rounded())
        let differences = playback.events.milliseconds.prefix(eventCount).map { time in
            let rounded = Int(time.rounded())
            defer { previous = rounded }
            return rounded - previous
        }
        return .object([
            ("after", column(differences)), ("beacon", column(playback.events.beacons)),
            ("received", column(playback.events.received)), ("collided", column(playback.events.collided)),
        ])
    }

    private func phone(_ phone: RehearsalPlayback.Phone) -> PageData {
        let track = phone.track.flatMap { point -> [PageData] in
            let spot = floor.place(point.position)
            return [milliseconds(point.atS), short(spot.x), short(spot.y)]
        }
        return .object([
            ("scanner", .text(HTMLEscaping.shortened(phone.scanner, to: 60))), ("track", .list(track)),
            ("found", .list(phone.discoveries.flatMap { [milliseconds($0.atS), .number(Double($0.beacon))] })),
        ])
    }

    private func milliseconds(_ seconds: Double) -> PageData { .number((seconds * 1000).rounded()) }

    private func short(_ value: Double?) -> PageData { .number(value.map { ($0 * 10).rounded() / 10 }) }
}
