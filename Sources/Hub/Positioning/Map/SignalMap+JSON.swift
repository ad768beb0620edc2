internal import Airtime
public import Configuration

extension SignalMap {
    /// The version of the map's format.
    public static let version = 1

    /// Maps of no more readings than this hold all vectors, so that every algorithm can be tried on them.
    static let vectorLimit = 200_000

    /// The map as its file has it: one object, indented; the same map gives the same octets.
    public var text: String {
        var octets: [UInt8] = []
        write { octets += $0 }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The same as a tree.
    public var json: JSONValue {
        .record(
            members.map { key, value in
                (key, value ?? .array(key == "vectors" ? prints.map(vectorJSON) : statistics.map(Self.placeJSON)))
            })
    }

    /// The same octets piece by piece: a tree and a text of the millions of numbers of a large map take ten times as much
    /// memory as the map.
    ///
    /// - Parameter take: Gets each piece, in order; a piece is whole UTF-8.
    public func write<Failure: Error>(_ take: (_ piece: [UInt8]) throws(Failure) -> Void) throws(Failure) {
        let members = members
        let frame = JSONTemplate.object(members.map { ($0.key, $0.value.map(JSONTemplate.value) ?? .gap) }).prettyPieces
        let long = members.filter { $0.value == nil }.map(\.key)
        var octets: [UInt8] = []
        octets.reserveCapacity(Self.pieceSize * 2)
        for (number, text) in frame.enumerated() {
            octets += text.utf8
            guard number < long.count else { break }
            let isVectors = long[number] == "vectors"
            let count = isVectors ? prints.count : statistics.count
            octets += "[".utf8
            for element in 0..<count {
                octets += (element > 0 ? ",\n    " : "\n    ").utf8
                if isVectors { appendVector(prints[element], to: &octets) } else { appendPlace(element, to: &octets) }
                if octets.count >= Self.pieceSize {
                    try take(octets)
                    octets.removeAll(keepingCapacity: true)
                }
            }
            octets += (count > 0 ? "\n  ]" : "]").utf8
        }
        try take(octets)
    }

    /// Pieces of the file have so many octets, and what one place or one vector has more.
    static let pieceSize = 1 << 16

    /// The file's keys with their values, `nil` for the long lists.
    private var members: [(key: String, value: JSONValue?)] {
        [
            ("version", .integer(Self.version)), ("site", .optional(site, JSONValue.string)),
            ("created", .optional(created) { .string($0.description) }),
            (
                "surveys",
                .array(sources.map { .record([("name", .string($0.name)), ("sha256", .string($0.sha256))]) })
            ),
            ("algorithm", settings.json), ("places", .array(places.map(\.json))),
            ("beacons", .array(zip(beacons, trends).map { $0.json($1) })), ("statistics", nil),
            ("vectors", wantsVectors ? nil : .null),
            ("field", .optional(plan) { .record([("site", $0.fieldJSON)]) }),
            ("evaluation", .optional(evaluation, \.json)),
        ]
    }

    private static func placeJSON(_ found: [PlaceStatistics]) -> JSONValue { .array(found.map(\.json)) }

    private func appendPlace(_ place: Int, to octets: inout [UInt8]) {
        for octet in Self.placeJSON(statistics[place]).pretty.utf8.dropLast() {
            octets.append(octet)
            // A line's end is never within a string.
            if octet == UInt8(ascii: "\n") { octets += "    ".utf8 }
        }
    }

    /// `[place, stay, visit, seconds, [beacon, level, …]]`.
    private func vectorJSON(_ print: Print) -> JSONValue {
        let vector = table.vector(print.vector)
        return .array([
            .integer(print.place), .integer(print.stay), .integer(print.visit), .real(vector.seconds),
            .array(vector.readings.flatMap { [JSONValue.integer($0.beacon), JSONValue.real($0.level)] }),
        ])
    }

    /// The same without a value for each of its numbers, of which there are millions.
    private func appendVector(_ print: Print, to octets: inout [UInt8]) {
        octets += "[\n      \(print.place),\n      \(print.stay),\n      \(print.visit),\n      ".utf8
        JSONValue.append(real: table.times[print.vector], to: &octets)
        octets += ",\n      [".utf8
        let range = table.range(print.vector)
        for entry in range {
            if entry > range.lowerBound { octets += ", ".utf8 }
            octets += "\(table.beacon(entry)), ".utf8
            JSONValue.append(real: table.level(entry), to: &octets)
        }
        octets += "]\n    ]".utf8
    }
}

extension Place {
    fileprivate var json: JSONValue {
        .record([
            ("name", .string(name)),
            ("position", .optional(position) { .array([.real($0.x), .real($0.y)]) }),
            ("floor", .optional(floor, JSONValue.string)), ("seconds", .integer(seconds)),
            ("headings", .array(headings.map(JSONValue.real))),
        ])
    }
}

extension SignalMap.Beacon {
    /// - Parameter trend: For whoever reads the file: it follows from the statistics.
    fileprivate func json(_ trend: BeaconTrend?) -> JSONValue {
        .record([
            ("key", .string(key.text)),
            ("position", .optional(position) { .array([.real($0.x), .real($0.y)]) }), ("seconds", .integer(seconds)),
            (
                "trend",
                .optional(trend) {
                    .record([
                        ("center", .array([.rounded($0.centre.x, 3), .rounded($0.centre.y, 3)])),
                        ("dbmAt1m", .rounded($0.levelAtOneMetre, 3)), ("exponent", .rounded($0.exponent, 3)),
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
            ("standardDeviation", .optional(standardDeviation) { .rounded($0, 9) }),
            (
                "histogram",
                .array(histogram.map { .array([.integer($0.level), .integer($0.seconds)]) })
            ),
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

extension Evaluation {
    /// As `map evaluate --json` prints it.
    public var json: JSONValue {
        func metres(_ value: Double?) -> JSONValue { .optional(value) { .rounded($0, 3) } }
        func share(_ value: Double?) -> JSONValue { .optional(value) { .rounded($0, 4) } }
        return .record([
            ("algorithm", .string(algorithm.rawValue)), ("protocol", .string(leaving.rawValue)),
            ("instants", .integer(instants)), ("availability", share(availability)),
            (
                "errorM",
                .record([
                    ("mean", metres(mean)), ("median", metres(median)), ("p75", metres(percentile75)),
                    ("p95", metres(percentile95)), ("rms", metres(rootMeanSquare)),
                    ("meanInterval", .array(meanInterval.map { .rounded($0, 3) })),
                ])
            ),
            ("exact", share(exact)), ("near", share(near)), ("floorRate", share(floorRate)),
            ("coverage50", share(coverage50)), ("coverage95", share(coverage95)),
            ("medianRegionAreaM2", metres(medianRegionArea)),
            (
                "confusion",
                .array(
                    confusion.map {
                        .record([
                            ("place", .string($0.place)), ("taken", .string($0.taken)), ("share", share($0.share)),
                        ])
                    })
            ),
            (
                "byPlace",
                .array(
                    byPlace.map {
                        .record([
                            ("place", .string($0.place)), ("instants", .integer($0.instants)),
                            ("meanErrorM", metres($0.meanError)), ("exact", share($0.exact)),
                        ])
                    })
            ),
        ])
    }
}
