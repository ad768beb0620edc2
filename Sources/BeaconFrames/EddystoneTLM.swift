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

/// A temperature in 1/256 °C: the signed 8.8 fixed point of Eddystone-TLM.
public struct FixedPointTemperature: RawRepresentable, Hashable, Sendable {
    /// 1/256 °C; never -32768, which means "unknown" on the air.
    public let rawValue: Int16

    /// `nil` for -32768.
    public init?(rawValue: Int16) {
        guard rawValue != .min else { return nil }
        self.rawValue = rawValue
    }
}
