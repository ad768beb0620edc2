internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Inventory
internal import LinuxHost
internal import Listener
internal import Sightings

/// The options for the properties of an item.
struct ItemOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Name of the item.", valueName: "text"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Beacon on the item: ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, url:TEXT, "
                + "address:AA:BB:CC:DD:EE:FF, or a name from the file's beacons.", valueName: "identity"))
    var beacon: String?

    @Option(help: ArgumentHelp("Name of the place where the item belongs.", valueName: "text"))
    var place: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Position on the floor plan, in metres east and north.", valueName: "x,y"),
        transform: Self.position)
    var position: Inventory.Position?

    @Option(help: ArgumentHelp("Note about the item.", valueName: "text"))
    var note: String?

    @Option(
        help: ArgumentHelp(
            "Photo for the report: JPEG, PNG, GIF or WebP, at most 1 MiB. The path is relative to the inventory file.",
            valueName: "file"), completion: .file())
    var photo: String?

    /// Throws an error if a report could not show the photo. If the photo does not exist yet, only prints a warning.
    func checkPhoto(_ store: InventoryStore) throws(InventoryError) {
        guard let photo, !photo.isEmpty else { return }
        let path = store.path(of: photo)
        guard Files.exists(path) else {
            Terminal.writeMessage("warning: there is no file \(path): reports show no photo until it exists")
            return
        }
        _ = try ItemPhoto(path)
    }

    static func position(_ text: String) throws -> Inventory.Position {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { DecimalText.thousandths($0) }
        guard parts.count == 2, let east = parts[0], let north = parts[1],
            Inventory.Position.limit.contains(east), Inventory.Position.limit.contains(north)
        else { throw Mistake("use two numbers in metres, such as 2.5,1") }
        return Inventory.Position(east: east, north: north)
    }

    func identity(_ inventory: Inventory) throws(InventoryError) -> BeaconIdentity? {
        guard let beacon else { return nil }
        if let named = inventory.beacons.first(where: { $0.name == beacon }) { return named.identity }
        do {
            return try BeaconIdentity(ofItem: beacon, among: inventory.beacons.compactMap(\.name))
        } catch {
            throw InventoryError(.request, "--beacon: \(error)")
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

            With --nearest, hold the item to the receiver: the first beacon that is within half a metre and above \
            -75 dBm in at least four of the last six seconds is taken.
            """)

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("Unique id of the item (default: made from the name).", valueName: "id"))
    var id: String?

    @OptionGroup var options: ItemOptions

    @Flag(help: "Use the beacon that is held to the receiver.")
    var nearest = false

    @OptionGroup var receiver: ReceiverOptions

    @Flag(help: "Print the item as JSON.")
    var json = false

    func validate() throws {
        guard options.name != nil || id != nil else { throw ValidationError("Give the item a --name.") }
        guard nearest != (options.beacon != nil) else {
            throw ValidationError(
                nearest
                    ? "--beacon and --nearest both choose the beacon: give one of them."
                    : "Give the --beacon on the item, or hold it to the receiver and use --nearest.")
        }
        if !nearest, receiver.isGiven {
            throw ValidationError(
                "--adapter, --replay and --known can only be used with --nearest.")
        }
        if receiver.replay.count > 1 { throw ValidationError("--nearest reads one recording only.") }
    }

    func run() throws {
        let inventory = try source.store.read()
        try options.checkPhoto(source.store)
        // Check everything before the user holds the item to the receiver.
        var item = Inventory.Item(
            id: id ?? inventory.freeID(for: options.name ?? ""), name: options.name ?? id ?? "",
            beacon: try options.identity(inventory) ?? .address(DeviceAddress(FixedOctets())))
        options.apply(to: &item)
        var trialInventory = inventory
        try trialInventory.add(item)
        if nearest {
            item.beacon = try nearestBeacon(inventory, for: item.name)
        }
        let added = try source.store.change { inventory throws(InventoryError) in
            var item = item
            if id == nil { item.id = inventory.freeID(for: item.name) }
            try inventory.add(item)
            return item
        }
        let value = JSONValue.record([
            ("id", .string(added.id)), ("name", .string(added.name)), ("beacon", .string("\(added.beacon)")),
            ("place", .optional(added.place, JSONValue.string)), ("position", .optional(added.position, \.json)),
        ])
        Terminal.show("\(added.id): added with \(added.beacon)\n", or: value, asJSON: json)
    }

    private func nearestBeacon(_ inventory: Inventory, for name: String) throws -> BeaconIdentity {
        let known = try KnownBeacons(receiver.known)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        let progressLine = ProgressLine()
        let listener = NearestListener(inventory, known: known.beacons, distances: receiver.settings.distances) {
            nearby in
            progressLine.report { "\(NumberFormat.count(nearby, "beacon")) within half a metre" }
        } onWarning: {
            Terminal.writeMessage($0)
        }
        if Terminal.errorIsTerminal {
            Terminal.writeError("Hold \(ProblemText.quoted(name)) within half a metre of the receiver …\n")
        }
        let source =
            try receiver.replay.first.map { try receiver.settings.recording($0) }
            ?? receiver.settings.live(receiver.adapter, inventory.virtualBeacons(known))
        defer { progressLine.finish() }
        let answer = try listener.run(source)
        progressLine.finish()
        let meters = DecimalText.thousandths(Int((answer.meters * 100).rounded()) * 10)
        Terminal.writeMessage(
            "beacon found after \(DecimalText.thousandths((answer.afterMicroseconds + 50_000) / 100_000 * 100)) s: "
                + "\(answer.identity), \(Int(answer.level.rounded())) dBm, \(meters) m")
        if !answer.others.isEmpty {
            let more = answer.others.count > 3 ? " and \(answer.others.count - 3) more" : ""
            Terminal.writeMessage(
                "warning: also within half a metre: "
                    + answer.others.prefix(3).map { "\($0)" }.joined(separator: ", ") + more)
        }
        return answer.identity
    }
}

struct InventoryEdit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change an item.",
        discussion: "An empty text removes the place, the note or the photo.")

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("Id of the item.", valueName: "item"))
    var item: String

    @Option(help: ArgumentHelp("New id.", valueName: "id"))
    var id: String?

    @OptionGroup var options: ItemOptions

    @Flag(help: "Remove the position, so that the position of the place is used.")
    var noPosition = false

    func validate() throws {
        let texts = [id, options.name, options.beacon, options.place, options.note, options.photo]
        guard texts.contains(where: { $0 != nil }) || options.position != nil || noPosition else {
            throw ValidationError(
                "Give at least one of --name, --beacon, --place, --position, --note, --photo and --id.")
        }
        if noPosition && options.position != nil { throw ValidationError("Give either --position or --no-position.") }
    }

    func run() throws {
        try options.checkPhoto(source.store)
        let changedID = try source.store.change { inventory throws(InventoryError) in
            var changedItem = try inventory.item(item)
            if let id { changedItem.id = id }
            if let beacon = try options.identity(inventory) { changedItem.beacon = beacon }
            options.apply(to: &changedItem)
            if noPosition { changedItem.position = nil }
            try inventory.replace(item, with: changedItem)
            return changedItem.id
        }
        Terminal.writeLine("\(changedID): changed")
    }
}

struct InventoryRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove items from an inventory.",
        discussion: "Reports of finished counts still list them.")

    @OptionGroup var source: InventoryFile

    @Argument(help: ArgumentHelp("Ids of the items.", valueName: "item"))
    var items: [String]

    func run() throws {
        try source.store.change { inventory throws(InventoryError) in
            for item in items { try inventory.remove(item) }
        }
        Terminal.writeLine("\(items.joined(separator: ", ")): removed")
    }
}
