internal import BluetoothTypes

/// A sensor of this machine that the kernel shows in /sys.
public struct Sensor: Hashable, Sendable {
    public let name: SensorName
    public let quantity: SensorQuantity
    /// The file with the reading.
    let file: String
    private let conversion: Conversion

    private enum Conversion: Hashable {
        /// The reading in the file, divided by this number, is in the unit of the quantity.
        case divided(by: Int)
        /// (raw + offset) · scale · factor (Documentation/ABI/testing/sysfs-bus-iio).
        case linear(offset: String, scale: String, factor: Int)
        /// The decimal number in the file, times this number of thousandths, is in the unit of the quantity.
        case decimal(thousandths: Int)
    }

    init(_ name: SensorName, _ quantity: SensorQuantity, file: String, unitsPerOurs: Int = 1) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .divided(by: max(1, unitsPerOurs))
    }

    /// Creates an industrial I/O channel whose file has the raw value of the converter.
    init(_ name: SensorName, _ quantity: SensorQuantity, raw file: String, offset: String, scale: String, factor: Int) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .linear(offset: offset, scale: scale, factor: factor)
    }

    /// Creates a sensor whose file has a decimal number.
    init(_ name: SensorName, _ quantity: SensorQuantity, decimal file: String, thousandths: Int) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .decimal(thousandths: thousandths)
    }

    /// The time after which the value of a command is unknown, in seconds.
    static let commandLifetime = 600

    /// Returns the reading in the unit of the quantity; `nil` if there is none or if it is out of range.
    public func read() -> Int? {
        guard let text = Files.firstLine(file), let value = convert(text), quantity.range.contains(value) else {
            return nil
        }
        if name.source == .command {
            let now = Int(WallClock.microseconds() / 1_000_000)
            guard let changed = Files.modificationTime(file), now - changed < Self.commandLifetime else { return nil }
        }
        // A hardware monitor has a second file that shows whether the sensor is broken or not connected.
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
        case .decimal(let thousandths):
            var digits = text[...]
            while let last = digits.last, last.isWhitespace { digits.removeLast() }
            let word = ["true": "1", "on": "1", "false": "0", "off": "0"][digits.lowercased()] ?? String(digits)
            guard let value = DecimalText.thousandths(word) else { return nil }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: thousandths)
            return isTooLarge ? nil : (product + (product < 0 ? -500 : 500)) / 1000
        case .linear(let offset, let scale, let factor):
            guard let raw = Double(text), let scale = Files.firstLine(scale).flatMap(Double.init) else { return nil }
            let offset = Files.firstLine(offset).flatMap(Double.init) ?? 0
            // Larger values are out of range, and might not fit into Int.
            let value = (raw + offset) * scale * Double(factor)
            guard value > -1e12, value < 1e12 else { return nil }
            return Int(value < 0 ? value - 0.5 : value + 0.5)
        }
    }
}

extension String {
    func replacingSuffix(_ old: String, _ new: String) -> String {
        hasSuffix(old) ? String(dropLast(old.count)) + new : self
    }
}

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

    /// The range that a frame can hold: for telemetry, degrees as a signed 8.8 fixed-point number, and millivolts in 16
    /// bits, where 0 means unknown.
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

    /// The parts of the machine that have sensors of the quantity.
    public var sources: [SensorName.Source] { SensorName.Source.allCases.filter { $0.measures(self) } }

    /// The forms of names of sensors, for messages.
    var forms: String {
        let own =
            switch self {
            case .temperature: "thermal:TYPE, hwmon:NAME:tempN, iio:NAME, w1:ID, "
            case .voltage: "power:NAME, hwmon:NAME:inN, "
            case .charge: "power:NAME, "
            case .humidity: "iio:NAME, hwmon:NAME:humidityN, "
            case .pressure, .illuminance: "iio:NAME, "
            case .number: ""
            }
        return own + "file:PATH, command:NAME"
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

    /// Thousandths of the quantity's unit for 1 in a file: degrees, volts, percent, hectopascals, lux.
    var perUnit: Int { self == .charge ? 1 : 1000 }
}

/// The name of a sensor in a profile.
///
/// | form | sensor |
/// |---|---|
/// | `thermal:cpu-thermal` | a thermal zone by its type |
/// | `hwmon:coretemp:temp1`, `hwmon:coretemp:Core 0` | a hardware monitor's input by its file or its label |
/// | `hwmon:cpu_thermal` | its first input |
/// | `iio:bme280`, `iio:bme280:temp` | an industrial I/O device's temperature |
/// | `iio:bme280` | its humidity, pressure or illuminance as well |
/// | `power:BAT0` | a battery's voltage or charge |
/// | `w1:28-0316a2795b1f` | a 1-wire thermometer |
/// | `file:/run/co2` | the number in the first line of a file: °C, V, %, hPa, lx, or the unit of the value |
/// | `command:co2` | the number that the unit `pharos-value@co2` printed last, at most 10 minutes ago |
///
/// If several devices have the same name, use the name of the directory: `hwmon:hwmon3:temp1`.
public struct SensorName: Hashable, Sendable {
    /// The part of the kernel that has the sensor.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        case thermal
        case hwmon
        case iio
        case power
        case w1
        case file
        case command
    }

    /// The directory of the values that units print.
    static let valuesDirectory = "/run/pharos/values"

    public let source: Source
    public let device: String
    /// The channel of the device; `nil` for the first one.
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
        let isPlace = source == .file ? parts[1].hasPrefix("/") : source != .command || !parts[1].contains("/")
        guard isPlace else { throw SensorNameError(text: text, quantity: quantity) }
        let rest = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // The name of a zone or a battery may contain a colon.
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
        case .thermal, .w1: quantity == .temperature
        case .iio: [.temperature, .humidity, .pressure, .illuminance].contains(quantity)
        case .power: quantity == .voltage || quantity == .charge
        case .hwmon: [.temperature, .humidity, .voltage].contains(quantity)
        case .file, .command: true
        }
    }
}

/// An invalid name of a sensor.
public struct SensorNameError: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public let quantity: SensorQuantity

    /// Creates an error about `text`, which should name a sensor of `quantity`.
    public init(text: String, quantity: SensorQuantity) {
        self.text = text
        self.quantity = quantity
    }

    public var description: String {
        "\"\(text)\" is not the name of a \(quantity.word); use "
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

/// Reads one sensor repeatedly, and reports its loss and its return once each. The caller passes the time.
public struct SensorReader: Hashable, Sendable {
    /// A change to be logged.
    public enum Event: Hashable, Sendable {
        /// This sensor was chosen automatically.
        case chosen(SensorName)
        /// There is no sensor to choose, or not the one that the profile names.
        case missing(SensorChoice, SensorQuantity)
        case lost(SensorName)
        case back(SensorName)
    }

    /// The time between two searches for a lost sensor, in nanoseconds. A search costs more than a reading.
    public static let lookInterval: UInt64 = 10_000_000_000
    /// The number of failed readings after which an existing sensor is lost.
    public static let failureLimit = 3

    public let choice: SensorChoice
    public let quantity: SensorQuantity
    private let tree: SensorTree
    /// The name from the profile, or of the chosen sensor. It never changes to another sensor.
    public private(set) var name: SensorName?
    private var sensor: Sensor?
    private var failures = 0
    private var hasRead = false
    private var isReportedMissing = false
    private var lastLook: UInt64?

    /// Creates a reader. The first reading searches for the sensor.
    public init(_ choice: SensorChoice, _ quantity: SensorQuantity, tree: SensorTree = SensorTree()) {
        self.choice = choice
        self.quantity = quantity
        self.tree = tree
        if case .named(let name) = choice { self.name = name }
    }

    /// Returns the reading in the unit of the quantity, `nil` if it is unknown, and a change to be logged.
    ///
    /// - Parameter now: The time of a clock that is never set back, in nanoseconds.
    public mutating func read(at now: UInt64) -> (value: Int?, event: Event?) {
        if let value = sensor?.read() {
            failures = 0
            return (value, reportBack())
        }
        guard let sensor, Files.exists(sensor.file) else {
            return isTimeToLook(now) ? look(at: now) : (nil, nil)
        }
        failures = min(failures + 1, Self.failureLimit)
        return (nil, failures == Self.failureLimit ? reportMissing() : nil)
    }

    private func isTimeToLook(_ now: UInt64) -> Bool {
        // A sensor that has just been lost may exist under another number.
        guard let lastLook, sensor == nil else { return true }
        return now < lastLook || now - lastLook >= Self.lookInterval
    }

    private mutating func look(at now: UInt64) -> (Int?, Event?) {
        lastLook = now
        let wasChosen = name != nil
        sensor = name.map { tree.sensor(named: $0, quantity) } ?? tree.best(quantity)
        guard let sensor, let value = sensor.read() else { return (nil, reportMissing()) }
        failures = 0
        if wasChosen { return (value, reportBack()) }
        name = sensor.name
        hasRead = true
        isReportedMissing = false
        return (value, .chosen(sensor.name))
    }

    private mutating func reportBack() -> Event? {
        hasRead = true
        guard isReportedMissing, let name else { return nil }
        isReportedMissing = false
        return .back(name)
    }

    private mutating func reportMissing() -> Event? {
        guard !isReportedMissing else { return nil }
        isReportedMissing = true
        guard let name, hasRead else { return .missing(choice, quantity) }
        return .lost(name)
    }
}

extension SensorReader.Event: CustomStringConvertible {
    public var description: String {
        switch self {
        case .chosen(let name): "telemetry comes from the sensor \(name)"
        case .missing(.auto, let quantity): "this machine has no \(quantity.word); it is sent as unknown"
        case .missing(.named(let name), let quantity):
            "the \(quantity.word) \(name) gives no reading; it is sent as unknown"
        case .lost(let name): "the sensor \(name) is lost; its value is sent as unknown"
        case .back(let name): "the sensor \(name) is back"
        }
    }
}
