/// Reads one sensor again and again, and says once when it goes and once when it is back. A value: whoever owns it
/// hands the time in.
public struct SensorReader: Hashable, Sendable {
    /// Something to be logged; each change is told once.
    public enum Event: Hashable, Sendable {
        /// Of several sensors this one was chosen.
        case chosen(SensorName)
        /// There is nothing to choose, or not what was named.
        case missing(SensorChoice, SensorQuantity)
        case lost(SensorName)
        case back(SensorName)
    }

    /// While a sensor is gone it is looked for so often, in nanoseconds: looking costs more than reading.
    public static let lookInterval: UInt64 = 10_000_000_000
    /// A sensor that is there and does not read is lost after so many times: one failed reading is no news.
    public static let patience = 3

    public let choice: SensorChoice
    public let quantity: SensorQuantity
    private let tree: SensorTree
    /// What was asked for or has been chosen; never changes to another sensor unasked.
    public private(set) var name: SensorName?
    private var sensor: Sensor?
    private var failures = 0
    private var hasRead = false
    private var isReportedMissing = false
    private var lastLook: UInt64?

    /// A reader that has not looked for its sensor yet: the first reading does.
    public init(_ choice: SensorChoice, _ quantity: SensorQuantity, tree: SensorTree = SensorTree()) {
        self.choice = choice
        self.quantity = quantity
        self.tree = tree
        if case .named(let name) = choice { self.name = name }
    }

    /// The reading now, in the unit of the quantity; `nil` for unknown.
    ///
    /// - Parameter now: Of a clock that is never set back, in nanoseconds.
    public mutating func read(at now: UInt64) -> (value: Int?, event: Event?) {
        if let value = sensor?.read() {
            failures = 0
            return (value, reportBack())
        }
        guard let sensor, Files.exists(sensor.file) else {
            return isTimeToLook(now) ? look(at: now) : (nil, nil)
        }
        failures = min(failures + 1, Self.patience)
        return (nil, failures == Self.patience ? reportMissing() : nil)
    }

    private func isTimeToLook(_ now: UInt64) -> Bool {
        // A sensor that has just gone may be there already under another number.
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
        case .lost(let name): "the sensor \(name) is gone; its value is sent as unknown"
        case .back(let name): "the sensor \(name) is back"
        }
    }
}
