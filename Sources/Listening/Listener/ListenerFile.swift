internal import BeaconFrames
public import BluetoothTypes
public import Configuration
internal import HCI
internal import Profiles
public import Sightings

/// What a receiver is, whom it knows, and what it keeps of what it hears: the contents of one JSON file, checked and with
/// all defaults filled in.
public struct ListenerFile: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// What is added to a level at most, in dB, up or down.
    public static let levelOffsets = -40...40

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public var name: String
    /// `nil` takes the first that there is.
    public var adapter: AdapterName?
    /// How is listened.
    public var settings: ScanSettings
    /// Where the receiver is; `nil` where nobody says.
    public var place: Place?
    /// What this receiver shows too little, in dB: it is added to each level.
    public var levelOffset: Int
    /// Whose advertisements have a name, in the order of the file.
    public var known: [Entry]
    /// The directory of the keys of ephemeral ids and of addresses, as it stands in the file; `nil` for those of each
    /// fleet, and for the directory of this file.
    public var keys: String?
    /// The keys of devices that change their address.
    public var addressKeys: [AddressKeyFile]
    /// Whether beacons without a name are told one by one; otherwise they are counted.
    public var listsStrangers: Bool
    /// The keys of the file that only the service makes use of, in its order.
    public var serviceKeys: [String]

    /// Where a receiver is, as the fleet's groups are called.
    public struct Place: Hashable, Sendable {
        public var site: String?
        public var floor: String?
        public var room: String?
        /// Metres east and north on the plan of the site.
        public var position: [JSONNumber]?

        /// The names from the outermost to the innermost, those that are there.
        public var names: [String] { [site, floor, room].compactMap(\.self) }

        /// As it stands in the file; what is not known is null.
        public var json: JSONValue {
            .record([
                ("site", .optional(site, JSONValue.string)), ("floor", .optional(floor, JSONValue.string)),
                ("room", .optional(room, JSONValue.string)),
                ("position", .optional(position) { .array($0.map(JSONValue.number)) }),
            ])
        }
    }

    /// One element of `known`.
    public enum Entry: Hashable, Sendable {
        /// All beacons of a fleet: its file, its manifest, or the directory of that.
        case fleet(String)
        /// What a profile sends.
        case profile(String)
        /// The things of an inventory.
        case inventory(String)
        case beacon(Beacon)
    }

    /// A beacon that stands in the file itself.
    public struct Beacon: Hashable, Sendable {
        public var name: String
        /// At least one.
        public var identities: [BeaconIdentity]
        public var note: BeaconNote
    }

    /// Whose addresses a key makes.
    public struct AddressKeyFile: Hashable, Sendable {
        /// What the device, or whoever carries it, is called.
        public var name: String
        /// A file for its owner alone, as it stands in the file.
        public var file: String
    }
}

/// What somebody has written down about a beacon.
public struct BeaconNote: Hashable, Sendable {
    /// In the order of the file, each once.
    public var tags: [String] = []
    public var attachments: [Attachment] = []

    /// Nothing is written down.
    public init() {}

    /// A text under a key, such as who sits at the desk.
    public struct Attachment: Hashable, Sendable {
        public var key: String
        public var text: String

        /// See the properties of the same names.
        public init(key: String, text: String) {
            self.key = key
            self.text = text
        }
    }
}

extension ListenerFile {
    /// Reads a listener file. Of the sections that only the service uses (zones, hooks, mqtt, history) only the kind of
    /// value is checked.
    ///
    /// - Returns: the file, `nil` if it has an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (file: ListenerFile?, problems: [FileProblem]) {
        ConfigurationDecoder.decode(octets) { decoder, root in
            let file = file(root, &decoder)
            for key in serviceLists {
                for element in decoder.list(root[key], of: key) ?? [] { isObject(element, &decoder) }
            }
            for key in serviceObjects { if let node = root[key] { isObject(node, &decoder) } }
            return file
        }
    }

    /// Reads the outermost object of a listener file. The sections that only the service uses are not checked.
    ///
    /// - Returns: the file, `nil` if it has an error, and every problem in the order of the file.
    package static func decode(_ root: JSONNode) -> (file: ListenerFile?, problems: [FileProblem]) {
        var decoder = ConfigurationDecoder()
        let file = file(root, &decoder)
        let problems = decoder.problems
        return (problems.contains(where: \.isError) ? nil : file, problems.sorted { $0.position < $1.position })
    }

    private static func file(_ root: JSONNode, _ decoder: inout ConfigurationDecoder) -> ListenerFile? {
        var reader = ListenerReader(decoder: decoder)
        let file = reader.file(root)
        decoder = reader.decoder
        return file
    }

    private static func isObject(_ node: JSONNode, _ decoder: inout ConfigurationDecoder) {
        if node.members == nil { decoder.wrongKind(node, expected: "an object") }
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
    var decoder: ConfigurationDecoder
    /// Who has each name and each identity already.
    private var names: [String: JSONPath] = [:]
    private var identities: [BeaconIdentity: JSONPath] = [:]

    init(decoder: ConfigurationDecoder) { self.decoder = decoder }

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

/// The values that only listener files have.
extension ConfigurationDecoder {
    /// What tells a beacon from others.
    ///
    /// - Parameter key: One of `identityKeys`.
    mutating func identity(_ key: String, _ node: JSONNode) -> BeaconIdentity? {
        switch key {
        case "ibeacon":
            guard let object = object(node, keys: ["uuid", "major", "minor"]) else { return nil }
            let uuid = octets(required("uuid", in: object, "16 bytes"), count: 16)
            let major = integer(required("major", in: object, "0...65535"), in: 0...65_535)
            let minor = integer(required("minor", in: object, "0...65535"), in: 0...65_535)
            guard let uuid = uuid.flatMap({ FixedOctets<16>($0) }), let major, let minor else { return nil }
            return .iBeacon(
                uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
        case "altbeacon":
            guard let object = object(node, keys: ["companyId", "id"]) else { return nil }
            let company = code(
                required("companyId", in: object, "0...65535"), in: 0...65_535, digits: 4)
            let id = octets(required("id", in: object, "20 bytes"), count: 20)
            guard let company, let id = id.flatMap({ FixedOctets<20>($0) }) else { return nil }
            return .altBeacon(companyID: UInt16(truncatingIfNeeded: company), id: id)
        case "uid":
            guard let object = object(node, keys: ["namespace", "instance"]) else { return nil }
            let namespace = octets(required("namespace", in: object, "10 bytes"), count: 10)
            let instance = octets(required("instance", in: object, "6 bytes"), count: 6)
            guard let namespace = namespace.flatMap({ FixedOctets<10>($0) }),
                let instance = instance.flatMap({ FixedOctets<6>($0) })
            else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case "url":
            guard let text = self.text(node) else { return nil }
            do throws(URLEncodingError) {
                return .eddystoneURL(try CompressedURL(text))
            } catch {
                self.error(ProblemText.shortened(error.description, to: 400), at: node)
                return nil
            }
        default:
            guard let text = self.text(node) else { return nil }
            guard text.utf8.count == 17,
                text.utf8.enumerated().allSatisfy({ ($0 % 3 == 2) == ($1 == UInt8(ascii: ":")) }),
                let address = DeviceAddress(text)
            else {
                error("\(ProblemText.quoted(text)) is no address such as \"C0:01:02:03:04:05\"", at: node)
                return nil
            }
            return .address(address)
        }
    }
}
