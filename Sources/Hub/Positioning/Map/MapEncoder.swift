internal import Airtime
public import Configuration

/// Writes map files.
extension SignalMap {
    /// The text of `profiles/schema/map.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { MapFormat.section.schemaFile(title: "Pharos map") }

    /// The text of the map's file. Equal maps give equal texts.
    public var text: String {
        var octets: [UInt8] = []
        write { octets += $0 }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Writes the text of the map's file in pieces, because the whole text of a large map would take much more memory
    /// than the map.
    ///
    /// Each member of the object and each element of a list is on its own line.
    ///
    /// - Parameter take: Receives the pieces in order. Each piece is valid UTF-8.
    public func write<Failure: Error>(_ take: (_ piece: [UInt8]) throws(Failure) -> Void) throws(Failure) {
        let scalars: [(String, JSONValue)] = [
            ("version", 1), ("site", .text(site)), ("created", .text(created?.description)),
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
            try list("vectors", fingerprints.count) { fingerprints[$0].json }
        } else {
            piece += "  \"vectors\": null"
        }
        try take(Array((piece + "\n}\n").utf8))
    }
}

extension SignalMap.Source {
    fileprivate var json: JSONValue { .record([("name", .string(name)), ("sha256", .string(sha256))]) }
}

extension SignalMap.Fingerprint {
    /// The vector as `[place, stay, visit, seconds, [beacon, level, …]]`.
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
    /// - Parameter trend: The trend of the beacon's level, computed from the statistics. Pharos writes it for other
    ///   programs and does not read it.
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
            ("prints", .string(fingerprints.rawValue)), ("neighbors", .integer(neighbors)), ("receiverOffset", offset),
            ("temper", .rounded(likelihoodTemperature, 6)), ("gridM", .optional(gridMetres, JSONValue.real)),
        ])
    }
}
