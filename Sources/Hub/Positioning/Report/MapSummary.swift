internal import Airtime
public import Configuration
internal import Planner

/// A map in numbers and sentences: what the page says beside the plan, and what programs read.
public struct MapSummary {
    private let picture: MapPicture
    private var map: SignalMap { picture.map }

    /// Of a picture of a map.
    public init(_ picture: MapPicture) {
        self.picture = picture
    }

    var title: String { map.site.map { "Map of \($0)" } ?? "A map of signals" }

    /// What the map is made of and how good it is.
    public var answer: String {
        let parts =
            "\(map.places.count) places and \(map.beacons.count) beacons, located by \(map.settings.algorithm.rawValue)"
        if map.modelSite != nil {
            return
                "\(map.beacons.count) beacons of a site file and no survey: off by about \(metres(meanError)) in the "
                + "mean, by the planner's path loss and walls. A survey tells more."
        }
        guard let evaluation = map.evaluation, let mean = evaluation.mean else {
            guard let mean = meanError else {
                return "\(parts). Without positions nobody knows how far off answers are."
            }
            return "\(parts): off by about \(metres(mean)) in the mean by the map's own field; nothing was left out to "
                + "learn how good it is."
        }
        return "\(parts): off by \(metres(mean)) in the mean and by \(metres(evaluation.percentile95)) in 95 % of the "
            + "seconds, as leaving each visit out has shown."
    }

    private var meanError: Double? {
        let errors = picture.expectedErrors
        return errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count)
    }

    private func metres(_ value: Double?) -> String { value.map { NumberText.fixed($0, 1) + " m" } ?? NumberText.none }

    /// Where one more beacon or stay would help most.
    public var advice: [String] {
        var sentences: [String] = []
        if let gap = picture.gaps.first {
            let floor = gap.floor.map { " on \($0)" } ?? ""
            sentences.append(
                "One more beacon near \(spot(gap.position))\(floor): over \(NumberText.significant(gap.area, 2)) m² fewer "
                    + "than \(MapAdvice.fewestBeacons) beacons are heard, and \(gap.heard) at the worst place.")
        } else if let worst = picture.expectedErrors.indices.max(by: {
            picture.expectedErrors[$0] < picture.expectedErrors[$1]
        }) {
            sentences.append(
                "One more beacon near \(spot(picture.cells[worst].position)): the error to be expected is largest there, "
                    + "\(metres(picture.expectedErrors[worst])).")
        }
        guard map.modelSite == nil else { return sentences }
        return sentences
            + MapAdvice(map).wants.filter { $0.kind == .stay || picture.step == nil }.map {
                "One more \($0.kind.rawValue) at \(map.places[$0.place].name): \($0.reason)."
            }
    }

    private func spot(_ position: FloorPosition) -> String {
        "(\(NumberText.fixed(position.x, 1)), \(NumberText.fixed(position.y, 1)))"
    }

    // MARK: Tables

    var figures: [(name: String, value: String)] {
        var figures: [(name: String, value: String)] = [
            ("places", "\(map.places.count)"), ("beacons", "\(map.beacons.count)"),
            ("seconds surveyed", "\(map.places.reduce(0) { $0 + $1.seconds })"),
            ("algorithm", map.settings.algorithm.rawValue),
        ]
        if let evaluation = map.evaluation {
            figures += [
                ("mean error by leaving visits out", metres(evaluation.mean)),
                ("error in 75 % of the seconds", metres(evaluation.percentile75)),
                ("error in 95 % of the seconds", metres(evaluation.percentile95)),
                ("right place", NumberText.percent(evaluation.exact)),
                ("truth within the 95 % region", NumberText.percent(evaluation.coverage95)),
            ]
        }
        if let step = picture.step {
            figures.append(("cells", "\(picture.cells.count) of \(NumberText.significant(step, 3)) m"))
        }
        return figures
    }

    var placeHeader: [String] {
        ["place", "floor", "x (m)", "y (m)", "seconds", "beacons heard", "error (m)", "taken for"]
    }

    var placeRows: [[String]] {
        map.places.enumerated().map { index, place in
            [
                place.name, place.floor ?? NumberText.none, NumberText.fixed(place.position?.x, 1),
                NumberText.fixed(place.position?.y, 1), "\(place.seconds)",
                picture.heard(at: index).map { "\($0)" } ?? NumberText.none,
                NumberText.fixed(picture.placeErrors[index], 1),
                picture.confusion[index].prefix(3).map {
                    "\(HTMLEscaping.shortened(map.places[$0.place].name, to: 40)) \(NumberText.percent($0.probability))"
                }.joined(separator: ", "),
            ]
        }
    }

    var beaconHeader: [String] {
        ["beacon", "x (m)", "y (m)", "seconds heard", "places", "strongest (dBm)", "residuals (dB rms)"]
    }

    var beaconRows: [[String]] {
        map.beacons.enumerated().map { index, beacon in
            let told = tell(index)
            return [
                beacon.key.text, NumberText.fixed(beacon.position?.x, 1), NumberText.fixed(beacon.position?.y, 1),
                "\(beacon.seconds)", "\(told.places)", NumberText.fixed(told.strongest, 0),
                NumberText.fixed(told.residual, 1),
            ]
        }
    }

    /// Where a beacon was heard, how strong at most, and how far its field is from what was measured.
    private func tell(_ beacon: Int) -> (places: Int, strongest: Double?, residual: Double?) {
        var (places, squares, counted) = (0, 0.0, 0)
        var strongest: Double?
        for place in map.places.indices {
            guard let found = map.statistics[place].first(where: { $0.beacon == beacon }) else { continue }
            places += 1
            strongest = max(strongest ?? -.infinity, found.mean)
            if let residual = picture.residual(beacon: beacon, place: place), picture.step != nil {
                squares += residual * residual
                counted += 1
            }
        }
        return (places, strongest, counted > 0 ? (squares / Double(counted)).squareRoot() : nil)
    }

    var gapHeader: [String] { ["near (m)", "floor", "area (m²)", "fewest beacons"] }

    var gapRows: [[String]] {
        picture.gaps.prefix(20).map { gap in
            [
                spot(gap.position), gap.floor ?? NumberText.none, NumberText.significant(gap.area, 3), "\(gap.heard)",
            ]
        }
    }

    /// What the numbers rest on.
    var notes: [String] {
        var notes = [
            "The field of a beacon is a trend over the logarithm of the distance and a Gaussian process over what the "
                + "surveyed places differ from it. It is smooth: what stands between two places is a guess.",
            "The error to be expected is that of somebody who stands still for \(map.settings.effectiveWindow ?? 1) s with "
                + "a receiver that nobody has compared with the surveyor's.",
        ]
        if map.modelSite != nil {
            notes[0] =
                "The field of a beacon is what the planner expects: its power less the path loss and the walls in between. "
                + "No survey has said otherwise."
        } else if Set(map.places.flatMap(\.headings)).count == 1 {
            notes.append("All stays have one heading: the surveyor's body was always on the same side.")
        }
        return notes
    }

    // MARK: For programs

    /// The numbers of ``MapPage`` as one object.
    public var json: JSONValue {
        let places = map.places.enumerated().map { index, place in
            JSONValue.record([
                ("name", .string(place.name)), ("floor", .text(place.floor)),
                ("position", .roundedPosition(place.position)), ("seconds", .integer(place.seconds)),
                ("heard", .optional(picture.heard(at: index)) { .integer($0) }),
                ("errorM", .rounded(picture.placeErrors[index])),
                (
                    "takenFor",
                    .array(
                        picture.confusion[index].map {
                            .record([
                                ("place", .string(map.places[$0.place].name)), ("share", .rounded($0.probability, 4)),
                            ])
                        })
                ),
            ])
        }
        let beacons = map.beacons.enumerated().map { index, beacon in
            let told = tell(index)
            return JSONValue.record([
                ("key", .string(beacon.key.text)), ("position", .roundedPosition(beacon.position)),
                ("seconds", .integer(beacon.seconds)), ("places", .integer(told.places)),
                ("strongestDbm", .rounded(told.strongest)), ("residualRmsDb", .rounded(told.residual)),
            ])
        }
        let gaps = picture.gaps.map { gap in
            JSONValue.record([
                ("position", .roundedPosition(gap.position)), ("floor", .text(gap.floor)),
                ("areaM2", .rounded(gap.area)), ("heard", .integer(gap.heard)),
            ])
        }
        return .record([
            ("site", .text(map.site)), ("algorithm", map.settings.json),
            ("source", .string(map.modelSite == nil ? "survey" : "site")),
            ("expectedErrorM", .rounded(meanError)), ("evaluation", .optional(map.evaluation, \.json)),
            ("cells", .integer(picture.cells.count)), ("stepM", .rounded(picture.step)), ("places", .array(places)),
            ("beacons", .array(beacons)), ("gaps", .array(gaps)),
            ("advice", .array(advice.map(JSONValue.string))),
        ])
    }
}
