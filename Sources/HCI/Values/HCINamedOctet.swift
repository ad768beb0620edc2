import BluetoothTypes

/// A parameter octet whose values have names, and which is kept whatever it is.
public protocol HCINamedOctet: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == UInt8 {
    init(rawValue: UInt8)
    /// The value in words; `nil` where the specification reserves it.
    var name: String? { get }
}

extension HCINamedOctet {
    /// `random (0x01)`.
    public var description: String {
        "\(name ?? "reserved") (\(Hexadecimal.number(rawValue, width: 2)))"
    }
}
