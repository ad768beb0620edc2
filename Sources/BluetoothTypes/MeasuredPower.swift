/// The signal strength that a receiver sees at a distance of one meter, in dBm: the octet that iBeacon and AltBeacon
/// carry, -127...0.
///
/// It claims something about the radio and changes nothing of it; see ``RadioPower`` for what the radio does.
public struct MeasuredPowerAtOneMeter: Hashable, Sendable, CustomStringConvertible {
    public let dBm: Int8

    public static let range = -127...0

    /// - Throws: ``ValueOutOfRange`` outside -127...0.
    public init(dBm: Int) throws(ValueOutOfRange) {
        guard Self.range.contains(dBm), let value = Int8(exactly: dBm) else {
            throw ValueOutOfRange("measured power at 1 m", dBm, range: Self.range, unit: "dBm")
        }
        self.dBm = value
    }

    /// The octet of a received frame, in range or not.
    @inlinable
    public init(octet: UInt8) {
        dBm = Int8(bitPattern: octet)
    }

    public var octet: UInt8 { UInt8(bitPattern: dBm) }
    public var isInRange: Bool { Self.range.contains(Int(dBm)) }
    public var description: String { "\(dBm) dBm at 1 m" }

    /// The same radio seen from 0 m: 41 dB more, the loss over the first meter.
    ///
    /// - Throws: ``ValueOutOfRange`` when the sum is over Eddystone's +20 dBm.
    public func atZeroMeters() throws(ValueOutOfRange) -> MeasuredPowerAtZeroMeters {
        try MeasuredPowerAtZeroMeters(dBm: Int(dBm) + MeasuredPowerAtZeroMeters.stepToOneMeter)
    }
}

/// The signal strength at a distance of 0 m, in dBm: the octet that the Eddystone frames carry, -100...20.
///
/// github google/eddystone, protocol-specification: measure at 1 m and add 41 dB.
public struct MeasuredPowerAtZeroMeters: Hashable, Sendable, CustomStringConvertible {
    public let dBm: Int8

    public static let range = -100...20
    /// The free-space loss over the first meter at 2.4 GHz, as Eddystone fixes it, in dB.
    public static let stepToOneMeter = 41

    /// - Throws: ``ValueOutOfRange`` outside -100...20.
    public init(dBm: Int) throws(ValueOutOfRange) {
        guard Self.range.contains(dBm), let value = Int8(exactly: dBm) else {
            throw ValueOutOfRange("measured power at 0 m", dBm, range: Self.range, unit: "dBm")
        }
        self.dBm = value
    }

    /// The octet of a received frame, in range or not.
    @inlinable
    public init(octet: UInt8) {
        dBm = Int8(bitPattern: octet)
    }

    public var octet: UInt8 { UInt8(bitPattern: dBm) }
    public var isInRange: Bool { Self.range.contains(Int(dBm)) }
    public var description: String { "\(dBm) dBm at 0 m" }

    /// The same radio seen from 1 m: 41 dB less.
    ///
    /// - Throws: ``ValueOutOfRange`` when the difference is below -127 dBm.
    public func atOneMeter() throws(ValueOutOfRange) -> MeasuredPowerAtOneMeter {
        try MeasuredPowerAtOneMeter(dBm: Int(dBm) - Self.stepToOneMeter)
    }
}
