internal import Airtime
public import Configuration
public import LinuxHost
public import Messaging
internal import Sightings

/// The collector's state as JSON: the room and position of each beacon, and which receivers work.
extension SightingCollector {
    /// The version of the state file.
    public static let stateVersion = 1

    /// Returns the contents of the state file, which `pharos where` reads.
    ///
    /// - Parameters:
    ///   - written: The present time, by the wall clock of this machine.
    ///   - disconnected: The time at which the connection to the broker was lost, in milliseconds since 1970; `nil` if
    ///     there is a connection, or no broker.
    ///   - process: The process that writes the file; `nil` if the lines come from recordings.
    public func state(
        written: RFC3339Time, disconnectedSince disconnected: Int? = nil, process: ProcessIdentity? = nil
    ) -> JSONValue {
        .record([
            ("version", .integer(Self.stateVersion)), ("collector", .string(file.name)),
            ("written", .string("\(written)")), ("pid", .optional(process) { .integer($0.id) }),
            ("startTicks", .optional(process?.startTicks) { .integer($0) }),
            ("at", .optional(newestLineUnixMilliseconds) { .string(RFC3339Time.text(milliseconds: $0)) }),
            ("disconnectedSince", .optional(disconnected) { .string(RFC3339Time.text(milliseconds: $0)) }),
            ("receivers", .array(receivers.indices.map(receiverJSON))), ("beacons", .array(beaconsJSON)),
            ("strangers", .integer(counts.strangers)),
            (
                "lines",
                .record([
                    (
                        "taken",
                        .integer(
                            counts.lines - counts.duplicateLines - counts.late - counts.unknownReceivers
                                - counts.wrongClocks)
                    ),
                    ("duplicates", .integer(counts.duplicateLines)), ("late", .integer(counts.late)),
                    ("unknownReceivers", .integer(counts.unknownReceivers)),
                    ("wrongClocks", .integer(counts.wrongClocks)),
                ])
            ),
        ])
    }

    /// The time of the newest line, in milliseconds since 1970; `nil` before the first line.
    public var newestLineUnixMilliseconds: Int? { receivers.compactMap(\.lastLine).max() }

    /// Returns a time in milliseconds since 1970 as RFC 3339 text with milliseconds.
    public static func timeText(_ unixMilliseconds: Int) -> String {
        RFC3339Time.text(milliseconds: unixMilliseconds)
    }

    /// The JSON of each beacon that was received so far, sorted by name.
    public var beaconsJSON: [JSONValue] { trails.sorted { $0.name < $1.name }.map(json) }

    /// The state of each beacon that was received so far, to be published to a broker, sorted by name.
    public var states: some Sequence<(name: String, state: BeaconState)> {
        trails.sorted { $0.name < $1.name }.lazy.map { trail in
            let isPresent = presence(of: trail)
            let state = BeaconState(
                isPresent: isPresent, room: trail.room.map { plan.rooms[$0].name },
                isKnown: trail.isKnown && isPresent != nil,
                level: trail.loudest?.level, distance: distance(of: trail),
                lastHeard: trail.lastHeard.map(RFC3339Time.text(milliseconds:)),
                batteryMillivolts: trail.batteryMillivolts,
                reason: unknownReason(of: trail)?.text(.local, now: newestLineUnixMilliseconds ?? 0))
            return (trail.name, state)
        }
    }

    /// The names of the receivers that send nothing, or report that they receive nothing.
    public var silentReceivers: [String] {
        receivers.indices.filter { !receivers[$0].isAlive }.map { file.receivers[$0].name }
    }

    /// The number of beacons that are certainly present.
    public var presentCount: Int { trails.count { presence(of: $0) == true } }

    /// Returns true if a beacon is present, otherwise false; `nil` if no working receiver could detect a change.
    private func presence(of trail: BeaconTrail) -> Bool? {
        let recentReceivers = trail.recentReceivers
        let witnesses = trail.isPresent && !recentReceivers.isEmpty ? recentReceivers : Array(receivers.indices)
        return witnesses.contains { receivers[$0].isAlive } ? trail.isPresent : nil
    }

    /// Returns the estimated distance of a beacon from the receiver with the highest level.
    private func distance(of trail: BeaconTrail) -> DistanceEstimate? {
        trail.loudest?.level.flatMap {
            DistanceEstimate(level: $0, deviation: 0, count: 1, powerAtOneMeter: trail.powerAtOneMeter, .init())
        }
    }

    private func receiverJSON(_ index: Int) -> JSONValue {
        let (fileReceiver, receiver) = (file.receivers[index], receivers[index])
        return .record([
            ("name", .string(fileReceiver.name)), ("floor", .optional(fileReceiver.floor, JSONValue.string)),
            ("room", .optional(fileReceiver.room, JSONValue.string)),
            ("state", .string(state(of: receiver))),
            ("lastLine", .optional(receiver.lastLine) { .string(RFC3339Time.text(milliseconds: $0)) }),
            ("reports", .integer(receiver.reports)),
        ])
    }

    private func state(of receiver: Receiver) -> String {
        if receiver.isAlive { return "alive" }
        if receiver.isOff { return "off" }
        return receiver.isDeaf ? "deaf" : "dead"
    }

    /// Returns the JSON of one beacon. Unknown values are null.
    private func json(_ trail: BeaconTrail) -> JSONValue {
        // While the room is not known, the JSON has no room, because the beacon may have left its last room.
        let room = trail.isKnown ? trail.room.map { plan.rooms[$0] } : nil
        let location = trail.isPresent ? trail.filter.flatMap(plan.location) : nil
        let distance = distance(of: trail)
        let isPresent = presence(of: trail)
        let reason = unknownReason(of: trail)?.members(now: newestLineUnixMilliseconds ?? 0)
        return .record(
            [
                ("beacon", .string(trail.name)), ("identity", .optional(trail.identity, JSONValue.string)),
                ("present", .optional(isPresent) { $0 ? "ON" : "OFF" }),
                ("known", .boolean(trail.isKnown && isPresent != nil)),
                ("room", .optional(room?.name, JSONValue.string)),
                ("floor", .optional(room?.floor ?? location.map { file.floors[$0.floor].name }, JSONValue.string)),
                (
                    "position",
                    .optional(location) {
                        .record([("x", Rounded.number($0.position.x, 10)), ("y", Rounded.number($0.position.y, 10))])
                    }
                ),
                ("radiusM", .optional(location) { Rounded.number($0.radius, 100) }),
                ("probability", .rounded(trail.probability)),
                ("receiver", .optional(trail.loudest) { .string(file.receivers[$0.receiver].name) }),
                ("rssiDbm", .optional(trail.loudest?.level) { Rounded.number($0, 10) }),
                ("distanceM", .optional(distance?.meters) { Rounded.number($0, 10) }),
                ("distanceLowM", .optional(distance?.lowMeters) { Rounded.number($0, 10) }),
                ("distanceHighM", .optional(distance?.highMeters) { Rounded.number($0, 10) }),
                ("batteryV", .optional(trail.batteryMillivolts) { .number(JSONNumber(thousandths: $0)) }),
                ("temperatureC", .optional(trail.temperature) { .number(JSONNumber(thousandths: $0)) }),
                ("lastHeard", .optional(trail.lastHeard) { .string(RFC3339Time.text(milliseconds: $0)) }),
                ("since", .optional(trail.since) { .string(RFC3339Time.text(milliseconds: $0)) }),
            ] + (reason ?? [("reason", .null)]))
    }
}

extension SightingCollector.Event {
    /// The event as a JSON object.
    public var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("event", .string(kind.rawValue)), ("id", .string(id)),
            ("at", .string(RFC3339Time.text(milliseconds: unixMilliseconds))),
        ]
        if kind == .receiverDead || kind == .receiverAlive {
            members.append(("receiver", .optional(receiver, JSONValue.string)))
            return .record(members)
        }
        func roundedToCentimeters(_ meters: Double) -> JSONValue {
            .number(JSONNumber(thousandths: Int((meters * 100).rounded()) * 10))
        }
        members += [
            ("beacon", .optional(beacon, JSONValue.string)), ("room", .optional(room, JSONValue.string)),
            ("floor", .optional(floor, JSONValue.string)), ("from", .optional(from, JSONValue.string)),
            (
                "position",
                .optional(position) {
                    .record([("x", roundedToCentimeters($0.x)), ("y", roundedToCentimeters($0.y))])
                }
            ),
            ("probability", .rounded(probability)), ("provenBy", .optional(proof) { .string($0.rawValue) }),
        ]
        members += reason?.members(now: unixMilliseconds) ?? [("reason", .null)]
        return .record(members)
    }

    /// The name of the event's room: the present room if it is known, otherwise the previous room; empty if neither is
    /// known.
    public var place: String { room ?? from ?? "" }
}
