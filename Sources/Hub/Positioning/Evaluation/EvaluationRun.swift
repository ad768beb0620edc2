internal import BeaconService
public import Listener

/// Evaluates a map with a survey, or evaluates a survey by leaving parts of it out, with one or several algorithms.
public struct EvaluationRun {
    /// A published evaluation protocol.
    public enum Preset: String, CaseIterable, Sendable {
        /// The static test of a thesis of 2014: four algorithms locate single seconds, and each answer is exact,
        /// neighbor or far.
        case experiment

        /// The algorithms in the order of the thesis' table.
        public var algorithms: [PositioningAlgorithm] { [.nn, .nnMean, .nnMedian, .bhattacharyya] }
    }

    /// The algorithms to evaluate. If empty, the map's algorithm is evaluated. If there is no map either, the algorithm
    /// that ``MapFitting`` chooses is evaluated.
    public var algorithms: [PositioningAlgorithm] = []
    /// The number k of nearest vectors that `wknn` uses; `nil` to fit k as ``MapFitting`` does.
    public var neighbors: Int?
    public var preset: Preset?
    /// Changes the parameters of each algorithm.
    public var adjust: (inout LocatorSettings) -> Void = { _ in }
    /// Warnings about the results, one sentence each.
    public private(set) var notices: [String] = []
    private let floorPenalty: Double

    /// - Parameter floorPenalty: The distance that a wrong floor adds to the error, in metres.
    public init(floorPenalty: Double) { self.floorPenalty = floorPenalty }

    private func settings(_ algorithm: PositioningAlgorithm, _ base: LocatorSettings) -> LocatorSettings {
        var settings = base
        // The window of `base` is chosen for the algorithm of `base`. Other algorithms and published protocols use the
        // default window.
        if algorithm != settings.algorithm || preset != nil { settings.window = nil }
        settings.algorithm = algorithm
        adjust(&settings)
        return settings
    }

    /// The algorithms that were requested; empty for the default.
    private var requestedAlgorithms: [PositioningAlgorithm] { preset?.algorithms ?? algorithms }

    /// Evaluates a map with a survey.
    ///
    /// - Parameter name: The survey's name in messages.
    /// - Throws: If there is only one algorithm and the map lacks data for it.
    public mutating func evaluate(
        _ map: SignalMap, test: Survey, name: String
    ) throws(ListenerServiceError) -> [Evaluation] {
        let floors = Set(map.places.map(\.floor))
        for floor in Set(test.stays.filter { !$0.isCancelled }.compactMap(\.floor)).sorted()
        where !floors.contains(floor) {
            notices.append("\(name): the map has no floor \(MapText.line(floor))")
        }
        let algorithms = requestedAlgorithms.isEmpty ? [map.settings.algorithm] : requestedAlgorithms
        var results: [Evaluation] = []
        for algorithm in algorithms {
            do throws(PositioningError) {
                results.append(
                    try Evaluator.evaluate(
                        map, test: test, settings: settings(algorithm, map.settings), floorPenalty: floorPenalty))
            } catch {
                guard algorithms.count > 1 else { throw MapFitting.refusal(error) }
                notices.append("\(algorithm.rawValue): \(error)")
            }
        }
        if results.allSatisfy({ $0.instants == 0 }) {
            throw .refused(.malformed, "\(name): no beacon was received in any second")
        }
        if results.allSatisfy({ $0.availability == 0 }) {
            notices.append(
                "\(name): no beacon of the map was received: check that the survey is from the site of the map")
        }
        return results
    }

    /// Evaluates a survey by leaving parts of it out, one after the other.
    ///
    /// - Throws: If no data would remain to make a map from, or if no algorithm can be evaluated.
    public mutating func evaluate(
        _ survey: Survey, leaving: Evaluation.LeftOut
    ) throws(ListenerServiceError) -> [Evaluation] {
        if let warning = leaving.warning { notices.append("--leave \(leaving.rawValue): \(warning)") }
        if leaving == .visit, Set(survey.stays.filter { !$0.isCancelled }.map { survey.session(of: $0) }).count < 2 {
            notices.append("only one session: leaving out a visit removes its place from the map; try --leave stay")
        }
        var evaluator = Evaluator(survey)
        evaluator.floorPenalty = floorPenalty
        let trials = preset == nil ? trials(survey, leaving) : []
        if requestedAlgorithms.isEmpty, let best = trials.first { return [best] }
        let algorithms = requestedAlgorithms.isEmpty ? [.field] : requestedAlgorithms
        var results: [Evaluation] = []
        for algorithm in algorithms {
            if let trial = trials.first(where: { $0.algorithm == algorithm }) {
                results.append(trial)
                continue
            }
            do throws(PositioningError) {
                var settings = settings(algorithm, LocatorSettings(algorithm))
                if let temperature = evaluator.temperatures([settings], leaving: leaving)[0] {
                    settings.likelihoodTemperature = temperature
                }
                results.append(try evaluator.evaluate(settings, leaving: leaving))
            } catch .nothingLeft {
                // The other algorithms would fail for the same reason.
                throw .refused(
                    .malformed,
                    "--leave \(leaving.rawValue): without this part, no data remains to make a map from: record more "
                        + "than one \(leaving.rawValue), or leave out another part")
            } catch {
                guard algorithms.count > 1 else { throw MapFitting.refusal(error) }
                notices.append("\(algorithm.rawValue): \(error)")
            }
        }
        if results.isEmpty { throw .refused(.malformed, notices.joined(separator: "; ")) }
        return results
    }

    /// The evaluations by which `map fit` chooses an algorithm, best first. `map evaluate` uses them too, so both
    /// commands report the same errors. Empty if no algorithm can be evaluated.
    private func trials(_ survey: Survey, _ leaving: Evaluation.LeftOut) -> [Evaluation] {
        let candidates = requestedAlgorithms.isEmpty ? AlgorithmChoice.candidates : requestedAlgorithms
        let choice = try? AlgorithmChoice(
            survey, candidates: candidates, base: settings(.field, LocatorSettings(.field)), neighbors: neighbors,
            leaving: leaving, floorPenalty: floorPenalty)
        return choice?.trials.map(\.evaluation) ?? []
    }
}
