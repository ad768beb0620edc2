public import Airtime

/// Where somebody can be told to be: what a survey's stays with one name, floor and position have in common.
public struct Place: Hashable, Sendable {
    /// The name, or the position as text where the survey gave none.
    public var name: String
    /// Metres east and north; `nil` where the survey never said.
    public var position: FloorPosition?
    /// `nil` on sites with one floor.
    public var floor: String?
    /// Vectors that were taken here.
    public var seconds = 0
    /// The headings of its stays in degrees, ascending, each once.
    public var headings: [Double] = []

    /// - Parameters are as the properties of the same names.
    public init(name: String, position: FloorPosition?, floor: String? = nil) {
        self.name = name
        self.position = position
        self.floor = floor
    }
}

/// The places of a survey, in the order in which they come first.
struct SurveyPlaces: Sendable {
    private(set) var places: [Place] = []
    /// The place of each stay; `nil` for those that were dropped and those without name and position.
    private(set) var placeOfStay: [Int?]
    /// What should be said of them: one sentence each, with the stay's number.
    private(set) var notices: [(stay: Int, text: String)] = []

    private struct Key: Hashable {
        var name: String?
        var position: FloorPosition?
        var floor: String?
    }

    /// Positions of one name that are no farther apart than this are one place, in metres.
    static let tolerance = 0.5

    init(_ survey: Survey) {
        placeOfStay = [Int?](repeating: nil, count: survey.stays.count)
        var byKey: [Key: Int] = [:]
        var byName: [Key: [Int]] = [:]
        for (index, stay) in survey.stays.enumerated() where !stay.isDropped {
            guard stay.place != nil || stay.position != nil else {
                notices.append((stay.number, "stay \(stay.number) has neither a place nor a position: it is left out"))
                continue
            }
            let place: Int
            if let name = stay.place {
                let named = Key(name: name, floor: stay.floor)
                if let known = byName[named, default: []].first(where: { isSame(places[$0].position, stay.position) }) {
                    place = known
                    if places[known].position == nil { places[known].position = stay.position }
                } else {
                    place = places.count
                    let others = byName[named, default: []]
                    places.append(
                        Place(
                            name: others.isEmpty ? name : "\(name) (\(others.count + 1))", position: stay.position,
                            floor: stay.floor))
                    if !others.isEmpty {
                        notices.append(
                            (
                                stay.number,
                                "the place \(name) of stay \(stay.number) is elsewhere than before: it counts as "
                                    + "another place, \(places[place].name)"
                            ))
                    }
                    byName[named, default: []].append(place)
                }
            } else {
                let key = Key(position: stay.position, floor: stay.floor)
                if let known = byKey[key] {
                    place = known
                } else {
                    place = places.count
                    places.append(Place(name: Self.name(of: stay.position), position: stay.position, floor: stay.floor))
                    byKey[key] = place
                }
            }
            placeOfStay[index] = place
            places[place].seconds += stay.vectors.count
            if let heading = stay.heading, !places[place].headings.contains(heading) {
                places[place].headings.append(heading)
                places[place].headings.sort()
            }
        }
    }

    private func isSame(_ left: FloorPosition?, _ right: FloorPosition?) -> Bool {
        guard let left, let right else { return true }
        return left.distance(to: right) <= Self.tolerance
    }

    static func name(of position: FloorPosition?) -> String {
        position.map { "\($0.x),\($0.y)" } ?? ""
    }
}
