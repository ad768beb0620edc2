public import BluetoothTypes

/// The common part of all Eddystone frames: service data for UUID 0xFEAA, and a list of service UUIDs that contains
/// 0xFEAA.
///
/// The specification is protocol-specification.md in github google/eddystone.
public enum Eddystone {
    /// 0xFEAA, the service UUID that the Bluetooth SIG assigned to Google for Eddystone.
    public static let serviceUUID: UInt16 = 0xFEAA

    /// The type of a frame, in the high four bits of its first byte. The low four bits are 0.
    public enum FrameType: UInt8, Sendable {
        case uid = 0x00
        case url = 0x10
        case tlm = 0x20
        case eid = 0x30
    }

    /// Returns the two AD structures of an Eddystone frame: the list of service UUIDs, and the service data with
    /// `frame`.
    static func structures(_ frame: [UInt8]) -> [ADStructure] {
        [
            ADStructure(.complete16BitUUIDs, BluetoothUUID.uuid16(serviceUUID).littleEndian),
            .serviceData(serviceUUID, frame),
        ]
    }
}

/// Frames of Google's Find Hub network (formerly Find My Device), which shares the service UUID 0xFEAA with Eddystone:
/// `40 or 41 | ephemeral id[20 or 32] | flags`.
///
/// The specification is Google's Find Hub Network Accessory Specification.
public enum FindHub {
    /// The type of a frame: its first byte.
    public enum FrameType: UInt8, Sendable {
        /// The protection against unwanted tracking is off.
        case normal = 0x40
        /// The protection against unwanted tracking is on. A tag turns it on when it is away from its owner.
        case unwantedTrackingProtection = 0x41
    }

    /// The possible sizes of an ephemeral id in bytes, which depend on the elliptic curve.
    static let idLengths = [20, 32]
}

extension ADStructure {
    /// A description of the Find Hub frame in this structure; `nil` for structures without such a frame.
    public var findHubSentence: String? {
        guard type == .serviceData16, data.starts(with: [0xAA, 0xFE]), data.count > 2,
            let type = FindHub.FrameType(rawValue: data[2])
        else { return nil }
        let frame = data.dropFirst(3)
        let length = FindHub.idLengths.last { $0 <= frame.count } ?? frame.count
        return "Find Hub tag, ephemeral id \(Hexadecimal.text(frame.prefix(length)))"
            + (type == .unwantedTrackingProtection ? ", protection against unwanted tracking on" : "")
    }
}

/// Eddystone-UID: `00 | power at 0 m | namespace[10] | instance[6] | RFU 00 00`.
public struct EddystoneUID: EncodableFrame {
    /// The namespace of all beacons of one organisation.
    public var namespace: FixedOctets<10>
    /// The number of this beacon in the namespace.
    public var instance: FixedOctets<6>
    public var measuredPower: MeasuredPowerAtZeroMeters

    /// A frame with these values, which are not checked. `advertisingData(flags:)` refuses a measured power that may
    /// not be sent.
    public init(
        namespace: FixedOctets<10>, instance: FixedOctets<6>, measuredPower: MeasuredPowerAtZeroMeters
    ) {
        self.namespace = namespace
        self.instance = instance
        self.measuredPower = measuredPower
    }
}

extension EddystoneUID {
    /// The size of the frame in bytes.
    static let frameLength = 20
    /// The size in bytes of a frame from an old sender, which omits the two reserved bytes at the end.
    static let frameLengthWithoutReserved = 18

    /// Reads a frame that starts with its type byte. The two reserved bytes may be missing or have any value.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength || frame.count == Self.frameLengthWithoutReserved,
            let namespace = FixedOctets<10>(frame, at: 2), let instance = FixedOctets<6>(frame, at: 12)
        else { return nil }
        self.init(
            namespace: namespace, instance: instance,
            measuredPower: MeasuredPowerAtZeroMeters(octet: frame[1]))
    }

    /// The list of service UUIDs and the service data, without Flags. A measured power that is out of range is encoded
    /// as well.
    public var adStructures: [ADStructure] {
        Eddystone.structures([0x00, measuredPower.octet] + namespace.octets + instance.octets + [0x00, 0x00])
    }

    /// Checks that the frame may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -100...20 dBm.
    public func validate() throws(BeaconFrameError) { try measuredPower.checkRange() }
}

extension EddystoneUID {
    /// Returns the namespace for a version 4 UUID: its bytes 1...4 and 11...16, counted from 1.
    ///
    /// `8b0ca750-e7a7-4e14-bd99-095477cb3e77` gives `8b0ca750095477cb3e77` (github google/eddystone,
    /// eddystone-uid/README.md). EddystoneSecurity can derive a namespace from a domain name.
    ///
    /// - Throws: ``NamespaceError`` for a UUID of another version, because those bytes may be equal in different UUIDs.
    public static func namespace(fromUUID uuid: FixedOctets<16>) throws(NamespaceError) -> FixedOctets<10> {
        let version = uuid[6] >> 4
        guard version == 4 else { throw .notRandom(version: version) }
        var namespace = FixedOctets<10>()
        for index in 0..<10 { namespace[index] = uuid[index < 4 ? index : index + 6] }
        return namespace
    }
}

/// The reason why no Eddystone-UID namespace can be derived.
public enum NamespaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The version of the UUID is not 4.
    case notRandom(version: UInt8)
    /// The domain name is empty.
    case emptyDomain
    /// The domain name contains a character that is not allowed; `offset` counts the characters before it.
    case notADomain(Character, offset: Int)

    public var description: String {
        switch self {
        case .notRandom(let version):
            "a namespace needs a random (version 4) UUID, and this UUID has version \(version)"
        case .emptyDomain:
            "the domain name is empty"
        case .notADomain(let character, let offset):
            "\"\(character)\" at character \(offset + 1) is not allowed in a domain name; give example.org, not a URL"
        }
    }
}

/// Eddystone-EID: `30 | power at 0 m | ephemeral id[8]`. EddystoneSecurity computes the ephemeral id.
public struct EddystoneEID: EncodableFrame {
    /// The ephemeral id. Only a resolver that has the identity key can find out which beacon sent it.
    public var id: FixedOctets<8>
    public var measuredPower: MeasuredPowerAtZeroMeters

    /// A frame with these values, which are not checked. `advertisingData(flags:)` refuses a measured power that may
    /// not be sent.
    public init(id: FixedOctets<8>, measuredPower: MeasuredPowerAtZeroMeters) {
        self.id = id
        self.measuredPower = measuredPower
    }
}

extension EddystoneEID {
    static let frameLength = 10

    /// Reads a frame that starts with its type byte; `nil` for another length.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength, let id = FixedOctets<8>(frame, at: 2) else {
            return nil
        }
        self.init(id: id, measuredPower: MeasuredPowerAtZeroMeters(octet: frame[1]))
    }

    /// The list of service UUIDs and the service data, without Flags. A measured power that is out of range is encoded
    /// as well.
    public var adStructures: [ADStructure] {
        Eddystone.structures([0x30, measuredPower.octet] + id.octets)
    }

    /// Checks that the frame may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -100...20 dBm.
    public func validate() throws(BeaconFrameError) { try measuredPower.checkRange() }
}
