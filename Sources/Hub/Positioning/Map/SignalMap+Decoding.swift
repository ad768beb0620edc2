internal import Airtime
public import Configuration
internal import Sites

extension SignalMap {
    /// Reads a map file.
    ///
    /// - Returns: the map, `nil` where there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (map: SignalMap?, problems: [FileProblem]) {
        if let plain = PlainMap(octets) {
            let (root, faults) = JSONDocument.parse(plain.rest)
            var decoder = ConfigurationDecoder()
            let map = faults.isEmpty ? root.flatMap { decoder.map($0, plain) } : nil
            if let map, decoder.problems.isEmpty { return (map, []) }
        }
        return decodeTree(octets)
    }

    /// The same from a tree of all values, with the place of each.
    static func decodeTree(_ octets: [UInt8]) -> (map: SignalMap?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var decoder = ConfigurationDecoder()
        let map = root.flatMap { decoder.map($0, nil) }
        let problems = faults + decoder.problems
        return (problems.contains(where: \.isError) ? nil : map, problems.sorted { $0.position < $1.position })
    }

    fileprivate static let keys = [
        "$schema", "version", "site", "created", "surveys", "algorithm", "places", "beacons", "statistics", "vectors",
        "field", "evaluation",
    ]
    fileprivate static let settingKeys = [
        "name", "window", "reading", "penalty", "prints", "neighbors", "receiverOffset", "temper", "gridM",
    ]
    fileprivate static let placeLimit = 100_000
}

extension ConfigurationDecoder {
    /// - Parameter plain: The parts that are not in the tree; `nil` where all is.
    fileprivate mutating func map(_ node: JSONNode, _ plain: PlainMap?) -> SignalMap? {
        guard let root = object(node, keys: SignalMap.keys) else { return nil }
        version(required("version", in: root, "\(SignalMap.version) for this format"))
        let places = (list(required("places", in: root, "where the survey stayed"), of: "places") ?? [])
            .prefix(SignalMap.placeLimit).compactMap { place($0) }
        let beacons = (list(required("beacons", in: root, "what the survey heard"), of: "beacons") ?? [])
            .prefix(Survey.beaconLimit).compactMap { beacon($0) }
        let statisticNodes =
            plain?.statistics == nil
            ? list(required("statistics", in: root, "what was heard at each place"), of: "places") ?? [] : []
        let settings = settings(required("algorithm", in: root, "how a place is found"))
        guard !isFull, !places.isEmpty, !beacons.isEmpty, let settings,
            plain?.belongs(to: root, places: places.count, beacons: beacons.count) ?? true
        else { return nil }
        guard let statistics = plain?.statistics ?? statistics(statisticNodes, root, places.count, beacons.count) else {
            return nil
        }
        var map = SignalMap(places: places, beacons: beacons, statistics: statistics)
        map.site = root["site"]?.string
        map.created = root["created"]?.string.flatMap { RFC3339Time($0) }
        map.sources = (root["surveys"]?.elements ?? []).map {
            .init(name: $0["name"]?.string ?? "", sha256: $0["sha256"]?.string ?? "")
        }
        map.settings = settings
        if let plain { (map.table, map.prints) = (plain.table, plain.prints) }
        for node in root["vectors"]?.elements ?? [] { vector(node, &map) }
        map.evaluation = present(root["evaluation"]).flatMap { Evaluation($0) }
        if let node = present(root["field"]) { map.plan = plan(node, beacons: beacons.count) }
        return map
    }

    private mutating func statistics(
        _ nodes: [JSONNode], _ root: JSONNode, _ places: Int, _ beacons: Int
    ) -> [[PlaceStatistics]]? {
        guard nodes.count == places else {
            error("statistics has \(nodes.count) places, not the \(places) of places", at: root)
            return nil
        }
        return nodes.map { node in
            (node.elements ?? []).compactMap { placeStatistics($0, beacons: beacons) }
                .sorted { $0.beacon < $1.beacon }
        }
    }

    /// The floor that a map without a survey is computed from.
    private mutating func plan(_ node: JSONNode, beacons: Int) -> Site? {
        guard let field = object(node, keys: ["site"]),
            let node = required("site", in: field, "the floor that the field is computed from")
        else { return nil }
        // What a site's author should know was said when the map was made.
        var inner = ConfigurationDecoder()
        let site = inner.site(node)
        if let problem = inner.problems.first(where: \.isError) {
            error(problem.message, at: node)
            return nil
        }
        guard let site, site.beacons.count == beacons else {
            error("the site of the field does not have the \(beacons) beacons of the map", at: node)
            return nil
        }
        return site
    }

    private mutating func place(_ node: JSONNode) -> Place? {
        guard let name = text(required("name", in: node, "what the place is called")),
            let seconds = integer(required("seconds", in: node, "vectors taken there"), in: 0...1_000_000_000)
        else { return nil }
        var place = Place(name: name, position: spot(node["position"]), floor: node["floor"]?.string)
        place.seconds = seconds
        place.headings = (node["headings"]?.elements ?? []).compactMap { real($0) }
        return place
    }

    private mutating func beacon(_ node: JSONNode) -> SignalMap.Beacon? {
        guard let text = text(required("key", in: node, "the beacon's key")),
            let seconds = integer(required("seconds", in: node, "in which it was heard"), in: 0...1_000_000_000)
        else { return nil }
        guard let key = BeaconKey(text) else {
            error("\(ProblemText.quoted(text)) is no key of a beacon", at: node)
            return nil
        }
        return SignalMap.Beacon(key: key, position: spot(node["position"]), seconds: seconds)
    }

    private mutating func placeStatistics(_ node: JSONNode, beacons: Int) -> PlaceStatistics? {
        guard let beacon = integer(required("beacon", in: node, "the beacon's number"), in: 0...beacons - 1),
            let seconds = integer(required("heard", in: node, "seconds"), in: 1...1_000_000_000),
            let mean = level(node, "mean"), let median = level(node, "median"),
            let minimum = level(node, "minimum"), let maximum = level(node, "maximum")
        else { return nil }
        let bins = (node["histogram"]?.elements ?? []).compactMap { bin -> PlaceStatistics.Bin? in
            guard let level = bin[0]?.integer, let count = bin[1]?.integer, count > 0, abs(level) < 1000,
                count <= seconds
            else { return nil }
            return .init(level: level, seconds: count)
        }
        let deviation = present(node["standardDeviation"]).flatMap { real($0) } ?? 0
        return PlaceStatistics(
            beacon: beacon, histogram: bins, seconds: seconds, mean: mean, median: median, minimum: minimum,
            maximum: maximum, squares: deviation * deviation * Double(seconds - 1))
    }

    private mutating func vector(_ node: JSONNode, _ map: inout SignalMap) {
        guard let place = node[0]?.integer, let stay = node[1]?.integer, let visit = node[2]?.integer,
            map.places.indices.contains(place), let seconds = node[3].flatMap({ real($0) }),
            let parts = node[4]?.elements, parts.count % 2 == 0
        else {
            error("a vector is [place, stay, visit, seconds, [beacon, level, …]]", at: node)
            return
        }
        var readings: [SignalVector.Reading] = []
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let beacon = parts[index].integer, map.beacons.indices.contains(beacon),
                let level = real(parts[index + 1]), ReceivedLevel.level(level, acceptsZero: true) != nil
            else {
                error("a reading is the number of a beacon and a level in dBm", at: parts[index])
                return
            }
            readings.append(.init(beacon: beacon, level: level))
        }
        map.table.append(SignalVector(seconds: seconds, readings: readings))
        map.prints.append(.init(vector: map.table.count - 1, place: place, stay: stay, visit: visit))
    }

    private mutating func settings(_ node: JSONNode?) -> LocatorSettings? {
        guard let node = object(node, keys: SignalMap.settingKeys),
            let algorithm = word(
                required("name", in: node, "the algorithm's name"), of: PositioningAlgorithm.self)
        else { return nil }
        var settings = LocatorSettings(algorithm)
        settings.window = present(node["window"]).flatMap { integer($0, in: 1...100_000) }
        if let reading = word(present(node["reading"]), of: RelativeReading.self) { settings.reading = reading }
        if let prints = word(present(node["prints"]), of: LocatorSettings.Prints.self) { settings.prints = prints }
        if let penalty = present(node["penalty"]).flatMap({ real($0) }), penalty != settings.reading.penalty {
            settings.penalty = penalty
        }
        if let count = present(node["neighbors"]).flatMap({ integer($0, in: 1...100_000) }) {
            settings.neighbors = count
        }
        if let offset = present(node["receiverOffset"]), offset.string != "auto", let value = real(offset) {
            settings.receiverOffset = .known(value)
        }
        if let node = present(node["temper"]), let temper = real(node) {
            if temper >= 0.01, temper <= 1000 {
                settings.temper = temper
            } else {
                error("a temper is 0.01...1000", at: node)
            }
        }
        if let node = present(node["gridM"]), let grid = real(node) {
            if grid >= 0.05, grid <= 1000 {
                settings.gridMetres = grid
            } else {
                error("a grid is 0.05...1000 m", at: node)
            }
        }
        return settings
    }

    // MARK: Values

    /// `nil` also for null.
    private func present(_ node: JSONNode?) -> JSONNode? {
        guard let node, case .null = node.value else { return node }
        return nil
    }

    private mutating func real(_ node: JSONNode) -> Double? {
        guard let number = number(node) else { return nil }
        guard let value = Double(number.text), value.isFinite else {
            error("\(ProblemText.shortened(number.text)) is too large a number", at: node)
            return nil
        }
        return value
    }

    private mutating func level(_ node: JSONNode, _ key: String) -> Double? {
        guard let node = required(key, in: node, "a level in dBm"), let value = real(node) else { return nil }
        guard ReceivedLevel.level(value, acceptsZero: true) != nil else {
            error("\(value) is no level in dBm (-127...20)", at: node)
            return nil
        }
        return value
    }

    private mutating func spot(_ node: JSONNode?) -> FloorPosition? {
        guard let node = present(node) else { return nil }
        guard let parts = node.elements, parts.count == 2, let x = real(parts[0]), let y = real(parts[1]),
            abs(x) <= Survey.extent, abs(y) <= Survey.extent
        else {
            error("a position is two numbers, metres east and north, such as [4, 6]", at: node)
            return nil
        }
        return FloorPosition(x: x, y: y)
    }
}
