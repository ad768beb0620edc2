internal import Configuration
internal import Sightings

/// One line of a receiver, in JSON. Such lines are written by `pharos scan --json`, `pharos listen --print --json` or
/// an MQTT subscriber (`mosquitto_sub -F %J`).
public struct ReceiverLine: Hashable, Sendable {
    /// The receiver; `nil` if the line does not name it.
    public var receiver: String?
    /// The time by the receiver's wall clock, in milliseconds since 1970; `nil` if the line has none.
    public var unixMilliseconds: Int?
    /// The number of the batch that the line contains; `nil` for other lines.
    public var number: Number?
    /// A text computed from the set of beacon names that the receiver knows (see ``SightingBatch/knownNames``).
    var knownNames: String?
    /// True if the line says that the receiver works, false if it says that it does not; `nil` if it says nothing about
    /// this.
    public var isListening: Bool?
    /// True if the receiver reports its end, or the broker reports the receiver as offline.
    public var isOff = false
    public var beacons: [Beacon] = []
    /// True if the receiver also received devices that the line does not list.
    public var hasOthers = false

    /// False for a message on a topic that does not belong to a receiver, such as the state of a zone.
    public private(set) var isAboutReceiver = true

    /// True if the line proves that the receiver receives advertisements.
    var provesReception: Bool { !beacons.isEmpty || hasOthers }

    /// The number of a batch. Two batches with equal numbers are one batch that has arrived twice.
    public struct Number: Hashable, Sendable {
        /// The id of the receiver program's run.
        public var boot: String
        /// The number of the batch in its run.
        public var sequence: Int
        /// The end of the batch's time window, in milliseconds since the receiver's machine started.
        public var bootMilliseconds: Int
    }

    /// One beacon in a line.
    public struct Beacon: Hashable, Sendable {
        /// The name of the beacon; `nil` if the receiver does not know it.
        public var name: String?
        /// The identity of the beacon; `nil` if the line has only the name.
        public var identity: String?
        public var reports: Int
        /// The level in dBm; `nil` if no report had a level.
        public var level: Double?
        /// The level at a distance of 1 m, in dBm.
        public var powerAtOneMeter: Int?
        /// The battery voltage from the beacon's telemetry, in millivolts.
        public var batteryMillivolts: Int?
        /// The temperature from the beacon's telemetry, in thousandths of a degree Celsius.
        public var temperature: Int?

        /// Creates a beacon of a line.
        public init(
            name: String?, identity: String? = nil, reports: Int = 1, level: Double?, powerAtOneMeter: Int? = nil
        ) {
            self.name = name
            self.identity = identity
            self.reports = reports
            self.level = level
            self.powerAtOneMeter = powerAtOneMeter
        }
    }

    /// Creates a line.
    public init(receiver: String?, unixMilliseconds: Int?, beacons: [Beacon] = []) {
        self.receiver = receiver
        self.unixMilliseconds = unixMilliseconds
        self.beacons = beacons
    }

    /// True if the line has no beacon, no state of the receiver, and no batch number.
    public var isEmpty: Bool { beacons.isEmpty && isListening == nil && number == nil }

    /// The maximum length of a line, in bytes.
    public static let limit = 1 << 18
    /// The maximum length of a name or identity, in bytes.
    static let nameLimit = 400
    /// The range of possible uptimes of a machine, in milliseconds: up to 100 years.
    private static let uptimes = 0...3_155_760_000_000

    /// Reads a line. Returns `nil` if the line is too long or is not a JSON object.
    public init?(_ octets: [UInt8]) {
        guard octets.count <= Self.limit, let node = JSONDocument.parse(octets).root, node.members != nil else {
            return nil
        }
        if let topic = node["topic"]?.string {
            self.init(topic: topic, time: node["tst"]?.string.flatMap(Self.milliseconds), node["payload"])
        } else {
            self.init(node)
        }
    }

    /// Reads a message of a broker. Returns `nil` if the message is not about a receiver.
    public init?(topic: String, payload octets: [UInt8]) {
        guard octets.count <= Self.limit else { return nil }
        // A status is a word, not JSON.
        let word = String(decoding: octets, as: UTF8.self)
        let payload =
            ["online", "offline"].contains(word)
            ? JSONNode(.string(word), at: JSONPosition(line: 1, column: 1), path: .root)
            : JSONDocument.parse(octets).root
        guard let payload, payload.string != nil || payload.members != nil else { return nil }
        self.init(topic: topic, time: nil, payload)
        if receiver == nil { return nil }
    }

    private init(_ node: JSONNode) {
        receiver = (node["receiver"]?.string ?? node["listener"]?.string).flatMap(Self.name)
        unixMilliseconds = node["at"]?.string.flatMap(Self.milliseconds)
        if node["b"]?.elements != nil {
            read(batch: node)
            return
        }
        switch node["event"]?.string {
        case "report":
            let power = node["frames"]?.elements?.lazy.compactMap(Self.power).first
            let telemetry = node["frames"]?.elements?.first { $0["type"]?.string == "eddystone-tlm" }
            read(node, reports: 1, level: node["rssiDbm"]?.integer.map(Double.init), power: power, telemetry)
        case "beacons":
            isListening = Self.isListening(node)
            hasOthers = (node["strangers"]?["reports"]?.integer ?? 0) > 0
            for beacon in node["beacons"]?.elements ?? [] {
                guard let reports = beacon["heard"]?.integer, reports > 0 else { continue }
                read(
                    beacon, reports: min(reports, 1_000_000),
                    level: beacon["rssiDbm"]?["mean"]?.thousandths.map { Double($0) / 1000 }, power: nil,
                    beacon["telemetry"])
            }
        case "state": read(state: node)
        default: break
        }
    }

    /// Reads a message. Its topic is `pharos/SITE/sightings/SHARD/RECEIVER`, or the topic of the status or the state of
    /// a receiver.
    private init(topic: String, time: Int?, _ payload: JSONNode?) {
        let topicLevels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        unixMilliseconds = time
        isAboutReceiver =
            topicLevels.count == 5 && topicLevels[0] == "pharos"
            && ["sightings", "receivers"].contains(topicLevels[2])
        guard isAboutReceiver, let payload else { return }
        if topicLevels[2] == "sightings" {
            receiver = Self.name(topicLevels[4])
            read(batch: payload)
        } else if topicLevels[2] == "receivers" {
            receiver = Self.name(topicLevels[3])
            if topicLevels[4] == "status" {
                isListening = payload.string.map { $0 == "online" }
                isOff = payload.string == "offline"
            }
            if topicLevels[4] == "state" {
                read(state: payload)
                hasOthers = (payload["reportsPerS"]?.integer ?? 0) > 0
            }
        }
    }

    private mutating func read(state node: JSONNode) {
        isListening = Self.isListening(node)
        isOff = node["state"]?.string == "off"
    }

    private mutating func read(batch node: JSONNode) {
        guard node["v"]?.integer == 1, let boot = node["boot"]?.string.flatMap(Self.name),
            let sequence = node["seq"]?.integer, let uptime = node["bootMs"]?.integer, Self.uptimes.contains(uptime)
        else { return }
        knownNames = node["known"]?.string.flatMap(Self.name)
        number = Number(boot: boot, sequence: sequence, bootMilliseconds: uptime)
        for beacon in node["b"]?.elements ?? [] {
            guard let id = beacon["id"]?.string.flatMap(Self.name), let reports = beacon["n"]?.integer, reports > 0
            else { continue }
            // The id is an identity if it has a colon, otherwise a name.
            let isIdentity = id.contains(":")
            var entry = Beacon(
                name: isIdentity ? nil : id, identity: isIdentity ? id : nil, reports: min(reports, 1_000_000),
                level: Self.level(beacon["rssi"]?.thousandths.map { Double($0) / 1000 }))
            entry.batteryMillivolts = beacon["batteryV"]?.thousandths.flatMap(Self.battery)
            entry.temperature = beacon["temperatureC"]?.thousandths.flatMap(Self.temperature)
            beacons.append(entry)
        }
    }

    private mutating func read(
        _ node: JSONNode, reports: Int, level: Double?, power: Int?, _ telemetry: JSONNode?
    ) {
        let name = node["beacon"]?.string.flatMap(Self.name)
        let identity = node["identity"]?.string.flatMap(Self.name)
        guard name != nil || identity != nil else { return }
        var entry = Beacon(
            name: name, identity: identity, reports: reports, level: Self.level(level), powerAtOneMeter: power)
        entry.batteryMillivolts = telemetry?["batteryMv"]?.integer.flatMap(Self.battery)
        entry.temperature = telemetry?["temperatureC"]?.thousandths.flatMap(Self.temperature)
        beacons.append(entry)
    }

    // MARK: Values

    private static func name(_ text: String) -> String? {
        (1...nameLimit).contains(text.utf8.count) && !text.unicodeScalars.contains { $0.value < 32 } ? text : nil
    }

    /// Returns true if a node's `state` means that the receiver works, otherwise false; `nil` if the node has no
    /// `state`.
    private static func isListening(_ node: JSONNode) -> Bool? {
        guard let state = node["state"]?.string else { return nil }
        return (state == "listening" || state == "online") && node["deafSince"]?.string == nil
    }

    /// Returns a battery voltage if it is possible, otherwise `nil`. Beacons without a battery send 0.
    private static func battery(_ millivolts: Int) -> Int? { (1...65_535).contains(millivolts) ? millivolts : nil }

    /// Returns a temperature if telemetry can contain it, otherwise `nil`.
    private static func temperature(_ thousandths: Int) -> Int? {
        (-128_000...128_000).contains(thousandths) ? thousandths : nil
    }

    /// Returns a level if a receiver can measure it, otherwise `nil`.
    private static func level(_ level: Double?) -> Double? {
        level.flatMap { $0 < 0 && $0 >= -127 ? $0 : nil }
    }

    /// Returns the power at 1 m from a frame, in dBm; `nil` if the frame has no plausible power.
    private static func power(_ frame: JSONNode) -> Int? {
        guard let power = frame["measuredPowerDbm"]?.integer, let type = frame["type"]?.string else { return nil }
        // Eddystone frames contain the power at 0 m, which is 41 dB higher.
        let atOneMeter = type.hasPrefix("eddystone") ? power - 41 : power
        return DistanceEstimate.plausiblePowers.contains(atOneMeter) ? atOneMeter : nil
    }

    /// Reads an RFC 3339 time with an optional fraction, and returns milliseconds since 1970.
    static func milliseconds(_ text: String) -> Int? {
        guard let time = RFC3339Time(text) else { return nil }
        var fraction = 0
        if let point = text.firstIndex(of: ".") {
            let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }.prefix(3)
            fraction = (Int(digits) ?? 0) * [1, 100, 10, 1][digits.count]
        }
        return time.secondsSince1970 * 1000 + fraction
    }
}
