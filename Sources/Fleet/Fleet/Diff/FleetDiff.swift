internal import BluetoothTypes
public import Configuration

/// The differences between two manifests of a fleet, by beacon and by field.
public struct FleetDiff: Hashable, Sendable {
    public var added: [String] = []
    public var removed: [String] = []
    /// New and old names of beacons that send from the same address as before.
    public var renamed: [Renamed] = []
    public var changed: [Change] = []
    public var unchanged = 0

    /// A beacon under another name: both send from the same address.
    public struct Renamed: Hashable, Sendable {
        public var name: String
        public var was: String
    }

    /// A beacon of both manifests with the values that differ.
    public struct Change: Hashable, Sendable {
        public var name: String
        public var fields: [Field]
    }

    /// A value of a beacon that differs.
    public struct Field: Hashable, Sendable {
        /// As in the manifest, such as `advertisements[0].minor`.
        public var path: String
        /// `nil` for a value that is new.
        public var old: JSONValue?
        /// `nil` for a value that is gone.
        public var new: JSONValue?
    }

    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && renamed.isEmpty && changed.isEmpty }

    /// Compares two manifests. The order of the beacons does not matter.
    public init(from old: FleetManifest, to new: FleetManifest) {
        var gone: [String: FleetManifest.Beacon] = [:]
        for beacon in old.beacons { gone[beacon.name] = beacon }
        var added: [FleetManifest.Beacon] = []
        for beacon in new.beacons {
            guard let before = gone.removeValue(forKey: beacon.name) else {
                added.append(beacon)
                continue
            }
            let fields = before == beacon ? [] : Self.fields(before, beacon)
            if fields.isEmpty { unchanged += 1 } else { changed.append(.init(name: beacon.name, fields: fields)) }
        }
        var byAddress: [DeviceAddress: FleetManifest.Beacon] = [:]
        for beacon in gone.values { if let address = beacon.address { byAddress[address] = beacon } }
        for beacon in added {
            guard let address = beacon.address, let before = byAddress.removeValue(forKey: address) else {
                self.added.append(beacon.name)
                continue
            }
            gone[before.name] = nil
            renamed.append(.init(name: beacon.name, was: before.name))
            let fields = Self.fields(before, beacon).filter { $0.path != "name" && $0.path != "profileHash" }
            if !fields.isEmpty { changed.append(.init(name: beacon.name, fields: fields)) }
        }
        removed = old.beacons.map(\.name).filter { gone[$0] != nil }
    }

    /// The values that two beacons do not share.
    private static func fields(_ old: FleetManifest.Beacon, _ new: FleetManifest.Beacon) -> [Field] {
        let left = leaves(old.json, .root)
        let right = leaves(new.json, .root)
        let known = Dictionary(left.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
        let given = Set(right.map(\.path))
        return right.filter { known[$0.path] != $0.value }
            .map { Field(path: $0.path, old: known[$0.path], new: $0.value) }
            + left.filter { !given.contains($0.path) }.map { Field(path: $0.path, old: $0.value, new: nil) }
    }

    /// Every value that is no list and no object, with its path.
    private static func leaves(_ value: JSONValue, _ path: JSONPath) -> [(path: String, value: JSONValue)] {
        switch value {
        case .object(let members): members.flatMap { leaves($0.value, path.key($0.key)) }
        case .array(let elements): elements.enumerated().flatMap { leaves($1, path.index($0)) }
        default: [(path.description, value)]
        }
    }
}

extension FleetDiff {
    /// A line for each beacon that is new (`+`), gone (`-`), renamed (`=`) or changed (`~`), followed by its values
    /// that differ. The last line counts them.
    public var text: String {
        var text = ""
        for name in added { text += "+ \(name)\n" }
        for name in removed { text += "- \(name)\n" }
        for pair in renamed { text += "= \(pair.name) (was \(pair.was))\n" }
        for change in changed {
            text += "~ \(change.name)\n"
            for field in change.fields {
                text += "    \(field.path): \(field.old?.line ?? "nothing") → \(field.new?.line ?? "nothing")\n"
            }
        }
        return text
            + "\(added.count) added, \(removed.count) removed, \(renamed.count) renamed, \(changed.count) changed, "
            + "\(unchanged) unchanged\n"
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
