internal import Airtime
internal import BluetoothTypes

/// The part of the page for equal beacons and one scanner: controls, numbers, and two curves.
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
                        + thresholds.sorted().map { ("\($0)", NumberFormat.significant($0) + " dB") },
                    chosen: explorer.captureDecibels.map { "\($0)" } ?? ""),
            ])
    }

    var tiles: String {
        let numbers = explorer.numbers
        let airtime = numbers.airtimeMicroseconds.map { NumberFormat.significant($0) + " µs" } ?? NumberFormat.none
        let air: [ControlPanel.Tile] = [
            .init(
                "collisionFreeProbability", "Collision-free packets",
                NumberFormat.percent(numbers.collisionFreeProbability), numbers.collisionFreeProbability),
            .init(
                "arrivalsPerSecondPerBeacon", "Arriving per second and beacon",
                NumberFormat.significant(numbers.arrivalsPerSecondPerBeacon), numbers.arrivalsPerSecondPerBeacon),
            .init(
                "lossAfterLossProbability", "Lost again after a loss",
                NumberFormat.percent(numbers.lossAfterLossProbability), numbers.lossAfterLossProbability),
            .init("channelLoad", "Channel load", NumberFormat.percent(numbers.channelLoad), numbers.channelLoad),
            .init("airtimeMicroseconds", "Airtime of a packet", airtime, numbers.airtimeMicroseconds),
        ]
        let best: [ControlPanel.Tile] = [
            .init(
                "bestLatencyIntervalMs", "Most reliable interval",
                NumberFormat.milliseconds(numbers.bestLatencyIntervalMs), numbers.bestLatencyIntervalMs),
            .init(
                "bestThroughputIntervalMs", "Interval with the most arriving packets",
                NumberFormat.milliseconds(numbers.bestThroughputIntervalMs), numbers.bestThroughputIntervalMs),
            .init("captureLow", "Arriving with capture, at least", NumberFormat.none, nil, isHidden: true),
            .init("captureHigh", "Arriving with capture, at most", NumberFormat.none, nil, isHidden: true),
        ]
        return ControlPanel.tiles(explorer.latencyTiles, class: "seen", id: "latencyNumbers") + ControlPanel.tiles(air)
            + ControlPanel.tiles(best, class: "best") + "\n"
    }

    var settings: [(String, PageData)] { explorer.settings }

    var lists: [(String, PageData)] { [("scanner", .list(scanners.map(\.data)))] }
}

extension PlanPageContent.Explorer {
    /// The settings that have no control.
    var settings: [(String, PageData)] {
        [
            ("shadowingDecibels", .number(shadowingDecibels)),
            ("backgroundLoad", .number(backgroundLoad.isFinite ? backgroundLoad : 0)),
            ("backgroundAirtimeMs", .number((backgroundAirtimeMicroseconds ?? 0) / 1000)),
            ("copySpacingMs", .number(copySpacingMs)), ("horizonS", .number(horizonSeconds)),
        ]
    }

    /// The percentiles, which change with the controls.
    var latencyTiles: [ControlPanel.Tile] {
        [
            ("latencyP50", "Found in half of the cases after", numbers.latencyP50),
            ("latencyP90", "90 of 100 after", numbers.latencyP90),
            ("latencyP95", "95 of 100 after", numbers.latencyP95),
            ("latencyP99", "99 of 100 after", numbers.latencyP99),
        ].map { .init($0.0, $0.1, NumberFormat.duration($0.2), $0.2) }
    }
}

extension PlanPageContent.Scanner {
    /// The scanner for the script, with times in ms.
    var data: PageData {
        .object([
            ("name", .text(name)), ("windowMs", .number(Double(pattern.windowMicroseconds) / 1000)),
            ("intervalMs", .number(Double(pattern.intervalMicroseconds) / 1000)),
            ("channels", .number(Double(pattern.channelCount))),
        ])
    }
}

/// The two curves of the explorer. Their axes do not change with the controls, so the script only has to redraw lines.
struct ExplorerFigures {
    let explorer: PlanPageContent.Explorer
    let limits: PageLimits

    static let intervals = 20.0...10_240.0
    static let times = 0.05...3600.0
    /// The intervals of the tables next to the curves, in ms.
    static let tableIntervals = [20.0, 50, 100, 200, 500, 1000, 2000, 5000, 10_240]

    var html: String { intervalFigure + discoveryFigure() }

    /// The charts for the script.
    var plots: [(String, PageData)] {
        [("intervalCurve", Self.plot(Self.intervals).data(samples: Self.samples)), discoveryPlot]
    }

    var discoveryPlot: (String, PageData) { ("discovery", Self.plot(Self.times).data(samples: Self.samples)) }

    /// The number of points of a line that the script draws.
    private static let samples = 161

    /// Returns the axes of a chart, with room for the names of three markers above the curves.
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
            xText: { $0 < 1000 ? NumberFormat.significant($0) : NumberFormat.significant($0 / 1000) + " s" },
            yText: { NumberFormat.significant($0 * 100) + " %" })
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
        plot.drawMarkers([
            marker("todayMarker", "chosen", explorer.intervalMs, style: "m0"),
            marker("mostMarker", "most", numbers.bestThroughputIntervalMs, style: "m1"),
            marker("surestMarker", "surest", numbers.bestLatencyIntervalMs, style: "m2"),
        ])
        let rows = Self.tableIntervals.map { interval in
            [
                NumberFormat.significant(interval, 5), NumberFormat.percent(collisionFree(interval)),
                NumberFormat.significant(arrivals(interval)),
            ]
        }
        return HTML.figure(
            id: "intervalCurve", title: "Packets by advertising interval",
            drawing: plot.drawing.element(label: intervalLabel),
            caption:
                "At longer intervals fewer packets collide, but fewer are sent. The most packets arrive at intervals in between. "
                + "The lines mark the chosen interval, the interval at which the most packets arrive (most), and the "
                + "interval with the surest discovery (surest).",
            table: HTML.table(
                caption: "Collision-free packets by advertising interval",
                header: ["interval (ms)", "collision-free", "per second and beacon"], rows: rows),
            legend: HTML.legend([
                ("s0", "collision-free packets"), ("s1", "arriving packets, as a share of the maximum"),
                ("band", "with capture, if it is chosen"),
            ]))
    }

    private var intervalLabel: String {
        "Share of collision-free packets, and arriving packets, over the advertising interval from 20 ms to 10 s. "
            + "The table below has the values."
    }

    private func marker(_ id: String, _ name: String, _ value: Double?, style: String) -> PlotArea.Marker {
        let markerX = value ?? explorer.intervalMs
        let bounded = markerX.isFinite ? max(Self.intervals.lowerBound, min(Self.intervals.upperBound, markerX)) : 100
        let text = value.map { "\(name) \(NumberFormat.milliseconds($0))" } ?? ""
        return .init(name: text, x: bounded, style: style, id: id)
    }

    /// The possible ends of the time axis of the discovery chart, in seconds.
    private static let ends = [1.0, 2, 5, 10, 20, 60, 120, 300, 600, 1800, times.upperBound]
    private static let timeTicks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600]

    /// Returns the time axis of the discovery chart, in seconds. The axis ends soon after nearly all beacons are found.
    /// `discovery.js` does the same.
    private func shownTimes(_ marks: [Double]) -> ClosedRange<Double> {
        let finitePoints = explorer.discovered.filter { $0.x.isFinite && $0.y.isFinite }
        let last = finitePoints.first { $0.y >= 0.995 * (finitePoints.last?.y ?? 1) }?.x ?? Self.times.upperBound
        let leastEnd = marks.filter(\.isFinite).reduce(last, max)
        return Self.times.lowerBound...(Self.ends.first { $0 >= leastEnd } ?? Self.times.upperBound)
    }

    /// Returns the chart of the time to discovery of a given beacon with one scanner. `extra` are additional markers,
    /// which the script moves.
    func discoveryFigure(extra: [(id: String, name: String, seconds: Double?)] = []) -> String {
        let numbers = explorer.numbers
        let times = shownTimes(([numbers.latencyP99] + extra.map(\.seconds)).compactMap(\.self))
        var plot = Self.plot(times)
        plot.drawAxes(
            xName: "time", yName: "", xTicks: Self.timeTicks.filter(times.contains), yTicks: [0, 0.25, 0.5, 0.75, 1],
            xText: {
                $0 < 60 ? NumberFormat.duration($0) : $0 < 3600 ? NumberFormat.significant($0 / 60) + " min" : "1 h"
            },
            yText: { NumberFormat.significant($0 * 100) + " %" }, xID: "discoveryTicks")
        let places = plot.places(plot.x.sampled(explorer.discovered, count: limits.points))
        plot.drawPath(SVGPath(areaUnder: places, downTo: plot.bottom), class: "fill", id: "discoveredArea")
        plot.drawPath(SVGPath(line: places), class: "rim", id: "discoveredCurve")
        func limited(_ time: Double) -> Double { min(times.upperBound, max(times.lowerBound, time)) }
        let marks = [
            ("half", numbers.latencyP50, "p50"), ("90 %", numbers.latencyP90, "p90"),
            ("99 %", numbers.latencyP99, "p99"),
        ].map { name, value, style in
            let known = value.flatMap { Self.times.contains($0) ? $0 : nil }
            return PlotArea.Marker(
                name: value.map { "\(name) \(NumberFormat.duration($0))" } ?? "", x: known ?? times.upperBound,
                style: style, id: style + "Marker")
        }
        plot.drawMarkers(
            marks
                + extra.map {
                    .init(name: $0.name, x: $0.seconds.map(limited) ?? times.upperBound, style: "m0", id: $0.id)
                })
        let rows = [
            ("50 %", numbers.latencyP50), ("90 %", numbers.latencyP90), ("95 %", numbers.latencyP95),
            ("99 %", numbers.latencyP99),
        ]
        return HTML.figure(
            id: "discovery", title: "Time to discovery",
            drawing: plot.drawing.element(label: "Share of cases in which a given beacon is found, over time."),
            caption: "For a given beacon and the scanner that is chosen above. The time begins at a random moment.",
            table: HTML.table(
                caption: "Time to discovery, by share of the cases", header: ["share", "seconds"],
                rows: rows.map { [$0.0, NumberFormat.significant($0.1, 4)] }))
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
