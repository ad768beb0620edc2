public import BluetoothTypes
public import Configuration
public import LinuxHost
internal import Profiles

/// The status of a beacon: the contents of its file in /run/pharos.
public struct InstanceStatus: Equatable, Sendable {
    /// The state of the beacon.
    public enum State: String, CaseIterable, Sendable {
        case onAir = "on-air"
        case starting
        case recovering
        case off
    }

    /// The instance's name from the profile.
    public var name: String
    /// The adapter's name.
    public var adapter: String
    /// The controller's public address.
    public var address: DeviceAddress?
    public var state: State
    /// The time at which the beacon entered this state.
    public var since: RFC3339Time?
    /// The time at which advertising was last verified.
    public var lastVerified: RFC3339Time?
    /// A fingerprint of the profile.
    public var profileHash: String?
    public var advertisements: [AdvertisementStatus] = []
    /// The number of recoveries, by the cause of the outage.
    public var rearms: [String: Int] = [:]
    public var lastError: String?
    /// The newer file that was refused; `nil` if the file in use is the last one that was read.
    public var rejectedFile: RejectedFile?
    /// The controller's version and manufacturer.
    public var controller: String?
    /// The sensor values; `nil` for a profile without sensors.
    public var telemetry: TelemetryStatus?
    /// The time in seconds by which the clock of ephemeral ids is ahead of the wall clock, negative if it is behind;
    /// `nil` if the difference is at most one day, and without ephemeral ids.
    public var eidClockAhead: Int?
    /// The process that wrote the file.
    public var process: ProcessIdentity?

    /// Creates a status in which all other values are unknown.
    public init(name: String, adapter: String, state: State) {
        self.name = name
        self.adapter = adapter
        self.state = state
    }

    /// A file that was read at a reload and refused. The beacon continues with the old file.
    public struct RejectedFile: Equatable, Sendable {
        public var time: RFC3339Time
        /// Every error of the file.
        public var reason: String

        public init(time: RFC3339Time, reason: String) {
            self.time = time
            self.reason = reason
        }
    }

    /// One advertisement of a profile.
    public struct AdvertisementStatus: Equatable, Sendable {
        /// The type in profiles, such as `ibeacon`.
        public var type: String
        /// The address that receivers see.
        public var address: DeviceAddress?
        /// The requested interval, in microseconds; with a pattern, the interval that has the same number of events.
        public var interval: Int
        /// The granted interval, in microseconds. The bounds differ if the kernel chooses the interval.
        public var grantedInterval: ClosedRange<Int>?
        /// The intervals that take turns; `nil` for a constant interval.
        public var pattern: PatternStatus?
        /// The physical layers of an extended advertisement; `nil` for legacy PDUs.
        public var phy: ExtendedPHY?
        /// The requested radio power, in dBm.
        public var radioPower: Int?
        /// The granted radio power, in dBm.
        public var grantedRadioPower: Int?
        /// Advertising events since the start.
        public var events: Int?
        /// `true` if the controller counted the events. Otherwise ``events`` is computed from the time on the air.
        public var isEventCountFromController = false
        /// The frame with its identity or values, in words, when the status was written.
        public var content: String?
        /// The bytes of the payload when the status was written; `nil` if unknown.
        public var octets: [UInt8]?

        public init(
            type: String, address: DeviceAddress? = nil, interval: Int, grantedInterval: ClosedRange<Int>? = nil,
            radioPower: Int? = nil, grantedRadioPower: Int? = nil, events: Int? = nil
        ) {
            self.type = type
            self.address = address
            self.interval = interval
            self.grantedInterval = grantedInterval
            self.radioPower = radioPower
            self.grantedRadioPower = grantedRadioPower
            self.events = events
        }
    }

    /// The intervals that take turns, and the beginning of their first cycle.
    public struct PatternStatus: Equatable, Sendable {
        public var pattern: AdvertisingPattern
        /// The wall clock at the beginning of the first cycle, in milliseconds since 1970. The status file is not
        /// written again at each change of the interval, so a reader computes the current part from this time.
        public var startUnixMilliseconds: Int

        public init(pattern: AdvertisingPattern, startUnixMilliseconds: Int) {
            self.pattern = pattern
            self.startUnixMilliseconds = startUnixMilliseconds
        }

        /// The position of the part that is on the air at a time.
        ///
        /// - Parameter milliseconds: The time in milliseconds since 1970.
        public func part(atUnixMilliseconds milliseconds: Int) -> Int {
            // A damaged file may contain any number here, so the difference may overflow.
            let elapsed = milliseconds.subtractingReportingOverflow(startUnixMilliseconds)
            let timeInCycle = elapsed.overflow ? 0 : elapsed.partialValue % (pattern.cycleMicroseconds / 1000)
            return pattern.position(after: timeInCycle * 1000).part
        }
    }

    /// The sensor values that telemetry sends, and their sensors.
    public struct TelemetryStatus: Equatable, Sendable {
        /// The temperature, in thousandths of a degree Celsius.
        public var temperature: Int?
        public var temperatureSensor: String?
        /// The voltage, in millivolts.
        public var battery: Int?
        public var batterySensor: String?

        public init(
            temperature: Int? = nil, temperatureSensor: String? = nil, battery: Int? = nil, batterySensor: String? = nil
        ) {
            self.temperature = temperature
            self.temperatureSensor = temperatureSensor
            self.battery = battery
            self.batterySensor = batterySensor
        }
    }
}

extension InstanceStatus {
    /// Returns the current status: off if the process that wrote the file has ended.
    ///
    /// - Parameter directory: The directory of the locks.
    public func verified(in directory: String) -> InstanceStatus {
        guard state != .off else { return self }
        if let process, process.isRunning { return self }
        let holders = AdapterLock.holders(in: directory)
        if holders.contains(where: { $0.purpose == name }) { return self }
        var status = self
        status.state = .off
        status.since = nil
        let subject = process.map { "process \($0.id)" } ?? "the process"
        status.lastError =
            "\(subject) exited without reporting a reason; see `systemctl status pharos@\(name)` and its journal"
        return status
    }
}

extension InstanceStatus {
    /// The types of the advertisements. The second and each further advertisement of a type has a number: `ibeacon`,
    /// `ibeacon-2`.
    public var frameNames: [String] {
        var counts: [String: Int] = [:]
        return advertisements.map { advertisement in
            let number = (counts[advertisement.type] ?? 0) + 1
            counts[advertisement.type] = number
            return number == 1 ? advertisement.type : "\(advertisement.type)-\(number)"
        }
    }
}

extension InstanceStatus {
    /// An element of `instances` of `status --json`; with the process, the contents of a status file.
    public func json(withProcess: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name)),
            ("adapter", .string(adapter)),
            ("address", .optional(address) { .string($0.description) }),
            ("state", .string(state.rawValue)),
            ("since", .optional(since) { .string($0.description) }),
            ("lastVerified", .optional(lastVerified) { .string($0.description) }),
            ("profileHash", .optional(profileHash, JSONValue.string)),
            ("advertisements", .array(advertisements.map { $0.json(isOnAir: state == .onAir) })),
            ("rearms", .record(rearms.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
            ("lastError", .optional(lastError, JSONValue.string)),
            ("rejectedFile", .optional(rejectedFile, \.json)),
            ("controller", .optional(controller, JSONValue.string)),
            ("telemetry", .optional(telemetry, \.json)),
            ("eidClockAheadS", .optional(eidClockAhead) { .integer($0) }),
        ]
        if withProcess { members += ProcessIdentity.members(process) }
        return .record(members)
    }

    /// Reads a status file. It must contain the name of the instance and its state. All other members are unknown if
    /// they are missing or have another type, because a newer version may have written the file.
    ///
    /// - Throws: ``StatusFileError`` if the name or the state is missing.
    public init(_ node: JSONNode) throws(StatusFileError) {
        guard let name = node["name"]?.string, !name.isEmpty else {
            throw StatusFileError("it is not a status file: the instance's name is missing")
        }
        guard let state = node["state"]?.string.flatMap(State.init) else {
            throw StatusFileError(
                "the instance's state is not one of " + State.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.name = name
        self.state = state
        adapter = node["adapter"]?.string ?? "?"
        address = node["address"]?.string.flatMap { DeviceAddress($0) }
        since = node["since"]?.string.flatMap(RFC3339Time.init)
        lastVerified = node["lastVerified"]?.string.flatMap(RFC3339Time.init)
        profileHash = node["profileHash"]?.string
        advertisements = (node["advertisements"]?.elements ?? []).compactMap(AdvertisementStatus.init)
        rearms = Dictionary((node["rearms"]?.members ?? []).compactMap(Self.rearm)) { first, _ in first }
        lastError = node["lastError"]?.string
        rejectedFile = node["rejectedFile"].flatMap(RejectedFile.init)
        controller = node["controller"]?.string
        telemetry = node["telemetry"].flatMap(TelemetryStatus.init)
        eidClockAhead = node["eidClockAheadS"]?.integer
        process = ProcessIdentity(status: node)
    }

    private static func rearm(_ member: JSONMember) -> (String, Int)? {
        member.value.integer.map { (member.key, $0) }
    }
}

extension InstanceStatus.AdvertisementStatus {
    /// - Parameter isOnAir: `true` if the advertisement is on the air, so that a part of its pattern is current.
    fileprivate func json(isOnAir: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("type", .string(type)),
            ("address", .optional(address) { .string($0.description) }),
            ("intervalMs", .thousandths(interval)),
            ("grantedIntervalMs", .optional(grantedInterval, JSONValue.milliseconds)),
        ]
        if let pattern {
            let now = Int(WallClock.microseconds() / 1000)
            members += [
                ("pattern", pattern.pattern.json),
                ("patternPart", isOnAir ? .integer(pattern.part(atUnixMilliseconds: now) + 1) : .null),
                ("patternStartUnixMs", .integer(pattern.startUnixMilliseconds)),
            ]
        }
        if let phy { members.append(("phy", .string(phy.rawValue))) }
        members += [
            ("radioPowerDbm", .optional(radioPower) { .integer($0) }),
            ("grantedRadioPowerDbm", .optional(grantedRadioPower) { .integer($0) }),
            ("events", .optional(events) { .integer($0) }),
            ("eventsCounted", .boolean(isEventCountFromController)),
            ("content", .optional(content, JSONValue.string)),
            ("octets", .optional(octets, JSONValue.hex)),
        ]
        return .record(members)
    }

    /// Returns `nil` if the type or the interval is missing.
    fileprivate init?(_ node: JSONNode) {
        guard let type = node["type"]?.string, let interval = node["intervalMs"]?.thousandths else { return nil }
        self.type = type
        self.interval = interval
        address = node["address"]?.string.flatMap { DeviceAddress($0) }
        grantedInterval = node["grantedIntervalMs"]?.thousandthsRange
        if let pattern = AdvertisingPattern(json: node["pattern"]), let start = node["patternStartUnixMs"]?.integer {
            self.pattern = .init(pattern: pattern, startUnixMilliseconds: start)
        }
        phy = node["phy"]?.string.flatMap(ExtendedPHY.init)
        radioPower = node["radioPowerDbm"]?.integer
        grantedRadioPower = node["grantedRadioPowerDbm"]?.integer
        events = node["events"]?.integer
        isEventCountFromController = node["eventsCounted"]?.isTrue ?? false
        content = node["content"]?.string
        octets = node["octets"]?.string.flatMap { try? Hexadecimal.octets($0) }
    }
}

extension InstanceStatus.RejectedFile {
    fileprivate var json: JSONValue {
        .record([("time", .string(time.description)), ("reason", .string(reason))])
    }

    /// Returns `nil` if the time or the reason is missing.
    fileprivate init?(_ node: JSONNode) {
        guard let time = node["time"]?.string.flatMap(RFC3339Time.init), let reason = node["reason"]?.string else {
            return nil
        }
        self.init(time: time, reason: reason)
    }
}

extension InstanceStatus.TelemetryStatus {
    fileprivate var json: JSONValue {
        .record([
            ("temperatureC", .thousandths(temperature)),
            ("temperatureSensor", .optional(temperatureSensor, JSONValue.string)),
            ("batteryMv", .optional(battery) { .integer($0) }),
            ("batterySensor", .optional(batterySensor, JSONValue.string)),
        ])
    }

    /// Returns `nil` if `node` is not an object.
    fileprivate init?(_ node: JSONNode) {
        guard case .object = node.value else { return nil }
        temperature = node["temperatureC"]?.thousandths
        temperatureSensor = node["temperatureSensor"]?.string
        battery = node["batteryMv"]?.integer
        batterySensor = node["batterySensor"]?.string
    }
}

extension JSONValue {
    /// A range of microseconds as JSON, in milliseconds: one number, or an array of two bounds if they differ.
    public static func milliseconds(_ range: ClosedRange<Int>) -> JSONValue {
        let bounds = [range.lowerBound, range.upperBound].map { JSONValue.thousandths($0) }
        return bounds[0] == bounds[1] ? bounds[0] : .array(bounds)
    }
}

extension JSONNode {
    /// Reads the value of ``JSONValue/milliseconds(_:)``; `nil` for anything else.
    fileprivate var thousandthsRange: ClosedRange<Int>? {
        if let number = thousandths { return number...number }
        guard let bounds = elements?.compactMap(\.thousandths), bounds.count == 2, bounds[0] <= bounds[1] else {
            return nil
        }
        return bounds[0]...bounds[1]
    }
}
