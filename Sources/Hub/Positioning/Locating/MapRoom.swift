internal import Airtime
public import Sites

/// A room in which a receiver can be.
public struct MapRoom: Hashable, Sendable {
    public let name: String
    /// The floor's name. `nil` if the room counts on every floor of the map.
    public let floor: String?
    /// The walls around the room.
    public let outline: FloorOutline

    /// The rooms of a site. If the site is one floor of a fleet's site, all rooms belong to that floor.
    public static func rooms(of site: Site) -> [MapRoom] {
        site.rooms.map { MapRoom(name: $0.name, floor: site.fleet?.floor, outline: $0.outline) }
    }
}

extension Array where Element == MapRoom {
    /// The index of the first room that contains a position. `nil` if the position is in no room.
    func index(of position: FloorPosition, floor: String?) -> Int? {
        firstIndex { ($0.floor == nil || $0.floor == floor) && $0.outline.contains(position) }
    }
}
