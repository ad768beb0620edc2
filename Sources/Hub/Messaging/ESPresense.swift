internal import BluetoothTypes
internal import Configuration
internal import Sightings

/// Messages in the format of ESPresense, for programs that read this format, such as ESPresense Companion and Home
/// Assistant's `mqtt_room`.
public struct ESPresense: Hashable, Sendable {
    private let receiver: TopicLevel

    /// - Parameter receiver: The listener's name, which ESPresense uses as the name of a room.
    public init(receiver: String) { self.receiver = TopicLevel(receiver) }

    /// The topic of the retained message `online` or `offline`.
    public var statusTopic: String { "espresense/rooms/\(receiver)/status" }

    /// The time between two telemetry messages, in microseconds.
    public static let telemetryMicroseconds = 15_000_000

    /// Returns the telemetry message of this receiver.
    ///
    /// - Parameters:
    ///   - uptimeSeconds: The time since the start of reception, in seconds.
    ///   - advertisements: The number of received advertisements.
    ///   - seen: The number of received devices.
    ///   - reported: The number of published devices.
    public func telemetry(
        uptimeSeconds: Int, version: String, advertisements: Int, seen: Int, reported: Int
    ) -> Publication {
        Publication(
            "espresense/rooms/\(receiver)/telemetry",
            .record([
                ("ip", .null), ("uptime", .integer(uptimeSeconds)), ("ver", .string(version)),
                ("adverts", .integer(advertisements)), ("seen", .integer(seen)), ("reported", .integer(reported)),
            ]), isAssured: false)
    }

    /// Returns the message with the measurements of a device; `nil` if ESPresense has no id for the device, or its
    /// distance or level is not known.
    public func device(_ reading: BeaconReading) -> Publication? {
        guard let id = id(reading), let distance = reading.distance, let level = reading.meanLevel else { return nil }
        // One standard deviation is taken to be half of the range of the distance.
        let deviation = (distance.highMeters - distance.lowMeters) / 2
        return Publication(
            "espresense/devices/\(id)/\(receiver)",
            .record([
                ("mac", .optional(reading.addressDigits(isUppercase: false), JSONValue.string)), ("id", .string(id)),
                ("name", .string(reading.name)), ("rssi@1m", .optional(reading.powerAtOneMeter, JSONValue.integer)),
                ("rssi", Rounded.number(level, 10)), ("rssiVar", Rounded.number(reading.levelVariance, 10)),
                ("distance", Rounded.meters(distance.meters)), ("var", Rounded.number(deviation * deviation, 1)),
                ("int", .optional(reading.intervalMilliseconds, JSONValue.integer)),
            ]), isAssured: false)
    }

    /// Returns the id of a device in ESPresense, made from the configuration files and not from received data.
    ///
    /// The fifth byte of an Eddystone UID appears twice, as in ESPresense. If a device is identified by the key of its
    /// addresses, ESPresense uses that key as the id. Pharos never publishes a key, and uses the device's name instead.
    func id(_ reading: BeaconReading) -> String? {
        switch reading.identity {
        case .iBeacon(let uuid, let major, let minor): return "iBeacon:\(uuid.uuidText)-\(major)-\(minor)"
        case .altBeacon(_, let id):
            let octets = id.octets
            guard let uuid = FixedOctets<16>(Array(octets[..<16])) else { return nil }
            let major = UInt16(octets[16]) << 8 | UInt16(octets[17])
            let minor = UInt16(octets[18]) << 8 | UInt16(octets[19])
            return "altBeacon:\(uuid.uuidText)-\(major)-\(minor)"
        case .eddystoneUID(let namespace, let instance):
            let octets = namespace.octets
            return "eddy:\(Hexadecimal.text(octets[...4]))\(Hexadecimal.text(octets[4...]))-\(instance)"
        case .address: return reading.addressDigits(isUppercase: false).map { "known:\($0)" }
        case .eddystoneURL, .eddystoneEID, nil: return "name:\(TopicLevel(identifier: reading.name))"
        }
    }
}
