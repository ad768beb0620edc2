public import BluetoothTypes

/// What all Eddystone frames have in common: service data of UUID 0xFEAA, announced in a list of service UUIDs.
///
/// github google/eddystone, protocol-specification.md.
public enum Eddystone {
    /// 0xFEAA, assigned to Google for Eddystone.
    public static let serviceUUID: UInt16 = 0xFEAA

    /// The high nibble of a frame's first octet; the low one is 0.
    public enum FrameType: UInt8, Sendable {
        case uid = 0x00
        case url = 0x10
        case tlm = 0x20
        case eid = 0x30
    }

    /// The list that announces Eddystone, and `frame` as its service data.
    static func structures(_ frame: [UInt8]) -> [ADStructure] {
        [
            ADStructure(.complete16BitUUIDs, BluetoothUUID.uuid16(serviceUUID).littleEndian),
            .serviceData(serviceUUID, frame),
        ]
    }
}

/// Eddystone-EID: `30 | power at 0 m | ephemeral id[8]`. The id is made by EddystoneSecurity.
public struct EddystoneEID: Hashable, Sendable {
    public var id: FixedOctets<8>
    public var measuredPower: MeasuredPowerAtZeroMeters

    public init(id: FixedOctets<8>, measuredPower: MeasuredPowerAtZeroMeters) {
        self.id = id
        self.measuredPower = measuredPower
    }
}

extension EddystoneEID {
    static let frameLength = 10

    /// From a frame, its type octet included.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength, let id = FixedOctets<8>(frame, at: 2) else {
            return nil
        }
        self.init(id: id, measuredPower: MeasuredPowerAtZeroMeters(octet: frame[1]))
    }

    /// The list of service UUIDs and the service data, without Flags, whatever the power.
    public var adStructures: [ADStructure] {
        Eddystone.structures([0x30, measuredPower.octet] + id.octets)
    }

    /// The payload, 21 octets with Flags.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -100...20 dBm.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try .checked(adStructures, power: measuredPower, flags: flags)
    }
}

/// Eddystone-TLM, encrypted: `20 01 | ciphertext[12] | salt[2] | MIC[2]`. Made and opened by EddystoneSecurity.
public struct EddystoneEncryptedTLM: Hashable, Sendable {
    public var encrypted: FixedOctets<12>
    public var salt: UInt16
    /// Message integrity check: the first two octets of the EAX tag.
    public var mic: UInt16

    public init(encrypted: FixedOctets<12>, salt: UInt16, mic: UInt16) {
        self.encrypted = encrypted
        self.salt = salt
        self.mic = mic
    }
}

extension EddystoneEncryptedTLM {
    static let frameLength = 18

    /// From a frame, its type octet included; `nil` unless the version is 01.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength, frame[1] == 0x01,
            let encrypted = FixedOctets<12>(frame, at: 2)
        else { return nil }
        self.init(
            encrypted: encrypted, salt: frame.uint16BigEndian(at: 14),
            mic: frame.uint16BigEndian(at: 16))
    }

    /// The list of service UUIDs and the service data, without Flags.
    public var adStructures: [ADStructure] {
        var frame: [UInt8] = [0x20, 0x01] + encrypted.octets
        frame.append(bigEndian: salt)
        frame.append(bigEndian: mic)
        return Eddystone.structures(frame)
    }

    /// The payload, 29 octets with Flags.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try .checked(adStructures, flags: flags)
    }
}
