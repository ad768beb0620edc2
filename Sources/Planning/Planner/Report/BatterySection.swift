internal import Airtime
internal import BluetoothTypes

/// The part of the page that shows a battery's life and the energy for one received packet, over the advertising
/// interval.
struct BatterySection: ControlledSection {
    let battery: PlanPageContent.Battery

    static let kind = "battery"
    private static let microjoules = 1.0...100_000.0
    /// The range of the battery life in the chart: from one day to at least the longest life of all pairs of a listed
    /// chip and a listed battery.
    private var days: ClosedRange<Double> {
        let interval = ExplorerFigures.intervals.upperBound * 1000
        let lives = battery.chips.flatMap { chip in
            battery.batteries.compactMap { cell in
                (try? EnergyModel(chip: chip, battery: cell, intervalMicroseconds: interval, payloadOctets: 0))?
                    .lifeDays
            }
        }
        return 1...pow(10, log10(max(10_000, lives.max() ?? 0)).rounded(.up))
    }
    private static let samples = 121

    var panel: ControlPanel {
        ControlPanel(
            sliders: [
                .interval(battery.intervalMs), .payload(battery.payloadOctets), .beacons(battery.beacons),
            ],
            choices: [
                .init(id: "chip", label: "Chip", names: battery.chips.map(\.name), chosen: battery.chipName),
                .init(
                    id: "battery", label: "Battery", names: battery.batteries.map(\.name), chosen: battery.batteryName),
            ])
    }

    var tiles: String {
        let now = model(battery.intervalMs)
        let clear = clear(battery.intervalMs)
        let cost = cost(battery.intervalMs)
        return ControlPanel.tiles(
            [
                .init(
                    "lifeDays", "The battery lasts",
                    now.map(Self.life) ?? NumberFormat.none, now?.lifeDays),
                .init(
                    "meanCurrentMicroamperes", "Mean current", unit(now?.meanCurrentMicroamperes, "µA"),
                    now?.meanCurrentMicroamperes),
            ], class: "seen", id: "latencyNumbers")
            + ControlPanel.tiles([
                .init("microjoulePerReceived", "Energy for each received packet", unit(cost, "µJ"), cost),
                .init("collisionFreeProbability", "Collision-free packets", NumberFormat.percent(clear), clear),
                .init(
                    "eventMicrocoulombs", "Charge of an event", unit(now?.eventMicrocoulombs, "µC"),
                    now?.eventMicrocoulombs),
            ])
    }

    /// Returns the life as text in days or years. `battery.js` writes the same text.
    private static func life(_ model: EnergyModel) -> String {
        if model.exceedsShelfLife { return "about ten years" }
        return model.lifeDays < 730
            ? NumberFormat.significant(model.lifeDays) + " days"
            : NumberFormat.significant(model.lifeDays / 365.25) + " years"
    }

    private func unit(_ value: Double?, _ unit: String) -> String {
        value.map { NumberFormat.significant($0) + " " + unit } ?? NumberFormat.none
    }

    var figures: String {
        figure("life", title: "Battery life", unit: "days", domain: days, caption: Self.lifeCaption) {
            model($0)?.lifeDays
        }
            + figure(
                "cost", title: "Energy for a received packet", unit: "µJ", domain: Self.microjoules,
                caption: "Short intervals lose packets to collisions, and long ones need more energy for sleep. "
                    + "Above \(NumberFormat.significant(Self.microjoules.upperBound)) µJ the line is left out.",
                value: cost)
    }

    private static let lifeCaption =
        "How long a battery lasts. Longer intervals make it last longer, up to the interval at which the sleep current "
        + "dominates. Above the dashed line the battery itself is no longer usable, after about ten years."

    private func plot(_ domain: ClosedRange<Double>) -> PlotArea {
        PlotArea(
            height: 340, top: 40, x: { Scale(ExplorerFigures.intervals, from: $0, to: $1, isLogarithmic: true) },
            y: { Scale(domain, from: $0, to: $1, isLogarithmic: true) })
    }

    private func figure(
        _ name: String, title: String, unit: String, domain: ClosedRange<Double>, caption: String,
        value: (Double) -> Double?
    ) -> String {
        var plot = plot(domain)
        plot.drawAxes(
            xName: "advertising interval (ms)", yName: unit, xTicks: [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
            yTicks: (0...8).map { pow(10, Double($0)) }.filter(domain.contains))
        let ratio = ExplorerFigures.intervals.upperBound / ExplorerFigures.intervals.lowerBound
        let points = (0..<Self.samples).map { step in
            let interval = ExplorerFigures.intervals.lowerBound * pow(ratio, Double(step) / Double(Self.samples - 1))
            // The line is interrupted where values are outside the chart. A line along the edge would look like values.
            let valueInChart = value(interval).flatMap { domain.contains($0) ? $0 : nil }
            return PlanPageContent.Point(interval, valueInChart ?? .nan)
        }
        if unit == "days" {
            let limit = plot.y(BeaconBattery.shelfLifeDays)
            plot.drawPath(SVGPath(line: [(PlotArea.left, limit), (plot.x.end, limit)]), class: "target")
        }
        plot.drawPath(SVGPath(line: plot.places(points)), class: "line s0", id: "\(name)Line")
        let text = "\(NumberFormat.milliseconds(battery.intervalMs)): \(self.unit(value(battery.intervalMs), unit))"
        let markerX = battery.intervalMs.isFinite ? max(20, min(10_240, battery.intervalMs)) : 100
        plot.drawMarker(text, x: markerX, at: 26, class: "m0", id: "\(name)Marker")
        return HTML.figure(
            id: "\(name)Curve", title: title, drawing: plot.drawing.element(label: "\(title), over the interval."),
            caption: caption,
            table: HTML.table(
                caption: title, header: ["interval (ms)", unit],
                rows: ExplorerFigures.tableIntervals.map {
                    [NumberFormat.significant($0, 5), NumberFormat.significant(value($0), 4)]
                }))
    }

    private func model(_ intervalMs: Double) -> EnergyModel? {
        guard let chip = battery.chips.first(where: { $0.name == battery.chipName }),
            let cell = battery.batteries.first(where: { $0.name == battery.batteryName })
        else { return nil }
        return try? EnergyModel(
            chip: chip, battery: cell, intervalMicroseconds: intervalMs * 1000, payloadOctets: battery.payloadOctets)
    }

    private func clear(_ intervalMs: Double) -> Double? {
        guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: battery.payloadOctets) else {
            return nil
        }
        return
            (try? CollisionModel(
                beacons: battery.beacons, intervalMicroseconds: intervalMs * 1000, airtimeMicroseconds: airtime))?
            .collisionFreeProbability
    }

    private func cost(_ intervalMs: Double) -> Double? {
        guard let model = model(intervalMs), let clear = clear(intervalMs), clear > 1e-9 else { return nil }
        return try? model.microjoulesPerReceived(probability: min(1, clear))
    }

    var settings: [(String, PageData)] { [("backgroundLoad", .number(0)), ("backgroundAirtimeMs", .number(0))] }

    var lists: [(String, PageData)] {
        let chips = battery.chips.map { chip in
            PageData.object([
                ("name", .text(chip.name)), ("emptyMicrocoulombs", .number(chip.emptyEventMicrocoulombs)),
                ("fullMicrocoulombs", .number(chip.fullEventMicrocoulombs)),
                ("sleepMicroamperes", .number(chip.sleepMicroamperes)),
            ])
        }
        let batteries = battery.batteries.map { cell in
            PageData.object([
                ("name", .text(cell.name)), ("capacityMilliampereHours", .number(cell.capacityMilliampereHours)),
                ("volts", .number(cell.nominalVolts)), ("efficiency", .number(cell.efficiency)),
            ])
        }
        return [("chip", .list(chips)), ("battery", .list(batteries))]
    }

    var plots: [(String, PageData)] {
        [
            ("lifeCurve", plot(days).data(samples: Self.samples)),
            ("costCurve", plot(Self.microjoules).data(samples: Self.samples)),
        ]
    }
}
