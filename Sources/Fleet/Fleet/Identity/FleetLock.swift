internal import BluetoothTypes
public import Configuration

/// The allocated identities of a fleet: one line for each beacon, in the order of allocation.
///
/// New beacons are added at the end, and no line ever moves. If two branches both add a beacon, they change the same
/// place of the file, so version control reports a conflict. Identities that are no longer used stay in the file as
/// retired, so that no identity is allocated twice.
///
/// Every line ends with a check mark (`LineMark`), so that a damaged or edited line is refused with its line number. A
/// line without a mark, from version 0.1 or written by hand, is accepted without this check.
public struct FleetLock: Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// The name of the lock file for a fleet file: for `museum.json`, it is `museum.lock.json`.
    public static func file(of fleetFile: String) -> String {
        let isJSON = fleetFile.hasSuffix(".json")
        return (isJSON ? String(fleetFile.dropLast(5)) : fleetFile) + ".lock.json"
    }

    /// The fleet's name.
    public internal(set) var fleet: String
    /// The groups that have a major number, and the groups that cannot be derived from the entries of beacons: groups
    /// without numbers, and groups that were renamed. New groups are added at the end.
    var groups: [Group] = []
    var entries: [Entry] = []

    /// A lock without any allocated identity.
    public init(fleet: String) {
        self.fleet = fleet
    }

    struct Group: Sendable, Hashable {
        var path: String
        var major: Int?
        /// The former names of the group, without the names of the groups around it.
        var was: [String] = []
        /// `true` if the fleet no longer has the group.
        var isRetired = false
        /// The number of the group's line in the file; 0 for a new group.
        var line = 0
    }

    /// One beacon's identity.
    struct Entry: Sendable, Equatable {
        var name: String
        /// The former names of the beacon.
        var was: [String] = []
        /// The path of the group in which the minor number is counted; empty for the whole fleet.
        var scope = ""
        /// The major number that the beacon sends, if `scope` does not determine it.
        var major: Int?
        var minor: Int?
        /// The Eddystone instance, six bytes.
        var instance: UInt64?
        var address: DeviceAddress?
        var epoch: RFC3339Time?
        /// The serial number of the machine.
        var serial: String?
        /// The serial numbers of machines that were replaced.
        var earlierSerials: [String] = []
        /// The host of the machine. If the beacon has another name later, an equal host shows that it was renamed. An
        /// equal title in the same group shows this as well.
        var host: String?
        /// The title of the beacon, which is its name for display.
        var title: String?
        /// The path of the beacon's group; empty for a beacon without a title.
        var group = ""
        var isRetired = false
        /// The number of the beacon's line in the file; 0 for a new entry.
        var line = 0
    }

    /// The names of the beacons whose identities are kept, but not in use.
    public var retiredNames: [String] { entries.filter(\.isRetired).map(\.name) }
    /// The number of identities in use.
    public var liveCount: Int { entries.count { !$0.isRetired } }

    /// The name that a group or beacon gets when another group or beacon takes over its name: the former name, `~` and
    /// a number. No group and no beacon of a fleet file has such a name.
    static func asideName(of name: String, isTaken: (String) -> Bool) -> String {
        var number = 1
        while isTaken("\(name)~\(number)") { number += 1 }
        return "\(name)~\(number)"
    }

    /// The name without the suffixes that ``asideName(of:isTaken:)`` has added.
    static func plainName(_ name: String) -> Substring {
        guard let mark = name.lastIndex(of: "~") else { return name[...] }
        let digits = name[mark...].dropFirst()
        return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
            ? plainName(String(name[..<mark])) : name[...]
    }

    /// An Eddystone instance as 12 hexadecimal digits.
    static func instanceText(_ instance: UInt64) -> String {
        Hexadecimal.text((0..<6).reversed().map { UInt8(truncatingIfNeeded: instance >> (8 * UInt64($0))) })
    }
}

extension FleetLock {
    /// The file's text.
    public var text: [UInt8] {
        let start = "{\n\"version\":\(Self.version),\n\"fleet\":\(JSONValue.string(fleet).line),\n\"groups\":[\n"
        var text = Array(start.utf8)
        Self.append(groups.map(Self.line), to: &text)
        text += "],\n\"beacons\":[\n".utf8
        Self.append(entries.map(Self.line), to: &text)
        return text + "]\n}\n".utf8
    }

    private static func append(_ lines: [String], to text: inout [UInt8]) {
        for (index, line) in lines.enumerated() {
            let mark = Hexadecimal.number(LineMark.of(line), width: 4).dropFirst(2).lowercased()
            text += "\(line),\"check\":\"\(mark)\"}".utf8
            text += (index + 1 < lines.count ? ",\n" : "\n").utf8
        }
    }

    /// The line of a group without its check mark and the brace at the end.
    static func line(_ group: Group) -> String {
        "{\"group\":\(JSONValue.string(group.path).line)" + (group.major.map { ",\"major\":\($0)" } ?? "")
            + names("was", group.was) + (group.isRetired ? ",\"retired\":true" : "")
    }

    /// The text of a key whose value is a list of names; empty if there are no names.
    private static func names(_ key: String, _ names: [String]) -> String {
        names.isEmpty ? "" : ",\"\(key)\":" + JSONValue.array(names.map(JSONValue.string)).line
    }

    /// The line of a beacon without its check mark and the brace at the end.
    static func line(_ entry: Entry) -> String {
        var line = "{\"name\":\"\(entry.name)\"" + names("was", entry.was)
        if !entry.scope.isEmpty { line += ",\"in\":\"\(entry.scope)\"" }
        if let major = entry.major { line += ",\"major\":\(major)" }
        if let minor = entry.minor { line += ",\"minor\":\(minor)" }
        if let instance = entry.instance { line += ",\"instance\":\"\(instanceText(instance))\"" }
        if let address = entry.address { line += ",\"address\":\"\(address)\"" }
        if let epoch = entry.epoch { line += ",\"eidEpoch\":\"\(epoch)\"" }
        if let serial = entry.serial { line += ",\"box\":\"\(serial)\"" }
        line += names("earlierBoxes", entry.earlierSerials)
        if let host = entry.host { line += ",\"host\":\(JSONValue.string(host).line)" }
        if let title = entry.title { line += ",\"title\":\(JSONValue.string(title).line)" }
        if !entry.group.isEmpty { line += ",\"group\":\(JSONValue.string(entry.group).line)" }
        if entry.isRetired { line += ",\"retired\":true" }
        return line
    }
}

/// The check mark of a line of a lock file: CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) over the line's bytes
/// from its brace to the mark.
///
/// It detects every damage within 16 consecutive bits. It does not depend on other lines, so lines can be merged.
enum LineMark {
    static func of(_ line: String) -> UInt16 {
        var checksum: UInt16 = 0xFFFF
        for byte in line.utf8 {
            checksum ^= UInt16(byte) << 8
            for _ in 0..<8 { checksum = checksum & 0x8000 != 0 ? checksum << 1 ^ 0x1021 : checksum << 1 }
        }
        return checksum
    }

    /// The message for a line whose mark does not match.
    static let fault =
        "the check mark of this line does not match: a byte is damaged, or the line was edited by hand; restore it "
        + "from version control, or delete its \"check\" if the change is intended"
}

extension FleetLock {
    /// Decodes a lock file. The layout of the JSON may differ from the layout that Pharos writes.
    ///
    /// - Returns: The lock, which is `nil` if there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8], file: String) -> (lock: FleetLock?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var problems = ProblemList()
        guard let root, faults.isEmpty else {
            if let line = conflictLine(octets) {
                let message =
                    "a merge conflict begins here: keep one side's lines as they are, delete the other side's new "
                    + "lines "
                    + "and all conflict marks, and run `pharos fleet generate`, which gives those beacons new "
                    + "identities"
                problems.add(
                    FileProblem(message, at: .init(line: line, column: 1), kind: .malformed, in: file))
            } else {
                problems.add(faults, in: file)
                if root == nil, let position = faults.last?.position {
                    let message =
                        "this lock is empty or damaged: restore it from version control, or take the identities that "
                        + "are in use from a generated manifest with `pharos fleet generate --adopt`"
                    problems.add(FileProblem(message, at: position, kind: .malformed, in: file))
                }
            }
            return (nil, problems.sorted)
        }
        var decoder = LockDecoder()
        let lock = decoder.lock(root)
        problems.add(decoder.decoder.problems, in: file)
        if let lock, !problems.hasErrors { lock.checkConsistency(&problems, file: file) }
        return (problems.hasErrors ? nil : lock, problems.sorted)
    }

    /// Returns whether the file is empty, or so damaged that it cannot be read to its end. It may then be replaced by
    /// the identities of a manifest.
    public static func isUnreadable(_ octets: [UInt8]) -> Bool {
        JSONDocument.parse(octets).root == nil && conflictLine(octets) == nil
    }

    /// The number of the first line on which version control marked the start of a conflict; `nil` if there is none.
    static func conflictLine(_ octets: [UInt8]) -> Int? {
        let lines = octets.split(separator: 0x0A, omittingEmptySubsequences: false)
        return lines.firstIndex { $0.starts(with: "<<<<<<< ".utf8) }.map { $0 + 1 }
    }
}

private struct LockDecoder {
    var decoder = ConfigurationDecoder()

    private static let keys = ["version", "fleet", "groups", "beacons"]
    private static let groupKeys = ["group", "major", "was", "retired", "check"]
    private static let beaconKeys = [
        "name", "was", "in", "major", "minor", "instance", "address", "eidEpoch", "box", "earlierBoxes", "host",
        "title", "group", "retired", "check",
    ]

    mutating func lock(_ root: JSONNode) -> FleetLock? {
        if let version = decoder.required("version", in: root, "\(FleetLock.version)"),
            let number = decoder.number(version), number.integer != FleetLock.version
        {
            decoder.error(
                "the lock file is of version \(ProblemText.shortened(number.text)), this Pharos knows "
                    + "\(FleetLock.version): use the newer Pharos that wrote it", at: version)
            return nil
        }
        guard let object = decoder.object(root, keys: Self.keys) else { return nil }
        let fleet = decoder.text(decoder.required("fleet", in: object, "the fleet's name"))
        var lock = FleetLock(fleet: fleet ?? "")
        lock.groups = elements(object, "groups").compactMap { group($0) }
        lock.entries = elements(object, "beacons").compactMap { entry($0) }
        return lock
    }

    private mutating func elements(_ object: JSONNode, _ key: String) -> [JSONNode] {
        if case .array(let elements) = object[key]?.value { return elements }
        decoder.error("a list of \"\(key)\" is expected; it may be empty", at: object[key] ?? object)
        return []
    }

    private mutating func group(_ node: JSONNode) -> FleetLock.Group? {
        guard let object = decoder.object(node, keys: Self.groupKeys) else { return nil }
        let name = decoder.text(decoder.required("group", in: object, "the group's path"))
        guard let name else { return nil }
        var group = FleetLock.Group(path: name, line: node.position.line)
        group.major = decoder.integer(object["major"], in: AllocationRules.numberRange)
        group.was = names(object["was"], "names")
        group.isRetired = decoder.boolean(object["retired"]) ?? false
        checkMark(FleetLock.line(group), object)
        return group
    }

    private mutating func entry(_ node: JSONNode) -> FleetLock.Entry? {
        guard let object = decoder.object(node, keys: Self.beaconKeys),
            let nameNode = decoder.required("name", in: object, "the beacon's name"),
            let name = decoder.text(nameNode)
        else { return nil }
        if let fault = NameRule.fault(String(FleetLock.plainName(name))) { decoder.error(fault, at: nameNode) }
        var entry = FleetLock.Entry(name: name, line: node.position.line)
        entry.was = names(object["was"], "names")
        entry.scope = decoder.text(object["in"]) ?? ""
        entry.major = decoder.integer(object["major"], in: AllocationRules.numberRange)
        entry.minor = decoder.integer(object["minor"], in: AllocationRules.numberRange)
        entry.instance = decoder.octets(object["instance"], count: 6).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        entry.address = value(object["address"], "no address") { DeviceAddress($0) }
        entry.epoch = value(object["eidEpoch"], "no time (RFC 3339)") { RFC3339Time($0) }
        entry.serial = value(object["box"], "no serial number") { NameRule.isWord($0) ? $0 : nil }
        entry.earlierSerials = names(object["earlierBoxes"], "serial numbers")
        entry.host = value(object["host"], "no host") { NameRule.isWord($0) ? $0 : nil }
        entry.title = decoder.text(object["title"])
        entry.group = decoder.text(object["group"]) ?? ""
        entry.isRetired = decoder.boolean(object["retired"]) ?? false
        checkMark(FleetLock.line(entry), object)
        return entry
    }

    private mutating func names(_ node: JSONNode?, _ noun: String) -> [String] {
        decoder.list(node, of: noun)?.compactMap { decoder.text($0) } ?? []
    }

    private mutating func value<Value>(
        _ node: JSONNode?, _ expected: String, _ make: (String) -> Value?
    ) -> Value? {
        guard let node, let text = decoder.text(node) else { return nil }
        if let value = make(text) { return value }
        decoder.error("\(ProblemText.quoted(text)) is \(expected)", at: node)
        return nil
    }

    /// Compares the mark of a line with the mark of the line that Pharos would write for the same values, so that
    /// another layout of the JSON is not an error. Reports nothing for a line with another error.
    private mutating func checkMark(_ line: String, _ object: JSONNode) {
        guard let node = object["check"], let octets = decoder.octets(node, count: 2),
            !decoder.problems.contains(where: { $0.isError && $0.position >= object.position })
        else { return }
        if UInt16(octets[0]) << 8 | UInt16(octets[1]) != LineMark.of(line) {
            // The error is reported at the line, because the mark covers the whole line.
            decoder.error(LineMark.fault, at: JSONNode(object.value, at: object.position, path: .root))
        }
    }
}

extension FleetLock {
    /// Reports identities that are allocated twice, which may happen through edits by hand and merges.
    fileprivate func checkConsistency(_ problems: inout ProblemList, file: String) {
        func report(_ message: String, line: Int) {
            problems.add(FileProblem(message, at: .init(line: line, column: 1), in: file))
        }
        if let fault = NameRule.fault(fleet) { report("the fleet's name: " + fault, line: 3) }
        var groups: [String: Int] = [:]
        var majors: [Int: Group] = [:]
        for group in self.groups {
            if let first = groups.updateValue(group.line, forKey: group.path) {
                report(
                    "the group \(group.path) appears twice, first in line \(first): delete one of the lines",
                    line: group.line)
            }
            guard let major = group.major else { continue }
            if let first = majors.updateValue(group, forKey: major) {
                report(
                    "the groups \(first.path) (line \(first.line)) and \(group.path) have the same major "
                        + "\(major), as after a merge: delete the newer line, and `pharos fleet generate` gives "
                        + "that group a number of its own", line: group.line)
            }
        }
        var names: [String: Int] = [:]
        for entry in entries where !entry.isRetired {
            if let first = names[entry.name] {
                report(
                    "\"\(entry.name)\" appears twice, first in line \(first): delete one of the lines",
                    line: entry.line)
            } else {
                names[entry.name] = entry.line
            }
        }
        func checkUnique<Value: Hashable>(_ value: (Entry) -> Value?, _ text: (Entry) -> String) {
            var firstIndices: [Value: Int] = [:]
            for (index, entry) in entries.enumerated() {
                guard let value = value(entry) else { continue }
                guard let first = firstIndices[value] else {
                    firstIndices[value] = index
                    continue
                }
                let other = entries[first]
                report(
                    "\"\(other.name)\" (line \(other.line)) and \"\(entry.name)\" both have \(text(entry)), as after a "
                        + "merge: delete the newer line, and `pharos fleet generate` gives that beacon an identity of "
                        + "its own", line: entry.line)
            }
        }
        checkUnique({ entry in entry.minor.map { [entry.scope, "\($0)"] } }) { entry in
            "the minor \(entry.minor ?? 0)" + (entry.scope.isEmpty ? "" : " in \(entry.scope)")
        }
        checkUnique(\.instance) { "the instance \(Self.instanceText($0.instance ?? 0))" }
        checkUnique(\.address) { "the address \($0.address.map { "\($0)" } ?? "")" }
        for entry in entries {
            if let address = entry.address, !address.isValidStaticRandom {
                report("\(address) is not a static random address", line: entry.line)
            }
        }
    }
}
