internal import BeaconFrames
public import BluetoothTypes
public import Configuration

/// The beacons that `fleet generate` made, each with its machine, its identity and its advertisements. It contains no
/// keys.
///
/// As JSON (`manifest.json`) it is one object with a line for each beacon. As CSV (`manifest.csv`) it has a line for
/// each advertisement.
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
/// (with line breaks added here). Unknown values are left out.
public struct FleetManifest: Equatable, Sendable {
    /// The only version of the format so far.
    public static let version = 1

    /// The range of ``Advertisement/payloadOctets``: legacy advertising data has at most 31 bytes.
    static let payloadRange = 0...31
    /// The range of intervals in thousandths of a millisecond: 1 ms to one day. No beacon has a longer interval.
    static let intervalRange = 1000...86_400_000_000

    /// The fleet's name.
    public var fleet: String
    /// The beacons, in the order of the fleet file.
    public var beacons: [Beacon]

    /// - Parameter beacons: The beacons, in the order of the fleet file. Each name appears once.
    public init(fleet: String, beacons: [Beacon] = []) {
        self.fleet = fleet
        self.beacons = beacons
    }

    /// A beacon and its machine.
    public struct Beacon: Equatable, Sendable {
        /// The name of the beacon. Its profile is `NAME.json`.
        public var name: String
        /// The title, which is a name for display; `nil` if the fleet file gives none.
        public var title: String?
        /// The names of the site, floor and room; at most three.
        public var group: [String]
        /// The host name or address of the machine.
        public var host: String?
        /// The serial number of the machine.
        public var serial: String?
        /// The kind of the machine's controller, such as `raspberry-pi`.
        public var controller: String?
        /// The Bluetooth adapter, such as `hci0`; `nil` for the first adapter.
        public var adapter: String?
        /// The static random address of the beacon; `nil` for the public address of the controller. Advertisements with
        /// ephemeral ids (EID) have other addresses, which change.
        public var address: DeviceAddress?
        public var position: Position?
        /// The first 8 bytes of the SHA-256 of the profile in hexadecimal, as `pharos status` reports them.
        public var profileHash: String
        /// The time at which the counter of ephemeral ids was 65280; `nil` for beacons without identity keys.
        public var eidEpoch: RFC3339Time?
        /// The tags for the zones of listener files.
        public var tags: [String] = []
        /// Texts for zones and hooks, in the order of the fleet file.
        public var attachments: [BeaconAttachment] = []
        /// The advertisements, at least one, in the order of the profile.
        public var advertisements: [Advertisement]

        /// Creates a beacon without checking the values. ``FleetManifest/decode(_:)`` checks them.
        public init(
            name: String, title: String? = nil, group: [String] = [], host: String? = nil, serial: String? = nil,
            controller: String? = nil,
            adapter: String? = nil, address: DeviceAddress? = nil, position: Position? = nil, profileHash: String,
            eidEpoch: RFC3339Time? = nil, advertisements: [Advertisement]
        ) {
            self.name = name
            self.title = title
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

        /// The outermost group. Packets of beacons in the same site can collide.
        public var site: String? { group.first }
        public var floor: String? { group.count > 1 ? group[1] : nil }
        public var room: String? { group.count > 2 ? group[2] : nil }
    }

    /// The position of a machine.
    public enum Position: Hashable, Sendable {
        /// Metres east, north and up from the origin of the site.
        case plan(x: Decimal, y: Decimal, z: Decimal?)
        /// Degrees north and east (WGS 84).
        case geographic(latitude: Decimal, longitude: Decimal)

        /// A number with the digits of the file: 3.5 stays 3.5.
        public typealias Decimal = JSONNumber
    }

    /// An advertisement of a beacon.
    public struct Advertisement: Hashable, Sendable {
        /// The type as in profiles: `ibeacon`, `altbeacon`, `eddystone-uid`, `eddystone-url`, `eddystone-tlm`,
        /// `eddystone-eid`, `bthome` or `raw`.
        public var type: String
        public var identity: Identity
        /// The requested interval in µs; with a pattern, the constant interval that gives the same number of
        /// advertising events.
        public var intervalMicroseconds: Int
        /// The pattern of alternating intervals; `nil` for a constant interval. `manifest.csv` does not contain it.
        public var pattern: AdvertisingPattern?
        /// The physical layers of an extended advertisement; `nil` for legacy PDUs. `manifest.csv` does not contain it.
        public var phy: ExtendedPHY?
        /// The requested transmit power in dBm; `nil` does not change the power.
        public var radioPower: Int?
        /// The measured power in the packet, in dBm: at 0 m for Eddystone, at 1 m for other types. `nil` if the frame
        /// has no measured power, or if it depends on the radio power that the controller selects.
        public var measuredPower: Int?
        /// The path of the key file from the profile, for EID and encrypted telemetry. The manifest never contains the
        /// key itself.
        public var identityKeyFile: String?
        /// K, 0...15, for EID and encrypted telemetry: the id changes every 2^K seconds.
        public var rotationExponent: Int?
        /// The length of the advertising data in bytes, if it does not follow from the type: for raw structures, and
        /// for iBeacon and AltBeacon with unusual flags.
        public var payloadOctets: Int?

        /// Creates an advertisement without checking the values. ``FleetManifest/decode(_:)`` checks them.
        public init(
            type: String, identity: Identity, intervalMicroseconds: Int, pattern: AdvertisingPattern? = nil,
            phy: ExtendedPHY? = nil, radioPower: Int? = nil, measuredPower: Int? = nil, identityKeyFile: String? = nil,
            rotationExponent: Int? = nil,
            payloadOctets: Int? = nil
        ) {
            self.type = type
            self.identity = identity
            self.intervalMicroseconds = intervalMicroseconds
            self.pattern = pattern
            self.phy = phy
            self.radioPower = radioPower
            self.measuredPower = measuredPower
            self.identityKeyFile = identityKeyFile
            self.rotationExponent = rotationExponent
            self.payloadOctets = payloadOctets
        }
    }

    /// The values by which receivers identify a beacon.
    public enum Identity: Hashable, Sendable {
        /// iBeacon: a UUID and two numbers.
        case iBeacon(uuid: FixedOctets<16>, major: UInt16, minor: UInt16)
        case altBeacon(companyID: UInt16, id: FixedOctets<20>)
        case eddystoneUID(namespace: FixedOctets<10>, instance: FixedOctets<6>)
        case eddystoneURL(String)
        /// Telemetry, BTHome, ephemeral ids and raw structures have no fixed identity.
        case none

        /// The identity as all commands print and read it, such as `ibeacon:UUID-MAJOR-MINOR`; empty for ``none``.
        public var text: String {
            switch self {
            case .iBeacon(let uuid, let major, let minor): "ibeacon:\(uuid.uuidText)-\(major)-\(minor)"
            case .altBeacon(let company, let id):
                "altbeacon:\(Hexadecimal.text([UInt8(company >> 8), UInt8(truncatingIfNeeded: company)]))-\(id)"
            case .eddystoneUID(let namespace, let instance): "uid:\(namespace)-\(instance)"
            case .eddystoneURL(let url): "url:\(url)"
            case .none: ""
            }
        }
    }
}

extension FleetManifest.Advertisement {
    /// The length of the advertising data in bytes. It is 31, the maximum, if the manifest does not determine it.
    public var payloadOctetCount: Int {
        let maximum = FleetManifest.payloadRange.upperBound
        if let payloadOctets { return payloadOctets }
        if case .eddystoneURL(let text) = identity {
            // Frame type, measured power and scheme precede the encoded URL.
            return (try? CompressedURL(text)).map { Self.eddystoneHeader + 3 + $0.encoded.count } ?? maximum
        }
        return Self.usualPayloadSize(type, isRotating: identityKeyFile != nil) ?? maximum
    }

    /// The length of the advertising data in bytes; `nil` for types whose length varies.
    ///
    /// - Parameter isRotating: `true` if there is an identity key. Telemetry is then encrypted and 4 bytes longer.
    static func usualPayloadSize(_ type: String, isRotating: Bool) -> Int? {
        switch type {
        case "ibeacon": flags + 27
        case "altbeacon": flags + 28
        case "eddystone-uid": eddystoneHeader + 20
        case "eddystone-tlm": eddystoneHeader + (isRotating ? 18 : 14)
        case "eddystone-eid": eddystoneHeader + 10
        default: nil
        }
    }

    /// The length of the Flags structure, in bytes.
    private static let flags = 3
    /// The length of Flags, the list of UUIDs, and the header of the service data, in bytes.
    private static let eddystoneHeader = flags + 4 + 4
}
