/// Advertising_Channel_Map: which of the three primary advertising channels an event uses.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.5: at least one bit is set.
public struct AdvertisingChannels: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let channel37 = Self(rawValue: 1)
    public static let channel38 = Self(rawValue: 2)
    public static let channel39 = Self(rawValue: 4)
    public static let all: Self = [.channel37, .channel38, .channel39]

    /// From channel numbers; `nil` when empty or when one is not 37, 38 or 39.
    public init?(numbers: some Sequence<Int>) {
        var mask: UInt8 = 0
        for number in numbers {
            guard (37...39).contains(number) else { return nil }
            mask |= 1 << UInt8(number - 37)
        }
        guard mask != 0 else { return nil }
        self.init(rawValue: mask)
    }

    /// The channel numbers, in the order of the air.
    public var numbers: [Int] { (37...39).filter { rawValue & 1 << UInt8($0 - 37) != 0 } }

    public var description: String { numbers.map(String.init).joined(separator: ",") }
}

/// What the legacy advertising PDU allows others to do (Core Specification 5.4, Vol 6 Part B 2.3.1).
public enum AdvertisingPDU: String, Hashable, Sendable, CaseIterable {
    /// ADV_NONCONN_IND: listen only. What a beacon is.
    case nonconnectable
    /// ADV_SCAN_IND: may be asked for scan response data.
    case scannable
    /// ADV_IND: may be asked for scan response data, and be connected to.
    case connectable

    public var specificationName: String {
        switch self {
        case .nonconnectable: "ADV_NONCONN_IND"
        case .scannable: "ADV_SCAN_IND"
        case .connectable: "ADV_IND"
        }
    }
}
