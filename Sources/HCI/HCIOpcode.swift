import BluetoothTypes

/// An HCI command's number: ten bits of command (OCF) under six bits of group (OGF).
///
/// Core Specification 5.4, Vol 4 Part E 5.4.1.
public struct HCIOpcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Any number: group in the upper 6 bits, command in the lower 10.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public var group: UInt8 { UInt8(rawValue >> 10) }
    public var command: UInt16 { rawValue & 0x3FF }

    /// Group 0x3F: what such a number means depends on the controller's maker.
    public var isVendorSpecific: Bool { group == 0x3F }

    /// 0x0000: not a command; with it a controller only tells how many commands it takes.
    public static let noOperation = HCIOpcode(rawValue: 0)

    /// `0x2006`.
    public var description: String { Hexadecimal.number(rawValue, width: 4) }
}
