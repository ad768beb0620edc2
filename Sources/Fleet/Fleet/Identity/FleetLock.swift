internal import BluetoothTypes
internal import Configuration

/// The identities that a fleet has given out: one beacon a line, in the order in which they were given out.
///
/// New beacons are added at the end and no line ever moves. When two people both add a beacon, they change the same
/// place of the file, so that version control reports a conflict. Identities that are no longer used stay in the file as
/// retired, so that no identity is given out twice.
///
/// Every line ends with a check mark (`LineMark`), so that a damaged or edited line is refused with its line number.
/// A line without a mark, as version 0.1 wrote it or a person does, is read as it is.
public struct FleetLock: Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// The lock of `museum.json` is `museum.lock.json`.
    public static func file(beside fleetFile: String) -> String {
        let isJSON = fleetFile.hasSuffix(".json")
        return (isJSON ? String(fleetFile.dropLast(5)) : fleetFile) + ".lock.json"
    }

    /// The fleet's name.
    public internal(set) var fleet: String
    /// The major numbers of groups, in the order in which they were given out.
    var majors: [GroupMajor] = []
    var entries: [Entry] = []

    /// A lock in which no identity is given out yet.
    public init(fleet: String) {
        self.fleet = fleet
    }

    struct GroupMajor: Sendable, Hashable {
        var group: String
        var major: Int
        /// The line of the file; 0 for a new one.
        var line = 0
    }

    /// One beacon's identity.
    struct Entry: Sendable, Hashable {
        var name: String
        /// The path of the group in which the minor number is counted; empty for the whole fleet.
        var scope = ""
        var minor: Int?
        /// Six bytes.
        var instance: UInt64?
        var address: DeviceAddress?
        var epoch: RFC3339Time?
        /// The serial number of the machine.
        var box: String?
        /// The serial numbers of machines that were replaced.
        var earlierBoxes: [String] = []
        var isRetired = false
        /// The line of the file; 0 for a new one.
        var line = 0
    }

    /// The beacons whose identities are kept and not in use.
    public var retiredNames: [String] { entries.filter(\.isRetired).map(\.name) }
    /// The number of identities in use.
    public var liveCount: Int { entries.count { !$0.isRetired } }

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
        Self.append(majors.map(Self.line), to: &text)
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
    static func line(_ group: GroupMajor) -> String {
        "{\"group\":\(JSONValue.string(group.group).line),\"major\":\(group.major)"
    }

    /// The line of a beacon without its check mark and the brace at the end.
    static func line(_ entry: Entry) -> String {
        var line = "{\"name\":\"\(entry.name)\""
        if !entry.scope.isEmpty { line += ",\"in\":\"\(entry.scope)\"" }
        if let minor = entry.minor { line += ",\"minor\":\(minor)" }
        if let instance = entry.instance { line += ",\"instance\":\"\(instanceText(instance))\"" }
        if let address = entry.address { line += ",\"address\":\"\(address)\"" }
        if let epoch = entry.epoch { line += ",\"eidEpoch\":\"\(epoch)\"" }
        if let box = entry.box { line += ",\"box\":\"\(box)\"" }
        if !entry.earlierBoxes.isEmpty {
            line += ",\"earlierBoxes\":" + JSONValue.array(entry.earlierBoxes.map(JSONValue.string)).line
        }
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
        var state: UInt16 = 0xFFFF
        for byte in line.utf8 {
            state ^= UInt16(byte) << 8
            for _ in 0..<8 { state = state & 0x8000 != 0 ? state << 1 ^ 0x1021 : state << 1 }
        }
        return state
    }

    /// The message for a line whose mark does not match.
    static let fault =
        "the check mark of this line does not match: a byte is damaged, or the line was edited by hand; restore it "
        + "from version control, or delete its \"check\" if the change is intended"
}
