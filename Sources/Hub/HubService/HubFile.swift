internal import BeaconService
public import Configuration
public import Listener
public import Messaging
internal import Sightings
public import Zones

/// A listener file with everything that only the service makes use of: zones, hooks, history, a broker.
public struct HubFile {
    /// The receiver, and whom it knows.
    public let listener: ListenerFile
    /// The beacons that the file names, from it and from other files.
    public let known: KnownBeacons
    public let zones: [ZoneRule]
    public let hooks: [HookRule]
    public let history: HistoryRule
    /// `nil` where no broker is told.
    public let broker: BrokerSection?
    /// What the file does not forbid and its author should know, one sentence each.
    public let warnings: [String]
    /// The outermost object, for sections that others read.
    public let root: JSONNode

    /// Reads the file at `path`, or standard input for `-`, and the files that it names.
    ///
    /// - Throws: with everything that is wrong.
    public init(path: String) throws(ListenerServiceError) {
        let name = path == "-" ? "standard input" : path
        let octets: [UInt8]
        do throws(BeaconServiceError) {
            octets = try ProfileReport.read(path)
        } catch {
            throw .service(error)
        }
        let (document, faults) = JSONDocument.parse(octets)
        guard let document, faults.isEmpty else {
            let problems = document.map { ListenerFile.decode($0).problems } ?? []
            throw Self.refusal(faults + problems, name, isJSON: false)
        }
        let (listener, form) = ListenerFile.decode(document)
        guard let listener else {
            // The zones can be checked only for their form: their beacons are not known.
            let sections = HubSections(document, beacons: nil)
            throw Self.refusal(form + sections.problems, name, isJSON: true)
        }
        known = try KnownBeacons(withInventoriesOf: listener, at: path)
        let sections = HubSections(document, beacons: Self.beacons(known))
        let problems = form + sections.problems
        guard !problems.contains(where: \.isError) else { throw Self.refusal(problems, name, isJSON: true) }
        self.listener = listener
        root = document
        zones = sections.zones
        hooks = sections.hooks
        history = sections.history ?? HistoryRule()
        broker = sections.broker
        warnings =
            known.warnings + problems.map { $0.text(file: name) } + Self.warnings(sections.zones, known, name)
    }

    /// The text of `profiles/schema/listener.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String {
        ListenerKeys.section(service: [ZoneKeys.zones, BrokerKeys.mqtt, HistoryKeys.history, HookKeys.hooks])
            .schemaFile(title: "Pharos listener")
    }

    private static func refusal(_ problems: [FileProblem], _ name: String, isJSON: Bool) -> ListenerServiceError {
        let lines = FileProblem.sorted(problems.filter(\.isError)).map { $0.text(file: name) }
        return .service(.refused(isJSON ? .invalid : .malformed, lines))
    }

    /// Everybody with a name, once, in the order of the files.
    public static func beacons(_ known: KnownBeacons) -> [ZoneBeacon] {
        var seen: Set<String> = []
        return known.beacons.compactMap { beacon in
            guard seen.insert(beacon.name).inserted else { return nil }
            let note = known.notes[beacon.name] ?? BeaconNote()
            return ZoneBeacon(
                name: beacon.name, tags: note.tags,
                attachments: note.attachments.map { .init(key: $0.key, text: $0.text) })
        }
    }

    /// Who can never be inside, and why.
    private static func warnings(_ zones: [ZoneRule], _ known: KnownBeacons, _ file: String) -> [String] {
        let all = beacons(known)
        return zones.flatMap { zone in
            let members = all.filter { beacon in
                switch zone.members {
                case .tag(let tag): beacon.tags.contains(tag)
                case .beacons(let names): names.contains(beacon.name)
                }
            }
            return members.compactMap { beacon in
                let own = known.beacons.filter { $0.name == beacon.name }
                if zone.proof == .eid, !own.contains(where: { $0.identity == nil }) {
                    return "\(file): the zone \(zone.name) wants ephemeral ids, and \(beacon.name) has no key of any"
                }
                if case .distance = zone.bound, own.allSatisfy({ $0.identity?.kind == "address" }) {
                    return "\(file): the zone \(zone.name) measures metres, and \(beacon.name), an address, tells no "
                        + "power: give the zone \"aboveDbm\""
                }
                return nil
            }
        }
    }
}

/// When a program is started, and which.
public struct HookRule: Hashable, Sendable {
    /// `nil` for every event.
    public var event: ZoneEvent.Kind?
    /// `nil` for every zone.
    public var zone: String?
    /// The program, looked for in PATH where it has no slash, and what it is given; no shell.
    public var run: [String]

    /// Whether an event of this kind in this zone starts it.
    public func matches(_ kind: ZoneEvent.Kind, zone name: String) -> Bool {
        (event ?? kind) == kind && (zone ?? name) == name
    }
}

/// What is kept of what happened, and for how long.
public struct HistoryRule: Hashable, Sendable {
    /// As it stands in the file; `nil` for NAME.db in the state directory.
    public var file: String?
    /// After so many days events are forgotten.
    public var days = 400
}

/// The keys of a hook.
enum HookKeys {
    /// The word for every event.
    private static let any = "any"
    private static let wordLimit = 64

    static let event = Key("on", eventType, "Event that starts the program.", isRequired: true)
    static let zone = Key(
        "zone", ValueType<String>(schema: ["$ref": "#/$defs/name"]) { $0.text($1) },
        "Zone of the event. Default: any zone.")
    static let run = Key(
        "run", .list("words", 1...wordLimit, of: word),
        "The program and its arguments, such as [\"/usr/bin/light\", \"on\"]. No shell is used.", isRequired: true)
    static let section = Section(
        "A program. It reads the event as JSON from standard input.", [event, zone, run])
    static let hooks = Key(
        "hooks", .list("hooks", 1...Int.max, of: .section(section)), "Programs to start when something happens.")

    /// The kind of event; no value for every event.
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
        hooks = (decoder.read(HookKeys.hooks, in: root) ?? []).map { hook($0, &decoder) }
        if let object = decoder.read(HistoryKeys.history, in: root) { history = historyRule(object, &decoder) }
        let (broker, found) = BrokerSection.decode(root["mqtt"])
        self.broker = broker
        problems = section.problems + decoder.problems + found
    }

    private func hook(_ object: JSONNode, _ decoder: inout ConfigurationDecoder) -> HookRule {
        let event = decoder.read(HookKeys.event, in: object)
        let zone = decoder.read(HookKeys.zone, in: object)
        if let zone, let node = object["zone"], !zones.contains(where: { $0.name == zone }) {
            let advice = NearestWord.find(zone, among: zones.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
            decoder.error("no zone is called \(ProblemText.quoted(zone))\(advice)", at: node)
        }
        let run = decoder.read(HookKeys.run, in: object) ?? []
        if run.first?.isEmpty == true, let list = object["run"] {
            decoder.error("the first word names the program", at: list)
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
