/// TX_Power: the transmit power in dBm.
///
/// Do not confuse it with ``MeasuredPowerAtOneMeter``, a number in the packet that receivers use to estimate distance.
/// Core Specification 5.4, Vol 4 Part E 7.8.53.
public struct RadioPower: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The power in dBm. A host may request -127...20, or 127 for no preference.
    public let dBm: Int8

    /// The transmit powers that a host may request for an advertising set, in dBm.
    public static let range = -127...20
    /// The value 0x7F (127): the controller chooses the power.
    public static let noPreference = RadioPower(octet: 0x7F)

    /// A power that a host may request.
    ///
    /// - Throws: ``ValueOutOfRange`` outside -127...20 dBm.
    public init(dBm: Int) throws(ValueOutOfRange) {
        guard Self.range.contains(dBm), let value = Int8(exactly: dBm) else {
            throw ValueOutOfRange("radio power", dBm, range: Self.range, unit: "dBm")
        }
        self.dBm = value
    }

    /// A power from the byte that a controller reports. Every byte is accepted.
    public init(octet: UInt8) {
        dBm = Int8(bitPattern: octet)
    }

    /// The power as one byte in two's complement, as in HCI commands and in the TX Power Level structure.
    public var octet: UInt8 { UInt8(bitPattern: dBm) }

    public static func < (left: Self, right: Self) -> Bool { left.dBm < right.dBm }

    public var description: String { self == .noPreference ? "no preference" : "\(dBm) dBm" }
}

/// The signal strength that a receiver measures at a fixed distance from the beacon. A frame contains this number so
/// that receivers can estimate their distance from the beacon.
///
/// The number does not change the transmit power, which is a ``RadioPower``.
public protocol MeasuredPower: Hashable, Sendable, CustomStringConvertible {
    /// The values that may be sent, in dBm.
    static var range: ClosedRange<Int> { get }
    /// The distance in words, such as `1 m`.
    static var distance: String { get }
    /// The power in dBm.
    var dBm: Int8 { get }
    /// The power in the byte of a received frame. Values outside ``range`` are accepted.
    init(octet: UInt8)
}

extension MeasuredPower {
    /// A power to send, which must be in ``range``.
    ///
    /// - Throws: ``ValueOutOfRange`` outside ``range``.
    public init(dBm: Int) throws(ValueOutOfRange) {
        guard Self.range.contains(dBm), let value = Int8(exactly: dBm) else {
            throw ValueOutOfRange("measured power at \(Self.distance)", dBm, range: Self.range, unit: "dBm")
        }
        self.init(octet: UInt8(bitPattern: value))
    }

    /// The power as the byte that is sent, in two's complement.
    public var octet: UInt8 { UInt8(bitPattern: dBm) }
    /// True if the value may be sent. A received frame may contain any value.
    public var isInRange: Bool { Self.range.contains(Int(dBm)) }
    public var description: String { "\(dBm) dBm at \(Self.distance)" }
}

/// The signal strength at a distance of 1 m in dBm, -127...0. iBeacon and AltBeacon frames contain it as one byte.
public struct MeasuredPowerAtOneMeter: MeasuredPower {
    /// The values that may be sent, in dBm.
    public static let range = -127...0
    public static let distance = "1 m"
    public let dBm: Int8

    /// The power in the byte of a received frame. Values outside ``range`` are accepted.
    @inlinable
    public init(octet: UInt8) {
        dBm = Int8(bitPattern: octet)
    }

    /// Returns the measured power at 0 m. It is 41 dB higher, because the signal loses 41 dB over the first metre.
    ///
    /// - Throws: ``ValueOutOfRange`` when the sum is above 20 dBm, the limit of Eddystone.
    public func atZeroMeters() throws(ValueOutOfRange) -> MeasuredPowerAtZeroMeters {
        try MeasuredPowerAtZeroMeters(dBm: Int(dBm) + MeasuredPowerAtZeroMeters.stepToOneMeter)
    }
}

/// The signal strength at a distance of 0 m in dBm, -100...20. Eddystone frames contain it as one byte.
///
/// The Eddystone specification (github google/eddystone, protocol-specification) says to measure at 1 m and to add 41
/// dB.
public struct MeasuredPowerAtZeroMeters: MeasuredPower {
    /// The values that may be sent, in dBm.
    public static let range = -100...20
    public static let distance = "0 m"
    /// The free-space loss over the first metre at 2.4 GHz, in dB, as the Eddystone specification defines it.
    public static let stepToOneMeter = 41
    public let dBm: Int8

    /// The power in the byte of a received frame. Values outside ``range`` are accepted.
    @inlinable
    public init(octet: UInt8) {
        dBm = Int8(bitPattern: octet)
    }

    /// Returns the measured power at 1 m, which is 41 dB lower.
    ///
    /// - Throws: ``ValueOutOfRange`` when the difference is below -127 dBm.
    public func atOneMeter() throws(ValueOutOfRange) -> MeasuredPowerAtOneMeter {
        try MeasuredPowerAtOneMeter(dBm: Int(dBm) - Self.stepToOneMeter)
    }
}
