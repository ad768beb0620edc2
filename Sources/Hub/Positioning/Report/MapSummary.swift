internal import Airtime
internal import BluetoothTypes
public import Configuration
internal import Planner

/// A map in numbers and sentences, for its page and for programs.
public struct MapSummary {
    private let analysis: MapAnalysis
    private var map: SignalMap { analysis.map }

    /// The summary of a map.
    public init(_ analysis: MapAnalysis) {
        self.analysis = analysis
    }

    var title: String {
        map.site.map { "Signal map of \($0)" } ?? "Signal map of \(MapText.count(map.places.count, "place"))"
    }

    /// The numbers of places and beacons, and the errors of the map.
    public var answer: String {
        let parts =
            "\(map.places.count) places and \(map.beacons.count) beacons, located by \(map.settings.algorithm.rawValue)"
        if map.modelSite != nil {
            return "\(map.beacons.count) beacons of a site file, without a survey: the expected mean error is "
                + "\(metres(meanError)), computed from path loss and walls. A survey measures it."
        }
        guard let evaluation = map.evaluation, let mean = evaluation.mean else {
            guard let mean = meanError else { return "\(parts). Without positions the error is unknown." }
            return
                "\(parts): the expected mean error is \(metres(mean)), computed from the map itself. It was not measured "
                + "by leaving parts of the survey out."
        }
        return "\(parts): mean error \(metres(mean)), 95th percentile \(metres(evaluation.percentile95)), measured by "
            + "leaving parts of the survey out."
    }

    private var meanError: Double? {
        let errors = analysis.expectedErrors
        return errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count)
    }

    private func metres(_ value: Double?) -> String {
        value.map { NumberFormat.fixed($0, 1) + " m" } ?? NumberFormat.none
    }

    /// The places where another beacon or stay would help most, one sentence each.
    public var advice: [String] {
        var sentences: [String] = []
        let errors = analysis.expectedErrors
        if let gap = analysis.gaps.first {
            let floor = gap.floor.map { " on \($0)" } ?? ""
            sentences.append(
                "One more beacon near \(spot(gap.position))\(floor): fewer than \(MapAdvice.fewestBeacons) beacons are "
                    + "received on \(NumberFormat.significant(gap.area, 2)) m², and only \(gap.fewestBeacons) at the "
                    + "worst place.")
        } else if let worst = errors.indices.max(by: { errors[$0] < errors[$1] }) {
            sentences.append(
                "One more beacon near \(spot(analysis.cells[worst].position)): the expected error is largest there, "
                    + "\(metres(errors[worst])).")
        }
        guard map.modelSite == nil else { return sentences }
        return sentences
            + MapAdvice(map).improvements.filter { $0.kind == .stay || analysis.step == nil }.map {
                "One more \($0.kind.rawValue) at \(map.places[$0.place].name): \($0.reason)."
            }
    }

    private func spot(_ position: FloorPosition) -> String {
        "(\(NumberFormat.fixed(position.x, 1)), \(NumberFormat.fixed(position.y, 1)))"
    }

    // MARK: Tables

    /// A table of the page.
    struct PageTable {
        let caption: String
        let header: [String]
        let rows: [[String]]
    }

    var tables: [PageTable] { [figures, places, beacons] + (analysis.gaps.isEmpty ? [] : [gaps]) }

    private var figures: PageTable {
        var rows = [
            ["places", "\(map.places.count)"], ["beacons", "\(map.beacons.count)"],
            ["seconds surveyed", "\(map.places.reduce(0) { $0 + $1.seconds })"],
            ["algorithm", map.settings.algorithm.rawValue],
        ]
        if let evaluation = map.evaluation {
            rows += [
                ["mean error, by leaving parts of the survey out", metres(evaluation.mean)],
                ["75th percentile of the error", metres(evaluation.percentile75)],
                ["95th percentile of the error", metres(evaluation.percentile95)],
                ["right place", NumberFormat.percent(evaluation.exact)],
                ["true position within the 95 % region", NumberFormat.percent(evaluation.coverage95)],
            ]
        }
        if let step = analysis.step {
            rows.append(["cells", "\(analysis.cells.count) of \(NumberFormat.significant(step, 3)) m"])
        }
        return PageTable(caption: "The numbers", header: ["quantity", "value"], rows: rows)
    }

    private var places: PageTable {
        let rows = map.places.enumerated().map { index, place in
            [
                place.name, place.floor ?? NumberFormat.none, NumberFormat.fixed(place.position?.x, 1),
                NumberFormat.fixed(place.position?.y, 1), "\(place.seconds)",
                analysis.receivedBeacons(at: index).map { "\($0)" } ?? NumberFormat.none,
                NumberFormat.fixed(analysis.placeErrors[index], 1),
                analysis.confusion[index].prefix(3).map {
                    "\(HTMLEscaping.shortened(map.places[$0.place].name, to: 40)) \(NumberFormat.percent($0.probability))"
                }.joined(separator: ", "),
            ]
        }
        return PageTable(
            caption: "Places",
            header: ["place", "floor", "x (m)", "y (m)", "seconds", "beacons received", "error (m)", "mistaken for"],
            rows: rows)
    }

    private var beacons: PageTable {
        let rows = map.beacons.enumerated().map { index, beacon in
            let reception = reception(of: index)
            return [
                beacon.key.text, NumberFormat.fixed(beacon.position?.x, 1), NumberFormat.fixed(beacon.position?.y, 1),
                "\(beacon.seconds)", "\(reception.places)", NumberFormat.fixed(reception.strongest, 0),
                NumberFormat.fixed(reception.residual, 1),
            ]
        }
        return PageTable(
            caption: "Beacons",
            header: [
                "beacon", "x (m)", "y (m)", "seconds received", "places", "strongest (dBm)", "residuals (dB rms)",
            ], rows: rows)
    }

    private var gaps: PageTable {
        let rows = analysis.gaps.prefix(20).map { gap in
            [
                spot(gap.position), gap.floor ?? NumberFormat.none, NumberFormat.significant(gap.area, 3),
                "\(gap.fewestBeacons)",
            ]
        }
        return PageTable(
            caption: "Coverage gaps", header: ["near (m)", "floor", "area (m²)", "fewest beacons"], rows: rows)
    }

    /// Returns three values about a beacon: the number of places where it was received, its highest mean level in dBm,
    /// and the root mean square of its residuals in dB.
    private func reception(of beacon: Int) -> (places: Int, strongest: Double?, residual: Double?) {
        let receptions = map.places.indices.compactMap { place in
            map.statistics[place].first { $0.beacon == beacon }.map { (place: place, mean: $0.mean) }
        }
        let residuals =
            analysis.step == nil ? [] : receptions.compactMap { analysis.residual(beacon: beacon, place: $0.place) }
        return (receptions.count, receptions.map(\.mean).max(), Percentiles(residuals).rootMeanSquare)
    }

    /// Sentences that explain how the numbers were computed.
    var notes: [String] {
        var notes = [
            map.modelSite == nil
                ? "The field of a beacon is a trend over the logarithm of the distance, plus a Gaussian process over the "
                    + "differences of the measured levels from the trend. Levels between the places are smooth estimates."
                : "The field of a beacon is computed by the planner: its power minus the path loss and the walls. No survey "
                    + "has confirmed it.",
            "The expected error is that of a person who stands still for \(map.settings.effectiveWindow ?? 1) s with a "
                + "receiver that was not compared with the surveyor's receiver.",
        ]
        if map.modelSite == nil, Set(map.places.flatMap(\.headings)).count == 1 {
            notes.append("All stays have one heading, so the surveyor's body was always on the same side.")
        }
        return notes
    }

    // MARK: For programs

    /// The numbers of ``MapPage`` as one JSON object.
    public var json: JSONValue {
        let places = map.places.enumerated().map { index, place in
            let mistakes = analysis.confusion[index].map {
                JSONValue.record([
                    ("place", .string(map.places[$0.place].name)), ("share", .rounded($0.probability, 4)),
                ])
            }
            return JSONValue.record([
                ("name", .string(place.name)), ("floor", .text(place.floor)),
                ("position", .roundedPosition(place.position)), ("seconds", .integer(place.seconds)),
                ("heard", .optional(analysis.receivedBeacons(at: index)) { .integer($0) }),
                ("errorM", .rounded(analysis.placeErrors[index])), ("takenFor", .array(mistakes)),
            ])
        }
        let beacons = map.beacons.enumerated().map { index, beacon in
            let reception = reception(of: index)
            return JSONValue.record([
                ("key", .string(beacon.key.text)), ("position", .roundedPosition(beacon.position)),
                ("seconds", .integer(beacon.seconds)), ("places", .integer(reception.places)),
                ("strongestDbm", .rounded(reception.strongest)), ("residualRmsDb", .rounded(reception.residual)),
            ])
        }
        let gaps = analysis.gaps.map { gap in
            JSONValue.record([
                ("position", .roundedPosition(gap.position)), ("floor", .text(gap.floor)),
                ("areaM2", .rounded(gap.area)), ("heard", .integer(gap.fewestBeacons)),
            ])
        }
        return .record([
            ("site", .text(map.site)), ("algorithm", map.settings.json),
            ("source", .string(map.modelSite == nil ? "survey" : "site")),
            ("expectedErrorM", .rounded(meanError)), ("evaluation", .optional(map.evaluation, \.json)),
            ("cells", .integer(analysis.cells.count)), ("stepM", .rounded(analysis.step)), ("places", .array(places)),
            ("beacons", .array(beacons)), ("gaps", .array(gaps)),
            ("advice", .array(advice.map(JSONValue.string))),
        ])
    }
}
