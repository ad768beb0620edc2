public import BluetoothTypes

/// An iBeacon: manufacturer data of Apple (0x004C) with type 02, length 15.
///
/// `02 01 06 | 1A FF 4C 00 02 15 | UUID[16] | major u16 BE | minor u16 BE | measured power s8`: 30 octets. The UUID
/// stands in text order. Measured power is the signal strength at 1 m.
public struct IBeacon: Hashable, Sendable {
    /// Most significant octet first, as the UUID is written.
    public var uuid: FixedOctets<16>
    public var major: UInt16
    public var minor: UInt16
    public var measuredPower: MeasuredPowerAtOneMeter

    public init(uuid: FixedOctets<16>, major: UInt16, minor: UInt16, measuredPower: MeasuredPowerAtOneMeter) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }
}

extension IBeacon {
    /// Apple's company identifier.
    public static let companyID: UInt16 = 0x004C
    /// Octets of manufacturer data: company, type, length, UUID, major, minor and power.
    static let manufacturerDataLength = 25

    /// From manufacturer data; `nil` unless it is exactly an iBeacon's.
    @inline(__always)
    init?(manufacturerData data: Span<UInt8>) {
        guard data.count == Self.manufacturerDataLength, data.uint32BigEndian(at: 0) == 0x4C00_0215,
            let uuid = FixedOctets<16>(data, at: 4)
        else { return nil }
        self.init(
            uuid: uuid, major: data.uint16BigEndian(at: 20), minor: data.uint16BigEndian(at: 22),
            measuredPower: MeasuredPowerAtOneMeter(octet: data[24]))
    }

    /// The manufacturer data alone, without Flags, whatever the power.
    public var adStructures: [ADStructure] {
        var data: [UInt8] = [0x02, 0x15] + uuid.octets
        data.append(bigEndian: major)
        data.append(bigEndian: minor)
        data.append(measuredPower.octet)
        return [.manufacturerData(Self.companyID, data)]
    }

    /// The payload, 30 octets with Flags and 27 without.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -127...0 dBm.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try .checked(adStructures, power: measuredPower, flags: flags)
    }
}
