internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
public import Configuration
internal import Inventory
internal import LinuxHost
public import Listener
public import Messaging
public import Sightings
public import Zones

/// A listener file with the sections that only the service uses: zones, hooks, history and broker.
public struct HubFile {
    /// The sections of the file about the receiver and its known beacons.
    public let listener: ListenerFile
    /// The known beacons, from this file and from the files that it names.
    public let known: KnownBeacons
    public let zones: [ZoneRule]
    public let hooks: [HookRule]
    public let history: HistoryRule
    /// The section `mqtt`; `nil` if the file has none.
    public let broker: BrokerSection?
    /// Warnings about the file, one sentence each.
    public let warnings: [String]
    /// The outermost object of the file.
    public let root: JSONNode

    /// Reads the file at `path`, or standard input for `-`, and the files that this file names.
    ///
    /// - Throws: An error with all problems of the files.
    public init(path: String, isReadAgain: Bool = false) throws(ListenerServiceError) {
        let name = Self.name(path)
        let octets: [UInt8]
        do throws(BeaconServiceError) {
            octets = try ProfileReport.read(path, isReadAgain: isReadAgain)
        } catch {
            throw .service(error)
        }
        let (document, faults) = JSONDocument.parse(octets)
        guard let document, faults.isEmpty else {
            let problems = document.map { ListenerFile.decode($0).problems } ?? []
            throw .service(BeaconServiceError(faults + problems, of: name))
        }
        let (listener, listenerProblems) = ListenerFile.decode(document)
        // The zones and the named files are also read if the section of the receiver has errors, so that the problems
        // of all sections are reported together.
        let readablePart = listener ?? ListenerFile.decodePart(document)
        let known = readablePart.map { KnownBeacons(allWithInventoriesOf: $0, at: path) }
        let hasAllBeacons =
            known?.isComplete == true && readablePart?.known.count == document["known"]?.elements?.count ?? 0
        let sections = HubSections(document, beacons: hasAllBeacons ? known.map(Self.beacons) : nil)
        let problems = listenerProblems + sections.problems
        guard !problems.contains(where: \.isError), let listener, let known else {
            throw .service(BeaconServiceError(problems, of: name, more: known?.failure?.messages ?? []))
        }
        if let failure = known.failure { throw failure }
        self.known = known
        self.listener = listener
        root = document
        zones = sections.zones
        hooks = sections.hooks
        history = sections.history ?? HistoryRule()
        broker = sections.broker
        warnings =
            known.warnings + problems.map { $0.text(file: name) } + Self.warnings(sections.zones, known, name)
    }

    private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// Returns problems of other files that the running service would notice: missing or unusable files of the broker,
    /// and missing programs of hooks.
    ///
    /// - Parameters:
    ///   - path: The path of the listener file. Relative paths of other files start at its directory.
    ///   - searchPath: The directories in which programs without a slash are searched, separated by `:`, as in PATH.
    public func environmentProblems(at path: String, searchPath: String) -> (errors: [String], warnings: [String]) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        var (errors, warnings): ([String], [String]) = ([], [])
        if let broker {
            do throws(BrokerError) {
                _ = try BrokerOptions(broker, client: "check", in: directory)
            } catch {
                errors.append("\(error)")
            }
            for file in [broker.authorityFile, broker.certificateFile, broker.keyFile].compactMap(\.self) {
                let fullPath = file.hasPrefix("/") ? file : directory + file
                if !Files.exists(fullPath) {
                    errors.append("\(fullPath): there is no such file; the section \"mqtt\" names it")
                }
            }
        }
        for (index, hook) in hooks.enumerated() {
            guard let program = hook.run.first, let node = root["hooks"]?[index]?["run"] else { continue }
            let paths = program.contains("/") ? [program] : searchPath.split(separator: ":").map { "\($0)/\(program)" }
            guard !paths.contains(where: { Files.isExecutable($0) }) else { continue }
            let file = paths.first { Files.exists($0) }
            let problem = FileProblem(
                file.map {
                    "\(ProblemText.quoted($0)) is not a program that this user may run: make it executable with `chmod +x`"
                } ?? "there is no program \(ProblemText.quoted(program)) on this machine",
                at: node.position, path: node.path, severity: .warning)
            warnings.append(problem.text(file: Self.name(path)))
        }
        return (errors, warnings)
    }

    /// Returns the problems of a listener file, without reading the files that it names.
    public static func problems(_ octets: [UInt8]) -> [FileProblem] {
        let (document, faults) = JSONDocument.parse(octets)
        guard let document, faults.isEmpty else { return faults }
        return ListenerFile.decode(document).problems + HubSections(document, beacons: nil).problems
    }

    /// The text of `profiles/schema/listener.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String {
        ListenerKeys.section(service: [ZoneKeys.zones, BrokerKeys.mqtt, HistoryKeys.history, HookKeys.hooks])
            .schemaFile(title: "Pharos listener")
    }

    /// Returns the known beacons with their tags and attachments, each name once, in the order of the files.
    public static func beacons(_ known: KnownBeacons) -> [ZoneBeacon] {
        var seen: Set<String> = []
        return known.beacons.compactMap { beacon in
            guard seen.insert(beacon.name).inserted else { return nil }
            let note = known.notes[beacon.name] ?? BeaconNote()
            return ZoneBeacon(name: beacon.name, tags: note.tags, attachments: note.attachments)
        }
    }

    /// Returns `nil` if a frame with one of the beacon's identities states the power at 1 m. Otherwise the distance of
    /// the beacon is unknown, and the kind of its identity is returned in words.
    ///
    /// - Parameter isPhone: True if the beacon is identified by the key of its private addresses.
    private static func identityWithoutPower(_ beacon: [KnownBeacon], isPhone: Bool) -> String? {
        let words = beacon.map { known -> String? in
            if isPhone, known.isKnownByKey { return "the key of its addresses" }
            return switch (known.identity, known.region) {
            case (.address, _): "an address"
            case (_, .localName): "a local name"
            case (_, .service(let uuid)) where uuid != BluetoothUUID.uuid16(Eddystone.serviceUUID).expanded: "a service"
            default: nil
            }
        }
        return words.contains(nil) ? nil : words.first ?? nil
    }

    /// Returns true if a frame with one of these identities states the power at 1 m, so that the distance of the beacon
    /// can be estimated.
    public static func containsPower(_ patterns: [RegionPattern]) -> Bool {
        identityWithoutPower(patterns.map { KnownBeacon(name: "", $0) }, isPhone: false) == nil
    }

    /// Returns warnings about beacons that belong to a zone but can never be inside it.
    private static func warnings(_ zones: [ZoneRule], _ known: KnownBeacons, _ file: String) -> [String] {
        let allBeacons = beacons(known)
        let phones = known.namesOfAddressKeys
        return zones.flatMap { zone in
            let members = allBeacons.filter { beacon in
                switch zone.members {
                case .tag(let tag): beacon.tags.contains(tag)
                case .beacons(let names): names.contains(beacon.name)
                }
            }
            return members.compactMap { beacon in
                let identities = known.beacons.filter { $0.name == beacon.name }
                let isPhone = phones.contains(beacon.name)
                if zone.proof == .eid, isPhone || !identities.contains(where: \.isKnownByKey) {
                    return "\(file): the zone \(zone.name) needs ephemeral ids, but \(beacon.name) has no key for them"
                }
                if case .distance = zone.bound, let kind = identityWithoutPower(identities, isPhone: isPhone) {
                    return "\(file): the zone \(zone.name) needs a distance, but \(beacon.name) is known only by "
                        + "\(kind), which states no power at 1 m: use \"aboveDbm\" for the zone"
                }
                return nil
            }
        }
    }
}

/// A program that is started for events.
public struct HookRule: Hashable, Sendable {
    /// The kind of event; `nil` for every kind.
    public var event: ZoneEvent.Kind?
    /// The zone of the event; `nil` for every zone.
    public var zone: String?
    /// The program and its arguments. A program without a slash is searched in PATH. No shell is used.
    public var run: [String]

    /// Returns true if the program is started for events of this kind in this zone.
    public func matches(_ kind: ZoneEvent.Kind, zone name: String) -> Bool {
        (event ?? kind) == kind && (zone ?? name) == name
    }
}

/// The database of past events.
public struct HistoryRule: Hashable, Sendable {
    /// The path of the database as written in the listener file; `nil` for NAME.db in the state directory.
    public var file: String?
    /// Events older than this number of days are deleted.
    public var days = 400
}

/// The keys of a hook.
enum HookKeys {
    /// The word that means every kind of event.
    private static let any = "any"
    private static let wordLimit = 64

    static let event = Key("on", eventType, "Event that starts the program.", isRequired: true)
    static let zone = Key(
        "zone", ValueType<String>(schema: ["$ref": "#/$defs/name"]) { $0.text($1) },
        "Zone of the event. Default: any zone.")
    static let run = Key(
        "run", .list("words", 1...wordLimit, of: word),
        "The program and its arguments, such as [\"/usr/bin/light\", \"on\"]. No shell is used. In arguments, ${title}, "
            + "${body}, ${zone}, ${beacon}, ${event} and ${KEY} of an attachment are replaced by the event's texts.",
        isRequired: true)
    static let section = Section(
        "A program. It reads the event as JSON from standard input.", [event, zone, run])
    static let hooks = Key(
        "hooks", .list("hooks", 1...Int.max, of: .section(section)), "Programs that are started for events of zones.")

    /// The type of an event's kind. For the word `any` the value is `nil`.
    private static let eventType = ValueType<ZoneEvent.Kind>(
        schema: ["enum": .array((ZoneEvent.Kind.allCases.map(\.rawValue) + [any]).map { .string($0) })]
    ) { decoder, node in
        guard let text = decoder.text(node), text != any else { return nil }
        if let kind = ZoneEvent.Kind(rawValue: text) { return kind }
        decoder.notAWord(text, ZoneEvent.Kind.allCases.map(\.rawValue) + [any], at: node)
        return nil
    }

    private static let word = ValueType<String>.label(4096, isEmptyGood: true).map { decoder, node, text in
        if text.utf8.contains(0) { decoder.error("an argument must not contain a zero byte", at: node) }
        return text
    }
}

/// The keys of the history.
enum HistoryKeys {
    static let file = Key(
        "file", .path(), "SQLite database. Default: NAME.db in /var/lib/pharos, with the name of this file.")
    static let days = Key(
        "days", .integer(1...36_500, unit: "days"), "Events older than this are deleted.", default: 400)
    static let section = Section("The database of past events.", [file, days])
    static let history = Key("history", .section(section), "The database of past events.")
}

/// The sections of a listener file that only the service uses.
struct HubSections {
    private(set) var zones: [ZoneRule] = []
    private(set) var hooks: [HookRule] = []
    private(set) var history: HistoryRule?
    private(set) var broker: BrokerSection?
    private(set) var problems: [FileProblem] = []

    init(_ root: JSONNode, beacons: [ZoneBeacon]?) {
        guard root.members != nil else { return }
        let section = ZoneSection(root["zones"], beacons: beacons)
        zones = section.rules
        var decoder = ConfigurationDecoder()
        let textNames = beacons.map { Set($0.flatMap(\.attachments).map(\.key)).union(HookWords.names) }
        hooks = (decoder.read(HookKeys.hooks, in: root) ?? []).map { hook($0, textNames, &decoder) }
        if let object = decoder.read(HistoryKeys.history, in: root) { history = historyRule(object, &decoder) }
        let (broker, brokerProblems) = BrokerSection.decode(root["mqtt"])
        self.broker = broker
        problems = section.problems + decoder.problems + brokerProblems
    }

    /// - Parameter textNames: The names that `${name}` may contain; `nil` if they are not known.
    private func hook(
        _ object: JSONNode, _ textNames: Set<String>?, _ decoder: inout ConfigurationDecoder
    ) -> HookRule {
        let event = decoder.read(HookKeys.event, in: object)
        let zone = decoder.read(HookKeys.zone, in: object)
        if let zone, let node = object["zone"], !zones.contains(where: { $0.name == zone }) {
            let advice = NearestWord.find(zone, among: zones.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
            decoder.error("there is no zone \(ProblemText.quoted(zone))\(advice)", at: node)
        }
        let run = decoder.read(HookKeys.run, in: object) ?? []
        if run.first?.isEmpty == true, let list = object["run"] {
            decoder.error("the first word must name the program", at: list)
        }
        for (word, node) in zip(run, object["run"]?.elements ?? []).dropFirst() {
            guard let textNames else { break }
            for name in NamedTexts.names(in: word) where !textNames.contains(name) {
                let advice = NearestWord.find(name, among: textNames.sorted()).map { "; did you mean ${\($0)}?" } ?? ""
                decoder.warning(
                    "no beacon has an attachment \(ProblemText.quoted(name)): an empty text is used instead\(advice)",
                    at: node)
            }
        }
        return HookRule(event: event, zone: zone, run: run)
    }

    private func historyRule(_ object: JSONNode, _ decoder: inout ConfigurationDecoder) -> HistoryRule {
        var rule = HistoryRule()
        rule.file = decoder.read(HistoryKeys.file, in: object)
        rule.days = decoder.read(HistoryKeys.days, in: object) ?? rule.days
        return rule
    }
}

extension KnownBeacons {
    /// Reads the beacons that a listener file names, including the items of its inventories.
    ///
    /// - Parameter path: The path of the listener file. Relative paths of other files start at its directory.
    /// - Throws: An error with all problems of those files.
    public init(withInventoriesOf listener: ListenerFile, at path: String) throws(ListenerServiceError) {
        try self.init(listener, at: path) { file throws(ListenerServiceError) in try Self.inventoryItems(file) }
    }

    /// Reads the beacons that a listener file names, even if some files cannot be used, so that the rest of the file
    /// can be checked. The beacons of unusable files are left out.
    fileprivate init(allWithInventoriesOf listener: ListenerFile, at path: String) {
        self.init(allOf: listener, at: path) { file throws(ListenerServiceError) in try Self.inventoryItems(file) }
    }

    /// Returns the items of an inventory as beacons, each named by its item's id. The tags of a beacon are the
    /// inventory's name and the item's place, so that a zone can contain all items or the items of one place.
    private static func inventoryItems(_ path: String) throws(ListenerServiceError) -> [InventoryItem] {
        let octets: [UInt8]
        do throws(BeaconServiceError) {
            octets = try ProfileReport.read(path, isReadAgain: true)
        } catch {
            throw .service(error)
        }
        let (inventory, problems) = Inventory.decode(octets)
        guard let inventory else {
            throw .service(BeaconServiceError(problems, of: path))
        }
        return zip(inventory.items, inventory.knownBeacons).map { item, beacon in
            var note = BeaconNote()
            note.tags = [inventory.name]
            if let place = item.place, place != inventory.name { note.tags.append(place) }
            let texts: [(String, String?)] = [("name", item.name), ("place", item.place), ("note", item.note)]
            note.attachments = texts.compactMap { key, text in text.map { .init(key: key, text: $0) } }
            return InventoryItem(beacon: beacon, note: note)
        }
    }
}
