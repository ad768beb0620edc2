internal import BluetoothTypes
internal import Configuration

/// The identities of a fleet, as they were given out: one beacon a line, in the order in which they came.
///
/// New beacons are added at the end and nothing ever moves, so two people who both add one change the same place, and
/// a merge of their work is a conflict that somebody sees. What is no longer used stays as retired, so that nothing is
/// given out twice.
///
/// Every line ends with a check mark (`LineMark`), so that a damaged octet is a refusal with its line and not another
/// identity. Lines without one, from before there were marks and from hand, are read as they are.
public struct FleetLock: Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// Beside `museum.json` lies `museum.lock.json`.
    public static func file(beside fleetFile: String) -> String {
        let isJSON = fleetFile.hasSuffix(".json")
        return (isJSON ? String(fleetFile.dropLast(5)) : fleetFile) + ".lock.json"
    }

    /// The fleet's name.
    public internal(set) var fleet: String
    /// The numbers of groups, in the order in which they were given out.
    var majors: [GroupMajor] = []
    /// Paths of groups in which minor numbers are counted.
    var scopes: [String] = [""]
    var entries: [Entry] = []
    /// Names and serial numbers, which entries refer to.
    var texts: [UInt8] = []
    /// Boxes that were replaced, by the entry's own index into this.
    var earlierBoxes: [[String]] = []

    /// In which nothing is given out yet.
    public init(fleet: String) {
        self.fleet = fleet
    }

    struct GroupMajor: Sendable, Hashable {
        var group: String
        var major: Int
        var line: Int
    }

    /// One beacon's identity.
    struct Entry: Sendable, Equatable {
        var nameStart: UInt32
        var nameCount: UInt8
        var isRetired = false
        var boxCount: UInt8 = 0
        var boxStart: UInt32 = 0
        /// A number of ``FleetLock/scopes``.
        var scope: UInt32 = 0
        /// -1 where none is allocated.
        var minor: Int32 = -1
        var line: UInt32 = 0
        /// A number of ``FleetLock/earlierBoxes`` and 1; 0 where there are none.
        var earlier: UInt32 = 0
        /// ``FleetLock/none`` where none is allocated.
        var instance: UInt64 = FleetLock.none
        /// 48 bits, most significant octet first; ``FleetLock/none`` where none is allocated.
        var address: UInt64 = FleetLock.none
        /// Seconds since 1970; ``FleetLock/noEpoch`` where none is allocated.
        var epoch = FleetLock.noEpoch

        var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameCount) }
        var boxRange: Range<Int> { Int(boxStart)..<Int(boxStart) + Int(boxCount) }
    }

    static let none = UInt64.max
    static let noEpoch = Int64.min

    func name(_ entry: Entry) -> String { String(decoding: texts[entry.nameRange], as: UTF8.self) }
    func box(_ entry: Entry) -> String { String(decoding: texts[entry.boxRange], as: UTF8.self) }

    /// The beacons whose identities are kept and not in use.
    public var retiredNames: [String] { entries.filter(\.isRetired).map(name) }
    public var liveCount: Int { entries.reduce(0) { $0 + ($1.isRetired ? 0 : 1) } }

    mutating func scope(_ path: String) -> UInt32 {
        if let known = scopes.firstIndex(of: path) { return UInt32(truncatingIfNeeded: known) }
        scopes.append(path)
        return UInt32(truncatingIfNeeded: scopes.count - 1)
    }

    mutating func store(_ octets: some Collection<UInt8>) -> UInt32 {
        let start = texts.count
        texts.append(contentsOf: octets)
        return UInt32(truncatingIfNeeded: start)
    }
}

extension FleetLock {
    /// The file's text, piece by piece.
    public func write<Fault: Error>(_ sink: (_ piece: [UInt8]) throws(Fault) -> Void) throws(Fault) {
        var piece: [UInt8] = []
        piece.reserveCapacity(Self.pieceSize + 1024)
        piece += "{\n\"version\":\(Self.version),\n\"fleet\":\(JSONValue.string(fleet).line),\n\"groups\":[\n".utf8
        for (index, group) in majors.enumerated() {
            append(group, to: &piece)
            if index + 1 < majors.count { piece.append(UInt8(ascii: ",")) }
            piece.append(0x0A)
        }
        piece += "],\n\"beacons\":[\n".utf8
        for (index, entry) in entries.enumerated() {
            append(entry, to: &piece)
            if index + 1 < entries.count { piece.append(UInt8(ascii: ",")) }
            piece.append(0x0A)
            if piece.count >= Self.pieceSize {
                try sink(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        piece += "]\n}\n".utf8
        try sink(piece)
    }

    /// The whole text.
    public var text: [UInt8] {
        var text: [UInt8] = []
        write { text += $0 }
        return text
    }

    private static let pieceSize = 1 << 16

    private func append(_ group: GroupMajor, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: "{\"group\":\(JSONValue.string(group.group).line),\"major\":\(group.major)".utf8)
        LineMark.append(from: start, to: &text)
        text.append(UInt8(ascii: "}"))
    }

    private func append(_ entry: Entry, to text: inout [UInt8]) {
        let start = text.count
        text.append(staticText: "{\"name\":\"")
        text.append(contentsOf: texts[entry.nameRange])
        if entry.scope != 0 {
            text.append(staticText: "\",\"in\":\"")
            text.append(contentsOf: scopes[Int(entry.scope)].utf8)
        }
        text.append(UInt8(ascii: "\""))
        if entry.minor >= 0 {
            text.append(staticText: ",\"minor\":")
            text.append(decimal: Int(entry.minor))
        }
        if entry.instance != Self.none {
            text.append(staticText: ",\"instance\":\"")
            text.append(hexadecimal: entry.instance, octets: 6)
            text.append(UInt8(ascii: "\""))
        }
        if entry.address != Self.none {
            text.append(staticText: ",\"address\":\"")
            text.append(address: entry.address)
            text.append(UInt8(ascii: "\""))
        }
        if entry.epoch != Self.noEpoch {
            text.append(staticText: ",\"eidEpoch\":\"")
            text.append(contentsOf: RFC3339Time(secondsSince1970: Int(entry.epoch)).description.utf8)
            text.append(UInt8(ascii: "\""))
        }
        if entry.boxCount > 0 {
            text.append(staticText: ",\"box\":\"")
            text.append(contentsOf: texts[entry.boxRange])
            text.append(UInt8(ascii: "\""))
        }
        if entry.earlier > 0 {
            let boxes = earlierBoxes[Int(entry.earlier) - 1].map { JSONValue.string($0) }
            text.append(contentsOf: (",\"earlierBoxes\":" + JSONValue.array(boxes).line).utf8)
        }
        if entry.isRetired { text.append(staticText: ",\"retired\":true") }
        LineMark.append(from: start, to: &text)
        text.append(UInt8(ascii: "}"))
    }

    /// The check mark that the line of an entry has where we write it.
    func mark(of entry: Entry) -> UInt16 {
        var text: [UInt8] = []
        append(entry, to: &text)
        return LineMark.of(text, 0..<text.count - LineMark.memberLength - 1)
    }

    /// The same for the line of a group.
    func mark(of group: GroupMajor) -> UInt16 {
        var text: [UInt8] = []
        append(group, to: &text)
        return LineMark.of(text, 0..<text.count - LineMark.memberLength - 1)
    }
}

extension DeviceAddress {
    /// The 48 bits as a number.
    var number: UInt64 { octets.octets.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The lowest 48 bits of a number.
    init(number: UInt64) {
        var octets = FixedOctets<6>()
        for index in 0..<6 { octets[index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * (5 - index))) }
        self.init(octets)
    }
}

/// The check mark of a line of a lock file: CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) over the line's octets
/// from its brace to the mark. It finds every damage within 16 bits in a row, one damaged octet among them, and depends
/// on no other line, so that lines can be merged.
enum LineMark {
    /// Octets of `,"check":"1a2b"`.
    static let memberLength = 15

    /// What an octet does to the state, and behind that what it does when one, two and three more come after it: four
    /// octets need one step so, and none of them waits for another.
    private static let table: [UInt16] = {
        var table = (0..<256).map { octet in
            (0..<8).reduce(UInt16(octet) << 8) { state, _ in state & 0x8000 != 0 ? state << 1 ^ 0x1021 : state << 1 }
        }
        for index in 0..<3 * 256 { table.append(table[index] << 8 ^ table[Int(table[index] >> 8)]) }
        return table
    }()

    static func of(_ text: [UInt8], _ range: Range<Int>) -> UInt16 {
        let table = table
        let (steps, octets) = (table.span, text.span)
        var state: UInt16 = 0xFFFF
        var index = range.lowerBound
        while index + 4 <= range.upperBound {
            let (high, low) = (UInt8(truncatingIfNeeded: state >> 8), UInt8(truncatingIfNeeded: state))
            state =
                steps[768 + Int(high ^ octets[index])] ^ steps[512 + Int(low ^ octets[index + 1])]
                ^ steps[256 + Int(octets[index + 2])] ^ steps[Int(octets[index + 3])]
            index += 4
        }
        for octet in index..<range.upperBound {
            state = state << 8 ^ steps[Int(UInt8(truncatingIfNeeded: state >> 8) ^ octets[octet])]
        }
        return state
    }

    /// Appends the mark of what stands from `start` on.
    static func append(from start: Int, to text: inout [UInt8]) {
        let mark = of(text, start..<text.count)
        text.append(staticText: ",\"check\":\"")
        text.append(hexadecimal: UInt64(mark), octets: 2)
        text.append(UInt8(ascii: "\""))
    }

    /// What is said of a line whose mark does not fit it.
    static let fault =
        "the check mark of this line does not fit it: an octet is damaged, or the line was changed by hand; restore it "
        + "from version control, or take its \"check\" out where the change is meant"
}

extension FleetLock {
    /// Why identities cannot be taken from a manifest.
    public enum AdoptionError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The manifest is of the fleet with this name.
        case otherFleet(String)
        /// What this variable holds stands in no place of its own in the manifest.
        case hidden(variable: String)
        /// This beacon of the manifest does not send what the template says.
        case otherTemplate(beacon: String)

        /// As the end of a sentence.
        public var description: String {
            switch self {
            case .otherFleet(let name): "it is the manifest of the fleet \(name)"
            case .hidden(let variable):
                "it does not say the beacons' \(variable): the template has \"${\(variable)}\" within texts only"
            case .otherTemplate(let name):
                "its beacon \(name) does not send what the fleet file says; take the fleet file that it was made from"
            }
        }
    }

    /// The lock that a manifest was made with, as far as a manifest tells: not the identities of retired beacons.
    ///
    /// - Parameter fleet: The fleet file that the manifest was made from, with other beacons or not.
    public init(adopting manifest: FleetManifest, for fleet: Fleet) throws(AdoptionError) {
        self.init(fleet: fleet.name)
        guard manifest.fleet == fleet.name else { throw .otherFleet(manifest.fleet) }
        let rules = fleet.rules
        func place(_ variable: String, _ isWanted: Bool) throws(AdoptionError) -> Int? {
            guard isWanted else { return nil }
            let slot = fleet.template.slots.first { slot in
                slot.expression.wholeVariable == variable && slot.path.components.last == .key(variable)
            }
            guard let slot, slot.path.components.count == 3, case .index(let index) = slot.path.components[1] else {
                throw .hidden(variable: variable)
            }
            return index
        }
        let majorPlace = try place("major", rules.major != nil)
        let minorPlace = try place("minor", rules.minor != nil)
        let instancePlace = try place("instance", rules.instance != nil)
        var majorPaths: Set<String> = []
        var scopeNumbers: [String: UInt32] = ["": 0]
        for beacon in manifest.beacons {
            func identity(_ place: Int) throws(AdoptionError) -> FleetManifest.Identity {
                guard beacon.advertisements.indices.contains(place) else { throw .otherTemplate(beacon: beacon.name) }
                return beacon.advertisements[place].identity
            }
            func path(_ level: AllocationRules.Level) -> String {
                beacon.group.prefix(level.depth).joined(separator: "/")
            }
            var entry = Entry(
                nameStart: store(beacon.name.utf8), nameCount: UInt8(truncatingIfNeeded: beacon.name.utf8.count))
            if let majorPlace, let rule = rules.major, majorPaths.insert(path(rule.per)).inserted {
                guard case .iBeacon(_, let major, _) = try identity(majorPlace) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                majors.append(.init(group: path(rule.per), major: Int(major), line: 0))
            }
            if let minorPlace, let rule = rules.minor {
                guard case .iBeacon(_, _, let minor) = try identity(minorPlace) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                let scopePath = path(rule.within)
                let number = scopeNumbers[scopePath] ?? scope(scopePath)
                scopeNumbers[scopePath] = number
                (entry.scope, entry.minor) = (number, Int32(minor))
            }
            if let instancePlace {
                guard case .eddystoneUID(_, let instance) = try identity(instancePlace) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                entry.instance = instance.octets.reduce(0) { $0 << 8 | UInt64($1) }
            }
            if fleet.template.hasAddress, let address = beacon.address { entry.address = address.number }
            if fleet.template.hasEpoch, let epoch = beacon.eidEpoch { entry.epoch = Int64(epoch.secondsSince1970) }
            if let serial = beacon.serial {
                entry.boxStart = store(serial.utf8)
                entry.boxCount = UInt8(truncatingIfNeeded: serial.utf8.count)
            }
            entries.append(entry)
        }
    }
}
