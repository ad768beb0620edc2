internal import Configuration

/// Messages for Home Assistant's MQTT discovery, with which Home Assistant adds each beacon and zone automatically.
///
/// The names of beacons and zones appear in payloads. Templates and topics never contain received data.
public struct HomeAssistant: Hashable, Sendable {
    /// The topic on which Home Assistant announces its start.
    public static let statusTopic = "homeassistant/status"
    /// The payload of that announcement. After it, all messages must be published again.
    public static let birth = "online"

    /// Settings for older versions of Home Assistant.
    public struct Settings: Hashable, Sendable {
        /// A version such as `2026.7` if Home Assistant is older than this version; otherwise `nil`. An older Home
        /// Assistant shows a tracker without a state as unknown, so the tracker's discovery message then contains a
        /// state topic.
        public var before: String?

        /// Creates settings.
        public init(before: String? = nil) { self.before = before }
    }

    private let tree: TopicTree
    private let settings: Settings
    private let version: String

    /// - Parameters:
    ///   - tree: The topics of the beacons' states.
    ///   - version: The version of this program.
    public init(_ tree: TopicTree, _ settings: Settings = Settings(), version: String) {
        self.tree = tree
        self.settings = settings
        self.version = version
    }

    /// Returns the discovery messages of a beacon, one for each of its entities.
    ///
    /// - Parameter hasBattery: True if the beacon reports its battery voltage.
    public func discovery(_ beacon: String, hasBattery: Bool) -> [Publication] {
        let state: (String, JSONValue) = ("state_topic", .string(tree.beaconState(beacon)))
        var messages = [
            entity(
                beacon, "sensor", "room", "Room",
                [state, ("value_template", "{{ value_json.room }}"), ("icon", "mdi:map-marker")]),
            entity(
                beacon, "binary_sensor", "present", "Present",
                [
                    state, ("value_template", "{{ value_json.present }}"), ("device_class", "presence"),
                    ("payload_on", "ON"), ("payload_off", "OFF"),
                ]),
            entity(
                beacon, "sensor", "distance", "Distance",
                [
                    state, ("value_template", "{{ value_json.distanceM }}"), ("device_class", "distance"),
                    ("unit_of_measurement", "m"), ("state_class", "measurement"),
                ]),
            entity(beacon, "device_tracker", "tracker", "Tracker", tracker(state)),
        ]
        if hasBattery { messages.append(battery(beacon)) }
        return messages
    }

    /// Returns the discovery message of a zone. Its entity shows whether any beacon is inside the zone.
    public func zone(_ name: String) -> Publication {
        let state = tree.zoneState(name)
        // The names of beacons' devices begin with `pharos_`, so none of them equals this name.
        let device = "pharos-zone_\(TopicLevel(identifier: tree.zoneIdentifier(name)))"
        return entity(
            device, named: name, "binary_sensor", "occupied", "Occupied",
            [
                ("state_topic", .string(state)),
                ("value_template", "{{ ('ON' if value_json.count > 0 else 'OFF') if value_json.known else 'None' }}"),
                ("device_class", "occupancy"), ("payload_on", "ON"), ("payload_off", "OFF"),
                ("json_attributes_topic", .string(state)),
            ])
    }

    /// The topic filter for the discovery messages of the trackers of all beacons.
    static let trackerFilter = "homeassistant/device_tracker/+/tracker/config"

    /// Returns the discovery message for the battery of a beacon that reports its battery voltage.
    public func battery(_ beacon: String) -> Publication {
        entity(
            beacon, "sensor", "battery", "Battery",
            [
                ("state_topic", .string(tree.beaconAttributes(beacon))),
                ("value_template", "{{ value_json.batteryV }}"), ("device_class", "voltage"),
                ("unit_of_measurement", "V"), ("state_class", "measurement"), ("entity_category", "diagnostic"),
            ])
    }

    private func tracker(_ state: (String, JSONValue)) -> [(String, JSONValue)] {
        guard settings.before != nil else { return [("source_type", "bluetooth_le")] }
        return [
            state, ("value_template", "{{ {'ON': 'home', 'OFF': 'not_home'}.get(value_json.present, 'None') }}"),
            ("source_type", "bluetooth_le"),
        ]
    }

    private func entity(
        _ beacon: String, _ component: String, _ object: String, _ name: String, _ members: [(String, JSONValue)]
    ) -> Publication {
        let device = "pharos_\(TopicLevel(identifier: beacon))"
        var members = members
        if component == "device_tracker" {
            members.append(("json_attributes_topic", .string(tree.beaconAttributes(beacon))))
        }
        return entity(device, named: beacon, component, object, name, members)
    }

    private func entity(
        _ device: String, named deviceName: String, _ component: String, _ object: String, _ name: String,
        _ members: [(String, JSONValue)]
    ) -> Publication {
        var allMembers: [(String, JSONValue)] = [
            ("name", .string(name)), ("unique_id", .string("\(device)_\(object)")),
        ]
        allMembers += members
        allMembers += [
            ("availability_topic", .string(tree.status)),
            ("device", .record([("identifiers", [.string(device)]), ("name", .string(deviceName))])),
            ("origin", .record([("name", "pharos"), ("sw", .string(version))])),
        ]
        return Publication(
            "homeassistant/\(component)/\(device)/\(object)/config", .record(allMembers), isRetained: true)
    }
}
