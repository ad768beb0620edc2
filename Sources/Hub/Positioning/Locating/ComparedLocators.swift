internal import Airtime
internal import Configuration
internal import Listener
public import Sites

/// Locates the receiver of a run with several algorithms at once, to compare them.
public struct ComparedLocators: Sendable {
    private var locators: [RunLocator] = []
    /// A sentence for each algorithm that the map does not support.
    public private(set) var notices: [String] = []

    /// Creates locators for all algorithms that a map supports. Includes the baselines if the map has the positions of
    /// beacons.
    ///
    /// - Parameters:
    ///   - site: The site of the map, whose walls and rooms are used.
    ///   - settings: Returns the settings for an algorithm.
    public init(_ map: SignalMap, site: Site?, settings: (PositioningAlgorithm) -> LocatorSettings) {
        let baselines = map.beaconPositions.isEmpty ? [] : PositioningAlgorithm.baselines
        for algorithm in PositioningAlgorithm.allCases + baselines {
            do throws(ListenerServiceError) {
                locators.append(try RunLocator(map, settings: settings(algorithm), site: site))
            } catch {
                notices.append("\(error)")
            }
        }
    }

    /// True if the answers should contain the score of every place.
    public var wantsScores: Bool {
        get { locators.contains(where: \.wantsScores) }
        set { for index in locators.indices { locators[index].wantsScores = newValue } }
    }

    /// The algorithms in the order of the answers.
    public var algorithms: [PositioningAlgorithm] { locators.map(\.algorithm) }

    /// Begins a new run with the given name.
    public mutating func begin(session: String?) {
        for index in locators.indices { locators[index].begin(session: session) }
    }

    /// Adds the next second of the run, and locates the receiver with each algorithm.
    public mutating func locate(seconds: Double, _ heard: [HeardBeacon]) -> [LocatedInstant] {
        locators.indices.map { locators[$0].locate(seconds: seconds, heard) }
    }
}

extension LocatedInstant {
    /// Returns a table with one row for each algorithm.
    ///
    /// - Parameters:
    ///   - instants: The answers of the algorithms for the same instant.
    ///   - map: The map that all algorithms use.
    ///   - rooms: The rooms that the answers refer to.
    public static func table(_ instants: [LocatedInstant], on map: SignalMap, rooms: [MapRoom]) -> String {
        let hasTruth = instants.contains { $0.truth != nil }
        var header = ["  algorithm", "place", "%"]
        var alignment: [Table.Alignment] = [.left, .left, .right]
        if !rooms.isEmpty {
            header += ["room", "%"]
            alignment += [.left, .right]
        }
        header += ["x m", "y m", "within m"] + (hasTruth ? ["error m"] : [])
        alignment += [.right, .right, .right, .right]
        var table = Table(header, alignment: alignment)
        for instant in instants {
            let answer = instant.answer
            let place = answer.place.map { MapText.name(map.places[$0]) }
            var cells = [
                "  " + instant.algorithm.rawValue, place ?? answer.reason?.rawValue ?? "-",
                MapText.percent(answer.place == nil ? nil : answer.probability),
            ]
            if !rooms.isEmpty {
                cells += [
                    answer.room.map { MapText.line(rooms[$0.room].name) } ?? "-",
                    MapText.percent(answer.room?.probability),
                ]
            }
            cells += [
                MapText.metres(answer.position?.x), MapText.metres(answer.position?.y),
                MapText.metres(answer.region95?.radius),
            ]
            if hasTruth { cells.append(MapText.metres(instant.error)) }
            table.add(cells)
        }
        return table.text
    }
}
