/// Advertising_Interval: the time between the starts of two advertising events, without the random advDelay of
/// 0...10 ms that the link layer adds to each interval.
///
/// The value is the integer that controllers use, in units of 0.625 ms. A time is rounded only once, when it becomes
/// such an integer. Core Specification 5.4, Vol 6 Part B 4.4.2.2.1 and Vol 4 Part E 7.8.5, 7.8.53.
public struct AdvertisingInterval: RawRepresentable, Hashable, Comparable, Sendable {
    /// The interval in units of 0.625 ms.
    public let rawValue: UInt32

    /// An interval of any number of units of 0.625 ms. The value is not checked. Controllers accept only intervals in
    /// ``legacyRange`` or ``extendedRange``.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The range of the legacy commands: 20 ms...10.24 s.
    public static let legacyRange = AdvertisingInterval(rawValue: 0x0020)...AdvertisingInterval(rawValue: 0x4000)
    /// The range of the extended commands: 20 ms...10,485.759375 s.
    public static let extendedRange = AdvertisingInterval(rawValue: 0x20)...AdvertisingInterval(rawValue: 0xFF_FFFF)
    /// 100 ms, the shortest interval that Core Specifications before 5.0 allow for non-connectable and scannable
    /// advertising. Every controller accepts it. Apple requires this interval for iBeacons.
    public static let nonconnectableMinimumBefore5 = AdvertisingInterval(rawValue: 0x00A0)

    /// The multiple of 0.625 ms that is nearest to a time; half a unit is rounded up. `nil` if the time is negative or
    /// above 10,485.759375 s (24 bits of units).
    public init?(microseconds: Int) {
        guard microseconds >= 0, microseconds <= 0xFF_FFFF * 625 + 312 else { return nil }
        self.init(rawValue: UInt32((2 * microseconds + 625) / 1250))
    }

    /// The exact length in microseconds.
    public var microseconds: Int { Int(rawValue) * 625 }

    /// The mean of advDelay in microseconds. The link layer chooses advDelay at random between 0 and 10 ms for each
    /// event (Core Specification, volume 6, part B, section 4.4.2.2.1).
    public static let meanDelayMicroseconds = 5000

    /// The mean time between the starts of two advertising events in microseconds: the interval plus the mean advDelay.
    public var meanPeriodMicroseconds: Int { microseconds + Self.meanDelayMicroseconds }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Returns the interval for the beacon `name`. The intervals of many names are spread evenly over `range`, in steps
    /// of 0.625 ms, so that few beacons share an interval. The result depends only on the name and the range.
    public static func spread(_ name: String, over range: ClosedRange<AdvertisingInterval>) -> AdvertisingInterval {
        let count = UInt64(range.upperBound.rawValue - range.lowerBound.rawValue) + 1
        let step = StableHash.scattered(name).multipliedFullWidth(by: count).high
        return AdvertisingInterval(rawValue: range.lowerBound.rawValue + UInt32(truncatingIfNeeded: step))
    }
}

extension AdvertisingInterval: CustomStringConvertible {
    /// The time in milliseconds, without zeros at its end: `100 ms`, `152.5 ms`.
    public var description: String { "\(DecimalText.thousandths(microseconds)) ms" }
}

/// LE_Scan_Interval or LE_Scan_Window. The scan interval is the time between two changes of the scanner's channel. The
/// scan window is the time for which the scanner listens after each change.
///
/// The value is the integer that controllers use, in units of 0.625 ms. Core Specification 5.4, Vol 4 Part E 7.8.10,
/// 7.8.64.
public struct ScanInterval: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The time in units of 0.625 ms.
    public let rawValue: UInt16

    /// A time of any number of units of 0.625 ms. The value is not checked. Controllers accept only times in
    /// ``legacyRange`` or ``extendedRange``.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The range of the legacy command: 2.5 ms...10.24 s.
    public static let legacyRange = ScanInterval(rawValue: 0x0004)...ScanInterval(rawValue: 0x4000)
    /// The range of the extended command: 2.5 ms...40.959375 s.
    public static let extendedRange = ScanInterval(rawValue: 0x0004)...ScanInterval(rawValue: 0xFFFF)

    /// The multiple of 0.625 ms that is nearest to a time; half a unit is rounded up. `nil` if the time is negative or
    /// above 40.959375 s (16 bits of units).
    public init?(microseconds: Int) {
        guard microseconds >= 0, microseconds <= 0xFFFF * 625 + 312 else { return nil }
        self.init(rawValue: UInt16((2 * microseconds + 625) / 1250))
    }

    /// The exact length in microseconds.
    public var microseconds: Int { Int(rawValue) * 625 }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The time in milliseconds, without zeros at its end: `60 ms`, `11.25 ms`.
    public var description: String { "\(DecimalText.thousandths(microseconds)) ms" }
}

/// Advertising_Channel_Map: which of the three primary advertising channels an event uses.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.5: at least one bit is set.
public struct AdvertisingChannels: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// A channel map with any bits: bit 0 is channel 37, bit 1 is 38 and bit 2 is 39. Controllers require at least one
    /// of these bits, and refuse all other bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let channel37 = Self(rawValue: 1)
    public static let channel38 = Self(rawValue: 2)
    public static let channel39 = Self(rawValue: 4)
    /// All three channels.
    public static let all: Self = [.channel37, .channel38, .channel39]

    /// The channels with these numbers; `nil` if there are no numbers, or if a number is not 37, 38 or 39.
    public init?(numbers: some Sequence<Int>) {
        var mask: UInt8 = 0
        for number in numbers {
            guard (37...39).contains(number) else { return nil }
            mask |= 1 << UInt8(number - 37)
        }
        guard mask != 0 else { return nil }
        self.init(rawValue: mask)
    }

    /// The channel numbers in ascending order.
    public var numbers: [Int] { (37...39).filter { rawValue & 1 << UInt8($0 - 37) != 0 } }

    /// The channel numbers: `37,38,39`.
    public var description: String { numbers.map(String.init).joined(separator: ",") }
}

/// The type of a legacy advertising PDU (Core Specification 5.4, Vol 6 Part B 2.3.1).
public enum AdvertisingPDU: String, Hashable, Sendable, CaseIterable {
    /// ADV_NONCONN_IND: receivers can only listen. Most beacons use this type.
    case nonconnectable
    /// ADV_SCAN_IND: scanners may request scan response data.
    case scannable
    /// ADV_IND: scanners may request scan response data, and other devices may connect.
    case connectable

    /// The PDU type's name in the Core Specification, such as `ADV_IND`.
    public var specificationName: String {
        switch self {
        case .nonconnectable: "ADV_NONCONN_IND"
        case .scannable: "ADV_SCAN_IND"
        case .connectable: "ADV_IND"
        }
    }
}

/// A requested interval, and the multiple of 0.625 ms that is nearest to it. Controllers can use only such multiples.
public struct RequestedInterval: Hashable, Sendable {
    /// The requested interval, rounded to a multiple of 0.625 ms.
    public let interval: AdvertisingInterval
    /// The requested interval in microseconds.
    public let microseconds: Int

    /// A requested interval and its rounded value. The two are not compared.
    ///
    /// - Parameter microseconds: The requested interval in microseconds.
    public init(_ interval: AdvertisingInterval, microseconds: Int) {
        self.interval = interval
        self.microseconds = microseconds
    }

    /// A requested interval that needs no rounding.
    public init(_ interval: AdvertisingInterval) {
        self.init(interval, microseconds: interval.microseconds)
    }

    /// The requested interval in milliseconds as decimal text, such as `152.5`.
    public var milliseconds: String { DecimalText.thousandths(microseconds) }

    /// Reads `100`, `100ms` or `152.5` as milliseconds and `1.28s` as seconds.
    ///
    /// - Parameter range: The allowed range of the rounded interval.
    public init(
        _ text: some StringProtocol, in range: ClosedRange<AdvertisingInterval>
    ) throws(IntervalTextError) {
        let factor = text.hasSuffix("ms") ? 1 : text.hasSuffix("s") ? 1000 : 1
        var number = text.hasSuffix("ms") ? text.dropLast(2) : text.hasSuffix("s") ? text.dropLast() : text[...]
        while number.last == " " { number.removeLast() }
        guard let thousandths = DecimalText.thousandths(number) else { throw .notation }
        let (microseconds, isTooLong) = thousandths.multipliedReportingOverflow(by: factor)
        guard !isTooLong, let interval = AdvertisingInterval(microseconds: microseconds), range.contains(interval)
        else { throw .outOfRange }
        self.init(interval, microseconds: microseconds)
    }
}

/// The reason why a text is not an advertising interval.
public enum IntervalTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a number of milliseconds or seconds.
    case notation
    /// The interval is outside the allowed range.
    case outOfRange

    public var description: String {
        switch self {
        case .notation: "write milliseconds as 100, 100ms or 152.5, or seconds as 1.28s"
        case .outOfRange: "it is out of range"
        }
    }
}
