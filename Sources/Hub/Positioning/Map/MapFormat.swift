internal import Airtime
internal import Configuration

/// The declaration of a map file: its keys and types.
enum MapFormat {
    static let version = FileHeader.version
    static let site = Key("site", ValueType<String>.text.orNull, "Name of the site; null if no recording has one.")
    static let created = Key(
        "created", ValueType<String>.text.orNull,
        "Time at which the newest recording began; null if no recording has one.")
    static let surveys = Key(
        "surveys", .list("files", 0...Int.max, of: .section(SourceKeys.section)), "Files from which the map was made.")
    static let algorithm = Key(
        "algorithm", .section(SettingKeys.section), "Algorithm that locates a receiver, with all its parameters.",
        isRequired: true)
    static let places = Key(
        "places", .list("places", 1...100_000, of: .section(PlaceKeys.section)), "The surveyed places.",
        isRequired: true)
    static let beacons = Key(
        "beacons", .list("beacons", 1...Survey.beaconLimit, of: .section(MapBeaconKeys.section)),
        "The received beacons.", isRequired: true)
    static let statistics = Key(
        "statistics", .list("places", 0...Int.max, of: StatisticsKeys.ofPlace),
        "Statistics of the levels at each place, in the order of the places.", isRequired: true)
    static let vectors = Key(
        "vectors", ValueType<[JSONNode]>.list("vectors", 0...Int.max, of: .vector).orNull,
        """
        The seconds of the survey: [place, stay, visit, seconds, [beacon, dBm, …]]; null if the map is large and its \
        algorithm does not need them.
        """)
    static let field = Key(
        "field", ValueType<JSONNode>.section(FieldKeys.section).orNull,
        "Data from which the levels are computed, if the map was made from a site file; null for a map of a survey.")
    static let evaluation = Key(
        "evaluation", ValueType<JSONNode>.evaluation.orNull,
        "The errors measured by leaving parts of the survey out, as pharos map evaluate --json prints them. "
            + "\"protocol\" names the parts: visits, stays or halves of stays. null if the errors are unknown.")

    static let section = Section(
        "The levels received at each place, as pharos map fit writes them.",
        [
            FileHeader.schema, version, site, created, surveys, algorithm, places, beacons, statistics, vectors, field,
            evaluation,
        ])
}

/// The keys of a file from which a map was made.
enum SourceKeys {
    static let name = Key("name", .text, "Name of the file as it was given.")
    static let sha256 = Key("sha256", .text, "SHA-256 of the file in hexadecimal digits.")
    static let section = Section("A file.", [name, sha256])
}

/// The keys of an algorithm and its parameters.
enum SettingKeys {
    static let name = Key("name", ValueType<PositioningAlgorithm>.algorithm, "Name of the algorithm.", isRequired: true)
    static let window = Key(
        "window", ValueType<Int>.integer(1...100_000, unit: "s").orNull,
        "Length of the window: a position is computed from the levels of these last seconds. null for all seconds.")
    static let reading = Key(
        "reading", ValueType<RelativeReading>.word, "For the algorithm relative: the unit of relative levels.",
        default: .db)
    static let penalty = Key(
        "penalty", ValueType<Double>.real(0...1_000_000),
        "For the algorithm relative: the penalty for a beacon that only the survey or only the receiver received.")
    static let fingerprints = Key(
        "prints", ValueType<LocatorSettings.Fingerprints>.word,
        "For the algorithm relative: the received levels are compared with each second of a stay (vectors), or with "
            + "the means of up to eight parts of a stay (slices).", default: .slices)
    static let neighbors = Key(
        "neighbors", .integer(1...100_000), "Number of nearest vectors that wknn uses.", default: 10)
    static let receiverOffset = Key(
        "receiverOffset", .receiverOffset,
        "Levels of the receiver minus levels of the surveyor's receiver, in dB; auto to estimate the difference.",
        default: .unknown)
    static let likelihoodTemperature = Key(
        "temper", ValueType<Double>.real(0.01...1000), "Divisor of the log-likelihoods.", default: 4)
    static let grid = Key(
        "gridM", ValueType<Double>.real(0.05...1000, unit: "m").orNull,
        "Side of a cell of the map, for the algorithms field and hmm; null to choose it by the size of the site.")

    static let section = Section(
        "An algorithm.",
        [name, window, reading, penalty, fingerprints, neighbors, receiverOffset, likelihoodTemperature, grid])
}

/// The keys of a surveyed place.
enum PlaceKeys {
    static let name = Key("name", .text, "Name of the place.", isRequired: true)
    static let position = Key(
        "position", ValueType<FloorPosition>.floorPosition.orNull,
        "Position of the place: [metres east, metres north]; null if unknown.")
    static let floor = Key(
        "floor", ValueType<String>.text.orNull, "Name of the floor; null on sites with one floor.")
    static let seconds = Key("seconds", .seconds, "Number of seconds recorded at the place.", isRequired: true)
    static let headings = Key(
        "headings", .list("headings", 0...Int.max, of: .real(-1e9...1e9, unit: "degrees")),
        "Headings of the stays at the place, in degrees clockwise from north.")
    static let section = Section("A place.", [name, position, floor, seconds, headings])
}

/// The keys of a beacon of a map.
enum MapBeaconKeys {
    static let key = Key("key", .beaconKey, "Identity or name of the beacon.", isRequired: true)
    static let position = Key(
        "position", ValueType<FloorPosition>.floorPosition.orNull,
        "Position of the beacon: [metres east, metres north]; null if unknown.")
    static let seconds = Key(
        "seconds", .seconds, "Number of seconds in which the beacon was received.", isRequired: true)
    static let trend = Key(
        "trend", ValueType<JSONNode>.section(TrendKeys.section).orNull,
        """
        Level of the beacon at the distance d: dbmAt1m - 10 * exponent * log10 d. Null if no place with a position \
        received the beacon. Pharos does not read the trend, but computes it again.
        """)
    static let section = Section("A beacon.", [key, position, seconds, trend])
}

/// The keys of the trend of a beacon's level.
enum TrendKeys {
    static let center = Key(
        "center", .floorPosition, "Position of the beacon, or an estimate: [metres east, metres north].")
    static let level = Key("dbmAt1m", ValueType<Double>.real(-1e9...1e9, unit: "dBm"), "Level at 1 m.")
    static let exponent = Key("exponent", ValueType<Double>.real(-1e9...1e9), "Exponent of the path loss, 0.5 to 4.")
    static let section = Section("A trend.", [center, level, exponent])
}

/// The keys of the statistics of one beacon at one place.
enum StatisticsKeys {
    static let beacon = Key(
        "beacon", .integer(0...Survey.beaconLimit - 1), "Index of the beacon in beacons, from 0.", isRequired: true)
    static let heard = Key(
        "heard", .integer(1...1_000_000_000, unit: "s"), "Number of seconds in which the beacon was received.",
        isRequired: true)
    static let mean = Key("mean", .level, "Mean level.", isRequired: true)
    static let median = Key("median", .level, "Median level.", isRequired: true)
    static let minimum = Key("minimum", .level, "Lowest level.", isRequired: true)
    static let maximum = Key("maximum", .level, "Highest level.", isRequired: true)
    static let deviation = Key(
        "standardDeviation", ValueType<Double>.real(0...1000, unit: "dB").orNull,
        "Standard deviation of the levels; null for one second.")
    static let histogram = Key(
        "histogram", .list("levels", 0...Int.max, of: .bin), "Number of seconds with each level: [dBm, seconds].")
    static let section = Section(
        "Statistics of the levels of one beacon.",
        [beacon, heard, mean, median, minimum, maximum, deviation, histogram])

    /// The type of the statistics of all beacons at one place.
    static let ofPlace = ValueType<[JSONNode]>.list("beacons", 0...Int.max, of: .section(section))
}

/// The keys of the data from which the levels of a map without a survey are computed.
enum FieldKeys {
    static let site = Key(
        "site", ValueType<JSONNode>(schema: ["type": "object"]) { $1 }, "The site, as in a site file.",
        isRequired: true)
    static let section = Section("A field.", [site])
}

// MARK: Types

extension ValueType {
    /// The type of a value that may also be null. Null is read as `nil`.
    var orNull: ValueType {
        let members = schema.map { $0.key == "type" ? .init("type", .array([$0.value, "null"])) : $0 }
        let read = read
        return ValueType(schema: .object(members), definitions: definitions) { decoder, node in
            node.kind == "null" ? nil : read(&decoder, node)
        }
    }
}

extension ValueType<Int> {
    fileprivate static var seconds: ValueType { .integer(0...1_000_000_000, unit: "s") }
}

extension ValueType<Double> {
    fileprivate static var level: ValueType {
        .real(ReceivedLevel.range, unit: "dBm")
    }
}

extension ValueType<BeaconKey> {
    fileprivate static var beaconKey: ValueType {
        ValueType<String>.text.map { decoder, node, text in
            let key = BeaconKey(text)
            if key == nil { decoder.error("\(ProblemText.quoted(text)) is not the key of a beacon", at: node) }
            return key
        }
    }
}

extension ValueType<PositioningAlgorithm> {
    fileprivate static var algorithm: ValueType {
        let all = PositioningAlgorithm.allCases + PositioningAlgorithm.baselines
        return ValueType(schema: ["enum": .array(all.map { .string($0.rawValue) })]) { decoder, node in
            guard let text = decoder.text(node) else { return nil }
            let algorithm = PositioningAlgorithm(rawValue: text)
            if algorithm == nil { decoder.notAWord(text, all.map(\.rawValue), at: node) }
            return algorithm
        }
    }
}

extension ValueType<LocatorSettings.ReceiverOffset> {
    fileprivate static var receiverOffset: ValueType {
        ValueType(
            schema: ["anyOf": [["const": "auto"], ["type": "number"]]],
            json: { $0 == .unknown ? "auto" : nil }
        ) { decoder, node in
            node.string == "auto" ? .unknown : decoder.real(node, in: -1000...1000, unit: "dB").map { .known($0) }
        }
    }
}

extension ValueType<PlaceStatistics.Bin> {
    fileprivate static var bin: ValueType {
        ValueType(
            schema: ["type": "array", "items": ["type": "integer"], "minItems": 2, "maxItems": 2]
        ) { _, node in
            guard let level = node[0]?.integer, let seconds = node[1]?.integer, seconds > 0,
                (-999...999).contains(level)
            else {
                return nil
            }
            return .init(level: level, seconds: seconds)
        }
    }
}

extension ValueType<JSONNode> {
    fileprivate static var vector: ValueType {
        ValueType(schema: ["type": "array", "minItems": 5, "maxItems": 5]) { $1 }
    }

    fileprivate static var evaluation: ValueType { ValueType(schema: ["type": "object"]) { $1 } }
}
