internal import BluetoothTypes

/// A temperature in 1/256 °C: the signed 8.8 fixed point of Eddystone-TLM.
public struct FixedPointTemperature: RawRepresentable, Hashable, Sendable {
    /// 1/256 °C; never -32768, which means "unknown" on the air.
    public let rawValue: Int16

    /// `nil` for -32768.
    public init?(rawValue: Int16) {
        guard rawValue != .min else { return nil }
        self.rawValue = rawValue
    }
}

extension FixedPointTemperature {
    /// The nearest multiple of 1/256 °C.
    ///
    /// -128 °C, whose exact value means "unknown" on the air, becomes -127.996 °C; 127.996 °C is the warmest.
    ///
    /// - Throws: ``TemperatureOutOfRange`` for anything that does not round into -128...127.996 °C, for infinities and
    ///   for not-a-number.
    public init(celsius: Double) throws(TemperatureOutOfRange) {
        guard celsius >= -128, celsius < 128 else { throw TemperatureOutOfRange(celsius: celsius) }
        // Rounded by hand, half a step away from zero: rounded() calls the C library's round(), and this module links
        // no C library.
        let exact = celsius * 256
        let whole = Int(exact)
        let rest = exact - Double(whole)
        let steps = rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole
        guard let value = Int16(exactly: steps) else { throw TemperatureOutOfRange(celsius: celsius) }
        rawValue = max(value, -Int16.max)
    }

    /// Degrees Celsius, exactly.
    public var celsius: Double { Double(rawValue) / 256 }
}

extension FixedPointTemperature: CustomStringConvertible {
    /// Thousandths of a degree without superfluous digits: `21.25 °C`, `-0.102 °C`.
    public var description: String {
        let steps = Int(rawValue) * 1000
        let rounded = (steps + (steps < 0 ? -128 : 128)) / 256
        return "\(DecimalText.thousandths(rounded)) °C"
    }
}

/// A temperature that 8.8 fixed point cannot hold.
public struct TemperatureOutOfRange: Error, Equatable, Sendable, CustomStringConvertible {
    public let celsius: Double

    public init(celsius: Double) {
        self.celsius = celsius
    }

    public var description: String { "temperature: \(celsius) is out of range -128...127.996 °C" }
}
