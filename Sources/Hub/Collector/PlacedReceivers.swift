public import Sites

extension CollectorFile {
    /// Gives receivers without a position the one that the site file of a floor has for a receiver of the same name.
    ///
    /// - Parameter sites: The sites of ``floors``, in the same order. If several have the receiver, the lowest floor counts.
    public mutating func placeReceivers(by sites: [Site]) {
        for index in receivers.indices where receivers[index].position == nil {
            let receiver = receivers[index]
            for (floor, site) in zip(floors, sites) where receiver.floor ?? floor.name == floor.name {
                guard let found = site.receivers.first(where: { $0.name == receiver.name }) else { continue }
                receivers[index].position = found.position
                receivers[index].floor = floor.name
                break
            }
        }
    }
}
