public import BluetoothTypes

/// The parameters or the return parameters of a command: a fixed sequence of fields.
///
/// A type lists its fields once, in ``layout(_:)``. Encoding, decoding, range checks and the description in words all
/// follow this list.
public protocol HCIRecord: Hashable, Sendable {
    /// Creates a record with placeholder values, which decoding replaces.
    init(placeholder: HCIPlaceholder)
    /// Passes every field to `fields`, in the order in which the fields are sent.
    mutating func layout(_ fields: inout HCIFieldCoder)
}

/// A token that is needed to create a record with placeholder values. Only this module can create the token, so that
/// other modules must use the initialisers that check the values.
public struct HCIPlaceholder: Sendable {
    init() {}
}

extension HCIRecord {
    /// The bytes of all fields.
    var encoded: [UInt8] { visitFields(for: .encode).octets }

    /// The fields in words.
    var described: [HCIField] { visitFields(for: .describe).descriptions }

    /// Throws an error for the first field whose value is out of range.
    func check() throws(HCIParameterError) {
        if let error = visitFields(for: .check).error { throw error }
    }

    /// Decodes the bytes from `offset` on. Reserved values are kept.
    ///
    /// - Parameter allowsTrailingOctets: `true` if bytes may follow the last field.
    /// - Returns: `nil` if the bytes do not fit the layout.
    init?(decoding octets: Span<UInt8>, at offset: Int = 0, allowsTrailingOctets: Bool) {
        guard (0...octets.count).contains(offset) else { return nil }
        self.init(placeholder: HCIPlaceholder())
        var fields = HCIFieldCoder(.decode, octets.array(offset..<octets.count))
        layout(&fields)
        guard !fields.isMalformed, allowsTrailingOctets || fields.isAtEnd else { return nil }
    }

    /// Returns a coder that has visited all fields of this record for `purpose`.
    private func visitFields(for purpose: HCIFieldCoder.Purpose) -> HCIFieldCoder {
        var copy = self
        var fields = HCIFieldCoder(purpose)
        copy.layout(&fields)
        return fields
    }
}

/// Visits the fields of a record in order and encodes, decodes, checks or describes each of them.
///
/// Numbers are sent least significant byte first.
public struct HCIFieldCoder {
    enum Purpose {
        case encode, decode, check, describe
    }

    private let purpose: Purpose
    /// The bytes that were encoded, or that are to be decoded.
    private(set) var octets: [UInt8]
    /// The offset of the next byte to decode.
    private var position = 0
    /// `true` if decoding found too few bytes, or bytes that do not fit the layout.
    private(set) var isMalformed = false
    /// The error of the first field that is out of range.
    private(set) var error: HCIParameterError?
    private(set) var descriptions: [HCIField] = []

    init(_ purpose: Purpose, _ octets: [UInt8] = []) {
        self.purpose = purpose
        self.octets = octets
    }

    var isAtEnd: Bool { position == octets.count }

    // MARK: Numbers

    /// Visits a field that contains a number.
    ///
    /// - Parameters:
    ///   - range: The values that an initialiser accepts; `nil` for any value.
    ///   - text: Returns the value in words; `nil` for decimal digits.
    public mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ name: String, _ value: inout Number, in range: ClosedRange<Int>? = nil, unit: String = "",
        text: ((Number) -> String)? = nil
    ) {
        let old = value
        check(name, Int(clamping: old), in: range, unit)
        describe(name, text.map { $0(old) } ?? String(old))
        value = Number(truncatingIfNeeded: encodeOrDecode(UInt64(old), bytes: Number.bitWidth / 8))
    }

    /// Visits a field that contains a handle. The description is in hexadecimal digits.
    public mutating func handle(_ name: String, _ value: inout UInt8, in range: ClosedRange<Int>) {
        number(name, &value, in: range) { Hexadecimal.number($0, width: 2) }
    }

    /// Visits a byte that turns a function off (0) or on (1).
    public mutating func onOff(_ name: String, _ value: inout UInt8) {
        number(name, &value) { value in
            let word = value == 0 ? "off" : value == 1 ? "on" : "undefined"
            return "\(word) (\(Hexadecimal.number(value, width: 2)))"
        }
    }

    /// Visits a field that contains a number with named values, or a set of bits.
    public mutating func named<Value: RawRepresentable>(
        _ name: String, _ value: inout Value, in range: ClosedRange<Int>? = nil
    ) where Value.RawValue: FixedWidthInteger & UnsignedInteger {
        let old = value
        var number = old.rawValue
        self.number(name, &number, in: range) { _ in "\(old)" }
        value = Value(rawValue: number) ?? value
    }

    /// Visits a field that contains the advertising channels. An initialiser accepts at least one of the three
    /// channels.
    public mutating func channels(_ name: String, _ channels: inout AdvertisingChannels) {
        let old = channels
        var number = old.rawValue
        self.number(name, &number, in: 1...7) { number in
            "\(old.numbers.isEmpty ? "none" : old.description) (\(Hexadecimal.number(number, width: 2)))"
        }
        channels = AdvertisingChannels(rawValue: number)
    }

    /// Visits a field that contains a radio power in dBm.
    public mutating func power(_ name: String, _ power: inout RadioPower, allowsNoPreference: Bool = true) {
        let isExempt = allowsNoPreference && power == .noPreference
        check(name, Int(power.dBm), in: isExempt ? nil : RadioPower.range, "dBm")
        let old = power
        describe(name, old.description)
        power = RadioPower(octet: UInt8(truncatingIfNeeded: encodeOrDecode(UInt64(power.octet), bytes: 1)))
    }

    // MARK: Intervals

    /// Visits two fields: the shortest and the longest advertising interval, in units of 0.625 ms.
    ///
    /// - Parameters:
    ///   - bytesPerInterval: The number of bytes of each interval.
    ///   - range: The range in which an initialiser accepts the two intervals; the shortest interval must not be above
    ///     the longest. `nil` if any two numbers of this size are accepted.
    public mutating func intervals(
        _ minimumName: String, _ minimum: inout AdvertisingInterval, _ maximumName: String,
        _ maximum: inout AdvertisingInterval, bytesPerInterval: Int, in range: ClosedRange<AdvertisingInterval>?
    ) {
        let largestInterval = 1 << (8 * bytesPerInterval) - 1
        let lower = range.map { Int($0.lowerBound.rawValue) } ?? 0
        let upper = range.map { Int($0.upperBound.rawValue) } ?? largestInterval
        check(maximumName, Int(maximum.rawValue), in: lower...upper, Self.intervalUnit)
        if error == nil {
            let upper = range == nil ? largestInterval : max(lower, Int(maximum.rawValue))
            check(minimumName, Int(minimum.rawValue), in: lower...upper, Self.intervalUnit)
        }
        interval(minimumName, &minimum, bytes: bytesPerInterval)
        interval(maximumName, &maximum, bytes: bytesPerInterval)
    }

    private mutating func interval(_ name: String, _ interval: inout AdvertisingInterval, bytes: Int) {
        let old = interval
        describe(name, "\(Hexadecimal.number(old.rawValue, width: 4)) (\(old))")
        interval = AdvertisingInterval(
            rawValue: UInt32(truncatingIfNeeded: encodeOrDecode(UInt64(interval.rawValue), bytes: bytes)))
    }

    /// Visits two fields, in units of 0.625 ms. After each scan interval, the scanner changes its channel; on each
    /// channel, it listens for the time of the scan window. The window is at most as long as the interval.
    public mutating func scan(
        _ intervalName: String, _ interval: inout ScanInterval, _ windowName: String, _ window: inout ScanInterval,
        in range: ClosedRange<ScanInterval>
    ) {
        let lower = Int(range.lowerBound.rawValue)
        number(intervalName, &interval, in: lower...Int(range.upperBound.rawValue))
        number(windowName, &window, in: lower...max(lower, Int(interval.rawValue)))
    }

    private mutating func number(_ name: String, _ interval: inout ScanInterval, in range: ClosedRange<Int>) {
        let old = interval
        var number = old.rawValue
        self.number(name, &number, in: range, unit: Self.intervalUnit) { number in
            "\(Hexadecimal.number(number, width: 4)) (\(old))"
        }
        interval = ScanInterval(rawValue: number)
    }

    private static let intervalUnit = "(units of 0.625 ms)"

    // MARK: Bytes

    /// Visits a field that contains a device address, least significant byte first.
    public mutating func address(_ name: String, _ address: inout DeviceAddress) {
        let old = address
        var octets = old.octets.reversed
        fixed(name, &octets) { _ in "\(old)" }
        address = DeviceAddress(octets.reversed)
    }

    /// Visits a field of a fixed number of bytes.
    public mutating func fixed<let count: Int>(
        _ name: String, _ value: inout FixedOctets<count>, text: ((FixedOctets<count>) -> String)? = nil
    ) {
        let old = value
        describe(name, text.map { $0(old) } ?? old.description)
        if let new = FixedOctets<count>(encodeOrDecode(value.octets, count: count)) { value = new }
    }

    /// Visits a field of `count` bytes.
    public mutating func bytes(_ name: String, _ value: inout [UInt8], count: Int) {
        let old = value
        describe(name, old.isEmpty ? "none" : Hexadecimal.text(old))
        value = encodeOrDecode(value, count: count)
    }

    /// Visits a field of `size` bytes. The first `count` bytes are the value; the remaining bytes are zero.
    public mutating func padded(_ name: String, _ value: inout [UInt8], count: Int, size: Int) {
        let old = value
        describe(name, old.isEmpty ? "none" : Hexadecimal.text(old))
        var padding = [UInt8](repeating: 0, count: size - min(count, size))
        value = encodeOrDecode(value, count: min(count, size))
        padding = encodeOrDecode(padding, count: padding.count)
        if count > size || padding.contains(where: { $0 != 0 }) { isMalformed = true }
    }

    // MARK: Lists

    /// Visits a field that contains the number of bytes or elements of a later field.
    ///
    /// - Parameters:
    ///   - count: The number to encode.
    ///   - bytes: The size of this field in bytes.
    ///   - isDescribed: `true` if the description includes this field.
    /// - Returns: When decoding, the decoded number; otherwise `count`.
    public mutating func count(
        _ name: String, of count: Int, in range: ClosedRange<Int>, unit: String = "", bytes: Int = 1,
        isDescribed: Bool = false
    ) -> Int {
        check(name, count, in: range, unit)
        if isDescribed { describe(name, String(count)) }
        return Int(encodeOrDecode(UInt64(count), bytes: bytes))
    }

    /// Visits a list of elements. Each element consists of several fields.
    ///
    /// - Parameters:
    ///   - count: The number of elements to decode.
    ///   - placeholder: An element with placeholder values, which decoding replaces.
    ///   - layout: Lists the fields of one element.
    public mutating func each<Element>(
        _ elements: inout [Element], count: Int, placeholder: Element,
        _ layout: (inout Element, inout HCIFieldCoder) -> Void
    ) {
        guard purpose == .decode else {
            for index in elements.indices { layout(&elements[index], &self) }
            return
        }
        elements = []
        while elements.count < count, !isMalformed {
            var element = placeholder
            layout(&element, &self)
            elements.append(element)
        }
    }

    // MARK: Steps

    private mutating func check(_ name: String, _ value: Int, in range: ClosedRange<Int>?, _ unit: String) {
        guard purpose == .check, error == nil, let range, !range.contains(value) else { return }
        error = .outOfRange(ValueOutOfRange(name, value, range: range, unit: unit))
    }

    private mutating func describe(_ name: String, _ text: @autoclosure () -> String) {
        if purpose == .describe { descriptions.append(HCIField(name, text())) }
    }

    /// Encodes the lowest `bytes` bytes of `number`, or decodes the next `bytes` bytes.
    ///
    /// - Returns: When decoding, the decoded number; otherwise `number`.
    private mutating func encodeOrDecode(_ number: UInt64, bytes: Int) -> UInt64 {
        switch purpose {
        case .encode:
            for index in 0..<bytes { octets.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
            return number
        case .decode: return take(bytes).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        case .check, .describe: return number
        }
    }

    private mutating func encodeOrDecode(_ bytes: [UInt8], count: Int) -> [UInt8] {
        switch purpose {
        case .encode: octets += bytes
        case .decode: return Array(take(count))
        case .check, .describe: break
        }
        return bytes
    }

    /// Returns the next `count` bytes. If fewer are left, returns no bytes and marks the record as malformed.
    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        guard count <= octets.count - position else {
            isMalformed = true
            return []
        }
        defer { position += count }
        return octets[position..<position + count]
    }
}
