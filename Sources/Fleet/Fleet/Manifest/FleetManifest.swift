public import BluetoothTypes
public import Configuration

/// The beacons that `fleet generate` made, each with its machine, its identity and its advertisements. It contains no
/// keys.
///
/// As JSON (`manifest.json`) it is one object with one beacon a line. As CSV (`manifest.csv`) it has one line an
/// advertisement.
///
/// ```json
/// {"version":1,"fleet":"museum","beacons":[
/// {"name":"hall-1","group":"museum/ground/hall","host":"pi-17","serial":"10000000a1b2c3d4",
///  "controller":"raspberry-pi","adapter":"hci0","address":"D0:11:22:33:44:55",
///  "position":{"x":3.5,"y":12,"z":2.4},"profileHash":"0123456789abcdef","eidEpoch":"2026-03-01T12:00:00Z",
///  "advertisements":[{"type":"ibeacon","uuid":"fb0b57a2-8228-44cd-913a-94a122ba1206","major":1,"minor":2,
///  "intervalMs":200,"radioPowerDbm":0,"measuredPowerDbm":-59}]}
/// ]}
/// ```
///
/// (with line breaks added here). Values that are not known are left out.
public struct FleetManifest: Hashable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// The range of ``Advertisement/payloadOctets``: legacy advertising data has at most 31 bytes.
    static let payloadRange = 0...31

    /// The fleet's name.
    public var fleet: String
    /// In the order of the fleet file.
    public var beacons: [Beacon]

    /// - Parameter beacons: In the order of the fleet file, each name once.
    public init(fleet: String, beacons: [Beacon] = []) {
        self.fleet = fleet
        self.beacons = beacons
    }

    /// One box.
    public struct Beacon: Hashable, Sendable {
        /// Good for files and units: its profile is `NAME.json`.
        public var name: String
        /// Site, floor and room, as far as they are given: none, one, two or three names.
        public var group: [String]
        /// Under which name or address the box is reached.
        public var host: String?
        /// The box's own serial number.
        public var serial: String?
        /// What kind of controller the box has, such as `raspberry-pi`.
        public var controller: String?
        /// As on the command line, such as `hci0`; `nil` for the first that there is.
        public var adapter: String?
        /// The static random address that the beacon sends from; `nil` for the controller's public one. What rotates
        /// (an EID) has other addresses.
        public var address: DeviceAddress?
        public var position: Position?
        /// The first eight octets of the SHA-256 of the profile file, in hexadecimal: what `pharos status` reports.
        public var profileHash: String
        /// When the counter of ephemeral ids was 65280; `nil` for beacons without EID and encrypted telemetry.
        public var eidEpoch: RFC3339Time?
        /// At least one, in the profile's order.
        public var advertisements: [Advertisement]

        /// Nothing is checked: whoever reads a manifest has done so.
        public init(
            name: String, group: [String] = [], host: String? = nil, serial: String? = nil, controller: String? = nil,
            adapter: String? = nil, address: DeviceAddress? = nil, position: Position? = nil, profileHash: String,
            eidEpoch: RFC3339Time? = nil, advertisements: [Advertisement]
        ) {
            self.name = name
            self.group = group
            self.host = host
            self.serial = serial
            self.controller = controller
            self.adapter = adapter
            self.address = address
            self.position = position
            self.profileHash = profileHash
            self.eidEpoch = eidEpoch
            self.advertisements = advertisements
        }

        /// The outermost group, which is what airtime is shared in.
        public var site: String? { group.first }
        public var floor: String? { group.count > 1 ? group[1] : nil }
        public var room: String? { group.count > 2 ? group[2] : nil }
    }

    /// Where a box hangs.
    public enum Position: Hashable, Sendable {
        /// Meters east, north and up within a site.
        case plan(x: Decimal, y: Decimal, z: Decimal?)
        /// Degrees north and east, WGS 84.
        case globe(latitude: Decimal, longitude: Decimal)

        /// A number as it was written: 3.5 stays 3.5.
        public typealias Decimal = JSONNumber
    }

    /// What one advertisement of a beacon sends, and how often.
    public struct Advertisement: Hashable, Sendable {
        /// As in profiles: `ibeacon`, `altbeacon`, `eddystone-uid`, `eddystone-url`, `eddystone-tlm`,
        /// `eddystone-eid`, `bthome` or `raw`.
        public var type: String
        public var identity: Identity
        /// The interval asked for, in µs.
        public var intervalMicroseconds: Int
        /// What the transmitter is asked for, in dBm; `nil` leaves it as it is.
        public var radioPower: Int?
        /// The octet sent, in dBm: at 0 m for Eddystone, at 1 m for others. `nil` where the frame has none, and where
        /// it depends on what the controller will grant.
        public var measuredPower: Int?
        /// EID and encrypted telemetry: the file's name as the profile has it, never what is in it.
        public var identityKeyFile: String?
        /// EID and encrypted telemetry: K, 0...15; the id turns over every 2^K seconds.
        public var rotationExponent: Int?
        /// The length of the advertising data in bytes, when it does not follow from the type: raw structures, and
        /// iBeacon and AltBeacon with other flags than the usual ones.
        public var payloadOctets: Int?

        /// Nothing is checked: whoever reads a manifest has done so.
        public init(
            type: String, identity: Identity, intervalMicroseconds: Int, radioPower: Int? = nil,
            measuredPower: Int? = nil, identityKeyFile: String? = nil, rotationExponent: Int? = nil,
            payloadOctets: Int? = nil
        ) {
            self.type = type
            self.identity = identity
            self.intervalMicroseconds = intervalMicroseconds
            self.radioPower = radioPower
            self.measuredPower = measuredPower
            self.identityKeyFile = identityKeyFile
            self.rotationExponent = rotationExponent
            self.payloadOctets = payloadOctets
        }
    }

    /// What listeners tell a beacon by.
    public enum Identity: Hashable, Sendable {
        /// iBeacon: 16 octets and two numbers.
        case iBeacon(uuid: FixedOctets<16>, major: UInt16, minor: UInt16)
        case altBeacon(companyID: UInt16, id: FixedOctets<20>)
        case eddystoneUID(namespace: FixedOctets<10>, instance: FixedOctets<6>)
        case eddystoneURL(String)
        /// Telemetry, BTHome, ephemeral ids and raw structures: nothing that stays and is theirs.
        case none
    }
}
