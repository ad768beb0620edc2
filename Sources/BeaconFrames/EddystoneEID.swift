public import BluetoothTypes

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
