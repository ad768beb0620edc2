public import Sites

extension CollectorFile {
    /// Sets the position of each receiver without a position to the position of the receiver of the same name in a site
    /// file.
    ///
    /// - Parameter sites: The site of each of the ``floors``, in the same order. If several sites have the receiver,
    ///   the position on the lowest floor is used.
    public mutating func placeReceivers(by sites: [Site]) {
        for index in receivers.indices where receivers[index].position == nil {
            let receiver = receivers[index]
            for (floor, site) in zip(floors, sites) where receiver.floor ?? floor.name == floor.name {
                guard let siteReceiver = site.receivers.first(where: { $0.name == receiver.name }) else { continue }
                receivers[index].position = siteReceiver.position
                receivers[index].floor = floor.name
                break
            }
        }
    }

    /// Returns a sentence for each receiver outside the outline of its floor, and for each room with a corner outside
    /// this outline.
    ///
    /// - Parameter sites: The site of each of the ``floors``, in the same order.
    public func placesOutside(of sites: [Site]) -> [String] {
        let outlines = sites.map(\.outline)
        let outsideReceivers = receivers.filter { receiver in
            guard let position = receiver.position, let floor = floor(receiver.floor) else { return false }
            return outlines[floor]?.isOutside(position) == true
        }
        let outsideRooms = zip(floors, outlines).flatMap { floor, outline in
            floor.rooms.filter { room in room.corners.contains { outline?.isOutside($0) == true } }
        }
        return outsideReceivers.map { "the receiver \($0.name) is outside the outline of its floor" }
            + outsideRooms.map { "the room \($0.name) has a corner outside the outline of its floor" }
    }
}
