internal import Configuration

extension Evaluation {
    /// As a map file has it; `nil` where it is none of this version's. What is missing is unknown.
    init?(_ node: JSONNode) {
        guard let algorithm = node["algorithm"]?.string.flatMap(PositioningAlgorithm.init(rawValue:)),
            let leaving = node["protocol"]?.string.flatMap(LeftOut.init(rawValue:)),
            let instants = node["instants"]?.integer, instants >= 0
        else { return nil }
        func real(_ node: JSONNode?) -> Double? {
            guard case .number(let number)? = node?.value, let value = Double(number.text), value.isFinite,
                value >= 0, value < 1e9
            else { return nil }
            return value
        }
        func share(_ node: JSONNode?) -> Double? { real(node).map { min($0, 1) } }
        self.init(algorithm: algorithm, leaving: leaving, places: [], [])
        self.instants = instants
        availability = share(node["availability"]) ?? 0
        let errors = node["errorM"]
        mean = real(errors?["mean"])
        median = real(errors?["median"])
        percentile75 = real(errors?["p75"])
        percentile95 = real(errors?["p95"])
        rootMeanSquare = real(errors?["rms"])
        meanInterval = (errors?["meanInterval"]?.elements ?? []).compactMap { real($0) }
        exact = share(node["exact"]) ?? 0
        near = share(node["near"]) ?? 0
        floorRate = share(node["floorRate"]) ?? 0
        coverage50 = share(node["coverage50"])
        coverage95 = share(node["coverage95"])
        medianRegionArea = real(node["medianRegionAreaM2"])
        confusion = (node["confusion"]?.elements ?? []).compactMap { node in
            guard let place = node["place"]?.string, let taken = node["taken"]?.string, let share = share(node["share"])
            else { return nil }
            return Confusion(place: place, taken: taken, share: share)
        }
        byPlace = (node["byPlace"]?.elements ?? []).compactMap { node in
            guard let place = node["place"]?.string, let instants = node["instants"]?.integer else { return nil }
            return PlaceResult(
                place: place, instants: instants, meanError: real(node["meanErrorM"]), exact: share(node["exact"]) ?? 0)
        }
    }
}
