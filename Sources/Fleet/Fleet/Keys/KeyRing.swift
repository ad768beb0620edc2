internal import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// The identity keys of a fleet in one file, with all that resolving needs: a million keys are read in a second this
/// way, and as files of their own in minutes.
///
/// ```json
/// {"version":1,"keys":[
/// {"name":"hall-1","group":"museum/ground","eidEpoch":"2026-03-01T12:00:00Z","rotationExponents":[10],"key":"…"}
/// ]}
/// ```
///
/// A copy of secrets: a file for its owner alone, which holds what the keys were when it was made.
public struct KeyRing: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1
    private var isFirst = true

    /// Without a key.
    public init() {}

    /// What stands before the first key.
    public static let start = "{\"version\":\(version),\"keys\":["
    /// What stands behind the last one.
    public static let end = "\n]}\n"

    /// A beacon's line, with what separates it from the one before; `nil` where nothing could be resolved with it.
    public mutating func line(_ rotation: BeaconRotation, group: [String], key: IdentityKey) -> String? {
        guard let epoch = rotation.epoch, !rotation.exponents.isEmpty else { return nil }
        defer { isFirst = false }
        let exponents = rotation.exponents.map { "\($0.rawValue)" }.joined(separator: ",")
        return (isFirst ? "\n" : ",\n")
            + "{\"name\":\"\(rotation.name)\",\"group\":\"\(group.joined(separator: "/"))\","
            + "\"eidEpoch\":\"\(epoch)\",\"rotationExponents\":[\(exponents)],\"key\":\"\(key.octets)\"}"
    }
}

/// Reads a ring key by key.
public struct KeyRingReader {
    /// One beacon's key.
    public struct Entry: Sendable {
        fileprivate let octets: [UInt8]
        fileprivate let nameRange: Range<Int>
        fileprivate let groupRange: Range<Int>?
        public let epoch: RFC3339Time
        public let exponents: [RotationExponent]
        public let key: IdentityKey

        public var name: String { String(decoding: octets[nameRange], as: UTF8.self) }
        /// Site, floor and room, as far as they are given.
        public var group: [String] {
            guard let groupRange else { return [] }
            return octets[groupRange].split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private var cursor: TextCursor
    private var line = 2
    private var isFirst = true
    /// Mostly those of the beacon before.
    private var epoch: (text: ArraySlice<UInt8>, time: RFC3339Time)?
    private var exponents: (text: ArraySlice<UInt8>, list: [RotationExponent]) = ([], [])

    /// - Throws: also for a text of another form than ``KeyRing`` has.
    public init(_ octets: [UInt8]) throws(FileProblem) {
        cursor = TextCursor(octets)
        guard cursor.take("{\"version\":1,\"keys\":[\n") else { throw Self.problem(line: 1) }
    }

    /// The next key; `nil` behind the last one.
    public mutating func next() throws(FileProblem) -> Entry? {
        if isFirst ? cursor.take("]}\n") : cursor.take("\n]}\n") {
            guard cursor.isAtEnd else { throw Self.problem(line: line) }
            return nil
        }
        guard isFirst || cursor.take(",\n"), let entry = read() else { throw Self.problem(line: line) }
        isFirst = false
        line += 1
        return entry
    }

    private mutating func read() -> Entry? {
        guard cursor.take("{\"name\":\""), let name = cursor.takeWord(), cursor.take("\",\"group\":\"") else {
            return nil
        }
        let group = cursor.takePath()
        guard cursor.take("\",\"eidEpoch\":\""), let time = takeTime(), cursor.take("\",\"rotationExponents\":["),
            let exponents = takeExponents(), cursor.take("],\"key\":\""),
            let high = cursor.takeHexadecimal(octets: 8, separated: false),
            let low = cursor.takeHexadecimal(octets: 8, separated: false), cursor.take("\"}")
        else { return nil }
        var key = FixedOctets<16>()
        for index in 0..<8 {
            key[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
            key[8 + index] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
        }
        return Entry(
            octets: cursor.octets, nameRange: name, groupRange: group, epoch: time, exponents: exponents,
            key: IdentityKey(key))
    }

    private mutating func takeTime() -> RFC3339Time? {
        guard let range = cursor.takeUntilQuote(limit: 40) else { return nil }
        let text = cursor.octets[range]
        if let epoch, epoch.text.elementsEqual(text) { return epoch.time }
        guard let time = RFC3339Time(String(decoding: text, as: UTF8.self)) else { return nil }
        epoch = (text, time)
        return time
    }

    private mutating func takeExponents() -> [RotationExponent]? {
        let start = cursor.offset
        repeat {
            guard let number = cursor.takeNumber(), RotationExponent.range.contains(number) else { return nil }
        } while cursor.take(",")
        let text = cursor.octets[start..<cursor.offset]
        if exponents.text.elementsEqual(text) { return exponents.list }
        let list = text.split(separator: UInt8(ascii: ",")).compactMap { digits in
            PlainNumber.whole(cursor.octets, digits.startIndex..<digits.endIndex).flatMap {
                RotationExponent(rawValue: UInt8(clamping: $0))
            }
        }
        exponents = (text, list)
        return list
    }

    private static func problem(line: Int) -> FileProblem {
        FileProblem(
            "this is no ring of keys as `pharos fleet keys collect` writes it", at: .init(line: line, column: 1),
            path: .root)
    }
}
