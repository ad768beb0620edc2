import Airtime
import Positioning
import PositioningWorlds
import Sites

/// The errors of the positioning algorithms on public recordings, compared with published errors and with scikit-learn.
struct PositioningRecordings {
    private let report: Report
    private let python: String?
    private let peers: String
    private static let width = 14

    init(_ report: Report, python: String?, peers: String) {
        self.report = report
        self.python = python
        self.peers = peers
    }

    private struct Row {
        let name: String
        let algorithm: PositioningAlgorithm
        var window: Int?
        var offset = LocatorSettings.ReceiverOffset.unknown
        var knowsBeacons = false
    }

    private static let rows = [
        Row(name: "nn", algorithm: .nn, window: 1), Row(name: "nn-mean", algorithm: .nnMean, window: 1),
        Row(name: "bhattacharyya", algorithm: .bhattacharyya, window: 5),
        Row(name: "relative", algorithm: .relative, window: 1),
        Row(name: "relative, w 5", algorithm: .relative, window: 5), Row(name: "wknn", algorithm: .wknn, window: 1),
        Row(name: "wknn, w 5", algorithm: .wknn, window: 5),
        Row(name: "gauss, w 5", algorithm: .gauss, window: 5, offset: .known(0)),
        Row(name: "gauss, offset", algorithm: .gauss, window: 5),
        Row(name: "field, w 5", algorithm: .field, window: 5, offset: .known(0)),
        Row(name: "field, offset", algorithm: .field, window: 5), Row(name: "hmm, standing", algorithm: .hmm),
        Row(name: "field, beacons", algorithm: .field, window: 5, knowsBeacons: true),
    ]
    /// The errors in metres that another program reached with the field and an unknown offset.
    private static let known = [1.93, 1.24, 1.56, 2.08, 2.05, 2.16, 2.26, 2.01, 2.06]

    func run() throws {
        report.section("Positioning: public recordings, mean and 95 % of the error in metres")
        guard let recordings = PublicRecordings() else {
            report.notMeasured("public recordings", because: "PHAROS_RECORDINGS does not name their folder")
            return
        }
        let columns = recordings.columns()
        report.row("", columns.map(\.name), width: Self.width)
        var fields: [Evaluated] = []
        for row in Self.rows {
            let found = try columns.map { try Evaluated(row, $0) }
            report.row(row.name, found.map { Self.text($0.mean, $0.percentile95) }, width: Self.width)
            if row.name == "field, offset" { fields = found }
        }
        let centroids = try columns.map { column in
            var settings = LocatorSettings(.weightedCentroid)
            settings.window = 1
            let map = try SignalMap(column.survey, positions: column.beacons)
            return try Evaluator.instants(map, test: column.test, settings: settings).compactMap(\.error)
        }
        report.row("centroid of six", centroids.map { Self.text($0) }, width: Self.width)
        let sites = try columns.map { try Self.siteAlone($0) }
        report.row("the site alone", sites.map { Self.text($0) }, width: Self.width)
        if let python {
            for line in try ChildProcess.output(of: [python, peers, "recordings"]).split(separator: "\n") {
                let cells = line.split(separator: "\t").map(String.init)
                report.row(cells[0], Array(cells.dropFirst()), width: Self.width)
            }
        } else {
            report.notMeasured("scikit-learn on the same recordings", because: "no Python; give it with --python")
        }
        regions(columns, fields)
        targets(columns, fields, sites)
    }

    private static func text(_ errors: [Double]) -> String {
        let percentiles = Percentiles(errors)
        return text(percentiles.mean, percentiles.value(at: 95))
    }

    private static func text(_ mean: Double?, _ most: Double?) -> String {
        "\((mean ?? 0).text(2)) / \((most ?? 0).text(1))"
    }

    /// The result of one row in one column.
    private struct Evaluated {
        let errors: [Double]
        let evaluation: Evaluation
        let predicted: Double?
        var mean: Double? { evaluation.mean }
        var percentile95: Double? { evaluation.percentile95 }

        init(_ row: Row, _ column: PublicRecordings.Column) throws {
            var base = LocatorSettings(row.algorithm)
            base.receiverOffset = row.offset
            let isFitted = row.algorithm.isProbabilistic || row.algorithm == .wknn
            let choice = try AlgorithmChoice(
                column.survey, positions: row.knowsBeacons ? column.beacons : [:],
                candidates: isFitted ? [row.algorithm] : [], base: base)
            var settings = choice.map.settings
            settings.algorithm = row.algorithm
            settings.window = row.window
            evaluation = try Evaluator.evaluate(choice.map, test: column.test, settings: settings)
            errors = try Evaluator.instants(choice.map, test: column.test, settings: settings).compactMap(\.error)
            predicted = choice.map.evaluation?.mean
        }

        /// The area in m² of a circle that holds the same share of the errors as the regions hold of the true
        /// positions.
        var neededArea: Double? {
            guard let coverage = evaluation.coverage95,
                let radius = Percentiles(errors).value(at: 100 * min(0.99, coverage))
            else { return nil }
            return .pi * radius * radius
        }
    }

    private func regions(_ columns: [PublicRecordings.Column], _ fields: [Evaluated]) {
        report.line("Regions of 95 % of field with an unknown offset:")
        report.row("", columns.map(\.name), width: Self.width)
        report.row(
            "hold position %", fields.map { (100 * ($0.evaluation.coverage95 ?? 0)).text(0) }, width: Self.width)
        report.row(
            "median area m²", fields.map { ($0.evaluation.medianRegionArea ?? 0).text(1) }, width: Self.width)
        report.row("circle needed m²", fields.map { ($0.neededArea ?? 0).text(1) }, width: Self.width)
    }

    private func targets(_ columns: [PublicRecordings.Column], _ fields: [Evaluated], _ sites: [[Double]]) {
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
        for (index, column) in columns.enumerated() {
            let field = fields[index]
            report.target(
                "field, \(column.name)", field.mean ?? .infinity, "m", atMost: Self.known[index] + 0.005)
            if let area = field.evaluation.medianRegionArea, let needed = field.neededArea {
                report.target("its region compared with the needed circle", area / needed, "times", atMost: 1.5)
            }
            let missed = 100 - 100 * (field.evaluation.coverage95 ?? 0)
            report.target("true positions outside it", missed, "%", atMost: column.isOwnReceiver ? 15 : 25)
            guard column.isOwnReceiver, let predicted = field.predicted, let found = field.mean else { continue }
            report.target(
                "ratio to the error from leaving visits out", max(predicted / found, found / predicted), "times",
                atMost: 1.6)
        }
        report.target(
            "field, mean of all", mean(fields.compactMap(\.mean)), "m", atMost: mean(Self.known))
        for (name, limit) in [("library", 2.0), ("office", 2.9)] {
            let errors = columns.indices.filter { columns[$0].isOwnReceiver && columns[$0].name.hasPrefix(name) }
                .compactMap { Percentiles(sites[$0]).mean }
            report.target("\(name), the site alone", mean(errors), "m", atMost: limit)
        }
    }

    /// Returns the errors on a map that has only the beacons' positions.
    private static func siteAlone(_ column: PublicRecordings.Column) throws -> [Double] {
        let text =
            #"{"version":1,"name":"alone","beacons":[{"name":"a","position":[0,0]}],"#
            + #""target":{"detectWithinS":10,"probability":0.9}}"#
        guard var site = Site.decode(Array(text.utf8)).site else { throw BenchmarkError("no site") }
        site.beacons = try column.beacons.map {
            try SiteBeacon(
                name: $0.key.text, position: $0.value, intervalMicroseconds: 200_000, airtimeMicroseconds: 376,
                radioPower: 0)
        }
        return try Evaluator.instants(SignalMap(site: site), test: column.test).compactMap(\.error)
    }
}
