internal import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// The identity keys of a fleet in one file, with everything that is needed to resolve ephemeral ids.
///
/// ```json
/// {"version":1,"keys":[
/// {"name":"hall-1","group":"museum/ground","eidEpoch":"2026-03-01T12:00:00Z","rotationExponents":[10],"key":"…"}
/// ]}
/// ```
///
/// The file contains secrets: only its owner may read it. When a key is replaced later, this file still contains the
/// former key.
public struct KeyRing: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// `true` if no line was made yet.
    private var isFirst = true

    /// A ring without keys.
    public init() {}

    /// The text before the first key.
    public static let start = "{\"version\":\(version),\"keys\":["
    /// The text after the last key.
    public static let end = "\n]}\n"

    /// A beacon's line, with the separator in front; `nil` for a beacon without an epoch or without ephemeral ids.
    public mutating func beaconLine(_ rotation: BeaconRotation, groupPath: [String], key: IdentityKey) -> String? {
        guard let epoch = rotation.epoch, !rotation.exponents.isEmpty else { return nil }
        defer { isFirst = false }
        let exponents = rotation.exponents.map { "\($0.rawValue)" }.joined(separator: ",")
        return (isFirst ? "\n" : ",\n")
            + "{\"name\":\"\(rotation.name)\",\"group\":\"\(groupPath.joined(separator: "/"))\","
            + "\"eidEpoch\":\"\(epoch)\",\"rotationExponents\":[\(exponents)],\"key\":\"\(key.octets)\"}"
    }
}

/// Reads a ring of keys.
public enum KeyRingReader {
    /// One beacon's key.
    public struct Entry: Sendable {
        public let name: String
        /// The names of the site, floor and room; at most three.
        public let group: [String]
        public let epoch: RFC3339Time
        public let exponents: [RotationExponent]
        public let key: IdentityKey
    }

    private static let keys = ["version", "keys"]
    private static let entryKeys = ["name", "group", "eidEpoch", "rotationExponents", "key"]

    /// The keys of a ring, in order.
    ///
    /// - Throws: The first problem.
    public static func entries(_ octets: [UInt8]) throws(FileProblem) -> [Entry] {
        let (root, faults) = JSONDocument.parse(octets)
        var decoder = ConfigurationDecoder()
        guard faults.isEmpty, let root, let object = decoder.object(root, keys: keys), object["keys"] != nil else {
            throw problem(line: faults.first?.line ?? 1)
        }
        decoder.version(object["version"])
        var entries: [Entry] = []
        for node in decoder.list(object["keys"], of: "keys") ?? [] {
            guard let entry = entry(node, &decoder) else { throw problem(line: node.position.line) }
            entries.append(entry)
        }
        if let first = decoder.problems.first { throw problem(line: first.line) }
        return entries
    }

    private static func entry(_ node: JSONNode, _ decoder: inout ConfigurationDecoder) -> Entry? {
        guard let object = decoder.object(node, keys: entryKeys), let name = object["name"]?.string,
            let epoch = object["eidEpoch"]?.string.flatMap({ RFC3339Time($0) }),
            let list = object["rotationExponents"]?.elements,
            let key = object["key"]?.string.flatMap({ try? FixedOctets<16>(hexadecimal: $0) })
        else { return nil }
        let exponents = list.compactMap { node in
            node.integer.flatMap { UInt8(exactly: $0) }.flatMap { RotationExponent(rawValue: $0) }
        }
        guard !exponents.isEmpty, exponents.count == list.count else { return nil }
        let group = object["group"]?.string?.split(separator: "/").map(String.init) ?? []
        return Entry(name: name, group: group, epoch: epoch, exponents: exponents, key: IdentityKey(key))
    }

    private static func problem(line: Int) -> FileProblem {
        FileProblem(
            "this is not a file of keys that `pharos fleet keys collect` has written", at: .init(line: line, column: 1),
            path: .root)
    }
}
