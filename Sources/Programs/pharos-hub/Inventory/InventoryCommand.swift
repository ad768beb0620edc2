internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Inventory
internal import LinuxHost

struct InventoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inventory", abstract: "Count things that carry beacons.",
        discussion: """
            pharos inventory new tools.json
            pharos inventory add tools.json --name "Cordless drill" --nearest
            pharos inventory start tools.json
            pharos inventory finish tools.json
            pharos inventory report tools.json --pdf tools.pdf

            A thing is found when its beacon was within a metre in more than three of the last six seconds. The counts \
            lie in tools.counts, beside the file.
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
        Terminal.write(InventorySchema.text)
    }
}

/// The file that all of these commands take.
struct InventoryFile: ParsableArguments {
    @Argument(help: ArgumentHelp("An inventory, such as tools.json.", valueName: "file"), completion: .file())
    var file: String

    var store: InventoryStore { InventoryStore(file) }
}

struct InventoryNew: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "new", abstract: "Make an inventory without items.")

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("What it is called (default: the file's name).", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("What people call it, for reports.", valueName: "text"))
    var title: String?

    @Option(
        help: ArgumentHelp("The site file whose plan the items are on, relative to the new file.", valueName: "file"),
        completion: .file())
    var site: String?

    @Flag(help: "Print the file in one line.")
    var json = false

    func run() throws {
        let stem = source.file.split(separator: "/").last.map(String.init) ?? ""
        let own = stem.hasSuffix(".json") ? String(stem.dropLast(5)) : stem
        let inventory = Inventory(name: name ?? own, title: title, site: site)
        let (_, problems) = Inventory.decode(Array(inventory.text.utf8))
        if let problem = problems.first(where: \.isError) {
            let option = problem.path.description
            throw Failure(
                .usage, "\(option == "name" && name == nil ? source.file : "--" + option): \(problem.message)")
        }
        if source.file == "-" { return Terminal.write(inventory.text) }
        try source.store.create(inventory)
        Terminal.write(
            json
                ? inventory.json.line + "\n"
                : "\(source.file): the inventory \(inventory.name), without items; `pharos inventory add \(source.file) "
                    + "--name NAME --nearest` takes the first\n")
    }
}

struct InventoryList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the items, with what the last count says of them.",
        discussion: "Of a directory, the inventories in it.")

    @Argument(
        help: ArgumentHelp("An inventory, or a directory with inventories (default: this one).", valueName: "file"),
        completion: .file())
    var file: String = "."

    @Flag(help: "List only what the last count has not found.")
    var missing = false

    @Option(help: ArgumentHelp("Another count than the last one.", valueName: "name"))
    var count: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        if Files.isDirectory(file) {
            guard !missing, count == nil else {
                throw Failure(.usage, "\(file): --missing and --count need an inventory, and this is a directory")
            }
            return listInventories()
        }
        let store = InventoryStore(file)
        let inventory = try store.read()
        let report = missing || count != nil ? try store.lastReport(inventory, of: count) : try store.report(inventory)
        // A finished count has the items of then; what came later has no state yet.
        let outcomes = Dictionary((report?.outcomes ?? []).map { ($0.item.id, $0) }) { first, _ in first }
        let items =
            missing
            ? (report?.outcomes ?? []).filter { $0.state != .found }.map(\.item) : inventory.items
        if json {
            let rows = items.map { item in
                outcomes[item.id].map(CountReport.json) ?? Self.uncounted(item)
            }
            let value = JSONValue.record([
                ("inventory", .string(inventory.name)), ("title", .optional(inventory.title, JSONValue.string)),
                ("count", .optional(report?.count, JSONValue.string)), ("items", .array(rows)),
            ])
            return Terminal.write(value.line + "\n")
        }
        if items.isEmpty {
            return Terminal.write(missing ? "Nothing is missing.\n" : "There is nothing in \(inventory.name) yet.\n")
        }
        var table = Table(["id", "name", "place", "state", "last heard", "best dBm"], alignment: [])
        for item in items {
            let outcome = outcomes[item.id]
            table.add([
                item.id, TerminalText.line(TerminalText.shortened(item.name, to: 40)),
                TerminalText.line(TerminalText.shortened(item.place ?? "", to: 30)),
                outcome?.states.map(CountReport.words).joined(separator: ", ") ?? "not counted",
                outcome?.lastHeard.map { "\($0)" } ?? "", outcome?.bestLevel.map { "\($0)" } ?? "",
            ])
        }
        Terminal.write(table.text)
        if let report { Terminal.write("\nCount \(report.count): \(report.summary).\n") }
    }

    private static func uncounted(_ item: Inventory.Item) -> JSONValue {
        .record([
            ("id", .string(item.id)), ("name", .string(item.name)), ("beacon", .string("\(item.beacon)")),
            ("place", .optional(item.place, JSONValue.string)), ("position", .optional(item.position, \.json)),
            ("state", .null), ("states", .array([])), ("firstHeard", .null), ("lastHeard", .null), ("found", .null),
            ("foundBy", .null), ("afterS", .null), ("bestRssiDbm", .null), ("nearestM", .null), ("batteryMv", .null),
            ("intervalMs", .null), ("heardBy", .null),
        ])
    }

    private func listInventories() {
        var rows: [(file: String, inventory: Inventory, last: String?)] = []
        let prefix = file == "." ? "" : file.hasSuffix("/") ? file : file + "/"
        for name in Files.names(in: file) where name.hasSuffix(".json") {
            let path = prefix + name
            guard let octets = try? Files.read(path, limit: 1 << 28), let inventory = Inventory.decode(octets).inventory
            else { continue }
            rows.append((path, inventory, InventoryStore(path).countNames.last))
        }
        if json {
            let value = JSONValue.record([
                (
                    "inventories",
                    .array(
                        rows.map { row in
                            .record([
                                ("file", .string(row.file)), ("name", .string(row.inventory.name)),
                                ("title", .optional(row.inventory.title, JSONValue.string)),
                                ("items", .integer(row.inventory.items.count)),
                                ("lastCount", .optional(row.last, JSONValue.string)),
                            ])
                        })
                )
            ])
            return Terminal.write(value.line + "\n")
        }
        if rows.isEmpty {
            return Terminal.write("There is no inventory in \(file); `pharos inventory new` makes one.\n")
        }
        var table = Table(["file", "name", "items", "last count"], alignment: [.left, .left, .right])
        for row in rows {
            table.add([
                TerminalText.line(row.file), TerminalText.line(row.inventory.heading),
                "\(row.inventory.items.count)", row.last ?? "none",
            ])
        }
        Terminal.write(table.text)
    }
}
