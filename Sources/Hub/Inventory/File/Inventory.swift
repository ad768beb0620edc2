internal import BluetoothTypes
public import Configuration
public import Listener
public import Sightings

/// Items with beacons, and the places where they belong: the contents of an inventory file, with all defaults.
public struct Inventory: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// The name: at most 64 letters, digits, `.`, `_` and `-`.
    public var name: String
    /// The title for reports; `nil` to use the name.
    public var title: String?
    /// The site file with the floor plan, relative to the inventory file.
    public var site: String?
    /// The condition under which an item counts as found.
    public var rule: CountRule
    /// The voltage below which a battery is low, in millivolts.
    public var lowBatteryMillivolts: Int
    /// Descriptions of beacons: interval and level at 1 m.
    public var beacons: [Beacon]
    /// The places where items belong.
    public var places: [Place]
    public var items: [Item]

    /// Creates an inventory without items.
    public init(name: String, title: String? = nil, site: String? = nil) {
        self.name = name
        self.title = title
        self.site = site
        rule = CountRule()
        lowBatteryMillivolts = Self.lowBatteryMillivolts
        beacons = []
        places = []
        items = []
    }

    /// The default low battery limit in millivolts. A coin cell has this voltage some weeks before it is empty.
    public static let lowBatteryMillivolts = 2400

    /// The description of a beacon.
    public struct Beacon: Hashable, Sendable {
        /// The name that items may use instead of the identity.
        public var name: String?
        public var identity: BeaconIdentity
        /// The configured advertising interval, in microseconds.
        public var intervalMicroseconds: Int?
        /// The level at 1 m, in dBm. It replaces the measured power that the beacon sends.
        public var calibrationAtOneMeter: Int?

        /// Creates a description without interval and level.
        public init(identity: BeaconIdentity, name: String? = nil) {
            self.identity = identity
            self.name = name
        }
    }

    /// A place where items belong.
    public struct Place: Hashable, Sendable {
        public var name: String
        /// The position on the floor plan.
        public var position: Position?
    }

    /// A position on the floor plan: millimetres east and north.
    public struct Position: Hashable, Sendable {
        public var east: Int
        public var north: Int

        /// Creates a position. Both coordinates must be in the range ``limit``.
        public init(east: Int, north: Int) {
            self.east = east
            self.north = north
        }

        /// The range of a coordinate, in millimetres: ±100 km.
        public static let limit = -100_000_000...100_000_000

        /// The position in metres, in the form of the inventory file.
        public var json: JSONValue {
            .array([east, north].map { .number(JSONNumber(thousandths: $0)) })
        }
    }

    /// An item.
    public struct Item: Hashable, Sendable {
        /// The id: at most 64 letters, digits, `.`, `_` and `-`; unique in the inventory.
        public var id: String
        public var name: String
        /// The beacon on the item.
        public var beacon: BeaconIdentity
        /// The name of the place where the item belongs.
        public var place: String?
        /// The position of the item, which replaces the position of its place.
        public var position: Position?
        public var note: String?
        /// The file of a picture, relative to the inventory file.
        public var photo: String?

        /// Creates an item without a place.
        public init(id: String, name: String, beacon: BeaconIdentity) {
            self.id = id
            self.name = name
            self.beacon = beacon
        }
    }

    /// The title, or the name if there is no title.
    public var heading: String { title ?? name }

    /// Returns the position of an item, or of its place if the item has none; `nil` if the place has none either.
    public func position(of item: Item) -> Position? {
        item.position ?? item.place.flatMap { name in places.first { $0.name == name }?.position }
    }

    /// The beacons of the items, in the order of the items. Each is named by the id of its item.
    public var knownBeacons: [KnownBeacon] {
        let descriptions = Dictionary(beacons.map { ($0.identity, $0) }) { first, _ in first }
        return items.map { item in
            KnownBeacon(
                name: item.id, identity: item.beacon,
                intervalMicroseconds: descriptions[item.beacon]?.intervalMicroseconds,
                calibrationAtOneMeter: descriptions[item.beacon]?.calibrationAtOneMeter)
        }
    }
}

extension Inventory {
    /// The beacons that a virtual adapter receives: the beacons of the items, and the beacons of other files.
    public func virtualBeacons(_ known: KnownBeacons) -> VirtualBeacons {
        var beacons = known.virtualBeacons
        for beacon in knownBeacons { beacons.add([beacon], name: beacon.name) }
        return beacons
    }

    /// The maximum length of names, in Unicode scalars.
    static let nameLimit = 200
    /// The maximum length of notes and paths, in Unicode scalars.
    static let noteLimit = 2000
    /// The maximum number of items.
    public static let itemLimit = 100_000

    /// Returns the reason why a text cannot be a name, a note or a path; `nil` if the text is valid.
    static func fault(_ text: String, limit: Int) -> String? {
        if text.isEmpty { return "the text is empty" }
        let count = text.unicodeScalars.count
        if count > limit { return "\(count) characters are too many: use at most \(limit)" }
        let isControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isControl ? "the text contains control characters, such as line ends: remove them" : nil
    }

    /// Returns a unique id made from a name, such as `drill` or `drill-2`.
    public func freeID(for name: String) -> String {
        var stem = ""
        for scalar in PlainLetters.text(name.lowercased()).unicodeScalars {
            let isGood = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            if isGood {
                stem.unicodeScalars.append(scalar)
            } else if !stem.isEmpty, !stem.hasSuffix("-") {
                stem += "-"
            }
            if stem.utf8.count >= 40 { break }
        }
        while stem.hasSuffix("-") { stem.removeLast() }
        if stem.isEmpty { stem = "item" }
        let usedIDs = Set(items.map(\.id))
        var number = 1
        var id = stem
        while usedIDs.contains(id) {
            number += 1
            id = "\(stem)-\(number)"
        }
        return id
    }
}

extension Inventory {
    /// The text of the inventory file. Keys with their default value are left out.
    public var text: String { json.pretty }

    /// The contents of the inventory file.
    public var json: JSONValue {
        var members: [(String, JSONValue)] = [("version", .integer(Self.version)), ("name", .string(name))]
        func add(_ key: String, _ value: JSONValue?) { if let value { members.append((key, value)) } }
        add("title", title.map(JSONValue.string))
        add("site", site.map(JSONValue.string))
        let defaultRule = CountRule()
        switch rule.memory {
        case .window(let rounds): add("rounds", rule.memory == defaultRule.memory ? nil : .integer(rounds))
        case .sharedQueue(let capacity):
            add("rule", .string(rule.kind.rawValue))
            add("capacity", .integer(capacity))
        }
        if rule.withinMillimetres != defaultRule.withinMillimetres {
            add("withinM", .number(JSONNumber(thousandths: rule.withinMillimetres)))
        }
        if lowBatteryMillivolts != Self.lowBatteryMillivolts { add("lowBatteryMv", .integer(lowBatteryMillivolts)) }
        if !beacons.isEmpty { add("beacons", .array(beacons.map(Self.json))) }
        if !places.isEmpty { add("places", .array(places.map(Self.json))) }
        add("items", Self.itemsJSON(items))
        return .record(members)
    }

    private static func json(_ beacon: Beacon) -> JSONValue {
        var members: [(String, JSONValue)] = beacon.name.map { [("name", .string($0))] } ?? []
        members.append(("identity", .string("\(beacon.identity)")))
        if let interval = beacon.intervalMicroseconds {
            members.append(("intervalMs", .number(JSONNumber(thousandths: interval))))
        }
        if let power = beacon.calibrationAtOneMeter { members.append(("measuredPowerAt1mDbm", .integer(power))) }
        return .record(members)
    }

    private static func json(_ place: Place) -> JSONValue {
        .record([("name", .string(place.name))] + (place.position.map { [("position", $0.json)] } ?? []))
    }

    /// Returns items in the form of the inventory file.
    static func itemsJSON(_ items: [Item]) -> JSONValue {
        .array(
            items.map { item in
                var members: [(String, JSONValue)] = [
                    ("id", .string(item.id)), ("name", .string(item.name)), ("beacon", .string("\(item.beacon)")),
                ]
                if let place = item.place { members.append(("place", .string(place))) }
                if let position = item.position { members.append(("position", position.json)) }
                if let note = item.note { members.append(("note", .string(note))) }
                if let photo = item.photo { members.append(("photo", .string(photo))) }
                return .record(members)
            })
    }

    /// Returns the item with this id.
    ///
    /// - Throws: `request` if there is no such item. The message suggests the most similar id.
    public func item(_ id: String) throws(InventoryError) -> Item { items[try index(of: id)] }

    private func index(of id: String) throws(InventoryError) -> Int {
        if let index = items.firstIndex(where: { $0.id == id }) { return index }
        let ids = items.map(\.id)
        let advice = NearestWord.find(id, among: ids).map { "; did you mean \"\($0)\"?" }
        throw InventoryError(
            .request, "\(ProblemText.quoted(id)): no item of \(name) has this id" + (advice ?? ""))
    }

    /// Adds an item at the end.
    ///
    /// - Throws: `request` if another item has the id or the beacon, or if a text is not valid.
    public mutating func add(_ item: Item) throws(InventoryError) {
        if items.contains(where: { $0.id == item.id }) {
            throw InventoryError(.request, "\(item.id): another item of \(name) has this id")
        }
        guard items.count < Self.itemLimit else {
            throw InventoryError(.request, "\(name): an inventory can have at most \(Self.itemLimit) items")
        }
        try check(item)
        items.append(item)
    }

    /// Replaces the item with the id `id`.
    ///
    /// - Throws: The errors of ``add(_:)``, and `request` if there is no such item.
    public mutating func replace(_ id: String, with item: Item) throws(InventoryError) {
        let index = try index(of: id)
        if item.id != id, items.contains(where: { $0.id == item.id }) {
            throw InventoryError(.request, "\(item.id): another item of \(name) has this id")
        }
        try check(item, besides: id)
        items[index] = item
    }

    /// Removes an item.
    ///
    /// - Throws: `request` if there is no such item.
    @discardableResult
    public mutating func remove(_ id: String) throws(InventoryError) -> Item {
        items.remove(at: try index(of: id))
    }

    /// Checks that an item can be added to this inventory, or can replace the item with the id `id`.
    private func check(_ item: Item, besides id: String? = nil) throws(InventoryError) {
        let node = JSONNode(.string(item.id), at: JSONPosition(line: 1, column: 1), path: .root)
        var decoder = ConfigurationDecoder()
        if decoder.name(node) == nil {
            throw InventoryError(.request, decoder.problems.map { "the id: " + $0.message })
        }
        let texts = [
            ("the name", item.name, Self.nameLimit), ("the place", item.place, Self.nameLimit),
            ("the note", item.note, Self.noteLimit), ("the photo", item.photo, Self.noteLimit),
        ]
        for (what, text, limit) in texts {
            if let text, let fault = Self.fault(text, limit: limit) {
                throw InventoryError(.request, "\(what) of \(item.id): \(fault)")
            }
        }
        if let other = items.first(where: { $0.beacon == item.beacon && $0.id != id }) {
            throw InventoryError(
                .request, "\(item.beacon): \(other.id) has this beacon already; two items cannot share a beacon")
        }
        if !places.isEmpty, let place = item.place, !places.contains(where: { $0.name == place }) {
            let names = places.map(\.name)
            throw InventoryError(
                .request,
                "\(ProblemText.quoted(place)) is not a place of \(name); "
                    + (NearestWord.find(place, among: names).map { "did you mean \"\($0)\"?" }
                        ?? "known here: " + names.prefix(20).map { ProblemText.shortened($0) }.joined(separator: ", ")))
        }
    }
}
