public import Airtime
internal import BeaconService
public import Listener

/// Fitting as commands do it: refusals are sentences with a number to end with.
public enum MapFitting {
    /// Tries candidates and takes the best.
    ///
    /// - Parameters:
    ///   - keepsNeighbors: k of `wknn` where somebody has asked for one; `nil` to fit it.
    /// - Throws: where there is nothing to make a map of.
    public static func choose(
        _ survey: Survey, positions: [BeaconKey: FloorPosition], candidates: [PositioningAlgorithm],
        base: LocatorSettings, keepsNeighbors: Int? = nil
    ) throws(ListenerServiceError) -> AlgorithmChoice {
        do throws(PositioningError) {
            let choice = try AlgorithmChoice(
                survey, positions: positions, candidates: candidates, base: base, neighbors: keepsNeighbors)
            // That it can be used at all shows before it is written; a trial has shown it of a part.
            if choice.trials.isEmpty { _ = try Locator(choice.map) }
            return choice
        } catch {
            throw refusal(error)
        }
    }

    /// What remains of a map beside a new survey.
    ///
    /// - Parameters:
    ///   - name: What the map is called in messages.
    ///   - files: What the survey was read from.
    /// - Throws: where the map does not hold its seconds, and where the survey is of another site.
    public static func update(
        _ map: SignalMap, with survey: Survey, name: String, files: [String]
    ) throws(ListenerServiceError) -> MapUpdate {
        do throws(PositioningError) {
            return try MapUpdate(map, with: survey)
        } catch .noVectors {
            throw .refused(.malformed, "\(name): \(PositioningError.noVectors)")
        } catch .otherSite {
            throw .refused(
                .malformed,
                "\(files.joined(separator: ", ")): \(PositioningError.otherSite) "
                    + "`pharos map fit` makes a new map of it")
        } catch {
            throw refusal(error)
        }
    }

    /// What a refusal of the library means for whoever asked.
    public static func refusal(_ error: PositioningError) -> ListenerServiceError {
        switch error {
        case .noPlaces, .nothingHeard, .noPositions, .nothingLeft, .otherSite: .refused(.malformed, "\(error)")
        case .noBeacons: .refused(.invalid, "\(error)")
        default: .refused(.request, "\(error)")
        }
    }
}
