internal import BluetoothTypes
public import Configuration

/// The differences between two manifests of a fleet, by beacon and by field.
public struct FleetDiff: Equatable, Sendable {
    public var added: [String] = []
    public var removed: [String] = []
    /// The beacons with a new name that send from the same address as a beacon of the old manifest.
    public var renamed: [Renamed] = []
    public var changed: [Change] = []
    public var unchanged = 0
    /// The path of each beacon's group, by the name of the beacon.
    private var groups: [String: String] = [:]

    /// A renamed beacon: the beacon with the old name and the beacon with the new name send from the same address.
    public struct Renamed: Hashable, Sendable {
        public var name: String
        public var was: String
    }

    /// A beacon that is in both manifests, with the values that differ.
    public struct Change: Hashable, Sendable {
        public var name: String
        public var fields: [Field]
    }

    /// A value of a beacon that differs.
    public struct Field: Hashable, Sendable {
        /// The path of the value as in the manifest, such as `advertisements[0].minor`.
        public var path: String
        /// The old value; `nil` if the old manifest does not have the value.
        public var old: JSONValue?
        /// The new value; `nil` if the new manifest does not have the value.
        public var new: JSONValue?

        /// The path with the old and the new value, such as `host: nothing → "pi-1"`.
        var text: String { "\(path): \(old?.line ?? "nothing") → \(new?.line ?? "nothing")" }
    }

    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && renamed.isEmpty && changed.isEmpty }

    /// Compares two manifests. The order of the beacons does not matter.
    public init(from old: FleetManifest, to new: FleetManifest) {
        for beacon in old.beacons + new.beacons { groups[beacon.name] = beacon.group.joined(separator: "/") }
        // The beacons of the old manifest without a match in the new manifest so far, by name.
        var oldBeacons: [String: FleetManifest.Beacon] = [:]
        for beacon in old.beacons { oldBeacons[beacon.name] = beacon }
        var addedBeacons: [FleetManifest.Beacon] = []
        for beacon in new.beacons {
            guard let oldBeacon = oldBeacons.removeValue(forKey: beacon.name) else {
                addedBeacons.append(beacon)
                continue
            }
            let fields = oldBeacon == beacon ? [] : Self.fields(oldBeacon, beacon)
            if fields.isEmpty { unchanged += 1 } else { changed.append(.init(name: beacon.name, fields: fields)) }
        }
        var oldBeaconsByAddress: [DeviceAddress: FleetManifest.Beacon] = [:]
        for beacon in oldBeacons.values { if let address = beacon.address { oldBeaconsByAddress[address] = beacon } }
        for beacon in addedBeacons {
            guard let address = beacon.address, let oldBeacon = oldBeaconsByAddress.removeValue(forKey: address) else {
                added.append(beacon.name)
                continue
            }
            oldBeacons[oldBeacon.name] = nil
            renamed.append(.init(name: beacon.name, was: oldBeacon.name))
            let fields = Self.fields(oldBeacon, beacon).filter { $0.path != "name" && $0.path != "profileHash" }
            if !fields.isEmpty { changed.append(.init(name: beacon.name, fields: fields)) }
        }
        removed = old.beacons.map(\.name).filter { oldBeacons[$0] != nil }
    }

    /// Returns the values in which two beacons differ.
    private static func fields(_ old: FleetManifest.Beacon, _ new: FleetManifest.Beacon) -> [Field] {
        let oldLeaves = leaves(old.json, .root)
        let newLeaves = leaves(new.json, .root)
        let oldValues = Dictionary(oldLeaves.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
        let newPaths = Set(newLeaves.map(\.path))
        return newLeaves.filter { oldValues[$0.path] != $0.value }
            .map { Field(path: $0.path, old: oldValues[$0.path], new: $0.value) }
            + oldLeaves.filter { !newPaths.contains($0.path) }.map { Field(path: $0.path, old: $0.value, new: nil) }
    }

    /// Returns every value inside `value` that is neither a list nor an object, with its path.
    private static func leaves(_ value: JSONValue, _ path: JSONPath) -> [(path: String, value: JSONValue)] {
        switch value {
        case .object(let members): members.flatMap { leaves($0.value, path.key($0.key)) }
        case .array(let elements): elements.enumerated().flatMap { leaves($1, path.index($0)) }
        default: [(path.description, value)]
        }
    }
}

extension FleetDiff {
    /// A line for each group with beacons that are new (`+`), removed (`-`), renamed (`=`) or changed (`~`). If only
    /// one beacon of a group has such a difference, the line has the name of the beacon, followed by the values that
    /// differ. The last line states how many beacons are new, removed, renamed and changed.
    public var text: String {
        let names = renamed.map { (name: $0.name, text: "\($0.name) (was \($0.was))") }
        return lines("+", added.map { ($0, $0) }) + lines("-", removed.map { ($0, $0) }) + lines("=", names)
            + changedLines
            + summary
    }

    /// One line for each beacon that differs, and one line for each of its values that differ.
    public var fullText: String {
        added.map { "+ \($0)\n" }.joined() + removed.map { "- \($0)\n" }.joined()
            + renamed.map { "= \($0.name) (was \($0.was))\n" }.joined() + changed.map(Self.lines).joined() + summary
    }

    private var summary: String {
        "\(added.count) added, \(removed.count) removed, \(renamed.count) renamed, \(changed.count) changed, "
            + "\(unchanged) unchanged\n"
    }

    private static func lines(_ change: Change) -> String {
        "~ \(change.name)\n" + change.fields.map { "    \($0.text)\n" }.joined()
    }

    /// Returns the values of a list, collected by group. The groups are in the order in which they occur in the list.
    private func byGroup<Value>(_ values: [Value], _ name: (Value) -> String) -> [(group: String, values: [Value])] {
        var order: [String] = []
        var valuesOfGroups: [String: [Value]] = [:]
        for value in values {
            let group = groups[name(value)] ?? ""
            if valuesOfGroups[group] == nil { order.append(group) }
            valuesOfGroups[group, default: []].append(value)
        }
        return order.map { ($0, valuesOfGroups[$0] ?? []) }
    }

    /// Returns the start of the line of a group, such as `~ museum/ground: 12 beacons (a, b, c and 9 more)`.
    private static func start(_ mark: String, _ group: String, _ names: [String]) -> String {
        let omitted = names.count - 3
        return "\(mark) \(group.isEmpty ? "without a group" : group): \(names.count) beacons "
            + "(\(names.prefix(3).joined(separator: ", "))\(omitted > 0 ? " and \(omitted) more" : ""))"
    }

    private func lines(_ mark: String, _ beacons: [(name: String, text: String)]) -> String {
        byGroup(beacons, \.name).map { group, beacons in
            beacons.count == 1 ? "\(mark) \(beacons[0].text)\n" : Self.start(mark, group, beacons.map(\.text)) + "\n"
        }.joined()
    }

    private var changedLines: String {
        byGroup(changed, \.name).map { group, changes in
            guard changes.count > 1 else { return Self.lines(changes[0]) }
            var paths: [String] = []
            var fields: [String: [Field]] = [:]
            for field in changes.flatMap(\.fields) where field.path != "profileHash" {
                if fields[field.path] == nil { paths.append(field.path) }
                fields[field.path, default: []].append(field)
            }
            let parts = paths.map { path in
                let pathFields = fields[path] ?? []
                let different = Set(pathFields).count
                let text = different == 1 ? pathFields[0].text : "\(path): \(different) different changes"
                return text + (pathFields.count < changes.count ? " (\(pathFields.count) of them)" : "")
            }
            return Self.start("~", group, changes.map(\.name)) + ": " + parts.joined(separator: "; ") + "\n"
        }.joined()
    }

    /// The differences as JSON. A missing value is `null`.
    public var json: JSONValue {
        .record([
            ("added", .array(added.map { .string($0) })), ("removed", .array(removed.map { .string($0) })),
            ("renamed", .array(renamed.map { .record([("name", .string($0.name)), ("was", .string($0.was))]) })),
            ("changed", .array(changed.map(Self.json))), ("unchanged", .integer(unchanged)),
        ])
    }

    private static func json(_ change: Change) -> JSONValue {
        let fields = change.fields.map { field in
            JSONValue.record([
                ("path", .string(field.path)), ("old", field.old ?? .null), ("new", field.new ?? .null),
            ])
        }
        return .record([("name", .string(change.name)), ("fields", .array(fields))])
    }
}
