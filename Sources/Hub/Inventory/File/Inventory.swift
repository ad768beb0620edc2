public import Configuration
public import Sightings

/// Items with beacons, and the places where they belong: the contents of an inventory file, with all defaults.
public struct Inventory: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public var name: String
    /// The title for reports; `nil` for the name.
    public var title: String?
    /// The site file with the floor plan, relative to the inventory file.
    public var site: String?
    /// When an item counts as found.
    public var rule: CountRule
    /// A battery below this is low, in millivolts.
    public var lowBatteryMillivolts: Int
    /// Descriptions of beacons: interval and level at 1 m.
    public var beacons: [Beacon]
    /// The places where items belong.
    public var places: [Place]
    public var items: [Item]

    /// An inventory without items.
    public init(name: String, title: String? = nil, site: String? = nil) {
        self.name = name
        self.title = title
        self.site = site
        rule = CountRule()
        lowBatteryMillivolts = Self.lowBatteryMillivolts
        beacons = []
        places = []
        items = []
    }

    /// The default of the low battery limit, in millivolts: the voltage of a coin cell some weeks before its end.
    public static let lowBatteryMillivolts = 2400

    /// The description of a beacon.
    public struct Beacon: Hashable, Sendable {
        /// The name that items may use instead of the identity.
        public var name: String?
        public var identity: BeaconIdentity
        /// The configured interval, in microseconds.
        public var intervalMicroseconds: Int?
        /// The level at 1 m, in dBm. It replaces the measured power that the beacon sends.
        public var calibrationAtOneMeter: Int?

        /// A beacon without interval and level.
        public init(identity: BeaconIdentity, name: String? = nil) {
            self.identity = identity
            self.name = name
        }
    }

    /// A place where items belong.
    public struct Place: Hashable, Sendable {
        public var name: String
        /// The position on the floor plan.
        public var position: Position?

        /// A place, with its position if it is known.
        public init(name: String, position: Position? = nil) {
            self.name = name
            self.position = position
        }
    }

    /// A position on the floor plan: millimetres east and north.
    public struct Position: Hashable, Sendable {
        public var east: Int
        public var north: Int

        /// A position in millimetres, each within ``limit``.
        public init(east: Int, north: Int) {
            self.east = east
            self.north = north
        }

        /// The range of a coordinate, in millimetres: ±100 km.
        public static let limit = -100_000_000...100_000_000

        /// The position as the file has it, in metres.
        public var json: JSONValue {
            .array([east, north].map { .number(JSONNumber(thousandths: $0)) })
        }
    }

    /// An item.
    public struct Item: Hashable, Sendable {
        /// Letters, digits, `.`, `_` and `-`, at most 64; unique in the inventory.
        public var id: String
        public var name: String
        /// The beacon on it.
        public var beacon: BeaconIdentity
        /// The name of the place where it belongs.
        public var place: String?
        /// The item's own position, which replaces that of its place.
        public var position: Position?
        public var note: String?
        /// The file of a picture, relative to the inventory file.
        public var photo: String?

        /// An item without a place.
        public init(id: String, name: String, beacon: BeaconIdentity) {
            self.id = id
            self.name = name
            self.beacon = beacon
        }
    }

    /// The title, or else the name.
    public var heading: String { title ?? name }

    /// The position of an item, or else of its place; `nil` if neither is known.
    public func position(of item: Item) -> Position? {
        item.position ?? item.place.flatMap { name in places.first { $0.name == name }?.position }
    }

    /// The description of a beacon; `nil` if there is none.
    public func beacon(_ identity: BeaconIdentity) -> Beacon? { beacons.first { $0.identity == identity } }

    /// The beacons of the items, in the order of the items. Each is named by the id of its item.
    public var knownBeacons: [KnownBeacon] {
        let notes = Dictionary(beacons.map { ($0.identity, $0) }) { first, _ in first }
        return items.map { item in
            KnownBeacon(
                name: item.id, identity: item.beacon, intervalMicroseconds: notes[item.beacon]?.intervalMicroseconds,
                calibrationAtOneMeter: notes[item.beacon]?.calibrationAtOneMeter)
        }
    }
}

extension Inventory {
    /// The maximum length of names and of notes, in Unicode scalars.
    static let nameLimit = 200
    static let noteLimit = 2000
    /// The maximum number of items.
    public static let itemLimit = 100_000

    /// Why a text cannot be a name, a note or a path; `nil` if it can.
    static func fault(_ text: String, limit: Int) -> String? {
        if text.isEmpty { return "the text is empty" }
        let count = text.unicodeScalars.count
        if count > limit { return "\(count) characters are too many: use at most \(limit)" }
        let isControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isControl ? "the text contains control characters, such as line ends: remove them" : nil
    }

    /// A unique id made from a name: `drill`, `drill-2`.
    public func freeID(for name: String) -> String {
        var stem = ""
        for scalar in name.lowercased().unicodeScalars {
            let isGood = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            if isGood {
                stem.unicodeScalars.append(scalar)
            } else if !stem.isEmpty, !stem.hasSuffix("-") {
                stem += "-"
            }
            if stem.utf8.count >= 40 { break }
        }
        while stem.hasSuffix("-") { stem.removeLast() }
        if stem.isEmpty { stem = "item" }
        let taken = Set(items.map(\.id))
        var number = 1
        var id = stem
        while taken.contains(id) {
            number += 1
            id = "\(stem)-\(number)"
        }
        return id
    }
}
