internal import BluetoothTypes
public import Configuration
public import Sightings

extension Inventory {
    /// Reads an inventory file.
    ///
    /// - Returns: The inventory, and all problems in the order of the file. The inventory is `nil` if the file has
    ///   errors.
    public static func decode(_ octets: [UInt8]) -> (inventory: Inventory?, problems: [FileProblem]) {
        let (inventory, problems) = ConfigurationDecoder.decode(octets) { decoder, root in
            var reader = InventoryReader(decoder: decoder)
            let inventory = reader.inventory(root)
            decoder = reader.decoder
            return inventory
        }
        return (inventory, problems)
    }

    /// The text of `profiles/schema/inventory.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { InventoryKeys.section.schemaFile(title: "Pharos inventory") }

    /// Returns the items of a finished count from the JSON of ``itemsJSON(_:)``. Unreadable items are left out.
    static func items(_ node: JSONNode?) -> [Item] {
        var reader = InventoryReader(decoder: ConfigurationDecoder())
        let nodes = node?.elements ?? []
        return nodes.compactMap { node in
            reader.decoder.open(ItemKeys.section, node).flatMap { reader.item($0, hasPlaces: false) }
        }
    }
}

/// Reads an inventory file, beginning with its outermost object.
private struct InventoryReader {
    var decoder: ConfigurationDecoder
    /// For each id read so far, the path of its item.
    private var pathOfID: [String: JSONPath] = [:]
    /// For each item's beacon read so far, the path of its item.
    private var pathOfBeacon: [BeaconIdentity: JSONPath] = [:]
    /// For each described beacon read so far, the path of its description.
    private var descriptionPaths: [BeaconIdentity: JSONPath] = [:]
    private var beaconNames: [String: BeaconIdentity] = [:]
    private var placeNames: Set<String> = []

    init(decoder: ConfigurationDecoder) { self.decoder = decoder }

    mutating func inventory(_ node: JSONNode) -> Inventory? {
        guard decoder.expect(.inventory, node), let root = decoder.open(InventoryKeys.section, node) else {
            return nil
        }
        _ = decoder.read(FileHeader.schema, in: root)
        _ = decoder.read(FileHeader.version, in: root)
        let name = decoder.read(InventoryKeys.name, in: root)
        let title = decoder.read(InventoryKeys.title, in: root)
        let site = decoder.read(InventoryKeys.site, in: root)
        let rule = rule(root)
        let battery = decoder.read(InventoryKeys.lowBattery, in: root)
        let beacons = (decoder.read(InventoryKeys.beacons, in: root) ?? []).compactMap { beacon($0) }
        let places = (decoder.read(InventoryKeys.places, in: root) ?? []).compactMap { place($0) }
        let items = (decoder.read(InventoryKeys.items, in: root) ?? [])
            .compactMap { item($0, hasPlaces: root["places"] != nil) }
        guard let name else { return nil }
        var inventory = Inventory(name: name, title: title, site: site)
        inventory.rule = rule
        if let battery { inventory.lowBatteryMillivolts = battery }
        (inventory.beacons, inventory.places, inventory.items) = (beacons, places, items)
        return inventory
    }

    private mutating func rule(_ root: JSONNode) -> CountRule {
        let kind = decoder.read(InventoryKeys.rule, in: root) ?? .window
        let rounds = decoder.read(InventoryKeys.rounds, in: root)
        let capacity = decoder.read(InventoryKeys.capacity, in: root)
        var rule = CountRule()
        rule.memory = kind == .window ? .window(rounds: rounds ?? 6) : .sharedQueue(capacity: capacity ?? 4)
        if let within = decoder.read(InventoryKeys.within, in: root) { rule.withinMillimetres = within }
        return rule
    }

    // MARK: Beacons, places and items

    private mutating func beacon(_ object: JSONNode) -> Inventory.Beacon? {
        let name = decoder.read(InventoryBeaconKeys.name, in: object)
        let identity = identity(object["identity"])
        let interval = decoder.read(InventoryBeaconKeys.interval, in: object)
        let calibration = decoder.read(InventoryBeaconKeys.calibration, in: object)
        guard let identity else { return nil }
        if let other = descriptionPaths.updateValue(object.path, forKey: identity) {
            decoder.error("\(other) is the same beacon", at: object)
        }
        if let name, let node = object["name"], beaconNames.updateValue(identity, forKey: name) != nil {
            decoder.error("the name \(ProblemText.quoted(name)) is in the list twice", at: node)
        }
        var beacon = Inventory.Beacon(identity: identity, name: name)
        beacon.intervalMicroseconds = interval
        beacon.calibrationAtOneMeter = calibration
        return beacon
    }

    private mutating func place(_ object: JSONNode) -> Inventory.Place? {
        let name = decoder.read(PlaceKeys.name, in: object)
        let position = decoder.read(PlaceKeys.position, in: object)
        guard let name else { return nil }
        if !placeNames.insert(name).inserted, let node = object["name"] {
            decoder.error("the place \(ProblemText.quoted(name)) is in the list twice", at: node)
        }
        return Inventory.Place(name: name, position: position)
    }

    /// Reads an item.
    ///
    /// - Parameter object: The JSON object of an item, whose keys were already checked.
    mutating func item(_ object: JSONNode, hasPlaces: Bool) -> Inventory.Item? {
        let id = decoder.read(ItemKeys.id, in: object)
        let name = decoder.read(ItemKeys.name, in: object)
        let beacon = uniqueIdentity(object["beacon"], of: object)
        let place = decoder.read(ItemKeys.place, in: object)
        let position = decoder.read(ItemKeys.position, in: object)
        let note = decoder.read(ItemKeys.note, in: object)
        let photo = decoder.read(ItemKeys.photo, in: object)
        if let id, let other = pathOfID.updateValue(object.path, forKey: id), let node = object["id"] {
            decoder.error("\(other) has this id already", at: node)
        }
        if hasPlaces, let place, let node = object["place"], !placeNames.contains(place) {
            decoder.notAWord(place, placeNames.sorted(), at: node)
        }
        guard let id, let name, let beacon else { return nil }
        var item = Inventory.Item(id: id, name: name, beacon: beacon)
        (item.place, item.position, item.note, item.photo) = (place, position, note, photo)
        return item
    }

    private mutating func uniqueIdentity(_ node: JSONNode?, of item: JSONNode) -> BeaconIdentity? {
        guard let node else { return nil }
        let identity = node.string.flatMap { beaconNames[$0] } ?? self.identity(node)
        if let identity, let other = pathOfBeacon.updateValue(item.path, forKey: identity) {
            decoder.error("\(other) has this beacon already, and two items cannot share one", at: node)
        }
        return identity
    }

    // MARK: Values

    private mutating func identity(_ node: JSONNode?) -> BeaconIdentity? {
        guard let node, let text = decoder.text(node) else { return nil }
        do throws(InventoryError) {
            return try BeaconIdentity(ofItem: text, among: beaconNames.keys.sorted())
        } catch {
            decoder.error(error.messages.joined(separator: "; "), at: node)
            return nil
        }
    }
}

extension BeaconIdentity {
    /// Reads the identity of a beacon on an item.
    ///
    /// - Parameter names: The names of beacons, for suggestions.
    /// - Throws: An error if `text` is not an identity, or if the identity changes with time.
    public init(ofItem text: String, among names: [String] = []) throws(InventoryError) {
        guard let identity = BeaconIdentity(text) else {
            let advice = NearestWord.find(text, among: names).map { "did you mean \"\($0)\"?" }
            throw InventoryError(
                .request,
                "\(ProblemText.quoted(text)) is not an identity of a beacon; "
                    + (advice ?? "write ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, "
                        + "url:TEXT or address:AA:BB:CC:DD:EE:FF"))
        }
        if case .eddystoneEID = identity {
            throw InventoryError(
                .request, "an ephemeral id changes with time: use a beacon whose identity does not change")
        }
        self = identity
    }
}
