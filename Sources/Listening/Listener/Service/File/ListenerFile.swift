public import BluetoothTypes
public import Configuration
public import Sightings

/// What a receiver is, whom it knows, and what it keeps of what it hears: the contents of one JSON file, checked and with
/// all defaults filled in.
public struct ListenerFile: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// What is added to a level at most, in dB, up or down.
    public static let levelOffsets = -40...40

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public var name: String
    /// `nil` takes the first that there is.
    public var adapter: AdapterName?
    /// How is listened.
    public var settings: ScanSettings
    /// Where the receiver is; `nil` where nobody says.
    public var place: Place?
    /// What this receiver shows too little, in dB: it is added to each level.
    public var levelOffset: Int
    /// Whose advertisements have a name, in the order of the file.
    public var known: [Entry]
    /// The directory of the keys of ephemeral ids and of addresses, as it stands in the file; `nil` for those of each
    /// fleet, and for the directory of this file.
    public var keys: String?
    /// The keys of devices that change their address.
    public var addressKeys: [AddressKeyFile]
    /// Whether beacons without a name are told one by one; otherwise they are counted.
    public var listsStrangers: Bool
    /// The keys of the file that only the service makes use of, in its order.
    public var serviceKeys: [String]

    /// Where a receiver is, as the fleet's groups are called.
    public struct Place: Hashable, Sendable {
        public var site: String?
        public var floor: String?
        public var room: String?
        /// Metres east and north on the plan of the site.
        public var position: [JSONNumber]?

        /// The names from the outermost to the innermost, those that are there.
        public var names: [String] { [site, floor, room].compactMap(\.self) }

        /// As it stands in the file; what is not known is null.
        public var json: JSONValue {
            .record([
                ("site", .optional(site, JSONValue.string)), ("floor", .optional(floor, JSONValue.string)),
                ("room", .optional(room, JSONValue.string)),
                ("position", .optional(position) { .array($0.map(JSONValue.number)) }),
            ])
        }
    }

    /// One element of `known`.
    public enum Entry: Hashable, Sendable {
        /// All beacons of a fleet: its file, its manifest, or the directory of that.
        case fleet(String)
        /// What a profile sends.
        case profile(String)
        /// The things of an inventory.
        case inventory(String)
        case beacon(Beacon)
    }

    /// A beacon that stands in the file itself.
    public struct Beacon: Hashable, Sendable {
        public var name: String
        /// At least one.
        public var identities: [BeaconIdentity]
        public var note: BeaconNote
    }

    /// Whose addresses a key makes.
    public struct AddressKeyFile: Hashable, Sendable {
        /// What the device, or whoever carries it, is called.
        public var name: String
        /// A file for its owner alone, as it stands in the file.
        public var file: String
    }
}

/// What somebody has written down about a beacon.
public struct BeaconNote: Hashable, Sendable {
    /// In the order of the file, each once.
    public var tags: [String] = []
    public var attachments: [Attachment] = []

    /// Nothing is written down.
    public init() {}

    /// A text under a key, such as who sits at the desk.
    public struct Attachment: Hashable, Sendable {
        public var key: String
        public var text: String

        /// See the properties of the same names.
        public init(key: String, text: String) {
            self.key = key
            self.text = text
        }
    }
}
