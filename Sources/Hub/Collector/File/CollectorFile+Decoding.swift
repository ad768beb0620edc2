internal import Airtime
public import Configuration
internal import Messaging
internal import Sightings
internal import Sites

extension CollectorFile {
    /// Reads a collector file.
    ///
    /// - Returns: the file, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (file: CollectorFile?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var reader = CollectorReader()
        var file = root.flatMap { reader.file($0) }
        let (broker, found) = BrokerSection.decode(root?["mqtt"])
        file?.broker = broker
        for key in listenersOwn {
            guard let node = root?["mqtt"]?[key] else { continue }
            reader.decoder.warning("only listeners publish this: a collector passes it over", at: node)
        }
        let problems = faults + reader.decoder.problems + found
        let hasErrors = problems.contains(where: \.isError)
        return (hasErrors ? nil : file, problems.sorted { $0.position < $1.position })
    }

    /// Every key of a collector file.
    static let keys = [
        "$schema", "version", "name", "floors", "receivers", "beacons", "strangers", "cellM", "fastestMPerS", "mqtt",
        "history", "postgresql",
    ]
    /// What listeners alone make use of in their broker's part.
    private static let listenersOwn = ["beacons", "espresense", "theengs", "raddec"]
    static let floorKeys = ["name", "site", "rooms"]
    static let roomKeys = ["name", "outline"]
    static let receiverKeys = ["name", "floor", "room", "position", "rssiOffsetDb"]
    static let historyKeys = ["file", "days"]
    static let siteStoreKeys = ["connection", "passwordFile"]
    static let days = 1...36_500
    /// Of a connection's text, in octets.
    static let connectionLimit = 4096
    static let beaconKeys = ["name", "identity", "intervalMs", "measuredPowerAt1mDbm"]

    /// In thousandths.
    static let extent = -100_000_000...100_000_000
    static let cells = 100...10_000
    static let speeds = 50...50_000
    static let intervals = 20_000...10_485_759
    static let offsets = -40...40
    /// Floors, rooms of a floor, corners of a room.
    static let partLimit = 1000
    static let receiverLimit = 5000
    static let beaconLimit = 100_000

    enum Strangers: String, CaseIterable { case count, list }
}

/// Reads a collector file from its outermost object inwards.
private struct CollectorReader {
    var decoder = ConfigurationDecoder()
    private var floors: [String] = []
    /// Who has each name and each identity already.
    private var names: [String: JSONPath] = [:]
    private var identities: [BeaconIdentity: JSONPath] = [:]

    mutating func file(_ node: JSONNode) -> CollectorFile? {
        guard isNoOtherOfOurs(node), decoder.expect(.collector, node),
            let root = decoder.object(
                node, keys: CollectorFile.keys,
                hint: { key in
                    key == "shards"
                        ? "delete this line: one collector works for a whole site, and with \"postgresql\" others stand by for it"
                        : nil
                })
        else {
            return nil
        }
        _ = decoder.text(root["$schema"])
        decoder.version(decoder.required("version", in: root, "\(CollectorFile.version) for this format"))
        let name = decoder.name(decoder.required("name", in: root, "what this site is called, such as \"museum\""))
        let floors = elements(root["floors"], of: "floors", limit: CollectorFile.partLimit).compactMap { floor($0) }
        self.floors = floors.map(\.name)
        let list = decoder.required("receivers", in: root, "who hears, and where")
        let receivers = elements(list, of: "receivers", limit: CollectorFile.receiverLimit)
            .compactMap { receiver($0) }
        if let list, !floors.isEmpty, !receivers.isEmpty, receivers.allSatisfy({ $0.position == nil }) {
            decoder.warning("none of them has a \"position\": nobody's room or place can be told", at: list)
        }
        names = [:]
        let beacons = elements(root["beacons"], of: "beacons", limit: CollectorFile.beaconLimit)
            .compactMap { beacon($0) }
        let strangers = decoder.word(root["strangers"], of: CollectorFile.Strangers.self)
        let cell = decoder.thousandths(root["cellM"], in: CollectorFile.cells, unit: "m")
        let speed = decoder.thousandths(root["fastestMPerS"], in: CollectorFile.speeds, unit: "m/s")
        let history = history(root["history"])
        let siteStore = siteStore(root["postgresql"])
        guard let name else { return nil }
        var file = CollectorFile(name: name)
        (file.floors, file.receivers, file.beacons) = (floors, receivers, beacons)
        file.listsStrangers = strangers == .list
        file.cellMeters = cell.map { Double($0) / 1000 }
        if let speed { file.fastest = Double(speed) / 1000 }
        (file.history, file.siteStore) = (history, siteStore)
        return file
    }

    /// Whether it is neither what a collector keeps nor a line that it reads.
    private mutating func isNoOtherOfOurs(_ node: JSONNode) -> Bool {
        if node["collector"] != nil, node["written"] != nil {
            decoder.error("this is what a collector keeps for `pharos where`, not a collector file", at: node)
        } else if node["event"] != nil, node["version"] == nil {
            decoder.error(
                "this is a recording, not a collector file: name the collector file first, and this with --from",
                at: node)
        } else {
            return true
        }
        return false
    }

    private mutating func elements(_ node: JSONNode?, of what: String, limit: Int) -> [JSONNode] {
        guard let node, let elements = decoder.list(node, of: what) else { return [] }
        guard elements.count <= limit else {
            decoder.error("\(elements.count) \(what) are more than the \(limit) that there may be", at: node)
            return []
        }
        return elements
    }

    /// A name that nobody else of its kind has.
    private mutating func ownName(_ node: JSONNode?) -> String? {
        guard let node, let name = decoder.name(node) else { return nil }
        if let other = names.updateValue(node.path, forKey: name) {
            decoder.error("\(other) is this name already", at: node)
        }
        return name
    }

    // MARK: The site

    private mutating func floor(_ node: JSONNode) -> CollectorFile.Floor? {
        guard let object = decoder.object(node, keys: CollectorFile.floorKeys) else { return nil }
        let name = decoder.label(decoder.required("name", in: object, "what the floor is called"))
        let site = decoder.filePath(
            decoder.required("site", in: object, "the floor's site file, such as \"ground.json\""), of: "a file")
        let rooms = elements(object["rooms"], of: "rooms", limit: CollectorFile.partLimit).compactMap { room($0) }
        guard let name, let site else { return nil }
        if floors.contains(name), let node = object["name"] {
            decoder.error("the floor \(ProblemText.quoted(name)) stands here twice", at: node)
        }
        floors.append(name)
        return .init(name: name, site: site, rooms: rooms)
    }

    private mutating func room(_ node: JSONNode) -> CollectorFile.Room? {
        guard let object = decoder.object(node, keys: CollectorFile.roomKeys) else { return nil }
        let name = decoder.label(decoder.required("name", in: object, "what the room is called"))
        let list = decoder.required("outline", in: object, "its corners, such as [[0, 0], [4, 0], [4, 3], [0, 3]]")
        let parts = elements(list, of: "corners", limit: CollectorFile.partLimit)
        let corners = parts.compactMap { position($0) }
        guard let name, let list, corners.count == parts.count else { return nil }
        if (try? FloorOutline(corners: corners)) == nil {
            decoder.error("these corners enclose no room: three or more, in their order round it", at: list)
        }
        return .init(name: name, corners: corners)
    }

    private mutating func receiver(_ node: JSONNode) -> CollectorFile.Receiver? {
        guard let object = decoder.object(node, keys: CollectorFile.receiverKeys) else { return nil }
        let name = ownName(decoder.required("name", in: object, "what the receiver is called"))
        let floor = decoder.label(object["floor"])
        let room = decoder.label(object["room"])
        let position = position(object["position"])
        let offset = decoder.integer(object["rssiOffsetDb"], in: CollectorFile.offsets, unit: "dB")
        if let floor, let node = object["floor"], !floors.contains(floor) {
            if floors.isEmpty {
                decoder.error("\(ProblemText.quoted(floor)) is not known: there are no \"floors\"", at: node)
            } else {
                decoder.notAWord(floor, floors, at: node)
            }
        }
        if floor == nil, floors.count > 1, let node = object["position"] {
            decoder.error("on which floor is this? There are \(floors.joined(separator: ", "))", at: node)
        }
        return name.map {
            .init(name: $0, floor: floor, room: room, position: position, levelOffset: offset ?? 0)
        }
    }

    private mutating func position(_ node: JSONNode?) -> FloorPosition? {
        guard let node else { return nil }
        guard let parts = node.elements, parts.count == 2 else {
            decoder.wrongKind(node, expected: "a place such as [3.5, 12], metres east and north,")
            return nil
        }
        let numbers = parts.compactMap { decoder.thousandths($0, in: CollectorFile.extent, unit: "m") }
        return numbers.count == 2 ? FloorPosition(x: Double(numbers[0]) / 1000, y: Double(numbers[1]) / 1000) : nil
    }

    // MARK: What is told and kept

    private mutating func history(_ node: JSONNode?) -> CollectorFile.History? {
        guard let node, let object = decoder.object(node, keys: CollectorFile.historyKeys) else { return nil }
        var history = CollectorFile.History()
        history.file = decoder.filePath(object["file"], of: "a file")
        history.days = decoder.integer(object["days"], in: CollectorFile.days, unit: "days") ?? history.days
        return history
    }

    private mutating func siteStore(_ node: JSONNode?) -> CollectorFile.SiteStore? {
        guard let node,
            let object = decoder.object(
                node, keys: CollectorFile.siteStoreKeys,
                hint: { key in
                    ["password", "user", "host", "port", "dbname", "database", "url"].contains(key)
                        ? "write \"connection\": \"host=db dbname=pharos user=pharos\", and the password into a file of mode "
                            + "0600 that \"passwordFile\" names" : nil
                })
        else { return nil }
        let required = decoder.required(
            "connection", in: object, "where the database is, such as \"host=db dbname=pharos\"")
        let file = decoder.filePath(object["passwordFile"], of: "a file")
        guard let required, let text = decoder.text(required) else { return nil }
        guard !text.isEmpty, text.utf8.count <= CollectorFile.connectionLimit, !text.utf8.contains(0) else {
            decoder.error("what libpq takes is expected, such as \"host=db dbname=pharos\"", at: required)
            return nil
        }
        if Self.hasPassword(text) {
            decoder.error(
                "a password does not stand here; put it into a file of mode 0600, \"passwordFile\"", at: required)
        }
        return .init(connection: text, passwordFile: file)
    }

    /// Whether a connection's text has a password in it: `password=…`, that of a key, or a URI's `//USER:PASSWORD@`.
    private static func hasPassword(_ text: String) -> Bool {
        let words = text.split { " \t\n?&".contains($0) }
        let keys = words.map { $0.prefix { $0 != "=" } }
        if keys.contains("password") || keys.contains("sslpassword") { return true }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].hasSuffix(":"), parts[1].isEmpty else { return false }
        // Behind the last @ stands the host.
        guard let end = parts[2].lastIndex(of: "@") else { return false }
        return parts[2][..<end].contains(":")
    }

    // MARK: Beacons

    private mutating func beacon(_ node: JSONNode) -> CollectorFile.Beacon? {
        guard let object = decoder.object(node, keys: CollectorFile.beaconKeys) else { return nil }
        let name = ownName(decoder.required("name", in: object, "what the beacon is called"))
        let identity = identity(decoder.required("identity", in: object, "such as \"ibeacon:UUID-1-2\""))
        let interval = decoder.thousandths(object["intervalMs"], in: CollectorFile.intervals, unit: "ms")
        let power = decoder.integer(
            object["measuredPowerAt1mDbm"], in: DistanceEstimate.plausiblePowers, unit: "dBm")
        guard let name, let identity else { return nil }
        return .init(
            name: name, identity: identity, intervalMicroseconds: interval, calibrationAtOneMeter: power)
    }

    private mutating func identity(_ node: JSONNode?) -> BeaconIdentity? {
        guard let node, let text = decoder.text(node) else { return nil }
        guard let identity = BeaconIdentity(text) else {
            decoder.error(
                "\(ProblemText.quoted(text)) is no beacon; write ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, "
                    + "uid:NAMESPACE-INSTANCE, url:TEXT or address:AA:BB:CC:DD:EE:FF", at: node)
            return nil
        }
        if let other = identities.updateValue(node.path, forKey: identity) {
            decoder.error("this is the identity of \(other) already", at: node)
        }
        return identity
    }
}
