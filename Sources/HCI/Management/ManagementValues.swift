import BluetoothTypes

/// What an adapter can be set to, or is set to: a bit each.
///
/// BlueZ's doc/mgmt-api.txt, Read Controller Information. Bits without a name here are kept.
public struct ManagementSettings: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    /// Any bits, reserved ones included.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let powered = Self(rawValue: 1 << 0)
    /// Also turns what should be non-connectable advertising into connectable.
    public static let connectable = Self(rawValue: 1 << 1)
    public static let discoverable = Self(rawValue: 1 << 3)
    /// Basic Rate / Enhanced Data Rate.
    public static let bredr = Self(rawValue: 1 << 7)
    public static let lowEnergy = Self(rawValue: 1 << 9)
    /// Set Advertising is on; advertising instances wait until it is off.
    public static let advertising = Self(rawValue: 1 << 10)
    public static let privacy = Self(rawValue: 1 << 13)
    public static let staticAddress = Self(rawValue: 1 << 15)
}

extension ManagementSettings: CustomStringConvertible {
    /// `powered, low energy (0x00000201)`.
    public var description: String {
        named(
            rawValue,
            [
                (0, "powered"), (1, "connectable"), (3, "discoverable"), (7, "BR/EDR"), (9, "low energy"),
                (10, "advertising"), (13, "privacy"), (15, "static address"),
            ])
    }
}

/// How an advertising instance is sent, and which of the fields beside it count.
///
/// BlueZ's doc/mgmt-api.txt, Add Advertising and Add Extended Advertising Parameters.
public struct ManagementAdvertisingFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    /// Any bits, reserved ones included.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let connectable = Self(rawValue: 1 << 0)
    public static let discoverable = Self(rawValue: 1 << 1)
    public static let limitedDiscoverable = Self(rawValue: 1 << 2)
    /// The kernel puts a Flags structure before the data.
    public static let addFlags = Self(rawValue: 1 << 3)
    /// The kernel puts a TX Power Level structure behind the data.
    public static let addTxPower = Self(rawValue: 1 << 4)
    public static let secondaryChannel1M = Self(rawValue: 1 << 7)
    public static let secondaryChannel2M = Self(rawValue: 1 << 8)
    public static let secondaryChannelCoded = Self(rawValue: 1 << 9)
    /// In the supported flags only: the controller has extended advertising and takes a TX power.
    public static let canSetTxPower = Self(rawValue: 1 << 10)
    public static let hardwareOffload = Self(rawValue: 1 << 11)
    /// The following ones say that a parameter of Add Extended Advertising Parameters is to be used.
    public static let useDuration = Self(rawValue: 1 << 12)
    public static let useTimeout = Self(rawValue: 1 << 13)
    public static let useIntervals = Self(rawValue: 1 << 14)
    public static let useTxPower = Self(rawValue: 1 << 15)
    /// A scan response will follow with the data.
    public static let scanResponse = Self(rawValue: 1 << 16)
}

extension ManagementAdvertisingFlags: CustomStringConvertible {
    /// `use intervals, use TX power (0x0000C000)`.
    public var description: String {
        named(
            rawValue,
            [
                (0, "connectable"), (1, "discoverable"), (2, "limited discoverable"), (3, "add flags"),
                (4, "add TX power"), (7, "secondary 1M"), (8, "secondary 2M"), (9, "secondary coded"),
                (10, "can set TX power"), (11, "hardware offload"), (12, "use duration"), (13, "use timeout"),
                (14, "use intervals"), (15, "use TX power"), (16, "scan response"),
            ])
    }
}

/// The names of the bits that are set, and the number.
private func named(_ value: UInt32, _ names: [(bit: UInt32, name: String)]) -> String {
    let set = names.filter { value & 1 << $0.bit != 0 }.map(\.name)
    return (set.isEmpty ? "none" : set.joined(separator: ", ")) + " (\(Hexadecimal.number(value, width: 8)))"
}
