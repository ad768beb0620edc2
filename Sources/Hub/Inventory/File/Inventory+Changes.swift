internal import BluetoothTypes
public import Configuration
internal import Sightings

extension Inventory {
    /// The text of the inventory file. Keys with their default value are left out.
    public var text: String { json.pretty }

    /// The contents of the inventory file.
    public var json: JSONValue {
        var members: [(String, JSONValue)] = [("version", .integer(Self.version)), ("name", .string(name))]
        func add(_ key: String, _ value: JSONValue?) { if let value { members.append((key, value)) } }
        add("title", title.map(JSONValue.string))
        add("site", site.map(JSONValue.string))
        let usual = CountRule()
        switch rule.memory {
        case .window(let rounds): add("rounds", rule.memory == usual.memory ? nil : .integer(rounds))
        case .sharedQueue(let capacity):
            add("rule", .string(rule.kind.rawValue))
            add("capacity", .integer(capacity))
        }
        if rule.withinMillimetres != usual.withinMillimetres {
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

    /// The items as the file has them.
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

    /// The item with this id.
    ///
    /// - Throws: `request` if there is no such item, with the most similar id.
    public func item(_ id: String) throws(InventoryError) -> Item { items[try place(of: id)] }

    private func place(of id: String) throws(InventoryError) -> Int {
        if let place = items.firstIndex(where: { $0.id == id }) { return place }
        let ids = items.map(\.id)
        let advice = NearestWord.find(id, among: ids).map { "; did you mean \"\($0)\"?" }
        throw InventoryError(
            .request, "\(ProblemText.quoted(id)): no item of \(name) has this id" + (advice ?? ""))
    }

    /// Adds an item at the end.
    ///
    /// - Throws: `request` if its id or its beacon is taken, or a text is not valid.
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
    /// - Throws: as ``add(_:)``, and `request` if there is no such item.
    public mutating func replace(_ id: String, with item: Item) throws(InventoryError) {
        let place = try place(of: id)
        if item.id != id, items.contains(where: { $0.id == item.id }) {
            throw InventoryError(.request, "\(item.id): another item of \(name) has this id")
        }
        try check(item, besides: id)
        items[place] = item
    }

    /// Removes an item.
    ///
    /// - Throws: `request` if there is no such item.
    @discardableResult
    public mutating func remove(_ id: String) throws(InventoryError) -> Item {
        items.remove(at: try place(of: id))
    }

    /// Checks that an item can be in this inventory, next to all items except the one with the id `id`.
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
