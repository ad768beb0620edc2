public import BluetoothTypes

/// Eddystone-UID: `00 | power at 0 m | namespace[10] | instance[6] | RFU 00 00`.
public struct EddystoneUID: Hashable, Sendable {
    public var namespace: FixedOctets<10>
    public var instance: FixedOctets<6>
    public var measuredPower: MeasuredPowerAtZeroMeters

    public init(
        namespace: FixedOctets<10>, instance: FixedOctets<6>, measuredPower: MeasuredPowerAtZeroMeters
    ) {
        self.namespace = namespace
        self.instance = instance
        self.measuredPower = measuredPower
    }
}

extension EddystoneUID {
    /// Octets of the frame; old senders leave the two reserved ones at its end out.
    static let frameLength = 20
    static let frameLengthWithoutReserved = 18

    /// From a frame, its type octet included; the reserved octets may be missing and hold anything.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength || frame.count == Self.frameLengthWithoutReserved,
            let namespace = FixedOctets<10>(frame, at: 2), let instance = FixedOctets<6>(frame, at: 12)
        else { return nil }
        self.init(
            namespace: namespace, instance: instance,
            measuredPower: MeasuredPowerAtZeroMeters(octet: frame[1]))
    }

    /// The list of service UUIDs and the service data, without Flags, whatever the power.
    public var adStructures: [ADStructure] {
        Eddystone.structures([0x00, measuredPower.octet] + namespace.octets + instance.octets + [0x00, 0x00])
    }

    /// The payload, 31 octets with Flags.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -100...20 dBm.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try .checked(adStructures, power: measuredPower, flags: flags)
    }
}
