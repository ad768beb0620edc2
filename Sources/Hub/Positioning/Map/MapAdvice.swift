internal import Airtime

/// The places at which another beacon or another stay would improve a map most.
public struct MapAdvice: Hashable, Sendable {
    /// A place and the improvement that it needs.
    public struct Improvement: Hashable, Sendable {
        /// The kind of improvement.
        public enum Kind: String, Hashable, Sendable {
            case beacon
            case stay
        }

        public let kind: Kind
        /// The place's index in the map.
        public let place: Int
        /// The reason, as a part of a sentence.
        public let reason: String
    }

    /// The improvements: first the beacons, then the stays, the most helpful of each kind first.
    public let improvements: [Improvement]

    /// The number of beacons that must be received at a place to locate a receiver there reliably.
    public static let fewestBeacons = 4
    /// A beacon counts at a place if it was received in at least this share of the seconds recorded there.
    static let share = 0.5
    /// If a place has fewer recorded seconds than this, the reason mentions their number.
    static let fewestSeconds = 20
    /// The smallest error that leads to advice: in metres, or as the share of wrong answers for a place without a
    /// position.
    static let leastError = 0.05

    /// The largest number of improvements of each kind.
    private static let limit = 3

    /// Computes the advice for a map.
    public init(_ map: SignalMap) {
        let counts = map.places.indices.map { map.beaconsHeard(at: $0) }
        var improvements: [Improvement] = []
        let poorPlaces = counts.indices.filter { counts[$0] < Self.fewestBeacons }.sorted {
            (counts[$0], $0) < (counts[$1], $1)
        }
        for place in poorPlaces.prefix(Self.limit) {
            let receivedText = counts[place] == 1 ? "only 1 beacon is" : "only \(counts[place]) beacons are"
            improvements.append(
                Improvement(kind: .beacon, place: place, reason: "\(receivedText) received in half of the seconds"))
        }
        var errors: [String: Evaluation.PlaceResult] = [:]
        for result in map.evaluation?.byPlace ?? [] { errors[result.place] = result }
        func weight(_ place: Int) -> Double {
            let result = errors[map.places[place].name]
            return result?.meanError ?? result.map { 1 - $0.exact } ?? 0
        }
        let byError = map.places.indices.sorted { (weight($0), $1) > (weight($1), $0) }
        for place in byError.prefix(Self.limit) where weight(place) >= Self.leastError {
            improvements.append(
                Improvement(kind: .stay, place: place, reason: Self.reason(map.places[place], weight(place))))
        }
        self.improvements = improvements
    }

    private static func reason(_ place: Place, _ error: Double) -> String {
        let metres = (error * 10).rounded() / 10
        var reason = place.position == nil ? "it is mistaken for other places" : "the error there is \(metres) m"
        if place.seconds < fewestSeconds { reason += "; only \(place.seconds) s were recorded" }
        if place.headings.count == 1 { reason += "; only one heading was recorded" }
        return reason
    }
}

extension SignalMap {
    /// Returns the number of beacons that are received at a place in at least half of its seconds.
    public func beaconsHeard(at place: Int) -> Int {
        let seconds = Double(max(1, places[place].seconds))
        return statistics[place].count { Double($0.seconds) >= MapAdvice.share * seconds }
    }
}
