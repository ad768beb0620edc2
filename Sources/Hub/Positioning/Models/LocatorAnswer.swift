public import Airtime

/// Where a receiver is taken to be, how surely, and by what.
public struct LocatorAnswer: Sendable {
    /// How much the answer is worth.
    public enum State: String, Hashable, Sendable {
        case fix
        /// The region is larger than a quarter of the site, or fewer than three beacons of the map were heard.
        case poor
        /// No place at all: ``LocatorAnswer/reason`` says why.
        case none
    }

    /// Why there is no place.
    public enum Reason: String, Hashable, Sendable {
        case nothingHeard = "nothing heard"
        case nothingInCommon = "none of the beacons heard is on this map"
        case noCandidate = "no place of the map is possible"
    }

    /// A place with how likely it is.
    public struct Candidate: Hashable, Sendable {
        /// Its number in the map.
        public let place: Int
        public let probability: Double
    }

    public internal(set) var state: State
    /// `nil` unless there is no place.
    public internal(set) var reason: Reason?
    /// `nil` where the place has none.
    public internal(set) var position: FloorPosition?
    public internal(set) var floor: String?
    /// Its number in the map.
    public internal(set) var place: Int?
    /// The likeliest places, likeliest first, at most five; empty for rules that know no probability.
    public internal(set) var candidates: [Candidate] = []
    /// `nil` for rules that know no probability.
    public internal(set) var region95: Region?
    /// Beacons heard within the window, those unknown to the map in the newest vector included.
    public internal(set) var heard: Int
    /// Those of them that are on the map.
    public internal(set) var used: Int
    /// The likeliest difference from the surveyor's receiver in dB; `nil` for rules that know none.
    public internal(set) var receiverOffset: Double?
    /// By place: `nil` for one that is no candidate, infinite for an impossible one; the smallest is best.
    public internal(set) var scores: [Double?] = []

    /// The likeliest place's probability.
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
