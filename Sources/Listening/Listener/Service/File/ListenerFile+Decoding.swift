internal import BeaconFrames
internal import BluetoothTypes
public import Configuration
internal import HCI
internal import Profiles
internal import Sightings

extension ListenerFile {
    /// Reads a listener file.
    ///
    /// - Returns: the file, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (file: ListenerFile?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var reader = ListenerReader()
        let file = root.flatMap { reader.file($0) }
        let problems = faults + reader.decoder.problems
        let hasErrors = problems.contains(where: \.isError)
        return (hasErrors ? nil : file, problems.sorted { $0.position < $1.position })
    }

    /// Every key of a listener file.
    static let keys = [
        "$schema", "version", "name", "adapter", "scan", "place", "rssiOffsetDb", "known", "keys", "irks", "strangers",
        "zones", "mqtt", "history", "hooks",
    ]
    /// Those of them that only the service makes use of: lists of objects, and objects.
    static let serviceLists = ["zones", "hooks"]
    static let serviceObjects = ["mqtt", "history"]
    static let scanKeys = ["mode", "intervalMs", "windowMs"]
    static let placeKeys = ["site", "floor", "room", "position"]
    static let sourceKeys = ["fleet", "profile", "inventory"]
    static let identityKeys = ["ibeacon", "altbeacon", "uid", "url", "address"]
    static let beaconKeys = ["name"] + identityKeys + ["tags", "attachments"]
    static let addressKeyKeys = ["name", "file"]
    /// In thousandths of a metre: a town is not larger.
    static let extent = 100_000_000
    /// Of a tag, the name of a place, or an attachment, in characters.
    static let textLimits = (name: ConfigurationDecoder.labelLimit, attachment: 1000)

    enum ScanMode: String, CaseIterable { case passive, active }
    enum Strangers: String, CaseIterable { case count, list }
}

/// Reads a listener file from its outermost object inwards.
private struct ListenerReader {
    var decoder = ConfigurationDecoder()
    /// Who has each name and each identity already.
    private var names: [String: JSONPath] = [:]
    private var identities: [BeaconIdentity: JSONPath] = [:]

    mutating func file(_ node: JSONNode) -> ListenerFile? {
        guard decoder.expect(.listener, node), let root = decoder.object(node, keys: ListenerFile.keys) else {
            return nil
        }
        _ = decoder.text(root["$schema"])
        decoder.version(decoder.required("version", in: root, "\(ListenerFile.version) for this format"))
        let name = decoder.name(decoder.required("name", in: root, "what this receiver is called, such as \"hall\""))
        let adapter = decoder.adapter(root["adapter"])
        let settings = scan(root["scan"])
        let place = place(root["place"])
        let offset = decoder.integer(root["rssiOffsetDb"], in: ListenerFile.levelOffsets, unit: "dB")
        let known = decoder.list(root["known"], of: "known beacons")?.compactMap { entry($0) }
        let keys = decoder.filePath(root["keys"], of: "a directory")
        let addressKeys = decoder.list(root["irks"], of: "keys")?.compactMap { addressKey($0) }
        let strangers = decoder.word(root["strangers"], of: ListenerFile.Strangers.self)
        for key in ListenerFile.serviceLists {
            for element in decoder.list(root[key], of: key) ?? [] { isObject(element) }
        }
        for key in ListenerFile.serviceObjects { if let node = root[key] { isObject(node) } }
        if root["known"] == nil, root["irks"] == nil, root["strangers"] == nil || strangers == .count {
            decoder.error("nobody is known here: give \"known\" or \"irks\", or \"strangers\": \"list\"", at: root)
        }
        let service = Set(ListenerFile.serviceLists + ListenerFile.serviceObjects)
        guard let name else { return nil }
        return ListenerFile(
            name: name, adapter: adapter, settings: settings, place: place, levelOffset: offset ?? 0,
            known: known ?? [], keys: keys, addressKeys: addressKeys ?? [], listsStrangers: strangers == .list,
            serviceKeys: root.members?.map(\.key).filter(service.contains) ?? [])
    }

    private mutating func isObject(_ node: JSONNode) {
        if node.members == nil { decoder.wrongKind(node, expected: "an object") }
    }

    // MARK: The receiver

    private mutating func scan(_ node: JSONNode?) -> ScanSettings {
        let standard = ScanSettings.standard
        guard let object = decoder.object(node, keys: ListenerFile.scanKeys) else { return standard }
        let mode = decoder.word(object["mode"], of: ListenerFile.ScanMode.self)
        let interval = scanInterval(object["intervalMs"])
        let window = scanInterval(object["windowMs"])
        // One that is out of range has been told.
        if object["intervalMs"] != nil && interval == nil || object["windowMs"] != nil && window == nil {
            return standard
        }
        let whole = interval ?? standard.interval
        guard let settings = try? ScanSettings(isActive: mode == .active, interval: whole, window: window ?? whole)
        else {
            decoder.error(
                "the scan window is longer than the scan interval of \(whole)", at: object["windowMs"] ?? object)
            return standard
        }
        return settings
    }

    private mutating func scanInterval(_ node: JSONNode?) -> ScanInterval? {
        let range = ScanInterval.legacyRange
        return decoder.thousandths(
            node, in: range.lowerBound.microseconds...range.upperBound.microseconds, unit: "ms"
        ).flatMap { ScanInterval(microseconds: $0) }
    }

    private mutating func place(_ node: JSONNode?) -> ListenerFile.Place? {
        guard let object = decoder.object(node, keys: ListenerFile.placeKeys) else { return nil }
        return ListenerFile.Place(
            site: decoder.label(object["site"]), floor: decoder.label(object["floor"]),
            room: decoder.label(object["room"]),
            position: position(object["position"]))
    }

    private mutating func position(_ node: JSONNode?) -> [JSONNumber]? {
        guard let node else { return nil }
        guard let parts = node.elements, parts.count == 2 else {
            decoder.wrongKind(node, expected: "a place such as [3.5, 12], metres east and north,")
            return nil
        }
        let range = -ListenerFile.extent...ListenerFile.extent
        let numbers = parts.compactMap { decoder.thousandths($0, in: range, unit: "m") }
        return numbers.count == parts.count ? numbers.map { JSONNumber(thousandths: $0) } : nil
    }

    // MARK: Who is known

    private mutating func entry(_ node: JSONNode) -> ListenerFile.Entry? {
        if let source = ListenerFile.sourceKeys.first(where: { node[$0] != nil }) {
            guard let object = decoder.object(node, keys: [source]),
                let path = decoder.filePath(object[source], of: "a file")
            else { return nil }
            switch source {
            case "fleet": return .fleet(path)
            case "profile": return .profile(path)
            default: return .inventory(path)
            }
        }
        let before = decoder.problems.count
        guard let object = decoder.object(node, keys: ListenerFile.sourceKeys + ListenerFile.beaconKeys) else {
            return nil
        }
        // What is missing was perhaps meant by the key that nobody knows.
        let isComplete = decoder.problems.count == before
        if !isComplete, object["name"] == nil { return nil }
        let name = ownName(decoder.required("name", in: object, "what the beacon is called"))
        var identities: [BeaconIdentity] = []
        for key in ListenerFile.identityKeys {
            if let node = object[key], let identity = decoder.identity(key, node) {
                identities.append(identity)
                claim(identity, at: node)
            }
        }
        if isComplete, object["name"] != nil, ListenerFile.identityKeys.allSatisfy({ object[$0] == nil }) {
            decoder.error(
                "nothing tells this beacon from others: give one or more of "
                    + ListenerFile.identityKeys.map { "\"\($0)\"" }.joined(separator: ", "), at: object)
        }
        var note = BeaconNote()
        note.tags = tags(object["tags"])
        note.attachments = attachments(object["attachments"])
        return name.map { .beacon(ListenerFile.Beacon(name: $0, identities: identities, note: note)) }
    }

    private mutating func claim(_ identity: BeaconIdentity, at node: JSONNode) {
        if let other = identities.updateValue(node.path, forKey: identity) {
            decoder.error("this is the identity of \(other) already", at: node)
        }
    }

    /// A name that nobody else in the file has.
    private mutating func ownName(_ node: JSONNode?) -> String? {
        guard let node, let name = decoder.name(node) else { return nil }
        if let other = names.updateValue(node.path, forKey: name) {
            decoder.error("\(other) is this name already; all identities of one beacon stand together", at: node)
        }
        return name
    }

    private mutating func tags(_ node: JSONNode?) -> [String] {
        var tags: [String] = []
        for element in decoder.list(node, of: "tags") ?? [] {
            guard let tag = decoder.label(element) else { continue }
            if tags.contains(tag) {
                decoder.error("the tag \(ProblemText.quoted(tag)) stands here twice", at: element)
            } else {
                tags.append(tag)
            }
        }
        return tags
    }

    private mutating func attachments(_ node: JSONNode?) -> [BeaconNote.Attachment] {
        guard let node else { return [] }
        guard let members = node.members else {
            decoder.wrongKind(node, expected: "an object with a text under each key")
            return []
        }
        return members.compactMap { member in
            decoder.label(member.value, limit: ListenerFile.textLimits.attachment, isEmptyGood: true)
                .map { BeaconNote.Attachment(key: member.key, text: $0) }
        }
    }

    private mutating func addressKey(_ node: JSONNode) -> ListenerFile.AddressKeyFile? {
        guard let object = decoder.object(node, keys: ListenerFile.addressKeyKeys) else { return nil }
        let name = ownName(decoder.required("name", in: object, "whose addresses these are"))
        let file = decoder.required("file", in: object, "a file of mode 0600 that holds the key as 32 digits")
        guard let file, let path = decoder.filePath(file, of: "a file") else { return nil }
        if path.utf8.count == 32, path.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) {
            decoder.error(
                "this looks like the key itself; put it into a file of mode 0600 and give the file's name", at: file)
            return nil
        }
        return name.map { ListenerFile.AddressKeyFile(name: $0, file: path) }
    }
}
