/// TX_Power: what the transmitter emits, in dBm.
///
/// Never to be mixed up with ``MeasuredPowerAtOneMeter``: this one moves the radio, the other only tells listeners
/// what to expect. Core Specification 5.4, Vol 4 Part E 7.8.53.
public struct RadioPower: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// dBm; -127...20, or 127 for no preference.
    public let dBm: Int8

    /// What a host may ask an advertising set for.
    public static let range = -127...20
    /// 0x7F: the controller chooses.
    public static let noPreference = RadioPower(octet: 0x7F)

    /// - Throws: ``ValueOutOfRange`` outside -127...20.
    public init(dBm: Int) throws(ValueOutOfRange) {
        guard Self.range.contains(dBm), let value = Int8(exactly: dBm) else {
            throw ValueOutOfRange("radio power", dBm, range: Self.range, unit: "dBm")
        }
        self.dBm = value
    }

    /// What a controller reported, whatever it is.
    public init(octet: UInt8) {
        dBm = Int8(bitPattern: octet)
    }

    public var octet: UInt8 { UInt8(bitPattern: dBm) }

    public static func < (left: Self, right: Self) -> Bool { left.dBm < right.dBm }

    public var description: String { self == .noPreference ? "no preference" : "\(dBm) dBm" }
}
