internal import BluetoothTypes
public import Configuration
public import Sightings

/// The log of one receiver in a count: a file of JSON Lines. Lines are only appended, so an interruption does not lose
/// what was counted before.
public struct CountLog: Hashable, Sendable {
    /// The person who counts, and the receiver.
    public struct Header: Hashable, Sendable {
        /// The unique name of this log in the count.
        public var session: String
        public var inventory: String
        public var countName: String
        public var by: String
        public var receiver: String
        public var machine: String
        public var start: RFC3339Time

        /// Returns the first line of a log.
        public func line(rule: CountRule) -> String {
            let memory: [(String, JSONValue)] =
                switch rule.memory {
                case .window(let rounds): [("rounds", .integer(rounds))]
                case .sharedQueue(let capacity): [("capacity", .integer(capacity))]
                }
            return CountLog.line(
                [
                    ("event", "session"), ("v", 1), ("session", .string(session)), ("inventory", .string(inventory)),
                    ("count", .string(countName)), ("by", .string(by)), ("receiver", .string(receiver)),
                    ("machine", .string(machine)), ("at", .string("\(start)")), ("rule", .string(rule.kind.rawValue)),
                ] + memory + [("withinM", .number(JSONNumber(thousandths: rule.withinMillimetres)))])
        }
    }

    /// The time at which a beacon was found, with its level and distance.
    public struct Finding: Hashable, Sendable {
        public var at: RFC3339Time
        /// The time for which the receiver had listened before it found the beacon, in milliseconds.
        public var afterMilliseconds: Int
        public var level: Int?
        /// The distance of the beacon in millimetres; `nil` if unknown.
        public var distance: Int?
    }

    /// A summary of the packets received from a beacon. It combines all lines about the beacon.
    public struct Observation: Hashable, Sendable {
        public var first: RFC3339Time
        public var last: RFC3339Time
        public var bestLevel: Int?
        /// The shortest distance in all rounds, in millimetres.
        public var nearest: Int?
        public var batteryMillivolts: Int?
        public var intervalMicroseconds: Int?
        public var isDuplicate: Bool
        public var wasNear: Bool
        /// The item of another inventory that has this beacon; `nil` if the beacon belongs to the counted inventory.
        public var foreign: Foreign?
    }

    /// An item of another inventory.
    public struct Foreign: Hashable, Sendable {
        public var inventory: String
        public var id: String
        public var name: String
    }

    /// The time for which a receiver worked, and the numbers of its reports.
    public struct Listening: Hashable, Sendable {
        public var until: RFC3339Time
        /// The time in which the receiver worked, in milliseconds.
        public var listened = 0
        /// The time in which the receiver did not work or may have failed, in milliseconds.
        public var deaf = 0
        public var reports = 0
        /// The number of lost reports; `nil` if unknown.
        public var lost: Int?
    }

    public var header: Header
    public var findings: [BeaconIdentity: Finding] = [:]
    public var observations: [BeaconIdentity: Observation] = [:]
    public var listening: Listening
    /// True if the log is complete. If false, the receiver is still counting or was interrupted.
    public var isEnded = false
    /// The number of lines that cannot be read. An incomplete last line does not count.
    public var damagedLines = 0

    /// Reads a log up to its last complete line.
    ///
    /// - Returns: `nil` if the first line is not the first line of a log.
    public init?(_ octets: [UInt8]) {
        var lines = octets.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The text after the last line end is an incomplete line.
        lines.removeLast()
        guard let first = lines.first, let header = Header(CountLog.node(first)) else { return nil }
        self.header = header
        listening = Listening(until: header.start)
        for line in lines.dropFirst() where !take(CountLog.node(line)) { damagedLines += 1 }
    }

    static func node(_ line: some Sequence<UInt8>) -> JSONNode? {
        let (root, problems) = JSONDocument.parse(Array(line))
        return problems.isEmpty ? root : nil
    }

    static func line(_ members: [(String, JSONValue)]) -> String { JSONValue.record(members).line + "\n" }

    private mutating func take(_ node: JSONNode?) -> Bool {
        guard let node, let event = node["event"]?.string else { return false }
        switch event {
        case "found":
            guard let identity = node["beacon"]?.string.flatMap({ BeaconIdentity($0) }),
                let at = node["at"]?.string.flatMap({ RFC3339Time($0) })
            else { return false }
            // If the beacon was found more than once, the first finding is kept.
            if findings[identity] == nil {
                findings[identity] = Finding(
                    at: at, afterMilliseconds: max(0, node["afterS"]?.thousandths ?? 0),
                    level: node["rssiDbm"]?.integer, distance: node["distanceM"]?.thousandths)
            }
        case "seen":
            guard let identity = node["beacon"]?.string.flatMap({ BeaconIdentity($0) }),
                let observation = Observation(node)
            else { return false }
            observations[identity] = observations[identity].map { $0.merged(with: observation) } ?? observation
        case "listening", "end":
            guard let until = node["at"]?.string.flatMap({ RFC3339Time($0) }) else { return false }
            listening.until = max(listening.until, until)
            listening.listened = max(0, node["listenedS"]?.thousandths ?? 0)
            listening.deaf = max(0, node["deafS"]?.thousandths ?? 0)
            listening.reports = max(0, node["reports"]?.integer ?? 0)
            listening.lost = node["lost"]?.integer
            if event == "end" { isEnded = true }
        default: break
        }
        return true
    }
}

extension CountLog.Header {
    fileprivate init?(_ node: JSONNode?) {
        guard let node, node["event"]?.string == "session", node["v"]?.integer == 1,
            let session = node["session"]?.string, let start = node["at"]?.string.flatMap({ RFC3339Time($0) })
        else { return nil }
        func text(_ key: String) -> String { node[key]?.string ?? "" }
        self.init(
            session: session, inventory: text("inventory"), countName: text("count"), by: text("by"),
            receiver: text("receiver"), machine: text("machine"), start: start)
    }
}

extension CountLog.Observation {
    fileprivate init?(_ node: JSONNode) {
        guard let first = node["first"]?.string.flatMap({ RFC3339Time($0) }),
            let last = node["last"]?.string.flatMap({ RFC3339Time($0) })
        else { return nil }
        let foreign = node["foreign"].flatMap { other in
            other["inventory"]?.string.map {
                CountLog.Foreign(inventory: $0, id: other["id"]?.string ?? "", name: other["name"]?.string ?? "")
            }
        }
        self.init(
            // The wall clock may have been set back between the two times.
            first: min(first, last), last: max(first, last),
            bestLevel: node["bestRssiDbm"]?.integer, nearest: node["nearestM"]?.thousandths,
            batteryMillivolts: node["batteryMv"]?.integer, intervalMicroseconds: node["intervalMs"]?.thousandths,
            isDuplicate: node["duplicate"]?.isTrue ?? false, wasNear: node["near"]?.isTrue ?? false, foreign: foreign)
    }

    /// Combines two lines about one beacon. The values of the later line already include the values of the earlier
    /// line.
    fileprivate func merged(with later: Self) -> Self {
        var merged = later
        merged.first = min(first, later.first)
        merged.last = max(last, later.last)
        return merged
    }
}

/// The lines that are appended to a log.
extension CountLog {
    /// Returns the line for a found item.
    public static func line(_ finding: CountSession.Finding, in session: CountSession, at: RFC3339Time) -> String {
        let item = session.inventory.items[finding.beacon]
        return line([
            ("event", "found"), ("item", .string(item.id)), ("beacon", .string("\(item.beacon)")),
            ("at", .string("\(at)")), ("afterS", thousandths(finding.afterMicroseconds / 1000)),
            ("rssiDbm", .optional(finding.level) { .integer(Int($0.rounded())) }),
            ("distanceM", thousandths(finding.meters.map(millimetres))), ("nearRounds", .integer(finding.rounds)),
        ])
    }

    /// Returns the line about the packets received from a beacon.
    ///
    /// - Parameters:
    ///   - beacon: The beacon's number in the session.
    ///   - time: Converts a moment of the session into wall-clock time.
    public static func line(
        _ seen: CountSession.Observation, of beacon: Int, in session: CountSession,
        time: (HeardInstant) -> RFC3339Time
    ) -> String {
        let items = session.inventory.items
        let foreigner = beacon < items.count ? nil : session.foreigners[beacon - items.count]
        let identity = foreigner?.beacon ?? items[beacon].beacon
        return line([
            ("event", "seen"), ("item", foreigner == nil ? .string(items[beacon].id) : .null),
            ("beacon", .string("\(identity)")), ("first", .string("\(time(seen.first))")),
            ("last", .string("\(time(seen.last))")), ("reports", .integer(seen.reports)),
            ("bestRssiDbm", .optional(seen.bestLevel) { .integer($0) }),
            ("nearestM", thousandths(seen.nearestMeters.map(millimetres))), ("near", .boolean(seen.wasNear)),
            ("batteryMv", .optional(seen.batteryMillivolts) { .integer($0) }),
            ("intervalMs", thousandths(seen.intervalMicroseconds)), ("duplicate", .boolean(seen.addresses.isDuplicate)),
            (
                "foreign",
                .optional(foreigner) {
                    .record([
                        ("inventory", .string($0.inventory)), ("id", .string($0.id)), ("name", .string($0.name)),
                    ])
                }
            ),
        ])
    }

    /// Returns the line with the listening times.
    ///
    /// - Parameters:
    ///   - lost: The number of lost reports; `nil` if unknown.
    ///   - isEnd: True if this is the last line.
    public static func line(
        of session: CountSession, lost: Int?, at: RFC3339Time, isEnd: Bool
    ) -> String {
        line([
            ("event", isEnd ? "end" : "listening"), ("at", .string("\(at)")),
            ("listenedS", thousandths(session.listenedMicroseconds / 1000)),
            ("deafS", thousandths(session.deafMicroseconds / 1000)), ("reports", .integer(session.reports)),
            ("strangers", .integer(session.strangerReports)), ("lost", .optional(lost) { .integer($0) }),
        ])
    }

    static func millimetres(_ meters: Double) -> Int { Int(min(1e9, (meters * 100).rounded() * 10)) }

    static func thousandths(_ value: Int?) -> JSONValue {
        .optional(value) { .number(JSONNumber(thousandths: $0)) }
    }
}
