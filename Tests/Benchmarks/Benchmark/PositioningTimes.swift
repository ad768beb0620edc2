import Airtime
import BluetoothTypes
import Glibc
import LinuxHost
import Listener
import Positioning
import PositioningWorlds
import Sightings

/// The cost of fitting and locating on a large site, and the errors on public recordings.
struct PositioningTimes {
    private static let places = 2000
    private static let beacons = 150
    private static let vectors = 100_000
    private static let lines = 1_000_000

    /// - Parameters:
    ///   - folder: A directory for temporary recordings.
    ///   - pharos: The program, with `pharos-hub` in the same directory; `nil` without one.
    ///   - python: A Python with scikit-learn; `nil` without one.
    ///   - peers: The script that measures scikit-learn.
    static func run(
        _ report: Report, folder: String, pharos: String?, python: String?, peers: String
    ) throws {
        let clock = ContinuousClock()
        report.section(
            "Positioning: \(Double(vectors).grouped) vectors at \(places) places, \(beacons) beacons")
        let (survey, run) = site()
        var map = try SignalMap(survey)
        let statistics = try clock.measure { map = try SignalMap(survey) }
        report.target("map of places", statistics.milliseconds / 1000, "s", atMost: 20)
        for algorithm in PositioningAlgorithm.allCases {
            var settings = LocatorSettings(algorithm)
            settings.gridMetres = 1
            var locator = try Locator(map, settings: settings)
            let fit = try clock.measure { locator = try Locator(map, settings: settings) }
            var times: [Double] = []
            for vector in run { times.append(clock.measure { _ = locator.locate(vector) }.milliseconds) }
            let limit = [.field, .hmm].contains(algorithm) ? 120.0 : 20
            report.target(
                "\(algorithm.rawValue), fit", (statistics + fit).milliseconds / 1000, "s", atMost: limit)
            report.target("\(algorithm.rawValue), an instant", times.median, "ms", atMost: 10)
        }
        report.line("Peak RSS: \((try ProcessMemory(of: getpid())).text)")
        if let python {
            let path = "\(folder)/survey-\(getpid()).jsonl"
            try Files.replace(path, with: Array(SurveyWriter.text(survey).utf8))
            defer { unsafe unlink(path) }
            report.line("The same survey by scikit-learn (fit; an instant):")
            report.line(try ChildProcess.output(of: [python, peers, "survey", path]).trimmed)
        } else {
            report.notMeasured("scikit-learn on the same survey", because: "no Python; give it with --python")
        }
        try reading(report, folder, pharos)
        try hour(report, folder)
        try LargeSites.run(report)
        try PositioningRecordings(report, python: python, peers: peers).run()
        try buildings(report)
    }

    /// Returns places and beacons on a square floor; places are 2 m apart and beacons about 7.5 m on average.
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

    /// Makes a map from a survey of a million lines in a separate process, so that only this work is measured.
    private static func reading(_ report: Report, _ folder: String, _ pharos: String?) throws {
        report.section("Positioning: a survey of \(Double(lines).grouped) lines, twelve packets in each")
        guard let pharos else {
            return report.notMeasured("reading a survey", because: "no program; give it with --pharos")
        }
        let (path, map) = ("\(folder)/million-\(getpid()).jsonl", "\(folder)/million-\(getpid()).json")
        defer {
            unsafe unlink(path)
            unsafe unlink(map)
        }
        try write(to: path)
        for algorithm in ["gauss", "field"] {
            let run = try MeasuredRun(
                [pharos, "map", "fit", path, "--algorithm", algorithm, "--output", map],
                output: try Descriptor.open("/dev/null", .replace))
            report.line("`map fit --algorithm \(algorithm)`: \(run.seconds.text(1)) s.")
            report.target("peak memory", run.peak * 1.048576, "MB", atMost: 200)
        }
    }

    /// Writes a survey of a thousand places with a thousand seconds each and six beacons at each place.
    private static func write(to path: String) throws {
        var random = SplitMix64(seed: 12)
        let file = try OutputFile(replacing: path)
        var text = "{\"survey\":1}\n"
        let stays = 1000
        for place in 0..<stays {
            let (x, y) = (place % 40 * 2, place / 40 * 2)
            text += "{\"stay\":\(place + 1),\"place\":\"P\(place)\",\"position\":[\(x),\(y)]}\n"
            for second in 0..<(lines - 1 - stays) / stays {
                let levels = (0..<6).map { beacon in
                    let level = -50 - Int(random.next(upTo: 40))
                    return "\"ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-\((x / 20) + 1)-\(y / 12 * 6 + beacon)\":"
                        + "[\(level),\(level - Int(random.next(upTo: 6)))]"
                }
                text += "{\"t\":\(second),\"rssi\":{" + levels.joined(separator: ",") + "}}\n"
            }
            try file.append(Array(text.utf8))
            text = ""
        }
    }

    /// Measures an hour of packets on an ordinary floor: 24 beacons, 100 places.
    private static func hour(_ report: Report, _ folder: String) throws {
        let (seconds, count, perSecond) = (3600, 24, 120)
        report.section("Positioning: an hour's recording of \(count) beacons, \(perSecond) packets a second")
        var random = SplitMix64(seed: 3)
        var survey = Survey()
        let numbers = (0..<count).map { number in
            survey.number(
                of: BeaconKey(.iBeacon(uuid: HearingRecording.uuid, major: 1, minor: UInt16(number + 1)))) ?? 0
        }
        for place in 0..<100 {
            let spot = FloorPosition(x: Double(place % 10) * 2, y: Double(place / 10) * 2)
            survey.begin(Survey.Stay(number: place + 1, place: "P\(place)", position: spot))
            for second in 0..<20 {
                let readings = numbers.map { number in
                    let hung = FloorPosition(x: Double(number % 5) * 4.5, y: Double(number / 5) * 4.5)
                    let level = -55 - 25 * Glibc.log10(max(1, spot.distance(to: hung)))
                    return SignalVector.Reading(
                        beacon: number, level: level.rounded() + Double(random.next(upTo: 8)) - 4)
                }
                survey.append(SignalVector(seconds: Double(second), readings: readings))
            }
        }
        let tape = try HearingRecording(
            writing: seconds * perSecond, of: count, perSecond: perSecond, to: "\(folder)/hour-\(getpid()).btsnoop")
        defer { unsafe unlink(tape.path) }
        let map = try SignalMap(survey)
        for algorithm in PositioningAlgorithm.allCases {
            let walker = Walker(try RunLocator(map, settings: LocatorSettings(algorithm)))
            let time = try ContinuousClock().measure {
                try RunFile(tape.path, KnownBeacons(), rules: .init()).run(walker)
            }
            guard walker.count == seconds else { throw BenchmarkError("\(walker.count) seconds were located") }
            report.target("\(algorithm.rawValue), an hour", time.milliseconds / 1000, "s", atMost: 10)
        }
        report.line("Peak RSS: \((try ProcessMemory(of: getpid())).text)")
    }

    private static let rows: [(String, PositioningAlgorithm, Int?)] = [
        ("nn", .nn, 1), ("nn-mean", .nnMean, 1), ("bhattacharyya", .bhattacharyya, 5), ("relative", .relative, 1),
        ("relative, w 5", .relative, 5), ("wknn", .wknn, 1), ("wknn, w 5", .wknn, 5), ("gauss, w 5", .gauss, 5),
        ("field, w 5", .field, 5), ("hmm, standing", .hmm, nil),
    ]

    /// Measures the table of the first thesis in simulated buildings.
    private static func buildings(_ report: Report) throws {
        report.section("Positioning: one table of four places in fifty simulated buildings")
        report.row("", ["exact %", "scatter", "near %", "mean m"])
        var best: (name: String, error: Double, exact: Double)?
        for (name, algorithm, window) in rows {
            var (exact, near, mean): ([Double], [Double], [Double]) = ([], [], [])
            for seed in 0..<50 {
                var world = SimulatedBuilding(seed: UInt64(seed))
                let test = world.test()
                var settings = LocatorSettings(algorithm)
                settings.window = window
                let found = try Evaluator.evaluate(SignalMap(world.survey), test: test, settings: settings)
                exact.append(found.exact)
                near.append(found.exactOrAdjacent)
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
            let error = mean.reduce(0, +) / Double(max(1, mean.count))
            if best.map({ error < $0.error }) ?? true { best = (name, error, average) }
        }
        guard let best else { return }
        report.target("the best of them, \(best.name)", best.error, "m", atMost: 1.5)
        report.target("places that it misses", 100 - 100 * best.exact, "%", atMost: 54)
    }
}

/// Locates each second of a run.
private final class Walker: RunConsumer {
    private(set) var count = 0
    private var locator: RunLocator

    init(_ locator: RunLocator) { self.locator = locator }

    var isSatisfied: Bool { false }
    func begin(session: String?) { locator.begin(session: session) }
    func say(_ sentence: String, isWarning: Bool) {}

    func take(seconds: Double, _ heard: [HeardBeacon]) {
        _ = locator.locate(seconds: seconds, heard)
        count += 1
    }
}

extension String {
    /// The text without its last line feeds.
    fileprivate var trimmed: String { String(reversed().drop { $0 == "\n" }.reversed()) }
}
