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

/// The two curves of the explorer. Their axes are fixed, so that the script only has to move lines.
struct ExplorerFigures {
    let explorer: PlanPageContent.Explorer
    let limits: PageLimits

    static let intervals = 20.0...10_240.0
    static let times = 0.05...3600.0
    private static let tableIntervals = [20.0, 50, 100, 200, 500, 1000, 2000, 5000, 10_240]

    var html: String { intervalFigure + discoveryFigure() }

    /// The charts as the script takes them.
    var plots: [(String, PageData)] {
        [("intervalCurve", Self.plot(Self.intervals).data(samples: Self.samples)), discoveryPlot]
    }

    var discoveryPlot: (String, PageData) { ("discovery", Self.plot(Self.times).data(samples: Self.samples)) }

    /// Points of a line that the script draws.
    private static let samples = 161

    /// Room above the curves for three markers.
    private static func plot(_ domain: ClosedRange<Double>) -> PlotArea {
        PlotArea(
            height: 416, top: 106, x: { Scale(domain, from: $0, to: $1, isLogarithmic: true) },
            y: { Scale(0...1, from: $0, to: $1, isLogarithmic: false) })
    }

    private var intervalFigure: String {
        var plot = Self.plot(Self.intervals)
        plot.drawAxes(
            xName: "advertising interval", yName: "", xTicks: [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
            yTicks: [0, 0.25, 0.5, 0.75, 1],
            xText: { $0 < 1000 ? NumberText.significant($0) : NumberText.significant($0 / 1000) + " s" },
            yText: { NumberText.significant($0 * 100) + " %" })
        let steps = (0..<Self.samples).map { step in
            Self.intervals.lowerBound
                * pow(Self.intervals.upperBound / Self.intervals.lowerBound, Double(step) / Double(Self.samples - 1))
        }
        let clear = steps.map { PlanPageContent.Point($0, collisionFree($0)) }
        let most = steps.map(arrivals).filter(\.isFinite).max() ?? 0
        let rates = steps.map { PlanPageContent.Point($0, most > 0 ? arrivals($0) / most : 0) }
        plot.drawPath(SVGPath(), class: "band", id: "captureBand")
        plot.drawPath(SVGPath(line: plot.places(rates)), class: "line s1", id: "arrivalsCurve")
        plot.drawPath(SVGPath(line: plot.places(clear)), class: "line s0", id: "clearCurve")
        let numbers = explorer.numbers
        mark("todayMarker", "this setting", explorer.intervalMs, at: 20, style: "m0", in: &plot)
        mark("mostMarker", "most packets", numbers.bestThroughputIntervalMs, at: 42, style: "m1", in: &plot)
        mark("surestMarker", "seen surest", numbers.bestLatencyIntervalMs, at: 64, style: "m2", in: &plot)
        let rows = Self.tableIntervals.map { interval in
            [
                NumberText.significant(interval, 5), NumberText.percent(collisionFree(interval)),
                NumberText.significant(arrivals(interval)),
            ]
        }
        return HTML.figure(
            id: "intervalCurve", title: "Which interval", drawing: plot.drawing.element(label: intervalLabel),
            caption: "Longer intervals collide less but send less. What arrives is largest between the two.",
            table: HTML.table(
                caption: "Clear packets by advertising interval",
                header: ["interval (ms)", "arrive clear", "a second, each beacon"], rows: rows),
            legend: HTML.legend([
                ("s0", "packets that arrive clear"), ("s1", "arrivals, as a share of the most that is possible"),
                ("band", "with capture, where it is chosen"),
            ]))
    }

    private var intervalLabel: String {
        "Share of packets that arrive clear, and arrivals, over the advertising interval from 20 ms to 10 s. "
            + "The values stand in the table below."
    }

    private func mark(
        _ id: String, _ name: String, _ value: Double?, at height: Double, style: String, in plot: inout PlotArea
    ) {
        let place = value ?? explorer.intervalMs
        let bounded = place.isFinite ? max(Self.intervals.lowerBound, min(Self.intervals.upperBound, place)) : 100
        let text = value.map { "\(name) \(NumberText.milliseconds($0))" } ?? ""
        plot.drawMarker(text, x: bounded, at: height, class: style, id: id)
    }

    /// One given beacon before one scanner; `extra` are more markers, each at its time, which the script moves.
    func discoveryFigure(extra: [(id: String, name: String, seconds: Double?)] = []) -> String {
        var plot = Self.plot(Self.times)
        plot.drawAxes(
            xName: "time", yName: "", xTicks: [0.1, 1, 10, 60, 600, 3600], yTicks: [0, 0.25, 0.5, 0.75, 1],
            xText: {
                $0 < 60 ? NumberText.duration($0) : $0 < 3600 ? NumberText.significant($0 / 60) + " min" : "1 h"
            },
            yText: { NumberText.significant($0 * 100) + " %" })
        let places = plot.places(plot.x.sampled(explorer.discovered, count: limits.points))
        plot.drawPath(SVGPath(areaUnder: places, downTo: plot.bottom), class: "fill", id: "discoveredArea")
        plot.drawPath(SVGPath(line: places), class: "rim", id: "discoveredCurve")
        let numbers = explorer.numbers
        let marks = [
            ("half", numbers.latencyP50, "p50", 20.0), ("90 of 100", numbers.latencyP90, "p90", 42),
            ("99 of 100", numbers.latencyP99, "p99", 64),
        ]
        for (name, value, style, height) in marks {
            let place = value.flatMap { Self.times.contains($0) ? $0 : nil } ?? Self.times.upperBound
            plot.drawMarker(
                value.map { "\(name) \(NumberText.duration($0))" } ?? "", x: place, at: height, class: style,
                id: style + "Marker")
        }
        for mark in extra {
            let place = mark.seconds.map { min(Self.times.upperBound, max(Self.times.lowerBound, $0)) }
            plot.drawMarker(mark.name, x: place ?? Self.times.upperBound, at: 86, class: "m0", id: mark.id)
        }
        let rows = [
            ("50 %", numbers.latencyP50), ("90 %", numbers.latencyP90), ("95 %", numbers.latencyP95),
            ("99 %", numbers.latencyP99),
        ]
        return HTML.figure(
            id: "discovery", title: "How long until it is seen",
            drawing: plot.drawing.element(label: "Share of receivers that have seen a given beacon, over time."),
            caption: "One given beacon of the fleet, from a random moment on, before the scanner that is chosen above.",
            table: HTML.table(
                caption: "Seconds until a share has seen it", header: ["share", "seconds"],
                rows: rows.map { [$0.0, NumberText.significant($0.1, 4)] }))
    }

    private func model(_ intervalMs: Double) -> CollisionModel? {
        guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: explorer.payloadOctets),
            let background = try? BackgroundLoad(
                share: explorer.backgroundLoad, airtimeMicroseconds: explorer.backgroundAirtimeMicroseconds)
        else { return nil }
        return try? CollisionModel(
            beacons: explorer.beacons, intervalMicroseconds: intervalMs * 1000, airtimeMicroseconds: airtime,
            background: background)
    }

    private func collisionFree(_ intervalMs: Double) -> Double {
        model(intervalMs)?.collisionFreeProbability ?? .nan
    }

    private func arrivals(_ intervalMs: Double) -> Double {
        model(intervalMs)?.arrivalsPerSecondPerBeacon ?? .nan
    }
}
