/// The quantity that a sensor measures, which determines the unit of its readings.
public enum SensorQuantity: Hashable, Sendable {
    /// The temperature in thousandths of a degree Celsius.
    case temperature
    /// The voltage of a battery or a supply in millivolts.
    case voltage
    /// The charge of a battery in percent.
    case charge
    /// The relative humidity in thousandths of a percent.
    case humidity
    /// The air pressure in thousandths of a hectopascal.
    case pressure
    /// The illuminance in thousandths of a lux.
    case illuminance
    /// Any number in thousandths, from a file or a command.
    case number

    /// The range of valid readings. Frames limit it: a telemetry frame has degrees as a signed 8.8 fixed-point number
    /// and millivolts as a 16-bit number, where 0 mV means unknown.
    var range: ClosedRange<Int> {
        switch self {
        case .temperature: -128_000...127_999
        case .voltage: 1...65_535
        case .charge: 0...100
        case .humidity: 0...100_000
        case .pressure, .illuminance: 0...200_000_000
        case .number: -1_000_000_000_000_000...1_000_000_000_000_000
        }
    }

    /// The sources that can have sensors of this quantity.
    public var sources: [SensorName.Source] { SensorName.Source.allCases.filter { $0.measures(self) } }

    /// The possible forms of a sensor's name, for messages.
    var forms: String {
        let kernelForms =
            switch self {
            case .temperature: "thermal:TYPE, hwmon:NAME:tempN, iio:NAME, w1:ID, "
            case .voltage: "power:NAME, hwmon:NAME:inN, "
            case .charge: "power:NAME, "
            case .humidity: "iio:NAME, hwmon:NAME:humidityN, "
            case .pressure, .illuminance: "iio:NAME, "
            case .number: ""
            }
        return kernelForms + "file:PATH, command:NAME"
    }

    var word: String {
        switch self {
        case .temperature: "temperature sensor"
        case .voltage: "battery or supply voltage"
        case .charge: "battery charge"
        case .humidity: "humidity sensor"
        case .pressure: "pressure sensor"
        case .illuminance: "light sensor"
        case .number: "value"
        }
    }

    /// The reading for the number 1 in a file. Numbers in files are in degrees Celsius, volts, percent, hectopascals or
    /// lux.
    var perUnit: Int { self == .charge ? 1 : 1000 }
}

/// The name of a sensor in a profile.
///
/// | form | sensor |
/// |---|---|
/// | `thermal:cpu-thermal` | a thermal zone by its type |
/// | `hwmon:coretemp:temp1`, `hwmon:coretemp:Core 0` | an input of a hardware monitor by its file name or its label |
/// | `hwmon:cpu_thermal` | the first input of a hardware monitor |
/// | `iio:bme280`, `iio:bme280:temp` | an industrial I/O device's temperature |
/// | `iio:bme280` | an industrial I/O device's humidity, pressure or illuminance |
/// | `power:BAT0` | a battery's voltage or charge |
/// | `w1:28-0316a2795b1f` | a 1-wire thermometer |
/// | `file:/run/co2` | the number in the first line of a file: °C, V, %, hPa, lx, or the unit of the value |
/// | `command:co2` | the number that the unit `pharos-value@co2` printed last, at most 10 minutes ago |
///
/// If several devices have the same name, use the name of the device's directory: `hwmon:hwmon3:temp1`.
public struct SensorName: Hashable, Sendable {
    /// Where a sensor's readings come from: a part of the kernel, a file or a command.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        case thermal
        case hwmon
        case iio
        case power
        case w1
        case file
        case command
    }

    /// The directory in which the systemd units `pharos-value@NAME` write their values.
    static let commandValuesDirectory = "/run/pharos/values"

    public let source: Source
    public let device: String
    /// The channel of the device; `nil` for its first channel.
    public let channel: String?

    init(_ source: Source, _ device: String, _ channel: String? = nil) {
        self.source = source
        self.device = device
        self.channel = channel
    }

    /// Parses a name. It does not check whether the sensor exists.
    public init(_ text: String, for quantity: SensorQuantity) throws(SensorNameError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let source = Source(rawValue: String(parts[0])), !parts[1].isEmpty,
            source.measures(quantity)
        else { throw SensorNameError(text: text, quantity: quantity) }
        let isValid = source == .file ? parts[1].hasPrefix("/") : source != .command || !parts[1].contains("/")
        guard isValid else { throw SensorNameError(text: text, quantity: quantity) }
        let names = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // Only hwmon and iio have channels. The name of a thermal zone or a battery may contain a colon.
        guard source == .hwmon || source == .iio, names.count == 2 else {
            self.init(source, String(parts[1]))
            return
        }
        guard !names[0].isEmpty, !names[1].isEmpty else { throw SensorNameError(text: text, quantity: quantity) }
        self.init(source, String(names[0]), String(names[1]))
    }
}

extension SensorName: CustomStringConvertible {
    public var description: String { "\(source.rawValue):\(device)" + (channel.map { ":" + $0 } ?? "") }
}

extension SensorName.Source {
    fileprivate func measures(_ quantity: SensorQuantity) -> Bool {
        switch self {
        case .thermal, .w1: quantity == .temperature
        case .iio: [.temperature, .humidity, .pressure, .illuminance].contains(quantity)
        case .power: quantity == .voltage || quantity == .charge
        case .hwmon: [.temperature, .humidity, .voltage].contains(quantity)
        case .file, .command: true
        }
    }
}

/// An error about a text that is not the name of a sensor.
public struct SensorNameError: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public let quantity: SensorQuantity

    /// Creates an error about `text`, which should name a sensor of `quantity`.
    public init(text: String, quantity: SensorQuantity) {
        self.text = text
        self.quantity = quantity
    }

    public var description: String {
        let filePrefix = SensorName.Source.file.rawValue + ":"
        if text.hasPrefix(filePrefix), text.count > filePrefix.count, !text.hasPrefix(filePrefix + "/") {
            return "\"\(text)\" is a relative path; write the absolute path, such as file:/run/value"
        }
        return "\"\(text)\" is not the name of a \(quantity.word); use "
            + (quantity == .number ? "" : "auto, or ") + "one of the forms \(quantity.forms)"
    }
}

/// The choice of a sensor in a profile.
public enum SensorChoice: Hashable, Sendable {
    /// The best sensor of the machine; see ``SensorTree/best(_:)``.
    case auto
    case named(SensorName)

    /// Parses `auto` or a name.
    public init(_ text: String, for quantity: SensorQuantity) throws(SensorNameError) {
        self = text == "auto" && quantity != .number ? .auto : .named(try SensorName(text, for: quantity))
    }
}
