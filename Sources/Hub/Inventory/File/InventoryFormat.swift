internal import Configuration
internal import Sightings

/// The keys of an inventory file.
enum InventoryKeys {
    static let name = Key("name", .name, "Name of this inventory, such as \"tools\".", isRequired: true)
    static let title = Key("title", label(Inventory.nameLimit), "Title of the inventory in reports.")
    static let site = Key(
        "site", label(Inventory.noteLimit),
        "Path, relative to this file, of the site file whose floor plan contains the positions.")
    static let rule = Key(
        "rule", ValueType<CountRule.Kind>.word,
        """
        Which sightings of earlier rounds a count uses. window: those of the last rounds, separately for each beacon. \
        shared-queue: the last ones of all beacons together; if too many beacons are near, none is found.
        """, default: .window)
    static let rounds = Key(
        "rounds", .integer(CountRule.roundLimits, unit: "rounds"),
        "For the rule window: number of rounds, each of one second. A beacon is found if it was near in 4 of them. "
            + "Default: 6.")
    static let capacity = Key(
        "capacity", .integer(CountRule.capacityLimits, unit: "sightings"),
        "For the rule shared-queue: largest number of sightings in the queue.")
    static let within = Key(
        "withinM", .thousandths(CountRule.distanceLimits, unit: "m"), "Distance up to which a beacon is near.",
        default: 1000)
    static let lowBattery = Key(
        "lowBatteryMv", .integer(1000...6000, unit: "mV"), "Voltage below which a battery is low.", default: 2400)
    static let beacons = Key(
        "beacons", list("beacons", InventoryBeaconKeys.section), "Names and properties of beacons.")
    static let places = Key("places", list("places", PlaceKeys.section), "Places where items belong.")
    static let items = Key(
        "items", list("items", ItemKeys.section), "The items; [] if there are none yet.", isRequired: true)

    static let section = Section(
        "Items that carry beacons, and the places where they belong.",
        [
            FileHeader.schema, FileHeader.version, name, title, site, rule, rounds, capacity, within, lowBattery,
            beacons, places, items,
        ], rules: [memoryRule])

    /// `rounds` belongs to the rule `window`. `capacity` belongs to the rule `shared-queue`, which requires it.
    private static let memoryRule = Rule(
        schema: [
            "if": ["properties": ["rule": ["const": "shared-queue"]], "required": ["rule"]],
            "then": ["required": ["capacity"], "not": ["required": ["rounds"]]],
            "else": ["not": ["required": ["capacity"]]],
        ]
    ) { decoder, root in
        let kind = root["rule"]?.string ?? CountRule.Kind.window.rawValue
        if kind == CountRule.Kind.window.rawValue, let node = root["capacity"] {
            decoder.error("this key needs \"rule\": \"shared-queue\"", at: node)
        }
        guard kind == CountRule.Kind.sharedQueue.rawValue else { return }
        if let node = root["rounds"] {
            decoder.error("this key needs \"rule\": \"window\"; a shared queue has a \"capacity\"", at: node)
        }
        if root["capacity"] == nil {
            decoder.error("the key \"capacity\" is missing: number of sightings in the shared queue", at: root)
        }
    }

    private static func list(_ what: String, _ section: Section) -> ValueType<[JSONNode]> {
        .list(what, 0...Inventory.itemLimit, of: .section(section))
    }

    /// A text of one line.
    static func label(_ limit: Int) -> ValueType<String> {
        ValueType(
            schema: [
                "type": "string", "minLength": 1, "maxLength": .integer(limit),
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            ]
        ) { decoder, node in
            guard let text = decoder.text(node) else { return nil }
            guard let fault = Inventory.fault(text, limit: limit) else { return text }
            decoder.error(fault, at: node)
            return nil
        }
    }

    static let position = ValueType<[Int]>.position(.thousandths(Inventory.Position.limit, unit: "m"))
        .map { _, _, parts in Inventory.Position(east: parts[0], north: parts[1]) }

    /// The type of an identity. The schema checks only how the text begins. The value is the text.
    static let identity = ValueType<String>(
        schema: ["type": "string", "pattern": "^(ibeacon|altbeacon|uid|url|address):"]
    ) { $0.text($1) }
    .defined(
        as: "identity",
        """
        ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, url:TEXT or address:AA:BB:CC:DD:EE:FF.
        """)
}

/// The keys of a beacon in an inventory.
enum InventoryBeaconKeys {
    static let name = Key("name", .name, "Name that items may use instead of the identity.")
    static let identity = Key(
        "identity", InventoryKeys.identity, "Identity of the beacon, such as \"ibeacon:UUID-1-2\".", isRequired: true)
    static let interval = Key(
        "intervalMs", .thousandths(20_000...10_485_759_375, unit: "ms"), "Configured advertising interval.")
    static let calibration = Key(
        "measuredPowerAt1mDbm", .integer(DistanceEstimate.plausiblePowers, unit: "dBm"), "Signal strength at 1 m.")
    static let section = Section("A beacon.", [name, identity, interval, calibration])
}

/// The keys of a place in an inventory.
enum PlaceKeys {
    static let name = Key("name", InventoryKeys.label(Inventory.nameLimit), "Name of the place.", isRequired: true)
    static let position = Key("position", InventoryKeys.position, "Position of the place.")
    static let section = Section("A place.", [name, position])
}

/// The keys of an item in an inventory.
enum ItemKeys {
    static let id = Key("id", .name, "Unique id of the item, such as \"drill-7\".", isRequired: true)
    static let name = Key("name", InventoryKeys.label(Inventory.nameLimit), "Name of the item.", isRequired: true)
    static let beacon = Key(
        "beacon", identityOrName, "The beacon on the item: its identity, or its name in \"beacons\".", isRequired: true)
    static let place = Key(
        "place", InventoryKeys.label(Inventory.nameLimit), "Name of the place where the item belongs.")
    static let position = Key("position", InventoryKeys.position, "Position where the item belongs.")
    static let note = Key("note", InventoryKeys.label(Inventory.noteLimit), "Any other text.")
    static let photo = Key(
        "photo", InventoryKeys.label(Inventory.noteLimit),
        "Path, relative to this file, of the item's photo for reports: JPEG, PNG, GIF or WebP, at most 1 MiB.")
    static let section = Section("An item.", [id, name, beacon, place, position, note, photo])

    private static let identityOrName: ValueType<String> = {
        let name = ValueType<String>.name
        return ValueType(
            schema: [
                "type": "string",
                "anyOf": [.object(InventoryKeys.identity.schema), .object(name.schema)],
            ], definitions: InventoryKeys.identity.definitions + name.definitions
        ) { $0.text($1) }
    }()
}
