/// An HCI command's number: ten bits of command (OCF) under six bits of group (OGF).
///
/// Core Specification 5.4, Vol 4 Part E 5.4.1.
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public var group: UInt8 { UInt8(rawValue >> 10) }
    public var command: UInt16 { rawValue & 0x3FF }
}
