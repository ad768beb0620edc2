public import Airtime

/// A surveyed place. All stays with the same name, floor and position are at one place.
public struct Place: Hashable, Sendable {
    /// The name. If the survey has no name for the place, the position as text.
    public var name: String
    /// The position in metres east and north; `nil` if the survey does not contain it.
    public var position: FloorPosition?
    /// The floor's name; `nil` on sites with one floor.
    public var floor: String?
    /// The number of vectors recorded at the place, one per second.
    public var seconds = 0
    /// The headings of the place's stays in degrees, in ascending order and without repetitions.
    public var headings: [Double] = []
}

extension Array where Element == Place {
    /// Returns the index of the place on some floors that is nearest to a position; `nil` if no place on these floors
    /// has a position.
    ///
    /// - Parameter isOnFloor: Returns true for the floors to search.
    func nearest(to position: FloorPosition, on isOnFloor: (String?) -> Bool) -> Int? {
        var nearest: (distance: Double, index: Int)?
        for (index, place) in enumerated() where isOnFloor(place.floor) {
            guard let distance = place.position?.distance(to: position) else { continue }
            if nearest.map({ distance < $0.distance }) ?? true { nearest = (distance, index) }
        }
        return nearest?.index
    }
}

/// The places of a survey, in the order in which they first appear.
struct SurveyPlaces: Sendable {
    private(set) var places: [Place] = []
    /// For each stay, the index of its place in ``places``; `nil` for a cancelled stay, and for a stay without name and
    /// position.
    private(set) var placeOfStay: [Int?]
    /// Warnings about stays, one sentence each.
    private(set) var notices: [String] = []

    /// Stays with the same place name and floor are at one place if their positions are at most this far apart, in
    /// metres.
    static let tolerance = 0.5

    init(_ survey: Survey) {
        placeOfStay = [Int?](repeating: nil, count: survey.stays.count)
        for (index, stay) in survey.stays.enumerated() where !stay.isCancelled {
            guard stay.place != nil || stay.position != nil else {
                notices.append("stay \(stay.number) has neither a place nor a position: it is left out")
                continue
            }
            let place = stay.place.map { self.place(named: $0, of: stay) } ?? self.place(at: stay.position, of: stay)
            placeOfStay[index] = place
            places[place].seconds += stay.vectors.count
            if let heading = stay.heading, !places[place].headings.contains(heading) {
                places[place].headings.append(heading)
                places[place].headings.sort()
            }
        }
    }

    /// The indices of the places by name and floor. For a place without a name, the key contains the position instead.
    private var indicesByKey: [Place: [Int]] = [:]

    private mutating func place(named name: String, of stay: Survey.Stay) -> Int {
        let key = Place(name: name, position: nil, floor: stay.floor)
        let candidates = indicesByKey[key, default: []]
        if let known = candidates.first(where: { Self.isSame(places[$0].position, stay.position) }) {
            if places[known].position == nil { places[known].position = stay.position }
            return known
        }
        let unique = candidates.isEmpty ? name : "\(name) (\(candidates.count + 1))"
        if !candidates.isEmpty {
            notices.append(
                "stay \(stay.number): the place \(name) has another position than before; "
                    + "the stay belongs to a new place, \(unique)")
        }
        return add(Place(name: unique, position: stay.position, floor: stay.floor), key)
    }

    private mutating func place(at position: FloorPosition?, of stay: Survey.Stay) -> Int {
        let place = Place(name: Self.name(of: position), position: position, floor: stay.floor)
        return indicesByKey[place]?.first ?? add(place, place)
    }

    private mutating func add(_ place: Place, _ key: Place) -> Int {
        places.append(place)
        indicesByKey[key, default: []].append(places.count - 1)
        return places.count - 1
    }

    private static func isSame(_ left: FloorPosition?, _ right: FloorPosition?) -> Bool {
        guard let left, let right else { return true }
        return left.distance(to: right) <= tolerance
    }

    /// Returns the name of a place that has only a position.
    static func name(of position: FloorPosition?) -> String {
        position.map { "\($0.x),\($0.y)" } ?? ""
    }
}
