internal import BeaconService
internal import Configuration
internal import Inventory
public import Listener

extension KnownBeacons {
    /// The beacons that a listener file names, including the items of its inventories.
    ///
    /// - Parameter path: The listener file. Other files are named relative to it.
    /// - Throws: all problems of those files.
    public init(withInventoriesOf listener: ListenerFile, at path: String) throws(ListenerServiceError) {
        try self.init(listener, at: path) { file throws(ListenerServiceError) in try Self.things(file) }
    }

    /// The items of an inventory as beacons, each named by the item's id. They have the inventory's name and their place
    /// as tags, so that zones can be built around all items, or around those of one place.
    private static func things(_ path: String) throws(ListenerServiceError) -> [Thing] {
        let octets: [UInt8]
        do throws(BeaconServiceError) {
            octets = try ProfileReport.read(path)
        } catch {
            throw .service(error)
        }
        let (inventory, problems) = Inventory.decode(octets)
        guard let inventory else {
            let lines = problems.filter(\.isError).map { $0.text(file: path) }
            let isJSON = JSONDocument.parse(octets).problems.isEmpty
            throw .service(.refused(isJSON ? .invalid : .malformed, lines))
        }
        return zip(inventory.items, inventory.knownBeacons).map { item, beacon in
            var note = BeaconNote()
            note.tags = [inventory.name]
            if let place = item.place, place != inventory.name { note.tags.append(place) }
            let texts: [(String, String?)] = [("name", item.name), ("place", item.place), ("note", item.note)]
            note.attachments = texts.compactMap { key, text in text.map { .init(key: key, text: $0) } }
            return Thing(beacon: beacon, note: note)
        }
    }
}
