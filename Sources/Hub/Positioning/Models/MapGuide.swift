public import Airtime

/// Leads over a map to a beacon: where that is as far as somebody knows, and how far from the receiver.
///
/// A value: it is told where the receiver was found to be, and how strong the beacon is heard there.
public struct MapGuide: Sendable {
    /// How the beacon's place is known.
    public enum Source: String, Hashable, Sendable {
        /// Somebody has said where it hangs.
        case position
        /// The survey heard it strongest there.
        case survey
        /// The map does not know it: so far it was heard strongest there.
        case walk
    }

    /// Where the beacon is taken to be.
    public struct Target: Hashable, Sendable {
        public let source: Source
        /// The place's number in the map, or that of the nearest place.
        public let place: Int?
        public let position: FloorPosition
        /// `nil` on sites with one floor.
        public let floor: String?
    }

    /// The way from the receiver to the beacon.
    public enum Lead: Hashable, Sendable {
        /// Metres along the plan, and degrees clockwise from north.
        case way(distance: Double, bearing: Double)
        case otherFloor
    }

    /// `nil` while nobody knows.
    public private(set) var target: Target?
    /// Where the receiver is; `nil` before the first answer.
    public private(set) var answer: LocatorAnswer?
    private let map: SignalMap
    private var best = -Double.infinity

    /// - Parameter keys: What the beacon may be called; the first that the map has counts.
    public init(_ map: SignalMap, to keys: [BeaconKey]) {
        self.map = map
        guard let number = keys.lazy.compactMap({ map.number(of: $0) }).first else { return }
        let heard = map.statistics.enumerated().compactMap { place, found in
            found.first { $0.beacon == number }.map { (place: place, mean: $0.mean) }
        }.filter { map.places[$0.place].position != nil }
        let strongest = heard.max { ($0.mean, $1.place) < ($1.mean, $0.place) }?.place
        if let position = map.beacons[number].position {
            let floor = strongest.map { map.places[$0].floor } ?? map.places.first?.floor
            target = Target(
                source: .position, place: map.places.nearest(to: position) { $0 == floor }, position: position,
                floor: floor)
        } else if let strongest, let position = map.places[strongest].position {
            target = Target(
                source: .survey, place: strongest, position: position, floor: map.places[strongest].floor)
        }
    }

    /// Takes where the receiver was found to be in the newest second.
    public mutating func stand(_ answer: LocatorAnswer) { self.answer = answer }

    /// Takes how strong the beacon is heard where the receiver is, in dBm.
    public mutating func hear(_ level: Double) {
        guard target.map({ $0.source == .walk }) ?? true, level > best, let answer, answer.state != .none,
            let position = answer.position
        else { return }
        best = level
        target = Target(source: .walk, place: answer.place, position: position, floor: answer.floor)
    }

    /// `nil` while either end of the way is not known.
    public var lead: Lead? {
        guard let target, let answer, answer.state != .none else { return nil }
        if let floor = target.floor, let here = answer.floor, floor != here { return .otherFloor }
        guard let position = answer.position else { return nil }
        let degrees = atan2(target.position.x - position.x, target.position.y - position.y) * 180 / Double.pi
        return .way(distance: position.distance(to: target.position), bearing: degrees < 0 ? degrees + 360 : degrees)
    }
}
