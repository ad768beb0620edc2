internal import Configuration

/// Evaluations as text. One evaluation is described in full; several evaluations form a table.
public enum EvaluationText {
    /// The evaluations as text.
    ///
    /// - Parameter preset: The published protocol whose table is used; `nil` for the usual forms.
    public static func text(_ results: [Evaluation], preset: EvaluationRun.Preset? = nil) -> String {
        if preset == .experiment { return experiment(results) }
        guard results.count == 1, let only = results.first else { return table(results) }
        return one(only)
    }

    /// Returns the table of the protocol ``EvaluationRun/Preset/experiment``. It shows the share of the instants with
    /// the right place, the share with a place next to it, and the share of all other instants, including instants
    /// without an answer.
    private static func experiment(_ results: [Evaluation]) -> String {
        var table = Table(
            ["algorithm", "exact %", "neighbor %", "far %", "seconds"],
            alignment: [.left, .right, .right, .right, .right])
        for result in results {
            table.add([
                result.algorithm.rawValue, MapText.percent(result.exact),
                MapText.percent(result.exactOrAdjacent - result.exact), MapText.percent(1 - result.exactOrAdjacent),
                "\(result.instants)",
            ])
        }
        return table.text
            + "\nWith four places of 20 s each, the values vary by 13 to 20 percentage points by chance, so they cannot rank "
            + "algorithms.\n"
    }

    private static func table(_ results: [Evaluation]) -> String {
        var table = Table(
            [
                "algorithm", "mean m", "95 % interval", "median m", "75 % m", "95 % m", "exact %", "near %",
                "floor %", "answered %", "in 95 % region", "region m²",
            ],
            alignment: [.left] + [Table.Alignment](repeating: .right, count: 11))
        for result in results {
            table.add([
                result.algorithm.rawValue, MapText.metres(result.mean), MapText.interval(result.meanInterval),
                MapText.metres(result.median), MapText.metres(result.percentile75),
                MapText.metres(result.percentile95), MapText.percent(result.exact),
                MapText.percent(result.exactOrAdjacent), MapText.percent(result.floorRate),
                MapText.percent(result.availability),
                MapText.percent(result.coverage95), MapText.metres(result.medianRegionArea),
            ])
        }
        return table.text
    }

    private static func one(_ result: Evaluation) -> String {
        var lines = [
            "\(result.algorithm.rawValue), \(protocolText(result.leaving)): \(result.instants) seconds, "
                + "\(MapText.percent(result.availability)) % answered",
            "error: \(MapText.metres(result.mean)) m mean (95 % interval "
                + "\(MapText.interval(result.meanInterval))), \(MapText.metres(result.median)) m median, "
                + "\(MapText.metres(result.percentile75)) m 75th percentile, "
                + "\(MapText.metres(result.percentile95)) m 95th percentile",
            "place: exact in \(MapText.percent(result.exact)) %, exact or next to it in "
                + "\(MapText.percent(result.exactOrAdjacent)) %, right floor in \(MapText.percent(result.floorRate)) %",
        ]
        if let area = result.medianRegionArea {
            lines.append(
                "the 50 % region contains the true position in \(MapText.percent(result.coverage50)) % of the seconds, the "
                    + "95 % region in \(MapText.percent(result.coverage95)) %; its median area is \(MapText.metres(area)) m²"
            )
        }
        var places = Table(
            ["place", "seconds", "mean error m", "exact %"], alignment: [.left, .right, .right, .right])
        let (worst, remaining) = worst(result.byPlace)
        for place in worst {
            places.add([
                MapText.line(place.place), "\(place.instants)", MapText.metres(place.meanError),
                MapText.percent(place.exact),
            ])
        }
        var text = lines.joined(separator: "\n") + "\n\n" + places.text
        if remaining > 0 {
            text += "\(MapText.count(remaining, "more place")) \(remaining == 1 ? "is" : "are") better than these\n"
        }
        if !result.confusion.isEmpty {
            var mistakes = Table(["place", "taken for", "%"], alignment: [.left, .left, .right])
            for entry in result.confusion.prefix(10) {
                mistakes.add([MapText.line(entry.place), MapText.line(entry.mistakenFor), MapText.percent(entry.share)])
            }
            text += "\n" + mistakes.text
        }
        return text
    }

    /// Returns the places with the largest errors, worst first, and the number of the other places.
    ///
    /// A place without any answer is the worst. If no place has a position, the share of right answers determines the
    /// order.
    private static func worst(_ places: [Evaluation.PlaceResult]) -> (shown: [Evaluation.PlaceResult], remaining: Int) {
        func badness(_ place: Evaluation.PlaceResult) -> (error: Double, wrong: Double) {
            (place.meanError ?? (place.exact > 0 ? 0 : .infinity), -place.exact)
        }
        let order = places.indices.sorted { left, right in
            let (a, b) = (badness(places[left]), badness(places[right]))
            return (a.error, a.wrong, right) > (b.error, b.wrong, left)
        }
        return (order.prefix(placeLimit).map { places[$0] }, max(0, places.count - placeLimit))
    }

    private static let placeLimit = 20

    private static func protocolText(_ leaving: Evaluation.LeftOut) -> String {
        switch leaving {
        case .test: "with a test survey"
        case .half: "leaving each half of a stay out"
        default: "leaving each \(leaving.rawValue) out"
        }
    }
}
