internal import Airtime
public import Configuration
internal import Sites

/// The JSON form of a map's file.
extension SignalMap {
    /// The version of the format.
    public static let version = 1

    // MARK: Writing

    /// The text of the map's file. The same map gives the same text.
    public var text: String {
        var octets: [UInt8] = []
        write { octets += $0 }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Writes the map's file in pieces, since the text of a large map takes much more memory than the map.
    ///
    /// Each member of the object is on a line of its own, and each element of a list too.
    ///
    /// - Parameter take: Receives the pieces in order. Each piece is valid UTF-8.
    public func write<Failure: Error>(_ take: (_ piece: [UInt8]) throws(Failure) -> Void) throws(Failure) {
        let scalars: [(String, JSONValue)] = [
            ("version", .integer(Self.version)), ("site", .text(site)), ("created", .text(created?.description)),
            ("algorithm", settings.json), ("field", .optional(modelSite) { .record([("site", $0.fieldJSON)]) }),
            ("evaluation", .optional(evaluation, \.json)),
        ]
        var piece = "{\n"
        for (key, value) in scalars { piece += "  \"\(key)\": \(value.line),\n" }
        func list(_ key: String, _ count: Int, _ element: (Int) -> JSONValue) throws(Failure) {
            piece += "  \"\(key)\": ["
            for index in 0..<count {
                piece += (index > 0 ? ",\n    " : "\n    ") + element(index).line
                guard piece.utf8.count >= 1 << 16 else { continue }
                try take(Array(piece.utf8))
                piece = ""
            }
            piece += count > 0 ? "\n  ]" : "]"
        }
        try list("surveys", sources.count) { sources[$0].json }
        piece += ",\n"
        try list("places", places.count) { places[$0].json }
        piece += ",\n"
        let trends = trends
        try list("beacons", beacons.count) { beacons[$0].json(trends[$0]) }
        piece += ",\n"
        try list("statistics", statistics.count) { .array(statistics[$0].map(\.json)) }
        piece += ",\n"
        if wantsVectors {
            try list("vectors", prints.count) { prints[$0].json }
        } else {
            piece += "  \"vectors\": null"
        }
        try take(Array((piece + "\n}\n").utf8))
    }

    // MARK: Reading

    /// Reads a map file.
    ///
    /// - Returns: The map, or `nil` if there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (map: SignalMap?, problems: [FileProblem]) {
        // A tree of the long lists would take many times the memory of the map. They are read element by element, and
        // the whole file is read again for its problems if there are any.
        if let lists = LongLists(octets, keys: ["statistics", "vectors"]),
            case let (root?, faults) = JSONDocument.parse(lists.rest), faults.isEmpty
        {
            var decoder = ConfigurationDecoder()
            let map = decoder.map(root, lists)
            if let map, decoder.problems.isEmpty { return (map, []) }
        }
        let (root, faults) = JSONDocument.parse(octets)
        var decoder = ConfigurationDecoder()
        let map = root.flatMap { decoder.map($0, nil) }
        let problems = faults + decoder.problems
        return (problems.contains(where: \.isError) ? nil : map, problems.sorted { $0.position < $1.position })
    }
}

/// The elements of long lists that are members of a file's root object, without parsing them.
private struct LongLists {
    /// The file with empty lists in place of the long ones.
    private(set) var rest: [UInt8] = []
    private let octets: [UInt8]
    private var elements: [String: [Range<Int>]] = [:]

    /// `nil` if the text is not an object with balanced brackets.
    init?(_ octets: [UInt8], keys: Set<String>) {
        self.octets = octets
        var (depth, isString, isEscaped) = (0, false, false)
        var (stringStart, elementStart, copied) = (0, 0, 0)
        var (key, list): (String?, String?)
        for (index, octet) in octets.enumerated() {
            if isString {
                if !isEscaped, octet == UInt8(ascii: "\"") {
                    isString = false
                    if depth == 1 { key = String(decoding: octets[stringStart..<index], as: UTF8.self) }
                }
                isEscaped = !isEscaped && octet == UInt8(ascii: "\\")
                continue
            }
            switch octet {
            case UInt8(ascii: "\""): (isString, isEscaped, stringStart) = (true, false, index + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth == 2, octet == UInt8(ascii: "["), let key, keys.contains(key) {
                    guard elements[key] == nil else { return nil }
                    elements[key] = []
                    rest += octets[copied...index]
                    (list, elementStart) = (key, index + 1)
                }
            case UInt8(ascii: ","), UInt8(ascii: "]"):
                if depth == 2, let known = list {
                    elements[known, default: []].append(elementStart..<index)
                    elementStart = index + 1
                    if octet == UInt8(ascii: "]") { (list, copied) = (nil, index) }
                }
                if octet == UInt8(ascii: "]") { depth -= 1 }
            case UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        guard depth == 0, !isString, list == nil else { return nil }
        rest += octets[copied...]
    }

    /// The parsed elements of a list, one after the other. `nil` in place of an element that is not valid.
    func nodes(_ key: String) -> some Sequence<JSONNode?> {
        let ranges = elements[key] ?? []
        let isBlank = ranges.count == 1 && octets[ranges[0]].allSatisfy { $0 <= 0x20 }
        return (isBlank ? [] : ranges).lazy.map { range in
            let (root, problems) = JSONDocument.parse(Array(octets[range]))
            return problems.isEmpty ? root : nil
        }
    }
}

extension ConfigurationDecoder {
    private static let keys = [
        "$schema", "version", "site", "created", "surveys", "algorithm", "places", "beacons", "statistics", "vectors",
        "field", "evaluation",
    ]
    private static let settingKeys = [
        "name", "window", "reading", "penalty", "prints", "neighbors", "receiverOffset", "temper", "gridM",
    ]
    private static let placeLimit = 100_000

    /// - Parameter lists: The long lists, if they are not in the tree.
    fileprivate mutating func map(_ node: JSONNode, _ lists: LongLists?) -> SignalMap? {
        guard let root = object(node, keys: Self.keys) else { return nil }
        version(required("version", in: root, "\(SignalMap.version) for this format"))
        let places = (list(required("places", in: root, "the surveyed places"), of: "places") ?? [])
            .prefix(Self.placeLimit).compactMap { place($0) }
        let beacons = (list(required("beacons", in: root, "the received beacons"), of: "beacons") ?? [])
            .prefix(Survey.beaconLimit).compactMap { beacon($0) }
        let statisticNodes =
            list(required("statistics", in: root, "what was received at each place"), of: "places") ?? []
        let settings = settings(required("algorithm", in: root, "how to locate"))
        guard !isFull, !places.isEmpty, !beacons.isEmpty, let settings else { return nil }
        var statistics: [[PlaceStatistics]] = []
        for node in lists.map({ Array($0.nodes("statistics")) }) ?? statisticNodes {
            guard let node else { return nil }
            let found = (node.elements ?? []).compactMap { placeStatistics($0, beacons: beacons.count) }
            statistics.append(found.sorted { $0.beacon < $1.beacon })
        }
        guard statistics.count == places.count else {
            error("statistics has \(statistics.count) places, but places has \(places.count)", at: root)
            return nil
        }
        var map = SignalMap(places: places, beacons: beacons, statistics: statistics)
        map.site = root["site"]?.string
        map.created = root["created"]?.string.flatMap { RFC3339Time($0) }
        map.sources = (root["surveys"]?.elements ?? []).map {
            .init(name: $0["name"]?.string ?? "", sha256: $0["sha256"]?.string ?? "")
        }
        map.settings = settings
        if let lists {
            for node in lists.nodes("vectors") {
                guard let node, let print = print(node, map) else { return nil }
                map.prints.append(print)
            }
        } else {
            map.prints = (root["vectors"]?.elements ?? []).compactMap { print($0, map) }
        }
        map.evaluation = present(root["evaluation"]).flatMap { Evaluation($0) }
        if let node = present(root["field"]) { map.modelSite = modelSite(node, beacons: beacons.count) }
        return map
    }

    /// The site from which the field is computed.
    private mutating func modelSite(_ node: JSONNode, beacons: Int) -> Site? {
        guard let field = object(node, keys: ["site"]),
            let node = required("site", in: field, "the site from which the field is computed")
        else { return nil }
        // Warnings about the site were reported when the map was made.
        var inner = ConfigurationDecoder()
        let site = inner.site(node)
        if let problem = inner.problems.first(where: \.isError) {
            error(problem.message, at: node)
            return nil
        }
        guard let site, site.beacons.count == beacons else {
            error("the site of the field must have the \(beacons) beacons of the map", at: node)
            return nil
        }
        return site
    }

    private mutating func place(_ node: JSONNode) -> Place? {
        guard let name = text(required("name", in: node, "the place's name")),
            let seconds = integer(required("seconds", in: node, "the number of its vectors"), in: 0...1_000_000_000)
        else { return nil }
        var place = Place(name: name, position: position(node["position"]), floor: node["floor"]?.string)
        place.seconds = seconds
        place.headings = (node["headings"]?.elements ?? []).compactMap { real($0) }
        return place
    }

    private mutating func beacon(_ node: JSONNode) -> SignalMap.Beacon? {
        guard let text = text(required("key", in: node, "the beacon's key")),
            let seconds = integer(
                required("seconds", in: node, "the seconds in which it was received"), in: 0...1_000_000_000)
        else { return nil }
        guard let key = BeaconKey(text) else {
            error("\(ProblemText.quoted(text)) is not the key of a beacon", at: node)
            return nil
        }
        return SignalMap.Beacon(key: key, position: position(node["position"]), seconds: seconds)
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

    private mutating func print(_ node: JSONNode, _ map: SignalMap) -> SignalMap.Print? {
        guard let place = node[0]?.integer, let stay = node[1]?.integer, let visit = node[2]?.integer,
            map.places.indices.contains(place), let seconds = node[3].flatMap({ real($0) }),
            let parts = node[4]?.elements, parts.count % 2 == 0
        else {
            error("a vector is [place, stay, visit, seconds, [beacon, level, …]]", at: node)
            return nil
        }
        var readings: [SignalVector.Reading] = []
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let beacon = parts[index].integer, map.beacons.indices.contains(beacon),
                let level = real(parts[index + 1]), ReceivedLevel.level(level, acceptsZero: true) != nil
            else {
                error("a reading is the number of a beacon and a level in dBm", at: parts[index])
                return nil
            }
            readings.append(.init(beacon: beacon, level: level))
        }
        return .init(
            vector: SignalVector(seconds: seconds, readings: readings), place: place, stay: stay, visit: visit)
    }

    private mutating func settings(_ node: JSONNode?) -> LocatorSettings? {
        guard let node = object(node, keys: Self.settingKeys),
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
        if let temper = real(node["temper"], in: 0.01...1000) { settings.temper = temper }
        settings.gridMetres = real(node["gridM"], in: 0.05...1000)
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

    /// A number in a range. `nil` if it is missing, null or out of range, which is reported.
    private mutating func real(_ node: JSONNode?, in range: ClosedRange<Double>) -> Double? {
        guard let node = present(node), let value = real(node) else { return nil }
        guard range.contains(value) else {
            error("\(value) is out of range \(range.lowerBound)...\(range.upperBound)", at: node)
            return nil
        }
        return value
    }

    private mutating func level(_ node: JSONNode, _ key: String) -> Double? {
        guard let node = required(key, in: node, "a level in dBm"), let value = real(node) else { return nil }
        guard ReceivedLevel.level(value, acceptsZero: true) != nil else {
            error("\(value) is not a level in dBm (-127...20)", at: node)
            return nil
        }
        return value
    }

    private mutating func position(_ node: JSONNode?) -> FloorPosition? {
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

extension SignalMap.Source {
    fileprivate var json: JSONValue { .record([("name", .string(name)), ("sha256", .string(sha256))]) }
}

extension SignalMap.Print {
    /// `[place, stay, visit, seconds, [beacon, level, …]]`.
    fileprivate var json: JSONValue {
        .array([
            .integer(place), .integer(stay), .integer(visit), .real(vector.seconds),
            .array(vector.readings.flatMap { [.integer($0.beacon), .real($0.level)] }),
        ])
    }
}

extension Place {
    fileprivate var json: JSONValue {
        .record([
            ("name", .string(name)), ("position", .optional(position, JSONValue.position)), ("floor", .text(floor)),
            ("seconds", .integer(seconds)), ("headings", .array(headings.map(JSONValue.real))),
        ])
    }
}

extension SignalMap.Beacon {
    /// - Parameter trend: For readers of the file; it is computed from the statistics.
    fileprivate func json(_ trend: BeaconTrend?) -> JSONValue {
        .record([
            ("key", .string(key.text)), ("position", .optional(position, JSONValue.position)),
            ("seconds", .integer(seconds)),
            (
                "trend",
                .optional(trend) {
                    .record([
                        ("center", .roundedPosition($0.centre)), ("dbmAt1m", .rounded($0.levelAtOneMetre)),
                        ("exponent", .rounded($0.exponent)),
                    ])
                }
            ),
        ])
    }
}

extension PlaceStatistics {
    fileprivate var json: JSONValue {
        .record([
            ("beacon", .integer(beacon)), ("heard", .integer(seconds)), ("mean", .real(mean)),
            ("median", .real(median)), ("minimum", .real(minimum)), ("maximum", .real(maximum)),
            ("standardDeviation", .rounded(standardDeviation, 9)),
            ("histogram", .array(histogram.map { .array([.integer($0.level), .integer($0.seconds)]) })),
        ])
    }
}

extension LocatorSettings {
    /// The algorithm's name with all its parameters.
    public var json: JSONValue {
        let offset: JSONValue =
            switch receiverOffset {
            case .unknown: .string("auto")
            case .known(let offset): .real(offset)
            }
        return .record([
            ("name", .string(algorithm.rawValue)), ("window", .optional(effectiveWindow) { .integer($0) }),
            ("reading", .string(reading.rawValue)), ("penalty", .real(penalty ?? reading.penalty)),
            ("prints", .string(prints.rawValue)), ("neighbors", .integer(neighbors)), ("receiverOffset", offset),
            ("temper", .rounded(temper, 6)), ("gridM", .optional(gridMetres, JSONValue.real)),
        ])
    }
}
