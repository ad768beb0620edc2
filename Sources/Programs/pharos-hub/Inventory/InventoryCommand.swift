internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Inventory
internal import LinuxHost

struct InventoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inventory", abstract: "Keep an inventory of items with beacons, and count them.",
        discussion: """
            pharos inventory new tools.json
            pharos inventory add tools.json --name "Cordless drill" --nearest
            pharos inventory start tools.json
            pharos inventory finish tools.json
            pharos inventory report tools.json --pdf tools.pdf

            An item is found when its beacon was within one metre in at least four of the last six seconds. The counts \
            are stored in the directory tools.counts, next to the file.
            """,
        subcommands: [
            InventoryNew.self, InventoryList.self, InventoryShow.self, InventoryAdd.self, InventoryEdit.self,
            InventoryRemove.self, InventoryCheckCommand.self, InventoryStart.self, InventoryFinish.self,
            InventoryReport.self, InventoryMapCommand.self,
        ])

    @Flag(help: "Print the JSON Schema of inventory files, for editors.")
    var schema = false

    func run() throws {
        guard schema else { throw CleanExit.helpRequest(self) }
        Terminal.write(Inventory.schema)
    }
}

/// The argument for the inventory file, in all commands about one inventory.
struct InventoryFile: ParsableArguments {
    @Argument(help: ArgumentHelp("An inventory file, such as tools.json.", valueName: "file"), completion: .file())
    var file: String

    var store: InventoryStore { InventoryStore(file) }

    /// Throws an error if an output would replace the site of the inventory or the photo of an item.
    func refuseOverwriting(_ written: [(option: String, path: String?)], of inventory: Inventory) throws {
        let names = [inventory.site] + inventory.items.map(\.photo)
        try OutputFiles.refuseOverwriting(written, read: names.map { $0.map(store.path(of:)) })
    }
}

struct InventoryNew: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "new", abstract: "Create an inventory without items.")

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("Name of the inventory (default: the file's name).", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Title for reports.", valueName: "text"))
    var title: String?

    @Option(
        help: ArgumentHelp(
            "Site file with the floor plan; the path is relative to the new file.", valueName: "file"),
        completion: .file())
    var site: String?

    @Flag(help: "Print the inventory as one line of JSON.")
    var json = false

    func run() throws {
        let inventory = Inventory(name: name ?? InputFile.stem(of: source.file), title: title, site: site)
        let (_, problems) = Inventory.decode(Array(inventory.text.utf8))
        if let problem = problems.first(where: \.isError) {
            let option = problem.path.description
            throw Failure(
                .usage, "\(option == "name" && name == nil ? source.file : "--" + option): \(problem.message)")
        }
        if source.file == "-" { return Terminal.write(inventory.text) }
        try source.store.create(inventory)
        Terminal.show(
            "\(source.file): created the inventory \(inventory.name); add items with `pharos inventory add "
                + "\(source.file) --name NAME --nearest`\n", or: inventory.json, asJSON: json)
    }
}

struct InventoryList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the items and their states in the last count.",
        discussion: "For a directory, list its inventories.")

    @Argument(
        help: ArgumentHelp(
            "An inventory file, or a directory with inventories (default: the working directory).", valueName: "file"),
        completion: .file())
    var file: String = "."

    @Flag(help: "List only items that the last count has not found.")
    var missing = false

    @Option(help: ArgumentHelp("Use this count (default: the last count).", valueName: "name"))
    var count: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        if Files.isDirectory(file) {
            guard !missing, count == nil else {
                throw Failure(.usage, "\(file): --missing and --count need an inventory, but this is a directory")
            }
            let inventories = InventoryDirectory(file)
            for warning in inventories.warnings { Terminal.writeMessage(warning) }
            return Terminal.show(inventories.text, or: inventories.json, asJSON: json)
        }
        let store = InventoryStore(file)
        let inventory = try store.read()
        let report = missing || count != nil ? try store.lastReport(inventory, of: count) : try store.report(inventory)
        let listing = InventoryListing(inventory, report, onlyMissing: missing)
        Terminal.show(listing.text, or: listing.json, asJSON: json)
    }
}

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
        let facts =
            if let item {
                try InventoryFacts(inventory, item: item, report)
            } else {
                InventoryFacts(inventory, report, counts: source.store.countNames)
            }
        Terminal.show(facts.text, or: facts.json, asJSON: json)
    }
}
