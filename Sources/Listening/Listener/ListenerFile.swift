public import BluetoothTypes
public import Configuration
internal import HCI
public import Sightings

/// A listener file: a receiver, its known beacons, and the uses of their sightings, such as zones and hooks. Keys that
/// the file omits have their default values.
public struct ListenerFile: Equatable, Sendable {
    /// The range of ``levelOffset``, in dB.
    public static let levelOffsets = -40...40

    /// The name of the receiver: letters, digits, `.`, `_` and `-`, at most 64 characters.
    public var name: String
    /// The adapter; `nil` for the first adapter.
    public var adapter: AdapterName?
    public var settings: ScanSettings
    /// The place of the receiver; `nil` if the file does not name it.
    public var place: Place?
    /// A correction that is added to each received level, in dB.
    public var levelOffset: Int
    /// The range of plausible levels in dBm, after the correction by ``levelOffset``; `nil` for all levels. Reports
    /// with other levels are ignored.
    public var plausibleLevels: ClosedRange<Int8>?
    /// The known beacons, in the order of the file.
    public var known: [Entry]
    /// The directory of the keys of ephemeral ids and addresses, as written in the file; `nil` to use the keys
    /// directory of each fleet, and the directory of this file for other keys.
    public var keys: String?
    /// The keys of devices that change their address.
    public var addressKeys: [AddressKeyFile]
    /// True if beacons that are not known are reported one by one. Otherwise they are only counted.
    public var listsStrangers: Bool
    /// The names of the keys in the file that only the service reads, in the order of the file.
    public var serviceKeys: [String]

    /// The place of a receiver, with the names of the fleet's groups.
    public struct Place: Hashable, Sendable {
        public var site: String?
        public var floor: String?
        public var room: String?
        /// The position on the plan of the site: metres east, then metres north.
        public var position: [JSONNumber]?

        /// The names that the file gives, from the site to the room.
        public var names: [String] { [site, floor, room].compactMap(\.self) }

        /// The place as it is written in the file, with null for missing keys.
        public var json: JSONValue {
            .record([
                ("site", .optional(site, JSONValue.string)), ("floor", .optional(floor, JSONValue.string)),
                ("room", .optional(room, JSONValue.string)),
                ("position", .optional(position) { .array($0.map(JSONValue.number)) }),
            ])
        }
    }

    /// An element of `known`: the path of a file with beacons, or one beacon.
    public enum Entry: Hashable, Sendable {
        /// All beacons of a fleet: a fleet file, a manifest, or the directory of a manifest.
        case fleet(String)
        /// The advertisements of a profile.
        case profile(String)
        /// The items of an inventory.
        case inventory(String)
        case beacon(Beacon)
    }

    /// A beacon that is described in the file itself.
    public struct Beacon: Hashable, Sendable {
        public var name: String
        /// The patterns by which the beacon is recognised, at least one: identities, a local name, or a property that
        /// several devices share.
        public var patterns: [RegionPattern]
        public var note: BeaconNote
    }

    /// The identity resolving key of a device that changes its address.
    public struct AddressKeyFile: Hashable, Sendable {
        /// The name of the device, or of the person who carries it.
        public var name: String
        /// The file of the key, as written in the listener file. Only its owner may read it.
        public var file: String
    }
}

/// The tags and attachments of a beacon. Attachments are keys and texts of the user, such as a link to a page.
public struct BeaconNote: Hashable, Sendable {
    /// The tags without repetitions, in the order of the file.
    public var tags: [String] = []
    public var attachments: [BeaconAttachment] = []

    /// Creates a note without tags and attachments.
    public init() {}
}

extension ListenerFile {
    /// Reads a listener file. The sections that only the service reads (zones, mqtt, history, hooks) must be lists or
    /// objects; their contents are not checked.
    ///
    /// - Returns: The file, `nil` if it has an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (file: ListenerFile?, problems: [FileProblem]) {
        ConfigurationDecoder.decode(octets) { decoder, root in
            let file = read(root, &decoder)
            for key in serviceLists { _ = decoder.read(key, in: root) }
            for key in serviceObjects { _ = decoder.read(key, in: root) }
            return file
        }
    }

    /// Reads the outermost object of a listener file. The sections that only the service reads are not checked.
    ///
    /// - Returns: The file, `nil` if it has an error, and every problem in the order of the file.
    package static func decode(_ root: JSONNode) -> (file: ListenerFile?, problems: [FileProblem]) {
        var decoder = ConfigurationDecoder()
        let file = read(root, &decoder)
        let problems = decoder.problems
        return (problems.contains(where: \.isError) ? nil : file, problems.sorted { $0.position < $1.position })
    }

    /// Reads the valid values of the outermost object of a listener file with an error, to find further problems.
    package static func decodePart(_ root: JSONNode) -> ListenerFile? {
        var decoder = ConfigurationDecoder()
        return read(root, &decoder)
    }

    private static func read(_ root: JSONNode, _ decoder: inout ConfigurationDecoder) -> ListenerFile? {
        var reader = ListenerReader(decoder: decoder)
        defer { decoder = reader.decoder }
        return reader.file(root)
    }

    /// The keys that only the service reads.
    fileprivate static let serviceLists = ["zones", "hooks"].map {
        Key($0, .list($0, 1...Int.max, of: .object), "For the service.")
    }
    fileprivate static let serviceObjects = ["mqtt", "history"].map { Key($0, .object, "For the service.") }
}

extension ValueType<JSONNode> {
    /// An object with any keys.
    fileprivate static var object: ValueType {
        ValueType(schema: ["type": "object"]) { decoder, node in
            if node.members != nil { return node }
            decoder.wrongKind(node, expected: "an object")
            return nil
        }
    }
}

extension RegionPattern {
    /// The word for the pattern in messages.
    fileprivate var noun: String {
        switch self {
        case .iBeacon, .eddystoneUID, .identity: "identity"
        case .localName: "local name"
        case .service: "service"
        }
    }
}

/// Reads a listener file from its outermost object inwards.
private struct ListenerReader {
    var decoder: ConfigurationDecoder
    /// The path in the file of each name that was read so far.
    private var names: [String: JSONPath] = [:]
    /// The path in the file of each identity that was read so far.
    private var patterns: [RegionPattern: JSONPath] = [:]

    init(decoder: ConfigurationDecoder) { self.decoder = decoder }

    mutating func file(_ node: JSONNode) -> ListenerFile? {
        let service: [any DeclaredKey] = ListenerFile.serviceLists + ListenerFile.serviceObjects
        guard decoder.expect(.listener, node),
            let root = decoder.open(ListenerKeys.section(service: service), node)
        else { return nil }
        _ = decoder.read(FileHeader.schema, in: root)
        _ = decoder.read(FileHeader.version, in: root)
        let name = decoder.read(ListenerKeys.name, in: root)
        let adapter = decoder.read(ListenerKeys.adapter, in: root)
        let settings = decoder.read(ListenerKeys.scan, in: root).map { scanSettings($0) }
        let place = decoder.read(ListenerKeys.place, in: root).map { self.place($0) }
        let levelOffset = decoder.read(ListenerKeys.levelOffset, in: root)
        let plausible = decoder.read(ListenerKeys.plausible, in: root).flatMap { plausibleLevels($0, in: root) }
        let known = (decoder.read(ListenerKeys.known, in: root) ?? []).compactMap { entry($0) }
        let keys = decoder.read(ListenerKeys.keys, in: root)
        let addressKeys = (decoder.read(ListenerKeys.addressKeys, in: root) ?? []).compactMap { addressKey($0) }
        let strangers = decoder.read(ListenerKeys.strangers, in: root)
        let serviceNames = Set(service.map(\.name))
        guard let name else { return nil }
        return ListenerFile(
            name: name, adapter: adapter, settings: settings ?? .standard, place: place,
            levelOffset: levelOffset ?? 0, plausibleLevels: plausible, known: known, keys: keys,
            addressKeys: addressKeys, listsStrangers: strangers == .list,
            serviceKeys: root.members?.map(\.key).filter(serviceNames.contains) ?? [])
    }

    // MARK: The receiver

    private mutating func plausibleLevels(_ levels: [Int], in root: JSONNode) -> ClosedRange<Int8>? {
        // The decoder has already reported a wrong number of levels, and levels that are out of range.
        let bounds = levels.compactMap { Int8(exactly: $0) }
        guard bounds.count == 2 else { return nil }
        guard bounds[0] <= bounds[1] else {
            decoder.error("write the lowest level first, then the highest", at: root["plausibleDbm"] ?? root)
            return nil
        }
        return bounds[0]...bounds[1]
    }

    private mutating func scanSettings(_ object: JSONNode) -> ScanSettings {
        let mode = decoder.read(ScanKeys.mode, in: object)
        let interval = decoder.read(ScanKeys.interval, in: object).flatMap { ScanInterval(microseconds: $0) }
        let window = decoder.read(ScanKeys.window, in: object).flatMap { ScanInterval(microseconds: $0) }
        // A value that is out of range has been reported.
        guard let interval, window != nil || object["windowMs"] == nil else { return .standard }
        if var settings = try? ScanSettings(isActive: mode == .active, interval: interval, window: window ?? interval) {
            settings.isCoded = decoder.read(ScanKeys.coded, in: object) ?? false
            return settings
        }
        decoder.error(
            "the scan window is longer than the scan interval of \(interval)", at: object["windowMs"] ?? object)
        return .standard
    }

    private mutating func place(_ object: JSONNode) -> ListenerFile.Place {
        ListenerFile.Place(
            site: decoder.read(PlaceKeys.site, in: object), floor: decoder.read(PlaceKeys.floor, in: object),
            room: decoder.read(PlaceKeys.room, in: object),
            position: decoder.read(PlaceKeys.position, in: object)?.map { JSONNumber(thousandths: $0) })
    }

    // MARK: The known beacons

    private mutating func entry(_ object: JSONNode) -> ListenerFile.Entry? {
        if object["fleet"] != nil { return decoder.read(KnownKeys.fleet, in: object).map { .fleet($0) } }
        if object["profile"] != nil { return decoder.read(KnownKeys.profile, in: object).map { .profile($0) } }
        if object["inventory"] != nil { return decoder.read(KnownKeys.inventory, in: object).map { .inventory($0) } }
        let name = uniqueName(KnownKeys.name, in: object)
        var patterns: [RegionPattern] = []
        for key in KnownKeys.identities {
            guard let node = object[key.name], let pattern = decoder.read(key, in: object) else { continue }
            if let other = self.patterns.updateValue(node.path, forKey: pattern) {
                decoder.error("\(other) is the same \(pattern.noun)", at: node)
            }
            patterns.append(pattern)
        }
        var note = BeaconNote()
        note.tags = tags(object)
        note.attachments = decoder.read(KnownKeys.attachments, in: object) ?? []
        return name.map { .beacon(ListenerFile.Beacon(name: $0, patterns: patterns, note: note)) }
    }

    /// Reads a name, and reports an error if another beacon or device of the file has the same name.
    private mutating func uniqueName(_ key: Key<String>, in object: JSONNode) -> String? {
        guard let node = object[key.name], let name = decoder.read(key, in: object) else { return nil }
        if let other = names.updateValue(node.path, forKey: name) {
            decoder.error("\(other) has the same name; list all identities of a beacon in one element", at: node)
        }
        return name
    }

    private mutating func tags(_ object: JSONNode) -> [String] {
        let tags = decoder.read(KnownKeys.tags, in: object) ?? []
        var seenTags: Set<String> = []
        for node in object["tags"]?.elements ?? [] {
            guard let tag = node.string, !seenTags.insert(tag).inserted else { continue }
            decoder.error("the tag \(ProblemText.quoted(tag)) is in the list twice", at: node)
        }
        return tags
    }

    private mutating func addressKey(_ object: JSONNode) -> ListenerFile.AddressKeyFile? {
        let name = uniqueName(AddressKeyKeys.name, in: object)
        let file = decoder.read(AddressKeyKeys.file, in: object)
        guard let name, let file else { return nil }
        return ListenerFile.AddressKeyFile(name: name, file: file)
    }
}
