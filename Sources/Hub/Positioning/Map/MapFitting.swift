public import Airtime
internal import BeaconService
public import Listener

/// Fits and updates maps for commands. Converts errors to messages with exit codes.
public enum MapFitting {
    /// Tries some algorithms, and chooses the best of them.
    ///
    /// - Parameter keepsNeighbors: The number of nearest vectors that `wknn` uses; `nil` to fit it.
    /// - Throws: If no map can be made.
    public static func choose(
        _ survey: Survey, positions: [BeaconKey: FloorPosition], candidates: [PositioningAlgorithm],
        base: LocatorSettings, keepsNeighbors: Int? = nil
    ) throws(ListenerServiceError) -> AlgorithmChoice {
        try refusing { () throws(PositioningError) -> AlgorithmChoice in
            let choice = try AlgorithmChoice(
                survey, positions: positions, candidates: candidates, base: base, neighbors: keepsNeighbors)
            // If no algorithm was tried, make sure that the map can be used before it is written.
            if choice.trials.isEmpty { _ = try Locator(choice.map) }
            return choice
        }
    }

    /// Computes the changes that a new survey makes to a map.
    ///
    /// - Parameters:
    ///   - name: The map's name in messages.
    ///   - files: The files of the survey.
    /// - Throws: If the map file does not contain the vectors of its survey, or if the new survey is from another site.
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
                    + "`pharos map fit` makes a new map from it")
        } catch {
            throw refusal(error)
        }
    }

    /// Returns the result of `make`. Converts its errors to messages with exit codes.
    static func refusing<Value>(
        _ make: () throws(PositioningError) -> Value
    ) throws(ListenerServiceError) -> Value {
        do throws(PositioningError) { return try make() } catch { throw refusal(error) }
    }

    /// Returns the message and the exit code of an error.
    public static func refusal(_ error: PositioningError) -> ListenerServiceError {
        switch error {
        case .noPlaces, .nothingHeard, .noPositions, .nothingLeft, .otherSite: .refused(.malformed, "\(error)")
        case .noBeacons: .refused(.invalid, "\(error)")
        default: .refused(.request, "\(error)")
        }
    }
}
