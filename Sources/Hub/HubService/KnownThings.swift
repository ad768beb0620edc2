internal import BeaconService
internal import Configuration
internal import Inventory
public import Listener

extension KnownBeacons {
    /// Those that a listener file names, the things of inventories among them.
    ///
    /// - Parameter path: The file, beside which others lie that it names.
    /// - Throws: where one of those files cannot be used, with everything that is wrong in it.
    public init(withThingsOf listener: ListenerFile, at path: String) throws(ListenerServiceError) {
        try self.init(listener, at: path) { file throws(ListenerServiceError) in try Self.things(file) }
    }

    /// The things of an inventory: each is called by its id. Zones may be built around all of them, by the name of the
    /// inventory as a tag, and around those that belong at one place, by the name of that.
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
