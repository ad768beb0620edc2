public import BluetoothTypes

/// Eddystone-TLM, unencrypted: `20 00 | battery mV u16 | temperature s8.8 | ADV_CNT u32 | SEC_CNT u32`, big-endian.
///
/// Carries no identity: it is sent from the same device address as the frame it belongs to.
public struct EddystoneTLM: Hashable, Sendable {
    /// Millivolts; `nil`, sent as 0, where unknown.
    public var batteryMillivolts: UInt16?
    /// `nil`, sent as 8000, where unknown.
    public var temperature: FixedPointTemperature?
    /// Advertising events of every frame type since power-on.
    public var advertisements: UInt32
    /// Time since power-on, in 0.1 s.
    public var uptimeDeciseconds: UInt32

    public init(
        batteryMillivolts: UInt16?, temperature: FixedPointTemperature?, advertisements: UInt32,
        uptimeDeciseconds: UInt32
    ) {
        self.batteryMillivolts = batteryMillivolts
        self.temperature = temperature
        self.advertisements = advertisements
        self.uptimeDeciseconds = uptimeDeciseconds
    }
}

extension EddystoneTLM {
    static let frameLength = 14
    /// Octets from the battery to SEC_CNT: what the encrypted form encrypts.
    public static let telemetryLength = 12

    /// From a frame, its type octet included; `nil` unless the version is 00.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count == Self.frameLength, frame[1] == 0x00 else { return nil }
        self.init(telemetryIn: frame, at: 2)
    }

    /// The twelve octets from the battery to SEC_CNT.
    public init(telemetry octets: FixedOctets<12>) {
        self.init(telemetryIn: octets.octets.span, at: 0)
    }

    @inline(__always)
    private init(telemetryIn span: Span<UInt8>, at start: Int) {
        let battery = span.uint16BigEndian(at: start)
        self.init(
            batteryMillivolts: battery == 0 ? nil : battery,
            temperature: FixedPointTemperature(rawValue: Int16(bitPattern: span.uint16BigEndian(at: start + 2))),
            advertisements: span.uint32BigEndian(at: start + 4),
            uptimeDeciseconds: span.uint32BigEndian(at: start + 8))
    }

    /// The twelve octets from the battery to SEC_CNT.
    public var telemetry: FixedOctets<12> {
        var result = FixedOctets<12>()
        result.put(batteryMillivolts ?? 0, at: 0)
        result.put(temperature?.rawValue ?? .min, at: 2)
        result.put(advertisements, at: 4)
        result.put(uptimeDeciseconds, at: 8)
        return result
    }

    /// The list of service UUIDs and the service data, without Flags.
    public var adStructures: [ADStructure] { Eddystone.structures([0x20, 0x00] + telemetry.octets) }

    /// The payload, 25 octets with Flags.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try .checked(adStructures, flags: flags)
    }

    /// Seconds since power-on, as people read it.
    public var uptimeSeconds: Double { Double(uptimeDeciseconds) / 10 }
}

extension FixedOctets<12> {
    /// Writes `value` from `offset` on, most significant octet first.
    fileprivate mutating func put(_ value: some FixedWidthInteger, at offset: Int) {
        let size = value.bitWidth / 8
        for index in 0..<size {
            self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - index)))
        }
    }
}
