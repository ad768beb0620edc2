internal import BluetoothTypes
public import Configuration
internal import LinuxHost

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
        if withProcess {
            members.append(("pid", .optional(process) { .integer($0.id) }))
            members.append(("startTicks", .optional(process?.startTicks) { .integer($0) }))
        }
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
        process = node["pid"]?.integer.flatMap(Int32.init(exactly:)).map { id in
            ProcessIdentity(id: id, startTicks: node["startTicks"]?.integer.flatMap(UInt64.init(exactly:)))
        }
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

extension [InstanceStatus] {
    /// What `status --json` prints: the format's version, and the instances.
    public var json: JSONValue {
        .record([("version", .integer(1)), ("instances", .array(map { $0.json(withProcess: false) }))])
    }
}
