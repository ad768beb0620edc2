internal import BluetoothTypes
internal import Configuration

/// A sensor of this machine. Its reading is in a file: a file of the kernel in /sys, or a file of a user or a command.
public struct Sensor: Hashable, Sendable {
    public let name: SensorName
    public let quantity: SensorQuantity
    /// The file with the reading.
    let file: String
    private let conversion: Conversion

    private enum Conversion: Hashable {
        /// The whole number in the file, divided by this number, is the reading in the unit of the quantity.
        case divided(by: Int)
        /// The reading is (raw + offset) · scale · factor; `offset` and `scale` are paths of files
        /// (Documentation/ABI/testing/sysfs-bus-iio).
        case linear(offset: String, scale: String, factor: Int)
        /// The decimal number in the file, times this number, is the reading in the unit of the quantity.
        case decimal(thousandths: Int)
    }

    /// Creates a sensor whose file contains a whole number, which is `divisor` times the reading.
    init(_ name: SensorName, _ quantity: SensorQuantity, file: String, divisor: Int = 1) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .divided(by: max(1, divisor))
    }

    /// Creates a sensor for a channel of an industrial I/O device whose file contains the raw value of its converter.
    init(_ name: SensorName, _ quantity: SensorQuantity, raw file: String, offset: String, scale: String, factor: Int) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .linear(offset: offset, scale: scale, factor: factor)
    }

    /// Creates a sensor whose file contains a decimal number.
    init(_ name: SensorName, _ quantity: SensorQuantity, decimal file: String, thousandths: Int) {
        self.name = name
        self.quantity = quantity
        self.file = file
        conversion = .decimal(thousandths: thousandths)
    }

    /// The age in seconds at which the value of a command expires and becomes unknown.
    static let commandLifetime = 600

    /// Returns the reading in the unit of the quantity; `nil` if there is no reading, or if it is out of range.
    public func read() -> Int? {
        guard let text = Files.firstLine(file), let value = convert(text), quantity.range.contains(value) else {
            return nil
        }
        if name.source == .command {
            let now = Int(WallClock.microseconds() / 1_000_000)
            guard let changedAt = Files.modificationTime(file), now - changedAt < Self.commandLifetime else {
                return nil
            }
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
            let (sum, isTooLargeToRound) = product.addingReportingOverflow(product < 0 ? -500 : 500)
            return isTooLarge || isTooLargeToRound ? nil : sum / 1000
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

/// Reads one sensor repeatedly. Each loss of the sensor is reported once, and so is its return. The caller passes the
/// time.
public struct SensorReader: Equatable, Sendable {
    /// A change to be logged.
    public enum Event: Equatable, Sendable {
        /// `auto` has selected this sensor.
        case chosen(SensorName)
        /// `auto` finds no sensor, or the sensor in the profile has no reading.
        ///
        /// - Parameters:
        ///   - found: The text that was read instead of a number; `nil` if nothing was read.
        ///   - isFileMissing: True if the file of the sensor does not exist.
        case missing(SensorChoice, SensorQuantity, found: String?, isFileMissing: Bool)
        case lost(SensorName)
        case back(SensorName)
    }

    /// The time between two searches for a lost sensor, in nanoseconds. A search costs more than a reading.
    public static let searchInterval: UInt64 = 10_000_000_000
    /// The number of failed readings in a row after which a sensor whose file exists is lost.
    public static let failureLimit = 3

    public let choice: SensorChoice
    public let quantity: SensorQuantity
    private let tree: SensorTree
    /// The name of the sensor: from the profile, or the sensor that `auto` has selected first. It never changes to
    /// another sensor.
    public private(set) var name: SensorName?
    private var sensor: Sensor?
    /// The number of failed readings in a row, at most ``failureLimit``.
    private var failures = 0
    /// True if the sensor has ever given a reading.
    private var hasRead = false
    private var isReportedMissing = false
    /// The time of the last search, in nanoseconds; `nil` before the first search.
    private var lastSearch: UInt64?

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
            return isSearchDue(now) ? search(at: now) : (nil, nil)
        }
        failures = min(failures + 1, Self.failureLimit)
        return (nil, failures == Self.failureLimit ? reportMissing() : nil)
    }

    private func isSearchDue(_ now: UInt64) -> Bool {
        // After a loss, the first search is immediate, because the sensor may have got another number.
        guard let lastSearch, sensor == nil else { return true }
        return now < lastSearch || now - lastSearch >= Self.searchInterval
    }

    private mutating func search(at now: UInt64) -> (Int?, Event?) {
        lastSearch = now
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
        guard let name, hasRead else {
            let isDecimal = name.map { $0.source == .file || $0.source == .command } ?? false
            let foundText = isDecimal ? sensor.flatMap { Files.firstLine($0.file) } : nil
            let isFileMissing = isDecimal && sensor.map { !Files.exists($0.file) } ?? false
            return .missing(choice, quantity, found: foundText, isFileMissing: isFileMissing)
        }
        return .lost(name)
    }
}

extension SensorReader.Event: CustomStringConvertible {
    public var description: String {
        switch self {
        case .chosen(let name): "telemetry comes from the sensor \(name)"
        case .missing(.auto, let quantity, _, _): "this machine has no \(quantity.word); \(Self.consequence)"
        case .missing(.named(let name), let quantity, let found, let isFileMissing):
            "the \(quantity.word) \(name) gives no reading"
                + (isFileMissing ? Self.reasonWithoutFile(name) : Self.reason(found, name, quantity))
                + "; \(Self.consequence)"
        case .lost(let name): "the sensor \(name) is lost; \(Self.consequence)"
        case .back(let name): "the sensor \(name) is back"
        }
    }

    private static let consequence = "telemetry sends this value as unknown, and BTHome omits it"

    /// Returns the part of a sentence that says why the file of a sensor does not exist.
    private static func reasonWithoutFile(_ name: SensorName) -> String {
        name.source == .file
            ? ": the file does not exist" : ": the unit pharos-value@\(name.device) has written no value yet"
    }

    /// Returns the part of a sentence with the text that was read and the expected form; empty if nothing was read.
    private static func reason(_ found: String?, _ name: SensorName, _ quantity: SensorQuantity) -> String {
        guard let found else { return "" }
        let subject = name.source == .file ? "the file contains" : "the command printed"
        var sentence = ": \(subject) \(TerminalText.quoted(found, to: 20)), and \(quantity.decimalForm) is expected"
        if found.contains(",") {
            sentence += ", with a point instead of the comma"
        } else if quantity == .temperature, let number = DecimalText.thousandths(found), number >= 1_000_000 {
            sentence += "; the kernel's files contain thousandths of a degree: use thermal:TYPE or hwmon:NAME"
        }
        return sentence
    }
}

extension SensorQuantity {
    /// The form of the number in a file or from a command: `a number of -128...127.999 °C`.
    fileprivate var decimalForm: String {
        let unit =
            switch self {
            case .temperature: "°C"
            case .voltage: "V"
            case .charge, .humidity: "%"
            case .pressure: "hPa"
            case .illuminance: "lx"
            case .number: ""
            }
        guard !unit.isEmpty else { return "a number, true, false, on or off" }
        let thousandths = self == .charge ? 1000 : 1
        let bounds = [range.lowerBound, range.upperBound].map { DecimalText.thousandths($0 * thousandths) }
        return "a number of \(bounds[0])...\(bounds[1]) \(unit)"
    }
}
