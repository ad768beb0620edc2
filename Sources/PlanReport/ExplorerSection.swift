internal import Airtime

/// The part of the page that answers again when a control moves: controls, numbers, and two curves.
struct ExplorerSection {
    let explorer: PlanPageContent.Explorer
    let limits: PageLimits

    /// Names are shortened alike in the list and in the data.
    private var scanners: [PlanPageContent.Scanner] {
        explorer.scanners.prefix(limits.scanners).map { .init(HTMLEscaping.shortened($0.name, to: 80), $0.pattern) }
    }

    private var chosen: String { HTMLEscaping.shortened(explorer.scannerName, to: 80) }

    private var figures: ExplorerFigures { ExplorerFigures(explorer: explorer, limits: limits) }

    var html: String {
        "<section class=\"explorer\" aria-labelledby=\"explorerTitle\"><h2 id=\"explorerTitle\">What if</h2>\n"
            + "<p class=\"hint\">Move a control: every number and both curves are computed again, here in the page."
            + "</p>\n" + panel.html + "<p id=\"sentence\" role=\"status\" aria-live=\"polite\"></p>\n" + tiles
            + "<div class=\"pair\">" + figures.html + "</div></section>\n"
    }

    private var panel: ControlPanel {
        let thresholds = Set([6, 9, 12, 15, 18, 21] + (explorer.captureDecibels.map { [$0] } ?? [])).filter(\.isFinite)
        return ControlPanel(
            sliders: [
                .init(
                    id: "beacons", label: "Beacons in range", value: Double(explorer.beacons), range: 1...100_000,
                    reach: 1...5000, isLogarithmic: true),
                .init(
                    id: "intervalMs", label: "Advertising interval (ms)", value: explorer.intervalMs,
                    range: ExplorerFigures.intervals, reach: ExplorerFigures.intervals, isLogarithmic: true,
                    step: .interval),
                .init(
                    id: "payloadOctets", label: "Payload (octets)", value: Double(explorer.payloadOctets),
                    range: 0...31, reach: 0...31),
            ],
            choices: [
                .init(
                    id: "scanner", label: "Scanner", options: scanners.map { ($0.name, $0.name) }, chosen: chosen),
                .init(
                    id: "captureDecibels", label: "Capture above",
                    options: [("", "none")]
                        + thresholds.sorted().map { ("\($0)", NumberText.significant($0) + " dB") },
                    chosen: explorer.captureDecibels.map { "\($0)" } ?? ""),
            ])
    }

    private var tiles: String {
        let numbers = explorer.numbers
        let airtime = numbers.airtimeMicroseconds.map { NumberText.significant($0) + " µs" } ?? NumberText.none
        let seen: [ControlPanel.Tile] = [
            .init("latencyP50", "Half have seen it after", NumberText.duration(numbers.latencyP50), numbers.latencyP50),
            .init("latencyP90", "90 of 100 after", NumberText.duration(numbers.latencyP90), numbers.latencyP90),
            .init("latencyP95", "95 of 100 after", NumberText.duration(numbers.latencyP95), numbers.latencyP95),
            .init("latencyP99", "99 of 100 after", NumberText.duration(numbers.latencyP99), numbers.latencyP99),
        ]
        let air: [ControlPanel.Tile] = [
            .init(
                "collisionFreeProbability", "Packets that arrive clear",
                NumberText.percent(numbers.collisionFreeProbability), numbers.collisionFreeProbability),
            .init(
                "arrivalsPerSecondPerBeacon", "Arrive a second, each beacon",
                NumberText.significant(numbers.arrivalsPerSecondPerBeacon), numbers.arrivalsPerSecondPerBeacon),
            .init(
                "lossAfterLossProbability", "Lost again after a loss",
                NumberText.percent(numbers.lossAfterLossProbability), numbers.lossAfterLossProbability),
            .init("channelLoad", "Channel load", NumberText.percent(numbers.channelLoad), numbers.channelLoad),
            .init("airtimeMicroseconds", "One packet on the air", airtime, numbers.airtimeMicroseconds),
        ]
        let best: [ControlPanel.Tile] = [
            .init(
                "bestLatencyIntervalMs", "Best interval to be seen surely",
                NumberText.milliseconds(numbers.bestLatencyIntervalMs), numbers.bestLatencyIntervalMs),
            .init(
                "bestThroughputIntervalMs", "Best interval for most packets",
                NumberText.milliseconds(numbers.bestThroughputIntervalMs), numbers.bestThroughputIntervalMs),
            .init("captureLow", "Clear with capture, at least", NumberText.none, nil, isHidden: true),
            .init("captureHigh", "Clear with capture, at most", NumberText.none, nil, isHidden: true),
        ]
        return ControlPanel.tiles(seen, class: "seen", id: "latencyNumbers") + ControlPanel.tiles(air)
            + ControlPanel.tiles(best, class: "best") + "\n"
    }

    /// What the script starts from.
    var data: PageData {
        .object(
            [
                ("kind", .text("fleet")),
                (
                    "settings",
                    .object([
                        ("shadowingDecibels", .number(explorer.shadowingDecibels)),
                        ("backgroundLoad", .number(explorer.backgroundLoad.isFinite ? explorer.backgroundLoad : 0)),
                        ("backgroundAirtimeMs", .number((explorer.backgroundAirtimeMicroseconds ?? 0) / 1000)),
                        ("copySpacingMs", .number(explorer.copySpacingMs)),
                        ("horizonS", .number(explorer.horizonSeconds)),
                    ])
                ),
                ("scanners", .list(scanners.map(\.data))), ("plots", .object(figures.plots)),
            ] + panel.data)
    }
}

extension PlanPageContent.Scanner {
    /// The scanner as the script takes it, times in ms.
    var data: PageData {
        .object([
            ("name", .text(name)), ("windowMs", .number(Double(pattern.windowMicroseconds) / 1000)),
            ("intervalMs", .number(Double(pattern.intervalMicroseconds) / 1000)),
            ("channels", .number(Double(pattern.channelCount))),
        ])
    }
}
