import Positioning
import PositioningWorlds
import Testing

/// Compares the algorithms with known results on public recordings. The known mean errors, in metres, were computed by
/// another program.
@Suite struct PublicRecordingTests {
    struct Row: Sendable {
        let name: String
        let settings: LocatorSettings
        let means: [Double]
        var tolerance = 0.01
    }

    private static func settings(
        _ algorithm: PositioningAlgorithm, window: Int? = nil
    ) -> LocatorSettings {
        var settings = LocatorSettings(algorithm)
        settings.window = window
        return settings
    }

    static let rows = [
        Row(
            name: "nn", settings: settings(.nn),
            means: [4.61, 2.92, 2.85, 4.85, 4.04, 3.98, 5.56, 5.80, 4.86]),
        Row(
            name: "nn-mean", settings: settings(.nnMean),
            means: [4.86, 2.83, 2.96, 4.00, 3.63, 4.14, 6.32, 6.02, 5.73]),
        // If two beacons of a place are equally strong, either can be the fifth strongest. The values of the first
        // phone's survey depend on this choice, which the other program leaves to its sort.
        Row(
            name: "bhattacharyya", settings: settings(.bhattacharyya, window: 5),
            means: [5.01, 3.97, 3.81, 3.70, 3.73, 6.62, 5.25, 5.31, 4.56], tolerance: 0.014),
        Row(
            name: "relative", settings: settings(.relative),
            means: [4.60, 2.91, 3.09, 3.38, 3.44, 5.30, 5.61, 5.53, 5.23]),
        Row(
            name: "relative over five", settings: settings(.relative, window: 5),
            means: [4.08, 2.82, 3.13, 3.15, 3.41, 4.10, 3.98, 4.31, 3.70]),
    ]

    @Test func algorithmsMatchKnownErrors() throws {
        guard let recordings = PublicRecordings() else { return }
        let columns = recordings.columns()
        let maps = try columns.map { try SignalMap($0.survey) }
        for row in Self.rows {
            for (index, column) in columns.enumerated() {
                let found = try Evaluator.evaluate(maps[index], test: column.test, settings: row.settings)
                let mean = try #require(found.mean)
                // The known values have two digits.
                #expect(
                    abs(mean - row.means[index]) <= row.means[index] * row.tolerance + 0.005,
                    "\(row.name), \(column.name): \(mean)")
            }
        }
    }

    /// Mean errors of `field` over five instants with an unknown receiver offset, computed by another program.
    static let fieldMeans = [1.93, 1.24, 1.56, 2.08, 2.05, 2.16, 2.26, 2.01, 2.06]

    /// The temperature of the field is fitted by leaving parts of the survey out. The error is at most the known error
    /// on every survey, and smaller on average. With another receiver it is at most 1.3 times the error with the
    /// survey's own receiver. The regions contain about the promised share of the positions.
    @Test func fieldIsAtLeastAsGoodAsTheKnownErrors() throws {
        guard let recordings = PublicRecordings() else { return }
        var means: [String: Double] = [:]
        for (index, column) in recordings.columns().enumerated() {
            let choice = try AlgorithmChoice(column.survey, candidates: [.field])
            let found = try Evaluator.evaluate(choice.map, test: column.test)
            let (mean, coverage) = (try #require(found.mean), try #require(found.coverage95))
            let foretold = try #require(choice.map.evaluation?.mean)
            means[column.name] = mean
            #expect(mean <= Self.fieldMeans[index] + 0.005, "\(column.name)")
            #expect(column.isOwnReceiver ? (0.85...0.997).contains(coverage) : coverage >= 0.75, "\(column.name)")
            if column.isOwnReceiver { #expect((1 / 1.6...1.6).contains(foretold / mean), "\(column.name)") }
        }
        let mean = means.values.reduce(0, +) / Double(means.count)
        #expect(mean < Self.fieldMeans.reduce(0, +) / Double(Self.fieldMeans.count))
        // The same instants, located on the survey of the same receiver and on the survey of another receiver.
        for (own, foreign) in [("2→2", "1→2"), ("3→3", "1→3"), ("1→1", "3→1")] {
            let (own, other) = (try #require(means["library \(own)"]), try #require(means["library \(foreign)"]))
            #expect(other <= 1.3 * own + 0.01, "\(foreign): \(other), compared with \(own)")
        }
    }
}
