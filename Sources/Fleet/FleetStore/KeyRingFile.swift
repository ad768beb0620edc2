internal import BluetoothTypes
public import Configuration
internal import EddystoneSecurity
public import Fleet
internal import LinuxHost

/// All keys of a fleet in one file of mode 0600, for a fast search.
public enum KeyRingFile {
    /// The largest size of the file, in bytes.
    private static let sizeLimit = 1 << 31

    /// Copies the keys of a fleet into `path`.
    ///
    /// - Returns: The number of copied keys, and of beacons without a key.
    public static func collect(
        _ keys: FleetKeys, to path: String
    ) throws(FleetStoreError) -> (collected: Int, withoutKey: Int) {
        var ring = KeyRing()
        var octets = Array(KeyRing.start.utf8)
        var (collected, withoutKey) = (0, 0)
        try keys.forEach { (beacon, rotation, key) throws(FleetStoreError) in
            guard let key else {
                withoutKey += 1
                return
            }
            guard let line = ring.beaconLine(rotation, groupPath: beacon.group, key: key) else { return }
            octets += line.utf8
            collected += 1
        }
        octets += KeyRing.end.utf8
        do throws(SystemError) {
            try Files.replaceSecret(path, with: octets)
        } catch {
            throw FleetStoreError(error, at: path)
        }
        return (collected, withoutKey)
    }

    /// The contents of the file; `nil` when it is not a ring of keys.
    static func octets(_ path: String) throws(FleetStoreError) -> [UInt8]? {
        let start = Array(KeyRing.start.utf8)
        guard path != "-", let file = try? Descriptor.openRegular(path),
            let firstOctets = try? file.read(upTo: start.count), firstOctets == start
        else { return nil }
        return try SecretFile.read(path, limit: sizeLimit)
    }
}

/// A search for the beacons of a fleet that sent an ephemeral id.
public struct EphemeralIDSearch: Sendable {
    /// A beacon that sent the id, and the window of time in which the beacon sent the id.
    public struct Match: Sendable {
        public let name: String
        /// The names of the site, floor and room; at most three.
        public let group: [String]
        public let answer: EphemeralIDQuestion.Answer
    }

    public private(set) var matches: [Match] = []
    /// The number of keys that were tried.
    public private(set) var triedCount = 0
    /// The number of beacons with ephemeral ids and without a key.
    public private(set) var withoutKey = 0
    private let question: EphemeralIDQuestion

    /// Searches the keys of a fleet. If the file at `path` is a ring of keys that ``KeyRingFile/collect(_:to:)`` wrote,
    /// only this ring is searched, otherwise only `keys`.
    public init(_ question: EphemeralIDQuestion, path: String, keys: FleetKeys) throws(FleetStoreError) {
        self.question = question
        if let ring = try KeyRingFile.octets(path) {
            try search(ring, path)
            return
        }
        try keys.forEach { (beacon, rotation, key) throws(FleetStoreError) in
            guard !rotation.exponents.isEmpty else { return }
            guard let key else {
                withoutKey += 1
                return
            }
            try add(beacon.name, beacon.group) { () throws(EddystoneSecurityError) in
                try question.answer(rotation, key: key)
            }
        }
    }

    private mutating func search(_ ring: [UInt8], _ path: String) throws(FleetStoreError) {
        let entries: [KeyRingReader.Entry]
        do throws(FileProblem) {
            entries = try KeyRingReader.entries(ring)
        } catch {
            throw FleetStoreError(.malformed, error.text(file: path))
        }
        for entry in entries {
            try add(entry.name, entry.group) { [question] () throws(EddystoneSecurityError) in
                try question.answer(entry)
            }
        }
    }

    private mutating func add(
        _ name: String, _ group: [String],
        _ answer: () throws(EddystoneSecurityError) -> EphemeralIDQuestion.Answer?
    ) throws(FleetStoreError) {
        triedCount += 1
        do throws(EddystoneSecurityError) {
            guard let answer = try answer() else { return }
            matches.append(Match(name: name, group: group, answer: answer))
        } catch {
            throw FleetStoreError(.invalid, "\(name): \(error)")
        }
    }
}

extension EphemeralIDSearch {
    /// A line for each match: the beacon, its group, and the times between which it sent the id.
    public var text: String {
        matches.map { match in
            let groupText = match.group.isEmpty ? "" : " (\(match.group.joined(separator: " / ")))"
            return "\(match.name)\(groupText), from \(match.answer.from) to \(match.answer.to)\n"
        }
        .joined()
    }

    /// The matches as JSON, with the id and the time.
    public var json: JSONValue {
        .record([
            ("id", .string(question.id.description)), ("at", .string(question.time.description)),
            ("beacons", .array(matches.map(Self.json))), ("tried", .integer(triedCount)),
            ("withoutKey", .integer(withoutKey)),
        ])
    }

    private static func json(_ match: Match) -> JSONValue {
        .record([
            ("name", .string(match.name)), ("group", .array(match.group.map(JSONValue.string))),
            ("counter", .integer(match.answer.counter)),
            ("rotationExponent", .integer(match.answer.exponent.rawValue)),
            ("from", .string(match.answer.from.description)), ("to", .string(match.answer.to.description)),
        ])
    }
}
