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
        let (listener, form) = ListenerFile.decode(octets)
        // What the receiver's part says is told together with what the others say.
        guard let listener, let document, faults.isEmpty else {
            let sections = HubSections(document, beacons: nil)
            throw Self.refusal(
                faults.isEmpty ? Self.together(form, sections) : form, name, isJSON: faults.isEmpty)
        }
        known = try KnownBeacons(withInventoriesOf: listener, at: path)
        let sections = HubSections(document, beacons: Self.beacons(known))
        let problems = Self.together(form, sections)
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

    /// Both readers see the lists themselves.
    private static func together(_ form: [FileProblem], _ sections: HubSections) -> [FileProblem] {
        form + sections.problems.filter { !form.contains($0) }
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

/// The sections of a listener file that only the service makes use of.
struct HubSections {
    private(set) var zones: [ZoneRule] = []
    private(set) var hooks: [HookRule] = []
    private(set) var history: HistoryRule?
    private(set) var broker: BrokerSection?
    private(set) var problems: [FileProblem] = []

    static let hookKeys = ["on", "zone", "run"]
    static let historyKeys = ["file", "days"]
    static let everything = "any"
    static let days = 1...36_500
    /// Words of a program's command line, and characters of each.
    static let wordLimits = (count: 64, length: 4096)

    init(_ root: JSONNode?, beacons: [ZoneBeacon]?) {
        guard let root, root.members != nil else { return }
        let section = ZoneSection(root["zones"], beacons: beacons)
        zones = section.rules
        var decoder = ConfigurationDecoder()
        hooks = (decoder.list(root["hooks"], of: "hooks") ?? []).compactMap { hook($0, &decoder) }
        history = history(root["history"], &decoder)
        let (broker, found) = BrokerSection.decode(root["mqtt"])
        self.broker = broker
        problems = section.problems + decoder.problems + found
    }

    private func hook(_ node: JSONNode, _ decoder: inout ConfigurationDecoder) -> HookRule? {
        guard let object = decoder.object(node, keys: Self.hookKeys) else { return nil }
        let words = ZoneEvent.Kind.allCases.map(\.rawValue) + [Self.everything]
        let on = decoder.required("on", in: object, "one of " + words.joined(separator: ", "))
        var event: ZoneEvent.Kind?
        if let on, let word = decoder.text(on) {
            event = ZoneEvent.Kind(rawValue: word)
            if !words.contains(word) { decoder.notAWord(word, words, at: on) }
        }
        var zone: String?
        if let node = object["zone"], let name = decoder.text(node) {
            zone = name
            if !zones.contains(where: { $0.name == name }) {
                let advice = NearestWord.find(name, among: zones.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
                decoder.error("no zone is called \(ProblemText.quoted(name))\(advice)", at: node)
            }
        }
        let list = decoder.required(
            "run", in: object, "a program and what it is given, such as [\"/usr/bin/light\", \"on\"]")
        let run = (decoder.list(list, of: "words") ?? []).compactMap { word -> String? in
            guard let text = decoder.label(word, limit: Self.wordLimits.length, isEmptyGood: true) else { return nil }
            if text.utf8.contains(0) { decoder.error("a word of a command line has no zero octet", at: word) }
            return text
        }
        if run.count > Self.wordLimits.count, let list {
            decoder.error("\(run.count) words are more than the \(Self.wordLimits.count) that there may be", at: list)
        }
        if run.first?.isEmpty == true, let list { decoder.error("the first word names the program", at: list) }
        return HookRule(event: event, zone: zone, run: run)
    }

    private func history(_ node: JSONNode?, _ decoder: inout ConfigurationDecoder) -> HistoryRule? {
        guard let object = decoder.object(node, keys: Self.historyKeys) else { return nil }
        var rule = HistoryRule()
        rule.file = decoder.filePath(object["file"], of: "a file")
        rule.days = decoder.integer(object["days"], in: Self.days, unit: "days") ?? rule.days
        return rule
    }
}
