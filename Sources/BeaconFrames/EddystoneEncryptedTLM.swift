public import BluetoothTypes

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
