internal import Airtime
public import Sites

/// A room in which a receiver can be.
public struct MapRoom: Hashable, Sendable {
    public let name: String
    /// The floor's name; `nil` if the room is on every floor of the map.
    public let floor: String?
    /// The walls around the room.
    public let outline: FloorOutline

    /// Returns the rooms of a site. If the site is one floor of a fleet's site, all rooms are on that floor.
    public static func rooms(of site: Site) -> [MapRoom] {
        site.rooms.map { MapRoom(name: $0.name, floor: site.fleet?.floor, outline: $0.outline) }
    }
}

extension Array where Element == MapRoom {
    /// Returns the index of the first room that contains a position; `nil` if no room contains it.
    func index(of position: FloorPosition, floor: String?) -> Int? {
        firstIndex { ($0.floor == nil || $0.floor == floor) && $0.outline.contains(position) }
    }
}
