/// What a sensor measures, and in what unit its readings are.
public enum SensorQuantity: Hashable, Sendable {
    /// In thousandths of a degree Celsius.
    case temperature
    /// Of a battery or a supply, in millivolts.
    case voltage

    /// What can be sent: a signed 8.8 fixed point number of degrees, and 16 bits of millivolts of which 0 means none.
    var range: ClosedRange<Int> {
        switch self {
        case .temperature: -128_000...127_999
        case .voltage: 1...65_535
        }
    }

    var forms: String {
        switch self {
        case .temperature: "thermal:TYPE, hwmon:NAME:tempN, iio:NAME"
        case .voltage: "power:NAME, hwmon:NAME:inN"
        }
    }

    var word: String {
        switch self {
        case .temperature: "temperature sensor"
        case .voltage: "battery or supply voltage"
        }
    }
}

/// A sensor's name, as profiles have it.
///
/// | form | what it names |
/// |---|---|
/// | `thermal:cpu-thermal` | a thermal zone by its type |
/// | `hwmon:coretemp:temp1`, `hwmon:coretemp:Core 0` | a hardware monitor's input by its file or its label |
/// | `hwmon:cpu_thermal` | its first input |
/// | `iio:bme280`, `iio:bme280:temp` | an industrial I/O device's temperature |
/// | `power:BAT0` | a battery's voltage |
///
/// Where several devices have one name, the name of the directory stands for it: `hwmon:hwmon3:temp1`.
public struct SensorName: Hashable, Sendable {
    /// Which part of the kernel has it.
    public enum Source: String, Hashable, Sendable {
        case thermal
        case hwmon
        case iio
        case power
    }

    public let source: Source
    public let device: String
    /// `nil` for the first that the device has.
    public let channel: String?

    init(_ source: Source, _ device: String, _ channel: String? = nil) {
        self.source = source
        self.device = device
        self.channel = channel
    }

    /// Reads a name as people write it. Whether there is such a sensor is another question.
    public init(_ text: String, for quantity: SensorQuantity) throws(SensorNameError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let source = Source(rawValue: String(parts[0])), !parts[1].isEmpty,
            source.measures(quantity)
        else { throw SensorNameError(text: text, quantity: quantity) }
        let rest = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // What names a zone or a battery may itself hold a colon.
        guard source == .hwmon || source == .iio, rest.count == 2 else {
            self.init(source, String(parts[1]))
            return
        }
        guard !rest[0].isEmpty, !rest[1].isEmpty else { throw SensorNameError(text: text, quantity: quantity) }
        self.init(source, String(rest[0]), String(rest[1]))
    }
}

extension SensorName: CustomStringConvertible {
    public var description: String { "\(source.rawValue):\(device)" + (channel.map { ":" + $0 } ?? "") }
}

extension SensorName.Source {
    fileprivate func measures(_ quantity: SensorQuantity) -> Bool {
        switch self {
        case .thermal, .iio: quantity == .temperature
        case .power: quantity == .voltage
        case .hwmon: true
        }
    }
}

/// A text that names no sensor, with the forms that do.
public struct SensorNameError: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public let quantity: SensorQuantity

    public init(text: String, quantity: SensorQuantity) {
        self.text = text
        self.quantity = quantity
    }

    public var description: String {
        "\"\(text)\" names no \(quantity.word); use auto, or one of the forms \(quantity.forms)"
    }
}

/// Which sensor is wanted.
public enum SensorChoice: Hashable, Sendable {
    /// The best that the box has.
    case auto
    case named(SensorName)

    /// `auto`, or a name.
    public init(_ text: String, for quantity: SensorQuantity) throws(SensorNameError) {
        self = text == "auto" ? .auto : .named(try SensorName(text, for: quantity))
    }
}
