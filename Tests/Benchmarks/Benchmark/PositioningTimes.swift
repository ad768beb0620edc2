import Airtime
import BluetoothTypes
import Glibc
import Positioning
import PositioningWorlds

/// What fitting and locating cost on a large site, and how good the ways to find a place are on recordings of others.
struct PositioningTimes {
    private static let places = 2000
    private static let beacons = 150
    private static let vectors = 100_000
    private static let lines = 1_000_000

    static func run(_ report: Report) throws {
        let clock = ContinuousClock()
        report.section(
            "Positioning: \(Double(vectors).grouped) vectors at \(places) places, \(beacons) beacons")
        let (survey, run) = site()
        var map = try SignalMap(survey)
        let statistics = try clock.measure { map = try SignalMap(survey) }
        report.target("map of places", statistics.milliseconds / 1000, "s", atMost: 10)
        for algorithm in PositioningAlgorithm.allCases {
            var settings = LocatorSettings(algorithm)
            settings.gridMetres = 1
            var locator = try Locator(map, settings: settings)
            let fit = try clock.measure { locator = try Locator(map, settings: settings) }
            var times: [Double] = []
            for vector in run { times.append(clock.measure { _ = locator.locate(vector) }.milliseconds) }
            let limit = [.field, .hmm].contains(algorithm) ? 60.0 : 10
            report.target(
                "\(algorithm.rawValue), fit", (statistics + fit).milliseconds / 1000, "s", atMost: limit)
            report.target("\(algorithm.rawValue), an instant", times.median, "ms", atMost: 5)
        }
        report.line("Peak RSS: \((try ProcessMemory(of: getpid())).text)")
        try reading(report)
        try recordings(report)
        try buildings(report)
    }

    /// Places and beacons on a square floor, 2 m and about 7.5 m apart.
    private static func site() -> (survey: Survey, run: [SignalVector]) {
        var random = SplitMix64(seed: 14)
        func noise() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.next() >> 11) / 0x1p53 } }
        var survey = Survey()
        let side = 45
        let numbers = (0..<beacons).map { number in
            BeaconKey("beacon-\(1000 + number)").flatMap { survey.number(of: $0) } ?? 0
        }
        let hung = (0..<beacons).map { _ in
            FloorPosition(
                x: Double(random.next(upTo: 9000)) / 100, y: Double(random.next(upTo: 9000)) / 100)
        }
        func vector(_ position: FloorPosition, _ second: Int) -> SignalVector {
            var readings: [SignalVector.Reading] = []
            for (number, beacon) in hung.enumerated() {
                let level = -59 - 30 * Glibc.log10(max(1, position.distance(to: beacon))) + 4 * noise()
                if level > -97 { readings.append(.init(beacon: numbers[number], level: level.rounded())) }
            }
            return SignalVector(seconds: Double(second), readings: readings)
        }
        for place in 0..<places {
            let position = FloorPosition(x: Double(place % side) * 2, y: Double(place / side) * 2)
            survey.begin(Survey.Stay(number: place + 1, place: "P\(place)", position: position))
            for second in 0..<vectors / places { survey.append(vector(position, second)) }
        }
        let map = survey.beacons.enumerated().sorted { $0.element < $1.element }.map(\.offset)
        var renumbered = [Int](repeating: 0, count: beacons)
        for (number, old) in map.enumerated() { renumbered[old] = number }
        let run = (0..<50).map { second in
            let heard = vector(FloorPosition(x: 20 + Double(second), y: 41), second)
            return SignalVector(
                seconds: Double(second),
                readings: heard.readings.map { .init(beacon: renumbered[$0.beacon], level: $0.level) })
        }
        return (survey, run)
    }

    /// A survey of a million lines, read piece by piece.
    private static func reading(_ report: Report) throws {
        report.section("Positioning: a survey of \(Double(lines).grouped) lines")
        var reader = SurveyReader()
        reader.take("{\"survey\":1}\n{\"stay\":1,\"place\":\"A\"}\n".utf8)
        let keys = (0..<6).map { "\"ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206/1/\($0)\":[-7\($0),-6\($0)]" }
        let rest = ",\"rssi\":{" + keys.joined(separator: ",") + "}}\n"
        let octets = Array(rest.utf8)
        let time = ContinuousClock().measure {
            for second in 0..<lines {
                reader.take("{\"t\":\(second)".utf8)
                reader.take(octets)
            }
            reader.finish()
        }
        guard reader.survey.vectorCount == lines else { throw BenchmarkError("the survey was not read whole") }
        report.line("Read in \((time.milliseconds / 1000).text(2)) s.")
        report.line("Peak RSS: \((try ProcessMemory(of: getpid())).text)")
    }

    /// The table of the public recordings.
    private static func recordings(_ report: Report) throws {
        report.section("Positioning: public recordings, mean and 95 % of the error in metres")
        guard let recordings = PublicRecordings() else {
            report.notMeasured("public recordings", because: "PHAROS_RECORDINGS does not name their folder")
            return
        }
        let columns = recordings.columns()
        report.row("", columns.map(\.name), width: 14)
        for (name, algorithm, window) in rows {
            var cells: [String] = []
            for column in columns {
                let choice = try AlgorithmChoice(
                    column.survey, candidates: algorithm.isProbabilistic || algorithm == .wknn ? [algorithm] : [])
                var settings = choice.map.settings
                settings.algorithm = algorithm
                settings.window = window
                let found = try Evaluator.evaluate(choice.map, test: column.test, settings: settings)
                cells.append("\((found.mean ?? 0).text(2)) / \((found.percentile95 ?? 0).text(1))")
            }
            report.row(name, cells, width: 14)
        }
        let baselines = try columns.map { try Baseline($0) }
        report.row("centroid of six", baselines.map { $0.text(\.centroid) }, width: 14)
        report.row("multilateration", baselines.map { $0.text(\.multilateration) }, width: 14)
    }

    private static let rows: [(String, PositioningAlgorithm, Int?)] = [
        ("nn", .nn, 1), ("nn-mean", .nnMean, 1), ("bhattacharyya", .bhattacharyya, 5), ("relative", .relative, 1),
        ("relative, w 5", .relative, 5), ("wknn", .wknn, 1), ("wknn, w 5", .wknn, 5), ("gauss, w 5", .gauss, 5),
        ("field, w 5", .field, 5), ("hmm, standing", .hmm, nil),
    ]

    /// The first thesis' table in buildings that do not exist.
    private static func buildings(_ report: Report) throws {
        report.section("Positioning: one table of four places in fifty simulated buildings")
        report.row("", ["exact %", "scatter", "near %", "mean m"])
        for (name, algorithm, window) in rows {
            var (exact, near, mean): ([Double], [Double], [Double]) = ([], [], [])
            for seed in 0..<50 {
                var world = SimulatedBuilding(seed: UInt64(seed))
                let test = world.test()
                var settings = LocatorSettings(algorithm)
                settings.window = window
                let found = try Evaluator.evaluate(SignalMap(world.survey), test: test, settings: settings)
                exact.append(found.exact)
                near.append(found.near)
                if let error = found.mean { mean.append(error) }
            }
            let average = exact.reduce(0, +) / Double(exact.count)
            let scatter = (exact.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(exact.count - 1))
                .squareRoot()
            report.row(
                name,
                [
                    (100 * average).text(0), (100 * scatter).text(0),
                    (100 * near.reduce(0, +) / Double(near.count)).text(0),
                    (mean.reduce(0, +) / Double(max(1, mean.count))).text(2),
                ])
        }
    }
}

/// The ways without a survey, or with its trends only, over one column of the public recordings.
private struct Baseline {
    private(set) var centroid: [Double] = []
    private(set) var multilateration: [Double] = []

    init(_ column: PublicRecordings.Column) throws {
        let map = try SignalMap(column.survey, positions: column.beacons)
        let ranging = try Multilateration(map)
        let numbers = map.numbers(for: column.test)
        for stay in column.test.stays {
            guard let truth = stay.position else { continue }
            for vector in stay.vectors {
                let heard = map.vector(vector, of: column.test, numbers: numbers).readings
                guard !heard.isEmpty else { continue }
                let hung = heard.compactMap { reading in
                    map.beacons[reading.beacon].position.map {
                        PositioningBaseline.Heard(position: $0, level: reading.level)
                    }
                }
                if let place = PositioningBaseline.weightedCentroid(hung) { centroid.append(place.distance(to: truth)) }
                // The window's means.
                var sums: [Int: (Double, Double)] = [:]
                for earlier in max(stay.vectors.lowerBound, vector - 4)...vector {
                    for reading in map.vector(earlier, of: column.test, numbers: numbers).readings {
                        let known = sums[reading.beacon] ?? (0, 0)
                        sums[reading.beacon] = (known.0 + reading.level, known.1 + 1)
                    }
                }
                let means = sums.sorted { $0.key < $1.key }
                    .map { SignalVector.Reading(beacon: $0.key, level: $0.value.0 / $0.value.1) }
                if let place = ranging.locate(means) { multilateration.append(place.distance(to: truth)) }
            }
        }
    }

    func text(_ errors: KeyPath<Baseline, [Double]>) -> String {
        let percentiles = Percentiles(self[keyPath: errors])
        return "\((percentiles.mean ?? 0).text(2)) / \((percentiles.value(at: 95) ?? 0).text(1))"
    }
}
