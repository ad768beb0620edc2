/// A sensor of this box, as the kernel shows it in /sys.
public struct Sensor: Hashable, Sendable {
    public let name: SensorName
    public let quantity: SensorQuantity
    /// The file with the reading, and what makes a reading in our unit of it.
    let file: String
    private let conversion: Conversion

    private enum Conversion: Hashable {
        /// So many of the file's units are one of ours.
        case divided(by: Int)
        /// (raw + offset) · scale (Documentation/ABI/testing/sysfs-bus-iio).
        case linear(offset: String, scale: String)
    }

    init(_ name: SensorName, _ quantity: SensorQuantity, file: String, unitsPerOurs: Int = 1) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .divided(by: max(1, unitsPerOurs))
    }

    /// An industrial I/O channel that shows what its converter counts.
    init(_ name: SensorName, raw file: String, offset: String, scale: String) {
        self.name = name
        quantity = .temperature
        self.file = file
        conversion = .linear(offset: offset, scale: scale)
    }

    /// Its reading now, in the unit of its quantity; `nil` when it gives none, or one that cannot be true.
    public func read() -> Int? {
        guard let text = Files.firstLine(file), let value = convert(text), quantity.range.contains(value) else {
            return nil
        }
        // A hardware monitor says beside its reading whether the sensor behind it is broken or not connected.
        if name.source == .hwmon, Files.firstLine(file.replacingSuffix("_input", "_fault")) == "1" { return nil }
        return value
    }

    private func convert(_ text: String) -> Int? {
        switch conversion {
        case .divided(let divisor):
            guard let value = Int(text) else { return nil }
            let half = value < 0 ? -(divisor / 2) : divisor / 2
            let (sum, isTooLarge) = value.addingReportingOverflow(half)
            return isTooLarge ? nil : sum / divisor
        case .linear(let offset, let scale):
            guard let raw = Double(text), let scale = Files.firstLine(scale).flatMap(Double.init) else { return nil }
            let offset = Files.firstLine(offset).flatMap(Double.init) ?? 0
            // Anything that Int could not hold is far out of range.
            let value = (raw + offset) * scale
            guard value > -1e9, value < 1e9 else { return nil }
            return Int(value < 0 ? value - 0.5 : value + 0.5)
        }
    }
}

extension String {
    func replacingSuffix(_ old: String, _ new: String) -> String {
        hasSuffix(old) ? String(dropLast(old.count)) + new : self
    }
}

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

    /// An error about the text that should name a sensor of this quantity.
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
