internal import BluetoothTypes
public import Configuration

/// What differs between two manifests of a fleet, by beacon and by field.
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

    /// A beacon of both manifests, and what differs.
    public struct Change: Hashable, Sendable {
        public var name: String
        public var fields: [Field]
    }

    /// One value of a beacon.
    public struct Field: Hashable, Sendable {
        /// As in the manifest, such as `advertisements[0].minor`.
        public var path: String
        /// `nil` where it was not there.
        public var old: JSONValue?
        /// `nil` where it is not there any more.
        public var new: JSONValue?
    }

    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && renamed.isEmpty && changed.isEmpty }

    /// Compares a manifest's text, as `fleet generate` wrote it, with what it would write now.
    ///
    /// - Throws: What is wrong with the old text.
    public init(from old: [UInt8], to generator: FleetGenerator) throws(FileProblem) {
        var lines = ManifestLines(old)
        _ = try lines.start()
        var names = NamePool()
        names.reserve(old.count / 400, octets: old.count / 40)
        var ranges: [(range: Range<Int>, line: Int)] = []
        while let (range, line) = try lines.next() {
            guard let name = ManifestLines.name(old, range) else {
                throw FileProblem(
                    "this line is no beacon of a manifest", at: .init(line: line, column: 1), path: .root)
            }
            guard names.insert(old, name).isNew else {
                throw FileProblem(
                    "the beacon \"\(String(decoding: old[name], as: UTF8.self))\" is there twice",
                    at: .init(line: line, column: 1), path: .root)
            }
            ranges.append((range, line))
        }
        var isSeen = [Bool](repeating: false, count: ranges.count)
        var newcomers: [(name: String, address: String?, line: [UInt8])] = []
        while generator.next() {
            let line = Self.withoutSeparator(generator.manifestLine)
            let name = Array(generator.name.utf8)
            guard let number = names.find(name, 0..<name.count) else {
                newcomers.append((generator.name, generator.beacon?.address?.description, line))
                continue
            }
            isSeen[number] = true
            let (range, lineNumber) = ranges[number]
            if old[range].elementsEqual(line) {
                unchanged += 1
                continue
            }
            let fields = try Self.fields(Array(old[range]), line, lineNumber)
            if fields.isEmpty { unchanged += 1 } else { changed.append(.init(name: generator.name, fields: fields)) }
        }
        var gone: [String: (name: String, number: Int)] = [:]
        for number in ranges.indices where !isSeen[number] {
            let node = JSONDocument.parse(Array(old[ranges[number].range])).root
            let name = names.string(number)
            if let address = node?["address"]?.string { gone[address] = (name, number) } else { removed.append(name) }
        }
        for (name, address, line) in newcomers {
            guard let address, let (was, number) = gone.removeValue(forKey: address) else {
                added.append(name)
                continue
            }
            renamed.append(.init(name: name, was: was))
            let fields = try Self.fields(Array(old[ranges[number].range]), line, ranges[number].line)
            changed.append(.init(name: name, fields: fields.filter { $0.path != "name" && $0.path != "profileHash" }))
        }
        changed.removeAll(where: \.fields.isEmpty)
        removed += gone.values.sorted { $0.number < $1.number }.map(\.name)
    }

    private static func withoutSeparator(_ line: [UInt8]) -> [UInt8] {
        line.first == UInt8(ascii: ",") ? Array(line.dropFirst(2)) : line
    }

    /// The values that two beacons do not share.
    private static func fields(_ old: [UInt8], _ new: [UInt8], _ line: Int) throws(FileProblem) -> [Field] {
        let (before, faults) = JSONDocument.parse(old)
        guard let before, faults.isEmpty, let after = JSONDocument.parse(new).root else {
            throw FileProblem("this line is no JSON", at: .init(line: line, column: 1), path: .root)
        }
        let left = Self.leaves(before)
        let right = Self.leaves(after)
        let known = Dictionary(left.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
        let given = Set(right.map(\.path))
        var fields: [Field] = []
        for (path, value) in right where known[path] != value {
            fields.append(.init(path: path, old: known[path], new: value))
        }
        for (path, value) in left where !given.contains(path) { fields.append(.init(path: path, old: value, new: nil)) }
        return fields
    }

    /// Every plain value with its path.
    private static func leaves(_ node: JSONNode) -> [(path: String, value: JSONValue)] {
        switch node.value {
        case .object(let members): members.flatMap { leaves($0.value) }
        case .array(let elements): elements.flatMap { leaves($0) }
        default: [(node.path.description, JSONValue(node))]
        }
    }
}

extension FleetDiff {
    /// A line for each beacon that is new (`+`), gone (`-`), renamed (`=`) or changed (`~`), below the last one for each
    /// of its values that differ, and how many there are of each.
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

    /// The same for programs. A value that is not there is `null`.
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
