public import Configuration
public import Sightings

/// Things with beacons on them, and where they belong: the contents of one JSON file, checked and with all defaults
/// filled in.
public struct Inventory: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public var name: String
    /// What people call it; `nil` where the name is enough.
    public var title: String?
    /// The site file whose plan the positions are on, as it stands in the file: relative to that; `nil` for none.
    public var site: String?
    /// How near is near enough, and how often.
    public var rule: CountRule
    /// A battery below this is low, in millivolts.
    public var lowBatteryMillivolts: Int
    /// What somebody knows of beacons: their interval, and how loud they are at 1 m.
    public var beacons: [Beacon]
    /// Where things belong.
    public var places: [Place]
    public var items: [Item]

    /// An inventory without a thing in it.
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

    /// What a coin cell gives before its last weeks, in millivolts.
    public static let lowBatteryMillivolts = 2400

    /// What is known of a beacon beside its identity.
    public struct Beacon: Hashable, Sendable {
        /// Items may name it by this instead of by its identity; `nil` where nobody does.
        public var name: String?
        public var identity: BeaconIdentity
        /// The interval that it is configured with, in microseconds.
        public var intervalMicroseconds: Int?
        /// What a receiver sees at 1 m, in dBm: it counts before the octet that is sent.
        public var calibrationAtOneMeter: Int?

        /// A beacon of which only the identity is known.
        public init(identity: BeaconIdentity, name: String? = nil) {
            self.identity = identity
            self.name = name
        }
    }

    /// Where something belongs.
    public struct Place: Hashable, Sendable {
        public var name: String
        /// On the plan of the site.
        public var position: Position?

        /// A place by its name, with its position where that is known.
        public init(name: String, position: Position? = nil) {
            self.name = name
            self.position = position
        }
    }

    /// Millimetres east and north on the plan of a site: what the file says in metres, with up to three decimals.
    public struct Position: Hashable, Sendable {
        public var east: Int
        public var north: Int

        /// - Parameters: In millimetres, within ``limit``.
        public init(east: Int, north: Int) {
            self.east = east
            self.north = north
        }

        /// A town is not larger: 100 km, in millimetres.
        public static let limit = -100_000_000...100_000_000

        /// As the file has it, in metres.
        public var json: JSONValue {
            .array([east, north].map { .number(JSONNumber(thousandths: $0)) })
        }
    }

    /// A thing.
    public struct Item: Hashable, Sendable {
        /// Letters, digits, `.`, `_` and `-`, at most 64; no two things have the same.
        public var id: String
        public var name: String
        /// The beacon on it.
        public var beacon: BeaconIdentity
        /// The name of the place where it belongs.
        public var place: String?
        /// Its own position, before that of its place.
        public var position: Position?
        public var note: String?
        /// A picture's file, as it stands in the file: relative to that.
        public var photo: String?

        /// A thing of which only the beacon is known.
        public init(id: String, name: String, beacon: BeaconIdentity) {
            self.id = id
            self.name = name
            self.beacon = beacon
        }
    }

    /// What is printed above lists.
    public var heading: String { title ?? name }

    /// Where an item is on the plan: its own position, else that of its place; `nil` where neither is known.
    public func position(of item: Item) -> Position? {
        item.position ?? item.place.flatMap { name in places.first { $0.name == name }?.position }
    }

    /// What is known of a beacon; `nil` for one of which the file says nothing.
    public func beacon(_ identity: BeaconIdentity) -> Beacon? { beacons.first { $0.identity == identity } }

    /// The things as beacons that a receiver knows, in their order: each is called as its thing's id.
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
    /// What a text in the file may not be longer than, in Unicode scalars.
    static let nameLimit = 200
    static let noteLimit = 2000
    /// More things than this are no inventory that somebody walks through.
    public static let itemLimit = 100_000

    /// Why a text cannot be a name, a note or a path; `nil` where it can.
    static func fault(_ text: String, limit: Int) -> String? {
        if text.isEmpty { return "a text is expected, not an empty one" }
        let count = text.unicodeScalars.count
        if count > limit { return "\(count) characters are more than the \(limit) that there may be" }
        let isControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isControl ? "it holds control characters, such as line ends: leave them out" : nil
    }

    /// An id that nothing has yet, made of a name: `drill`, `drill-2`.
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
