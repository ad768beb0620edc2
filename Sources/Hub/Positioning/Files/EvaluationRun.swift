internal import BeaconService
public import Listener

/// Evaluations as they are asked for: of a map against a survey, or of a survey by leaving parts out, with one algorithm
/// or several.
public struct EvaluationRun {
    /// A protocol that somebody else has used.
    public enum Preset: String, CaseIterable, Sendable {
        /// The static test of the thesis of 2014: the nearest vector, the nearest mean, the nearest median and the
        /// histograms, on single seconds; exact, neighbor or far.
        case experiment

        /// In the order of the thesis' table.
        public var algorithms: [PositioningAlgorithm] { [.nn, .nnMean, .nnMedian, .bhattacharyya] }
    }

    /// What is tried; empty for the map's own, or `field`.
    public var algorithms: [PositioningAlgorithm] = []
    public var preset: Preset?
    /// Changes what each algorithm is used with.
    public var adjust: (inout LocatorSettings) -> Void = { _ in }
    /// What should be said beside the numbers, one sentence each.
    public private(set) var notices: [String] = []
    private let floorPenalty: Double

    /// - Parameter floorPenalty: What a wrong floor adds to an error, in metres.
    public init(floorPenalty: Double) { self.floorPenalty = floorPenalty }

    private func settings(_ algorithm: PositioningAlgorithm, _ base: LocatorSettings) -> LocatorSettings {
        var settings = base
        // A protocol looks at the seconds as it says, and not as the map does.
        if algorithm != settings.algorithm || preset != nil { settings.window = nil }
        settings.algorithm = algorithm
        adjust(&settings)
        return settings
    }

    private var wanted: [PositioningAlgorithm] { preset?.algorithms ?? algorithms }

    /// Holds a map against a survey.
    ///
    /// - Parameter name: What the survey is called in messages.
    /// - Throws: where the map has nothing for an algorithm that was asked for alone.
    public mutating func evaluate(
        _ map: SignalMap, test: Survey, name: String
    ) throws(ListenerServiceError) -> [Evaluation] {
        let floors = Set(map.places.map(\.floor))
        for floor in Set(test.stays.filter { !$0.isDropped }.compactMap(\.floor)).sorted() where !floors.contains(floor)
        {
            notices.append("\(name): the map does not know the floor \(MapText.line(floor))")
        }
        let wanted = wanted.isEmpty ? [map.settings.algorithm] : wanted
        var results: [Evaluation] = []
        for algorithm in wanted {
            do throws(PositioningError) {
                results.append(
                    try Evaluator.evaluate(
                        map, test: test, settings: settings(algorithm, map.settings), floorPenalty: floorPenalty))
            } catch {
                guard wanted.count > 1 else { throw MapFitting.refusal(error) }
                notices.append("\(algorithm.rawValue): \(error)")
            }
        }
        if results.allSatisfy({ $0.instants == 0 }) {
            throw .refused(.malformed, "\(name): no second of it heard anything")
        }
        if results.allSatisfy({ $0.availability == 0 }) {
            notices.append("\(name): no second of it has a beacon of the map: is it of another site?")
        }
        return results
    }

    /// Leaves parts of a survey out, one after the other.
    ///
    /// - Throws: where nothing would remain.
    public mutating func evaluate(
        _ survey: Survey, leaving: Evaluation.LeftOut
    ) throws(ListenerServiceError) -> [Evaluation] {
        if let warning = leaving.warning { notices.append("--leave \(leaving.rawValue): \(warning)") }
        if leaving == .visit, Set(survey.stays.filter { !$0.isDropped }.map { survey.session(of: $0) }).count < 2 {
            notices.append("one session only: leaving a visit out leaves its whole place out")
        }
        var evaluator = Evaluator(survey)
        evaluator.floorPenalty = floorPenalty
        let wanted = wanted.isEmpty ? [.field] : wanted
        var results: [Evaluation] = []
        for algorithm in wanted {
            do throws(PositioningError) {
                var settings = settings(algorithm, LocatorSettings(algorithm))
                // A filter's temper is that of its field.
                var fitted = settings
                if algorithm == .hmm { fitted.algorithm = .field }
                if algorithm.isProbabilistic {
                    settings.temper =
                        Tempering.fit(try evaluator.instants(fitted, leaving: leaving)) ?? settings.temper
                }
                results.append(try evaluator.evaluate(settings, leaving: leaving))
            } catch .nothingLeft {
                // So it is with each of the algorithms.
                throw .refused(
                    .malformed,
                    "--leave \(leaving.rawValue): of this survey that leaves nothing to make a map of: record more than "
                        + "one \(leaving.rawValue), or leave something else out")
            } catch {
                guard wanted.count > 1 else { throw MapFitting.refusal(error) }
                notices.append("\(algorithm.rawValue): \(error)")
            }
        }
        if results.isEmpty { throw .refused(.malformed, notices.joined(separator: "; ")) }
        return results
    }
}
