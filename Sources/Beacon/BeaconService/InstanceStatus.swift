public import BluetoothTypes
public import Configuration
public import LinuxHost

/// How one instance of `run` is: what it leaves in /run/pharos for others to read.
public struct InstanceStatus: Hashable, Sendable {
    /// What the beacon does.
    public enum State: String, CaseIterable, Sendable {
        case onAir = "on-air"
        case starting
        case recovering
        case off
    }

    /// The instance's name, as its profile has it.
    public var name: String
    /// The adapter as it was named.
    public var adapter: String
    /// The controller's own address.
    public var address: DeviceAddress?
    public var state: State
    /// Since when it is in this state.
    public var since: RFC3339Time?
    /// When the radio was last known to be advertising.
    public var lastVerified: RFC3339Time?
    /// Tells one version of a profile from another.
    public var profileHash: String?
    public var advertisements: [AdvertisementStatus] = []
    /// How often the beacon was brought back, by what had taken it off the air.
    public var rearms: [String: Int] = [:]
    public var lastError: String?
    /// The controller's version and maker in words.
    public var controller: String?
    /// `nil` for a profile without telemetry.
    public var telemetry: TelemetryStatus?
    /// By how many seconds the clock of ephemeral ids is ahead of the wall clock, or behind it where it is negative, by
    /// more than a day; `nil` where it is not, or there is no such clock.
    public var eidClockAhead: Int?
    /// Who wrote this.
    public var process: ProcessIdentity?

    /// An instance of which no more is known than this.
    public init(name: String, adapter: String, state: State) {
        self.name = name
        self.adapter = adapter
        self.state = state
    }

    /// One advertisement of a profile.
    public struct AdvertisementStatus: Hashable, Sendable {
        /// As profiles have it, such as `ibeacon`.
        public var type: String
        /// The device address that it goes out from.
        public var address: DeviceAddress?
        /// What was asked for, in microseconds.
        public var interval: Int
        /// What it comes to, in microseconds; two different bounds where the kernel chooses between them.
        public var grantedInterval: ClosedRange<Int>?
        /// In dBm.
        public var radioPower: Int?
        public var grantedRadioPower: Int?
        /// Advertising events since the start.
        public var events: Int?
        /// Whether the controller counted the events; else they are computed from the time on the air.
        public var eventsCounted = false

        /// - Parameters are as the properties of the same names.
        public init(
            type: String, address: DeviceAddress? = nil, interval: Int, grantedInterval: ClosedRange<Int>? = nil,
            radioPower: Int? = nil, grantedRadioPower: Int? = nil, events: Int? = nil, eventsCounted: Bool = false
        ) {
            self.type = type
            self.address = address
            self.interval = interval
            self.grantedInterval = grantedInterval
            self.radioPower = radioPower
            self.grantedRadioPower = grantedRadioPower
            self.events = events
            self.eventsCounted = eventsCounted
        }
    }

    /// What telemetry says, and where it is from.
    public struct TelemetryStatus: Hashable, Sendable {
        /// In thousandths of a degree Celsius.
        public var temperature: Int?
        public var temperatureSensor: String?
        /// In millivolts.
        public var battery: Int?
        public var batterySensor: String?

        /// - Parameters are as the properties of the same names.
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
    /// What is true now of what was written: a process that was killed has left its last words, and is off.
    ///
    /// - Parameter directory: Where the locks of this box lie.
    public func verified(in directory: String) -> InstanceStatus {
        guard state != .off else { return self }
        if let process, process.isRunning { return self }
        let holders = AdapterLock.holders(in: directory).values
        if holders.contains(where: { $0.instance == name }) { return self }
        var status = self
        status.state = .off
        status.since = nil
        let who = process.map { "process \($0.id)" } ?? "the process"
        status.lastError =
            "\(who) exited without reporting why; `systemctl status pharos@\(name)` and its journal say why"
        return status
    }
}

extension InstanceStatus {
    /// The types of the advertisements, the second of a type with its number: `ibeacon`, `ibeacon-2`.
    public var frameNames: [String] {
        var seen: [String: Int] = [:]
        return advertisements.map { advertisement in
            let number = (seen[advertisement.type] ?? 0) + 1
            seen[advertisement.type] = number
            return number == 1 ? advertisement.type : "\(advertisement.type)-\(number)"
        }
    }
}

extension InstanceStatus {
    /// One element of `instances` of `status --json`, and with the process the contents of a status file.
    public func json(withProcess: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name)),
            ("adapter", .string(adapter)),
            ("address", .optional(address) { .string($0.description) }),
            ("state", .string(state.rawValue)),
            ("since", .optional(since) { .string($0.description) }),
            ("lastVerified", .optional(lastVerified) { .string($0.description) }),
            ("profileHash", .optional(profileHash, JSONValue.string)),
            ("advertisements", .array(advertisements.map(\.json))),
            ("rearms", .record(rearms.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
            ("lastError", .optional(lastError, JSONValue.string)),
            ("controller", .optional(controller, JSONValue.string)),
            ("telemetry", .optional(telemetry, \.json)),
            ("eidClockAheadS", .optional(eidClockAhead) { .integer($0) }),
        ]
        if withProcess { members += ProcessIdentity.members(process) }
        return .record(members)
    }

    /// - Throws: ``StatusFileError`` for anything but an object that names an instance and its state. Other members
    ///   that are missing or strange are unknown: a newer version may have written the file.
    public init(_ node: JSONNode) throws(StatusFileError) {
        guard let name = node["name"]?.string, !name.isEmpty else {
            throw StatusFileError("it is no status file: it names no instance")
        }
        guard let state = node["state"]?.string.flatMap(State.init) else {
            throw StatusFileError(
                "the instance's state is none of " + State.allCases.map(\.rawValue).joined(separator: ", "))
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
    fileprivate var json: JSONValue {
        .record([
            ("type", .string(type)),
            ("address", .optional(address) { .string($0.description) }),
            ("intervalMs", .decimal(DecimalText.thousandths(interval))),
            ("grantedIntervalMs", .optional(grantedInterval, JSONValue.milliseconds)),
            ("radioPowerDbm", .optional(radioPower) { .integer($0) }),
            ("grantedRadioPowerDbm", .optional(grantedRadioPower) { .integer($0) }),
            ("events", .optional(events) { .integer($0) }),
            ("eventsCounted", .boolean(eventsCounted)),
        ])
    }

    /// `nil` without a type and an interval.
    fileprivate init?(_ node: JSONNode) {
        guard let type = node["type"]?.string, let interval = node["intervalMs"]?.thousandths else { return nil }
        self.type = type
        self.interval = interval
        address = node["address"]?.string.flatMap { DeviceAddress($0) }
        grantedInterval = node["grantedIntervalMs"]?.thousandthsRange
        radioPower = node["radioPowerDbm"]?.integer
        grantedRadioPower = node["grantedRadioPowerDbm"]?.integer
        events = node["events"]?.integer
        eventsCounted = node["eventsCounted"]?.isTrue ?? false
    }
}

extension InstanceStatus.TelemetryStatus {
    fileprivate var json: JSONValue {
        .record([
            ("temperatureC", .optional(temperature) { .decimal(DecimalText.thousandths($0)) }),
            ("temperatureSensor", .optional(temperatureSensor, JSONValue.string)),
            ("batteryMv", .optional(battery) { .integer($0) }),
            ("batterySensor", .optional(batterySensor, JSONValue.string)),
        ])
    }

    /// `nil` for anything but an object.
    fileprivate init?(_ node: JSONNode) {
        guard case .object = node.value else { return nil }
        temperature = node["temperatureC"]?.thousandths
        temperatureSensor = node["temperatureSensor"]?.string
        battery = node["batteryMv"]?.integer
        batterySensor = node["batterySensor"]?.string
    }
}

extension JSONValue {
    /// A time in milliseconds: a number, or the array of its two bounds where it is a range. From microseconds.
    public static func milliseconds(_ range: ClosedRange<Int>) -> JSONValue {
        let bounds = [range.lowerBound, range.upperBound].map { JSONValue.decimal(DecimalText.thousandths($0)) }
        return bounds[0] == bounds[1] ? bounds[0] : .array(bounds)
    }
}

extension JSONNode {
    /// What ``JSONValue/milliseconds(_:)`` gives; `nil` for anything else.
    fileprivate var thousandthsRange: ClosedRange<Int>? {
        if let number = thousandths { return number...number }
        guard let bounds = elements?.compactMap(\.thousandths), bounds.count == 2, bounds[0] <= bounds[1] else {
            return nil
        }
        return bounds[0]...bounds[1]
    }
}
