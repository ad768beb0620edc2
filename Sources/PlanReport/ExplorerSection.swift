internal import Airtime

/// The part of the page that answers again when a control moves: controls, numbers, and two curves.
struct ExplorerSection: ControlledSection {
    let explorer: PlanPageContent.Explorer
    let limits: PageLimits

    static let kind = "fleet"

    private var scanners: [PlanPageContent.Scanner] { explorer.scanners.shortened(limits) }

    private var chart: ExplorerFigures { ExplorerFigures(explorer: explorer, limits: limits) }

    var figures: String { chart.html }

    var plots: [(String, PageData)] { chart.plots }

    var panel: ControlPanel {
        let thresholds = Set([6, 9, 12, 15, 18, 21] + (explorer.captureDecibels.map { [$0] } ?? [])).filter(\.isFinite)
        return ControlPanel(
            sliders: [
                .beacons(explorer.beacons), .interval(explorer.intervalMs), .payload(explorer.payloadOctets),
            ],
            choices: [
                .init(
                    id: "scanner", label: "Scanner", names: scanners.map(\.name),
                    chosen: HTMLEscaping.shortened(explorer.scannerName, to: 80)),
                .init(
                    id: "captureDecibels", label: "Capture above",
                    options: [("", "none")]
                        + thresholds.sorted().map { ("\($0)", NumberText.significant($0) + " dB") },
                    chosen: explorer.captureDecibels.map { "\($0)" } ?? ""),
            ])
    }

    var tiles: String {
        let numbers = explorer.numbers
        let airtime = numbers.airtimeMicroseconds.map { NumberText.significant($0) + " µs" } ?? NumberText.none
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
        return ControlPanel.tiles(explorer.latencyTiles, class: "seen", id: "latencyNumbers") + ControlPanel.tiles(air)
            + ControlPanel.tiles(best, class: "best") + "\n"
    }

    var settings: [(String, PageData)] { explorer.settings }

    var lists: [(String, PageData)] { [("scanner", .list(scanners.map(\.data)))] }
}

extension PlanPageContent.Explorer {
    /// What no control moves.
    var settings: [(String, PageData)] {
        [
            ("shadowingDecibels", .number(shadowingDecibels)),
            ("backgroundLoad", .number(backgroundLoad.isFinite ? backgroundLoad : 0)),
            ("backgroundAirtimeMs", .number((backgroundAirtimeMicroseconds ?? 0) / 1000)),
            ("copySpacingMs", .number(copySpacingMs)), ("horizonS", .number(horizonSeconds)),
        ]
    }

    /// The percentiles as numbers that follow the controls.
    var latencyTiles: [ControlPanel.Tile] {
        [
            ("latencyP50", "Half have seen it after", numbers.latencyP50),
            ("latencyP90", "90 of 100 after", numbers.latencyP90),
            ("latencyP95", "95 of 100 after", numbers.latencyP95),
            ("latencyP99", "99 of 100 after", numbers.latencyP99),
        ].map { .init($0.0, $0.1, NumberText.duration($0.2), $0.2) }
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
