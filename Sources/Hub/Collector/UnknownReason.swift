public import Configuration
public import LinuxHost
internal import Sightings

/// The reason why the room of a beacon is not known: the most likely rooms, and the receivers in range that do not
/// work.
public struct UnknownReason: Hashable, Sendable {
    /// A room in which the beacon may be.
    public struct Candidate: Hashable, Sendable {
        /// The name of the room; `nil` for all positions that belong to no room.
        public var room: String?
        public var probability: Double
    }

    /// A receiver in range of the beacon that sends nothing or receives nothing.
    public struct SilentReceiver: Hashable, Sendable {
        public var name: String
        /// The time of the receiver's last line if it sends nothing, or of its last report if it receives nothing, in
        /// milliseconds since 1970; `nil` if there was none.
        public var since: Int?
    }

    /// The rooms in which the beacon may be, the most likely first.
    public var candidates: [Candidate] = []
    /// The receivers in range that do not work.
    public var receivers: [SilentReceiver] = []
    /// Without floor plans: the rooms whose receivers receive the beacon about equally well, the highest level first.
    public var equalRooms: [String] = []

    /// The smallest probability of a candidate.
    static let leastProbability = 0.05
    /// The largest number of candidates, and of rooms in ``equalRooms``.
    static let candidateLimit = 3
    /// The largest number of receivers in a text.
    private static let receiverLimit = 3
}

extension UnknownReason {
    /// Returns the reason in words, such as `stairs 46 %, entrance 41 %` or `receiver stairs silent since 10:01`.
    ///
    /// - Parameter now: The present time in milliseconds since 1970. Times of another day are written with a date.
    public func text(_ zone: TimeZoneChoice, now: Int) -> String {
        var parts: [String] = []
        if !candidates.isEmpty {
            let rooms = candidates.map { candidate in
                "\(candidate.room ?? "in no room") \(Int((candidate.probability * 100).rounded())) %"
            }
            parts.append(rooms.joined(separator: ", "))
        }
        if !equalRooms.isEmpty { parts.append("about equal levels in \(equalRooms.joined(separator: ", "))") }
        parts += receivers.prefix(Self.receiverLimit).map { receiver in
            let since = receiver.since.map { zone.shortText($0 / 1000, now: now / 1000) } ?? "the start"
            return "receiver \(receiver.name) silent since \(since)"
        }
        let omitted = receivers.count - Self.receiverLimit
        if omitted > 0 { parts.append("\(omitted) more receiver\(omitted == 1 ? "" : "s") silent") }
        return parts.isEmpty ? "no receiver with a room has received it for long enough" : parts.joined(separator: "; ")
    }

    /// Returns the members of a JSON object: the reason in words, with times in this machine's time zone, and the parts
    /// of the reason.
    func members(now: Int) -> [(String, JSONValue)] {
        [
            ("reason", .string(text(.local, now: now))),
            (
                "candidates",
                .array(
                    candidates.map {
                        .record([
                            ("room", .optional($0.room, JSONValue.string)), ("probability", .rounded($0.probability)),
                        ])
                    })
            ),
            ("equalRooms", .array(equalRooms.map(JSONValue.string))),
            (
                "silentReceivers",
                .array(
                    receivers.map {
                        .record([
                            ("receiver", .string($0.name)),
                            ("since", .optional($0.since) { .string(RFC3339Time.text(milliseconds: $0)) }),
                        ])
                    })
            ),
        ]
    }

    /// Reads the reason from the JSON of an event or of a beacon; `nil` if the JSON has none.
    public init?(_ node: JSONNode) {
        guard node["reason"]?.string != nil else { return nil }
        candidates = (node["candidates"]?.elements ?? []).compactMap { node in
            node["probability"]?.thousandths.map {
                Candidate(room: node["room"]?.string, probability: Double($0) / 1000)
            }
        }
        equalRooms = (node["equalRooms"]?.elements ?? []).compactMap(\.string)
        receivers = (node["silentReceivers"]?.elements ?? []).compactMap { node in
            node["receiver"]?.string.map {
                SilentReceiver(name: $0, since: node["since"]?.string.flatMap(ReceiverLine.milliseconds))
            }
        }
    }
}

extension SightingCollector {
    /// Returns the reason why the room of a beacon is not known; `nil` if the room is known, or the beacon is not
    /// present.
    func unknownReason(of trail: BeaconTrail) -> UnknownReason? {
        guard trail.isPresent, !trail.isKnown else { return nil }
        var reason = UnknownReason()
        if let filter = trail.filter {
            let probabilities = plan.roomProbabilities(filter)
            var candidates = probabilities.indices.map { (room: Int?.some($0), probability: probabilities[$0]) }
            candidates.append((nil, 1 - probabilities.reduce(0, +)))
            reason.candidates =
                candidates.filter { $0.probability >= UnknownReason.leastProbability }
                .sorted { ($0.probability, $1.room ?? .max) > ($1.probability, $0.room ?? .max) }
                .prefix(UnknownReason.candidateLimit)
                .map { .init(room: $0.room.map { plan.rooms[$0].name }, probability: $0.probability) }
        }
        let loudestRooms = trail.loudestRooms
        if loudestRooms.count > 1 {
            reason.equalRooms = loudestRooms.prefix(UnknownReason.candidateLimit).map { plan.rooms[$0].name }
        }
        reason.receivers = trail.silent.map { index in
            let receiver = receivers[index]
            return .init(
                name: file.receivers[index].name,
                since: receiver.isTimedOut ? receiver.lastLine : lastReportUnixMilliseconds(of: index))
        }
        return reason
    }
}
