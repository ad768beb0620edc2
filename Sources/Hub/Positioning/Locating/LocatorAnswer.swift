public import Airtime

/// The position of a receiver on a map, with its uncertainty.
public struct LocatorAnswer: Sendable {
    /// The quality of the answer.
    public enum State: String, Hashable, Sendable {
        case fix
        /// The region is larger than a quarter of the site, or fewer than three beacons of the map were received.
        case poor
        /// The receiver was not located. ``LocatorAnswer/reason`` is the reason.
        case none
    }

    /// The reason why the receiver was not located.
    public enum Reason: String, Hashable, Sendable {
        case nothingHeard = "nothing received"
        case nothingInCommon = "no received beacon is on this map"
        case noCandidate = "no place of the map fits"
    }

    /// A place with its probability.
    public struct Candidate: Hashable, Sendable {
        /// The place's index in the map.
        public let place: Int
        public let probability: Double
    }

    /// A room with its probability.
    public struct RoomCandidate: Hashable, Sendable {
        /// The room's index in ``Locator/rooms``.
        public let room: Int
        /// The probability of the room; `nil` if the algorithm has no probabilities.
        public let probability: Double?
    }

    public internal(set) var state: State
    /// The reason why the receiver was not located; `nil` if it was.
    public internal(set) var reason: Reason?
    /// The position in metres east and north; `nil` if the place has no position.
    public internal(set) var position: FloorPosition?
    /// The floor's name; `nil` on sites with one floor.
    public internal(set) var floor: String?
    /// The place's index in the map.
    public internal(set) var place: Int?
    /// Up to five places, likeliest first. Empty if the algorithm has no probabilities.
    public internal(set) var candidates: [Candidate] = []
    /// Up to five rooms, the likeliest first. If the algorithm has no probabilities, only the room of the position. If
    /// the probabilities add up to less than 1, the rest is the probability of being in none of these rooms.
    public internal(set) var rooms: [RoomCandidate] = []
    /// The region that contains the receiver with a probability of 95 %. The probability also applies while the
    /// receiver walks or is between the places of the map. `nil` if the algorithm has no probabilities.
    public internal(set) var region95: Region?
    /// The region that contains the receiver with a probability of 50 %; `nil` if it was not requested.
    var region50: Region?
    /// The number of the map's beacons that were received within the window, plus the number of other beacons that were
    /// received in the newest second.
    public internal(set) var heard: Int
    /// The number of beacons in ``heard`` that are on the map.
    public internal(set) var used: Int
    /// The likeliest difference in dB between the levels of the receiver and of the surveyor's receiver. `nil` if the
    /// algorithm does not estimate it.
    public internal(set) var receiverOffset: Double?
    /// The score of each place if scores were requested. The smallest score is best. A score is `nil` if the place is
    /// not a candidate, and infinite if the place is impossible.
    public internal(set) var scores: [Double?] = []

    /// The likeliest room; `nil` if no rooms are known, or if the receiver is more likely in no room.
    public var room: RoomCandidate? {
        guard let best = rooms.first else { return nil }
        guard let probability = best.probability else { return best }
        return probability > 1 - rooms.reduce(0) { $0 + ($1.probability ?? 0) } ? best : nil
    }

    /// The probability of the likeliest place.
    public var probability: Double? { candidates.first?.probability }

    init(_ state: State, heard: Int, used: Int) {
        self.state = state
        self.heard = heard
        self.used = used
    }

    static func none(_ reason: Reason, heard: Int = 0, used: Int = 0) -> LocatorAnswer {
        var answer = LocatorAnswer(.none, heard: heard, used: used)
        answer.reason = reason
        return answer
    }
}
