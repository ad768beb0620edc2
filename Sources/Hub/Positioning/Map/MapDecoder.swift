public import Configuration
internal import Sites

extension SignalMap {
    /// Reads a map file.
    ///
    /// - Returns: The map, and all problems in the order of the file. The map is `nil` if the file has errors.
    public static func decode(_ octets: [UInt8]) -> (map: SignalMap?, problems: [FileProblem]) {
        // A JSON tree of the whole file would take many times the memory of the map, so the long lists are parsed line
        // by line. If there is a problem, the file is parsed again as one tree, to find the line and column of each
        // problem.
        let pieces = MapPieces(octets)
        if case let (root?, faults) = JSONDocument.parse(pieces.rest), faults.isEmpty, pieces.areTopLevel(in: root) {
            var decoder = MapDecoder(pieces)
            let map = decoder.map(root)
            if let map, decoder.decoder.problems.isEmpty { return (map, []) }
        }
        let (map, problems) = ConfigurationDecoder.decode(octets) { decoder, root -> SignalMap? in
            var treeDecoder = MapDecoder(nil)
            let map = treeDecoder.map(root)
            decoder = treeDecoder.decoder
            return map
        }
        return (map, problems)
    }
}

/// A map file, divided into the elements of its long lists and the rest of the file. A list is divided only if each of
/// its elements is on its own line, as in files that Pharos has written.
private struct MapPieces {
    /// The file, in which each long list is replaced by an empty list.
    private(set) var rest: [UInt8] = []
    /// The elements of each long list, by the name of its key.
    private(set) var elements: [String: [ArraySlice<UInt8>]] = [:]

    init(_ octets: [UInt8]) {
        var list: String?
        for line in octets.split(separator: UInt8(ascii: "\n")) {
            if let list, line.starts(with: "    ".utf8) {
                elements[list]?.append(line.last == UInt8(ascii: ",") ? line.dropLast() : line)
                continue
            }
            list = ["statistics", "vectors"].first { line.elementsEqual("  \"\($0)\": [".utf8) }
            if let list { elements[list] = [] }
            rest += line + [UInt8(ascii: "\n")]
        }
    }

    /// Returns true if the long lists are members of the root object.
    func areTopLevel(in root: JSONNode) -> Bool { elements.keys.allSatisfy { root[$0]?.elements?.isEmpty == true } }

    /// Parses the elements of a list, one after the other, until an element is invalid or `take` returns `false`.
    ///
    /// - Returns: `true` if all elements were valid and `take` returned `true` for each of them.
    static func forEach(_ elements: [ArraySlice<UInt8>], _ take: (JSONNode) -> Bool) -> Bool {
        elements.allSatisfy { element in
            let (root, problems) = JSONDocument.parse(Array(element))
            guard problems.isEmpty, let root else { return false }
            return take(root)
        }
    }
}

/// Reads the parts of a map.
private struct MapDecoder {
    private(set) var decoder = ConfigurationDecoder()
    /// The elements of the long lists; `nil` if the JSON tree contains them.
    private let pieces: MapPieces?

    init(_ pieces: MapPieces?) { self.pieces = pieces }

    mutating func map(_ node: JSONNode) -> SignalMap? {
        guard let root = decoder.open(MapFormat.section, node) else { return nil }
        _ = decoder.read(FileHeader.schema, in: root)
        _ = decoder.read(MapFormat.version, in: root)
        let places = (decoder.read(MapFormat.places, in: root) ?? []).compactMap { place($0) }
        let beacons = (decoder.read(MapFormat.beacons, in: root) ?? []).compactMap { beacon($0) }
        let settings = decoder.read(MapFormat.algorithm, in: root).flatMap { readSettings($0) }
        guard !decoder.isFull, !places.isEmpty, !beacons.isEmpty, let settings,
            let statistics = readStatistics(root, beacons: beacons.count)
        else { return nil }
        guard statistics.count == places.count else {
            decoder.error("\"statistics\" has \(statistics.count) places, but \"places\" has \(places.count)", at: root)
            return nil
        }
        var map = SignalMap(places: places, beacons: beacons, statistics: statistics)
        map.site = decoder.read(MapFormat.site, in: root)
        map.created = decoder.read(MapFormat.created, in: root).flatMap { RFC3339Time($0) }
        for node in decoder.read(MapFormat.surveys, in: root) ?? [] {
            let name = decoder.read(SourceKeys.name, in: node) ?? ""
            map.sources.append(.init(name: name, sha256: decoder.read(SourceKeys.sha256, in: node) ?? ""))
        }
        map.settings = settings
        guard readVectors(root, &map) else { return nil }
        map.evaluation = decoder.read(MapFormat.evaluation, in: root).flatMap { Evaluation($0) }
        if let field = decoder.read(MapFormat.field, in: root) {
            map.modelSite = modelSite(field, beacons: beacons.count)
        }
        return map
    }

    private mutating func place(_ node: JSONNode) -> Place? {
        let position = decoder.read(PlaceKeys.position, in: node)
        let floor = decoder.read(PlaceKeys.floor, in: node)
        let headings = decoder.read(PlaceKeys.headings, in: node)
        guard let name = decoder.read(PlaceKeys.name, in: node), let seconds = decoder.read(PlaceKeys.seconds, in: node)
        else { return nil }
        var place = Place(name: name, position: position, floor: floor)
        place.seconds = seconds
        place.headings = headings ?? []
        return place
    }

    private mutating func beacon(_ node: JSONNode) -> SignalMap.Beacon? {
        let position = decoder.read(MapBeaconKeys.position, in: node)
        guard let key = decoder.read(MapBeaconKeys.key, in: node),
            let seconds = decoder.read(MapBeaconKeys.seconds, in: node)
        else { return nil }
        return SignalMap.Beacon(key: key, position: position, seconds: seconds)
    }

    private mutating func readSettings(_ node: JSONNode) -> LocatorSettings? {
        guard let algorithm = decoder.read(SettingKeys.name, in: node) else { return nil }
        var settings = LocatorSettings(algorithm)
        settings.window = decoder.read(SettingKeys.window, in: node)
        settings.reading = decoder.read(SettingKeys.reading, in: node) ?? .db
        settings.fingerprints = decoder.read(SettingKeys.fingerprints, in: node) ?? .slices
        settings.penalty = decoder.read(SettingKeys.penalty, in: node)
        if settings.penalty == settings.reading.penalty { settings.penalty = nil }
        settings.neighbors = decoder.read(SettingKeys.neighbors, in: node) ?? settings.neighbors
        settings.receiverOffset = decoder.read(SettingKeys.receiverOffset, in: node) ?? .unknown
        settings.likelihoodTemperature =
            decoder.read(SettingKeys.likelihoodTemperature, in: node) ?? settings.likelihoodTemperature
        settings.gridMetres = decoder.read(SettingKeys.grid, in: node)
        return settings
    }

    /// The site from which the field is computed.
    private mutating func modelSite(_ field: JSONNode, beacons: Int) -> Site? {
        guard let node = decoder.read(FieldKeys.site, in: field) else { return nil }
        // Ignore warnings about the site, because they were reported when the map was made.
        var inner = ConfigurationDecoder()
        let site = inner.site(node)
        if let problem = inner.problems.first(where: \.isError) {
            decoder.error(problem.message, at: node)
            return nil
        }
        guard let site, site.beacons.count == beacons else {
            decoder.error("the site of the field must have the \(beacons) beacons of the map", at: node)
            return nil
        }
        return site
    }

    // MARK: Long lists

    private mutating func readStatistics(_ root: JSONNode, beacons: Int) -> [[PlaceStatistics]]? {
        var result: [[PlaceStatistics]] = []
        guard let lines = pieces?.elements["statistics"] else {
            for place in decoder.read(MapFormat.statistics, in: root) ?? [] {
                result.append(place.compactMap { statistics(of: $0, beacons: beacons) })
            }
            return result
        }
        let isComplete = MapPieces.forEach(lines) { node in
            guard let place = StatisticsKeys.ofPlace.read(&decoder, node) else { return false }
            let ofPlace = place.compactMap { statistics(of: $0, beacons: beacons) }
            result.append(ofPlace.sorted { $0.beacon < $1.beacon })
            return ofPlace.count == place.count
        }
        return isComplete ? result : nil
    }

    private mutating func statistics(of node: JSONNode, beacons: Int) -> PlaceStatistics? {
        guard let beacon = decoder.read(StatisticsKeys.beacon, in: node),
            let seconds = decoder.read(StatisticsKeys.heard, in: node),
            let mean = decoder.read(StatisticsKeys.mean, in: node),
            let median = decoder.read(StatisticsKeys.median, in: node),
            let minimum = decoder.read(StatisticsKeys.minimum, in: node),
            let maximum = decoder.read(StatisticsKeys.maximum, in: node)
        else { return nil }
        guard beacon < beacons else {
            decoder.error("there is no beacon \(beacon): the map has \(beacons) beacons", at: node)
            return nil
        }
        let bins = decoder.read(StatisticsKeys.histogram, in: node) ?? []
        let deviation = decoder.read(StatisticsKeys.deviation, in: node) ?? 0
        return PlaceStatistics(
            beacon: beacon, histogram: bins.filter { $0.seconds <= seconds }, seconds: seconds, mean: mean,
            median: median, minimum: minimum, maximum: maximum, squares: deviation * deviation * Double(seconds - 1))
    }

    /// Reads the vectors. Returns `false` if a vector cannot be read.
    private mutating func readVectors(_ root: JSONNode, _ map: inout SignalMap) -> Bool {
        guard let lines = pieces?.elements["vectors"] else {
            map.fingerprints = (decoder.read(MapFormat.vectors, in: root) ?? []).compactMap { fingerprint($0, map) }
            return true
        }
        var fingerprints: [SignalMap.Fingerprint] = []
        let isComplete = MapPieces.forEach(lines) { node in
            guard let fingerprint = fingerprint(node, map) else { return false }
            fingerprints.append(fingerprint)
            return true
        }
        map.fingerprints = fingerprints
        return isComplete
    }

    private mutating func fingerprint(_ node: JSONNode, _ map: SignalMap) -> SignalMap.Fingerprint? {
        guard let place = node[0]?.integer, let stay = node[1]?.integer, let visit = node[2]?.integer,
            map.places.indices.contains(place), let seconds = node[3]?.real, seconds.isFinite,
            let parts = node[4]?.elements,
            parts.count % 2 == 0
        else {
            decoder.error("a vector is [place, stay, visit, seconds, [beacon, level, …]]", at: node)
            return nil
        }
        var readings: [SignalVector.Reading] = []
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let beacon = parts[index].integer, map.beacons.indices.contains(beacon),
                let level = parts[index + 1].real, ReceivedLevel.level(level, acceptsZeroLevel: true) != nil
            else {
                decoder.error("a reading is the number of a beacon and a level in dBm", at: parts[index])
                return nil
            }
            readings.append(.init(beacon: beacon, level: level))
        }
        return .init(
            vector: SignalVector(seconds: seconds, readings: readings), place: place, stay: stay, visit: visit)
    }
}

extension JSONNode {
    /// The number; infinite if it is too large, and `nil` if the value is not a number.
    var real: Double? {
        guard case .number(let number) = value else { return nil }
        return Double(number.text)
    }
}
