internal import BluetoothTypes
public import Configuration
public import Sightings

extension Inventory {
    /// Reads an inventory file.
    ///
    /// - Returns: the inventory, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (inventory: Inventory?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var reader = InventoryReader()
        let inventory = root.flatMap { reader.inventory($0) }
        let problems = faults + reader.decoder.problems
        let hasErrors = problems.contains(where: \.isError)
        return (hasErrors ? nil : inventory, problems.sorted { $0.position < $1.position })
    }

    /// Every key of an inventory file.
    static let keys = [
        "$schema", "version", "name", "title", "site", "rule", "rounds", "capacity", "withinM", "lowBatteryMv",
        "beacons", "places", "items",
    ]
    static let beaconKeys = ["name", "identity", "intervalMs", "measuredPowerAt1mDbm"]
    static let placeKeys = ["name", "position"]
    static let itemKeys = ["id", "name", "beacon", "place", "position", "note", "photo"]

    static let intervals = 20_000...10_485_759_375
    static let calibrations = DistanceEstimate.plausiblePowers
    static let batteries = 1000...6000

    /// Items of a finished count, as ``itemsJSON(_:)`` writes them; those that cannot be read are left out.
    static func items(_ node: JSONNode?) -> [Item] {
        var reader = InventoryReader()
        return node?.elements?.compactMap { reader.item($0) } ?? []
    }
}

/// Reads an inventory file from its outermost object inwards.
private struct InventoryReader {
    var decoder = ConfigurationDecoder()
    /// Who has each id, each identity and each name already.
    private var ids: [String: JSONPath] = [:]
    private var carriers: [BeaconIdentity: JSONPath] = [:]
    private var described: [BeaconIdentity: JSONPath] = [:]
    private var beaconNames: [String: BeaconIdentity] = [:]
    private var placeNames: Set<String> = []

    mutating func inventory(_ node: JSONNode) -> Inventory? {
        guard decoder.expect(.inventory, node), let root = decoder.object(node, keys: Inventory.keys) else {
            return nil
        }
        _ = decoder.text(root["$schema"])
        decoder.version(decoder.required("version", in: root, "\(Inventory.version) for this format"))
        let name = decoder.name(decoder.required("name", in: root, "what this inventory is called, such as \"tools\""))
        let title = label(root["title"])
        let site = label(root["site"], limit: Inventory.noteLimit)
        let rule = rule(root)
        let battery = decoder.integer(root["lowBatteryMv"], in: Inventory.batteries, unit: "mV")
        let beacons = elements(root["beacons"], of: "beacons").compactMap { beacon($0) }
        let places = elements(root["places"], of: "places").compactMap { place($0) }
        let node = decoder.required("items", in: root, "the things, or [] for none yet")
        let items = elements(node, of: "items").compactMap { item($0, hasPlaces: root["places"] != nil) }
        guard let name else { return nil }
        var inventory = Inventory(name: name, title: title, site: site)
        if let rule { inventory.rule = rule }
        if let battery { inventory.lowBatteryMillivolts = battery }
        (inventory.beacons, inventory.places, inventory.items) = (beacons, places, items)
        return inventory
    }

    private mutating func rule(_ root: JSONNode) -> CountRule? {
        let kind = decoder.word(root["rule"], of: CountRule.Kind.self) ?? .window
        let rounds = decoder.integer(root["rounds"], in: CountRule.roundLimits)
        let capacity = decoder.integer(root["capacity"], in: CountRule.capacityLimits)
        let within = thousandths(root["withinM"], in: CountRule.distanceLimits, unit: "m")
        if kind == .window, let node = root["capacity"] {
            decoder.error("a window has no capacity: it belongs to \"rule\": \"shared-queue\"", at: node)
        }
        if kind == .sharedQueue {
            if let node = root["rounds"] {
                decoder.error("a shared queue has no rounds: it has a \"capacity\"", at: node)
            }
            if root["capacity"] == nil {
                decoder.error("the key \"capacity\" is missing: how many sightings the shared queue holds", at: root)
            }
        }
        var rule = CountRule()
        rule.memory = kind == .window ? .window(rounds: rounds ?? 6) : .sharedQueue(capacity: capacity ?? 4)
        if let within { rule.withinMillimetres = within }
        return rule
    }

    /// Lists may be empty here: a new inventory has nothing yet.
    private mutating func elements(_ node: JSONNode?, of what: String) -> [JSONNode] {
        guard let node else { return [] }
        guard let elements = node.elements else {
            decoder.wrongKind(node, expected: "a list of \(what)")
            return []
        }
        guard elements.count <= Inventory.itemLimit else {
            decoder.error(
                "\(elements.count) \(what) are more than the \(Inventory.itemLimit) that there may be", at: node)
            return []
        }
        return elements
    }

    // MARK: What is in it

    private mutating func beacon(_ node: JSONNode) -> Inventory.Beacon? {
        guard let object = decoder.object(node, keys: Inventory.beaconKeys) else { return nil }
        let name = decoder.name(object["name"])
        let identity = identity(decoder.required("identity", in: object, "such as \"ibeacon:UUID-1-2\""))
        let interval = thousandths(object["intervalMs"], in: Inventory.intervals, unit: "ms")
        let calibration = decoder.integer(object["measuredPowerAt1mDbm"], in: Inventory.calibrations, unit: "dBm")
        guard let identity else { return nil }
        if let other = described.updateValue(node.path, forKey: identity) {
            decoder.error("\(other) is this beacon already", at: node)
        }
        if let name, let node = object["name"], beaconNames.updateValue(identity, forKey: name) != nil {
            decoder.error("the name \(ProblemText.quoted(name)) stands here twice", at: node)
        }
        var beacon = Inventory.Beacon(identity: identity, name: name)
        beacon.intervalMicroseconds = interval
        beacon.calibrationAtOneMeter = calibration
        return beacon
    }

    private mutating func place(_ node: JSONNode) -> Inventory.Place? {
        guard let object = decoder.object(node, keys: Inventory.placeKeys) else { return nil }
        let name = label(decoder.required("name", in: object, "what the place is called"))
        let position = position(object["position"])
        guard let name else { return nil }
        if !placeNames.insert(name).inserted, let node = object["name"] {
            decoder.error("the place \(ProblemText.quoted(name)) stands here twice", at: node)
        }
        return Inventory.Place(name: name, position: position)
    }

    mutating func item(_ node: JSONNode, hasPlaces: Bool = false) -> Inventory.Item? {
        guard let object = decoder.object(node, keys: Inventory.itemKeys) else { return nil }
        let id = decoder.name(
            decoder.required("id", in: object, "what tells the thing from others, such as \"drill-7\""))
        let name = label(decoder.required("name", in: object, "what the thing is called"))
        let beacon = carried(
            decoder.required("beacon", in: object, "the beacon on it, such as \"ibeacon:UUID-1-2\""), by: node)
        let place = label(object["place"])
        let position = position(object["position"])
        let note = label(object["note"], limit: Inventory.noteLimit)
        let photo = label(object["photo"], limit: Inventory.noteLimit)
        if let id, let other = ids.updateValue(node.path, forKey: id), let node = object["id"] {
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

    private mutating func carried(_ node: JSONNode?, by item: JSONNode) -> BeaconIdentity? {
        guard let node else { return nil }
        let identity = node.string.flatMap { beaconNames[$0] } ?? self.identity(node)
        if let identity, let other = carriers.updateValue(item.path, forKey: identity) {
            decoder.error("\(other) has this beacon already: no receiver can tell them apart", at: node)
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

    private mutating func label(_ node: JSONNode?, limit: Int = Inventory.nameLimit) -> String? {
        guard let node, let text = decoder.text(node) else { return nil }
        guard let fault = Inventory.fault(text, limit: limit) else { return text }
        decoder.error(fault, at: node)
        return nil
    }

    /// A number with up to three decimals that count.
    private mutating func thousandths(_ node: JSONNode?, in range: ClosedRange<Int>, unit: String) -> Int? {
        guard let node, let number = decoder.number(node) else { return nil }
        guard let value = number.thousandths, range.contains(value) else {
            decoder.error(
                "\(ProblemText.shortened(number.text)) is out of range \(DecimalText.thousandths(range.lowerBound))..."
                    + "\(DecimalText.thousandths(range.upperBound)) \(unit)", at: node)
            return nil
        }
        return value
    }

    private mutating func position(_ node: JSONNode?) -> Inventory.Position? {
        guard let node else { return nil }
        guard let parts = node.elements, parts.count == 2 else {
            decoder.wrongKind(node, expected: "a place such as [3.5, 12], metres east and north,")
            return nil
        }
        let numbers = parts.compactMap { thousandths($0, in: Inventory.Position.limit, unit: "m") }
        return numbers.count == 2 ? Inventory.Position(east: numbers[0], north: numbers[1]) : nil
    }
}

extension BeaconIdentity {
    /// The identity of a beacon that somebody puts on a thing.
    ///
    /// - Parameter names: Of beacons that could be meant.
    /// - Throws: where `text` is none, or one that does not last.
    public init(ofItem text: String, among names: [String] = []) throws(InventoryError) {
        guard let identity = BeaconIdentity(text) else {
            let advice = NearestWord.find(text, among: names).map { "did you mean \"\($0)\"?" }
            throw InventoryError(
                .request,
                "\(ProblemText.quoted(text)) is no beacon; "
                    + (advice ?? "write ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, "
                        + "url:TEXT or address:AA:BB:CC:DD:EE:FF"))
        }
        if case .eddystoneEID = identity {
            throw InventoryError(
                .request, "an ephemeral id changes with time: put a beacon on it that keeps its identity")
        }
        self = identity
    }
}
