/// Which of the known beacons are there, judged by time that was listened through.
///
/// Several identities of one name are one beacon. Nobody leaves while nothing can be heard: what is not heard then is
/// unknown, and the silence goes on where it stood once something can be heard again.
public struct PresenceWatch: Sendable {
    /// Where a beacon is.
    public enum Presence: String, Hashable, Sendable {
        /// It was heard, and is not silent for longer than losses explain: see ``ExitRule``.
        case present
        case gone
        /// Nothing could be heard for ``graceMicroseconds``, or silence says nothing.
        case unknown
    }

    /// How long nothing can be heard before nobody knows anything any more: 5 s, in microseconds.
    public static let graceMicroseconds = 5_000_000

    /// Since when nothing can be heard; `nil` while something can.
    public private(set) var deafSince: HeardInstant?
    /// The beacon of each place in the table.
    public let groups: [Int]
    /// By beacon: its places in the table.
    private let places: [[Int]]
    /// Where somebody is gone: `unknown` for a receiver to which repeats are not told.
    private let silent: Presence
    private var deafMicroseconds = 0
    /// By place: when it was heard last, on the clock of listened time.
    private var lastHeard: [Int]
    /// By place: when its silence is too long, on the same clock; `nil` before it was heard.
    private var deadlines: [Int?]

    /// - Parameters:
    ///   - names: Those of the known beacons of a table, in its order.
    ///   - hearsRepeats: Whether somebody who stays is heard again and again, so that silence says something.
    public init(names: [String], hearsRepeats: Bool = true) {
        silent = hearsRepeats ? .gone : .unknown
        var numbers: [String: Int] = [:]
        var places: [[Int]] = []
        groups = names.enumerated().map { place, name in
            let number = numbers[name] ?? numbers.count
            if numbers.updateValue(number, forKey: name) == nil { places.append([]) }
            places[number].append(place)
            return number
        }
        self.places = places
        lastHeard = names.map { _ in 0 }
        deadlines = names.map { _ in nil }
    }

    /// How many beacons there are.
    public var count: Int { places.count }

    /// Takes a report of the beacon at `place`; strangers are passed over.
    public mutating func hear(_ place: Int, at now: HeardInstant) {
        guard lastHeard.indices.contains(place) else { return }
        lastHeard[place] = listened(at: now)
    }

    /// Judges those that were heard in the round that is over, before the table begins another one.
    public mutating func endRound(_ table: SightingTable) {
        for place in table.heardInRound where place < groups.count {
            let track = table.tracks[place]
            guard let heard = track.lastHeard else { continue }
            deadlines[place] = lastHeard[place] + ExitRule.silenceMicroseconds(track, at: heard)
        }
    }

    /// Where a beacon is; `nil` for one that was never heard.
    ///
    /// - Parameter group: One of ``groups``.
    public func presence(of group: Int, at now: HeardInstant) -> Presence? {
        guard let deadline = places[group].compactMap({ deadlines[$0] }).max() else { return nil }
        if let deafSince, now.microseconds(since: deafSince) >= Self.graceMicroseconds { return .unknown }
        return listened(at: now) < deadline ? .present : silent
    }

    /// From now on nothing can be heard.
    public mutating func becomeDeaf(at now: HeardInstant) { deafSince = deafSince ?? now }

    /// Something can be heard again.
    public mutating func becomeHearing(at now: HeardInstant) {
        guard let since = deafSince else { return }
        deafSince = nil
        deafMicroseconds += now.microseconds(since: since)
    }

    /// The clock that stands still while nothing can be heard, in microseconds.
    private func listened(at now: HeardInstant) -> Int {
        let deaf = deafMicroseconds + (deafSince.map { now.microseconds(since: $0) } ?? 0)
        return Int(clamping: now.nanoseconds / 1000) - deaf
    }
}
