internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Inventory
internal import LinuxHost
internal import Sightings

struct InventoryShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show an inventory, or one of its items.")

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("The id of an item.", valueName: "item"))
    var item: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let inventory = try source.store.read()
        let report = try source.store.report(inventory)
        var facts: [(String, JSONValue)]
        if let id = item {
            let item = try inventory.item(id)
            let outcome = report?.outcomes.first { $0.item.id == id }
            facts = [
                ("id", .string(item.id)), ("name", .string(item.name)), ("beacon", .string("\(item.beacon)")),
                ("place", .optional(item.place, JSONValue.string)),
                ("position", .optional(inventory.position(of: item), \.json)),
                ("note", .optional(item.note, JSONValue.string)), ("photo", .optional(item.photo, JSONValue.string)),
                ("count", .optional(report?.count, JSONValue.string)),
                ("state", .optional(outcome) { .string($0.state.rawValue) }),
                ("states", .array((outcome?.states ?? []).map { .string($0.rawValue) })),
                ("lastHeard", .optional(outcome?.lastHeard) { .string("\($0)") }),
                ("bestRssiDbm", .optional(outcome?.bestLevel) { .integer($0) }),
                ("batteryMv", .optional(outcome?.batteryMillivolts) { .integer($0) }),
            ]
        } else {
            facts = [
                ("name", .string(inventory.name)), ("title", .optional(inventory.title, JSONValue.string)),
                ("site", .optional(inventory.site, JSONValue.string)), ("rule", .string(inventory.rule.kind.rawValue)),
                ("withinM", .number(JSONNumber(thousandths: inventory.rule.withinMillimetres))),
                ("items", .integer(inventory.items.count)), ("places", .integer(inventory.places.count)),
                ("counts", .array(source.store.countNames.map(JSONValue.string))),
                ("lastCount", .optional(report) { .string($0.summary) }),
            ]
        }
        if json { return Terminal.write(JSONValue.record(facts).line + "\n") }
        var table = Table(["", ""])
        for (key, value) in facts {
            let text: String
            switch value {
            case .null: continue
            case .string(let string): text = string
            case .array(let values):
                guard !values.isEmpty else { continue }
                text = values.map { if case .string(let string) = $0 { string } else { $0.line } }.joined(
                    separator: ", ")
            default: text = value.line
            }
            table.add([key, TerminalText.line(text)])
        }
        Terminal.write(table.text)
    }
}

/// What can be said of an item.
struct ItemOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What it is called.", valueName: "text"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The beacon on it: ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, url:TEXT, "
                + "address:AA:BB:CC:DD:EE:FF, or a name from the file's beacons.", valueName: "identity"))
    var beacon: String?

    @Option(help: ArgumentHelp("The name of the place where it belongs.", valueName: "text"))
    var place: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where it is on the site's plan, in metres east and north.", valueName: "x,y"),
        transform: Self.position)
    var position: Inventory.Position?

    @Option(help: ArgumentHelp("What else there is to say.", valueName: "text"))
    var note: String?

    @Option(
        help: ArgumentHelp("A picture, relative to the inventory.", valueName: "file"), completion: .file())
    var photo: String?

    static func position(_ text: String) throws -> Inventory.Position {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { DecimalText.thousandths($0) }
        guard parts.count == 2, let east = parts[0], let north = parts[1],
            Inventory.Position.limit.contains(east), Inventory.Position.limit.contains(north)
        else { throw Mistake("a position is two numbers of metres, such as 2.5,1") }
        return Inventory.Position(east: east, north: north)
    }

    func identity(_ inventory: Inventory) throws -> BeaconIdentity? {
        guard let beacon else { return nil }
        if let named = inventory.beacons.first(where: { $0.name == beacon }) { return named.identity }
        do {
            return try BeaconIdentity(ofItem: beacon, among: inventory.beacons.compactMap(\.name))
        } catch {
            throw Failure(.usage, "--beacon: \(error)")
        }
    }

    func apply(to item: inout Inventory.Item) {
        if let name { item.name = name }
        if let place { item.place = place.isEmpty ? nil : place }
        if let position { item.position = position }
        if let note { item.note = note.isEmpty ? nil : note }
        if let photo { item.photo = photo.isEmpty ? nil : photo }
    }
}

struct InventoryAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an item.",
        discussion: """
            pharos inventory add tools.json drill-7 --name "Cordless drill" --beacon ibeacon:UUID-1-7 --place shelf
            pharos inventory add tools.json --name "Circular saw" --nearest

            --nearest takes the first beacon that is within half a metre and above -75 dBm in more than three of the last \
            six seconds: hold the item to the receiver.
            """)

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("What tells the item from others (default: made of the name).", valueName: "id"))
    var id: String?

    @OptionGroup var options: ItemOptions

    @Flag(help: "Take the beacon that is held to the receiver.")
    var nearest = false

    @OptionGroup var receiver: ReceiverOptions

    @Flag(help: "Print the item as JSON.")
    var json = false

    func validate() throws {
        guard options.name != nil || id != nil else { throw ValidationError("Say what the item is called: --name.") }
        guard nearest != (options.beacon != nil) else {
            throw ValidationError("Name the --beacon on the item, or hold it to the receiver and take the --nearest.")
        }
        if !nearest, receiver.isGiven {
            throw ValidationError(
                "Nothing is listened to without --nearest: leave --adapter, --replay and --known out.")
        }
        if receiver.replay.count > 1 { throw ValidationError("--nearest takes one recording.") }
    }

    func run() throws {
        let inventory = try source.store.read()
        // All that can be wrong is said before somebody stands there with the item in hand.
        var item = Inventory.Item(
            id: id ?? inventory.freeID(for: options.name ?? ""), name: options.name ?? id ?? "",
            beacon: try options.identity(inventory) ?? .address(DeviceAddress(FixedOctets())))
        options.apply(to: &item)
        var draft = inventory
        try draft.add(item)
        if nearest {
            let answer = try NearestListener.pick(inventory, receiver, for: item.name)
            item.beacon = answer.identity
        }
        let added = try source.store.change { inventory in
            var item = item
            if id == nil { item.id = inventory.freeID(for: item.name) }
            try inventory.add(item)
            return item
        }
        Terminal.write(
            json
                ? JSONValue.record([
                    ("id", .string(added.id)), ("name", .string(added.name)), ("beacon", .string("\(added.beacon)")),
                    ("place", .optional(added.place, JSONValue.string)),
                    ("position", .optional(added.position, \.json)),
                ]).line + "\n" : "\(added.id): added with \(added.beacon)\n")
    }
}

struct InventoryEdit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change an item.",
        discussion: "An empty text takes place, note or photo away.")

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("The id of the item.", valueName: "item"))
    var item: String

    @Option(help: ArgumentHelp("Another id.", valueName: "id"))
    var id: String?

    @OptionGroup var options: ItemOptions

    @Flag(help: "Take the position away: that of its place counts.")
    var noPosition = false

    func validate() throws {
        let texts = [id, options.name, options.beacon, options.place, options.note, options.photo]
        guard texts.contains(where: { $0 != nil }) || options.position != nil || noPosition else {
            throw ValidationError(
                "Say what is to be changed: --name, --beacon, --place, --position, --note, --photo or --id.")
        }
        if noPosition && options.position != nil { throw ValidationError("Give --position or --no-position.") }
    }

    func run() throws {
        let changed = try source.store.change { inventory in
            var changed = try inventory.item(item)
            if let id { changed.id = id }
            if let beacon = try options.identity(inventory) { changed.beacon = beacon }
            options.apply(to: &changed)
            if noPosition { changed.position = nil }
            try inventory.replace(item, with: changed)
            return changed.id
        }
        Terminal.write("\(changed): changed\n")
    }
}

struct InventoryRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take items out of an inventory.",
        discussion: "Counts that are finished keep them.")

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("The ids of the items.", valueName: "item"))
    var items: [String]

    func run() throws {
        try source.store.change { inventory in
            for item in items { try inventory.remove(item) }
        }
        Terminal.write("\(items.joined(separator: ", ")): removed\n")
    }
}
