internal import Configuration

/// The identities of a fleet, as they were given out: one beacon a line, in the order in which they came.
///
/// New beacons are added at the end and nothing ever moves, so two people who both add one change the same place, and
/// a merge of their work is a conflict that somebody sees. What is no longer used stays as retired, so that nothing is
/// given out twice.
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

    public init(fleet: String) {
        self.fleet = fleet
    }

    struct GroupMajor: Sendable, Hashable {
        var group: String
        var major: Int
        var line: Int
    }

    /// One beacon's identity.
    struct Entry: Sendable {
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
