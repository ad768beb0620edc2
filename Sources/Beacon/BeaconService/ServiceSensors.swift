public import Advertiser
public import BeaconFrames
internal import BluetoothTypes
internal import LinuxHost
internal import Profiles

/// The machine's sensors, by their names in profiles.
public final class ServiceSensors: TelemetrySource {
    private var readers: [Key: SensorReader] = [:]
    private var messages: [String] = []
    /// The last value of each sensor; `nil` for an unknown value.
    private var lastValues: [Key: Int?] = [:]
    /// Increases with each change of a sensor's value.
    private(set) var changes = 0
    /// The measurements whose last sensor value was outside the range of their BTHome object.
    private var unusable: Set<Measurement> = []
    /// The last temperature, in thousandths of a degree Celsius, and its sensor; `nil` before the first.
    private(set) var lastTemperature: (value: Int?, sensor: SensorName?)?
    /// The last voltage, in millivolts, and its sensor; `nil` before the first.
    private(set) var lastBattery: (value: Int?, sensor: SensorName?)?

    private struct Key: Hashable {
        let name: String
        let quantity: SensorQuantity
    }

    /// A BTHome object and the sensor of its value.
    private struct Measurement: Hashable {
        let kind: BTHomeKind
        let sensor: String
    }

    /// Creates the sensors. None is read before a value is needed.
    public init() {}

    /// Returns one sentence for each change of a sensor since the last call.
    public func takeMessages() -> [String] {
        defer { messages = [] }
        return messages
    }

    /// The voltage of a battery, in millivolts; `nil` if unknown.
    public func batteryMillivolts(_ sensor: String) -> UInt16? {
        let reading = read(sensor, .voltage)
        lastBattery = reading
        return reading.value.flatMap(UInt16.init(exactly:))
    }

    /// The charge of a battery, in percent; `nil` if unknown.
    public func batteryPercent(_ sensor: String) -> UInt8? {
        read(sensor, .charge).value.flatMap(UInt8.init(exactly:))
    }

    /// The temperature; `nil` if unknown.
    public func temperature(_ sensor: String) -> FixedPointTemperature? {
        let reading = read(sensor, .temperature)
        lastTemperature = reading
        return reading.value.flatMap { try? FixedPointTemperature(celsius: Double($0) / 1000) }
    }

    /// The value of a BTHome object, as a number in the object's unit; `nil` if unknown.
    public func measurement(_ kind: BTHomeKind, _ sensor: String) -> String? {
        let quantity = SensorQuantity(btHome: kind)
        guard let value = read(sensor, quantity).value else { return nil }
        let text = quantity == .charge ? "\(value)" : DecimalText.thousandths(value)
        guard BTHomeObject(kind, text: text) != nil else {
            reportOutOfRange(text, kind, sensor)
            return nil
        }
        if unusable.remove(Measurement(kind: kind, sensor: sensor)) != nil {
            messages.append("the value of \(sensor) is in the range of \(kind.name) again")
        }
        return text
    }

    /// Reports once that a sensor value is outside the range of its BTHome object.
    private func reportOutOfRange(_ text: String, _ kind: BTHomeKind, _ sensor: String) {
        guard unusable.insert(Measurement(kind: kind, sensor: sensor)).inserted else { return }
        let range = kind.limits.map { " in \($0)" } ?? ""
        messages.append(
            "the value of \(sensor) is \(text), but \(kind.name) needs \(kind.valueForms)\(range); it is not sent"
        )
    }

    private func read(_ name: String, _ quantity: SensorQuantity) -> (value: Int?, sensor: SensorName?) {
        let key = Key(name: name, quantity: quantity)
        guard var reader = readers[key] ?? Self.reader(key) else { return (nil, nil) }
        let (value, event) = reader.read(at: MonotonicClock.nanoseconds())
        readers[key] = reader
        if let event { messages.append("\(event)") }
        if lastValues.updateValue(value, forKey: key) != .some(value) { changes += 1 }
        return (value, reader.name)
    }

    private static func reader(_ key: Key) -> SensorReader? {
        (try? SensorChoice(key.name, for: key.quantity)).map { SensorReader($0, key.quantity) }
    }

    /// Returns the problem with an advertisement's sensors; `nil` without a problem.
    public static func problem(_ advertisement: Advertisement) -> String? {
        var names: [(String?, SensorQuantity)] = []
        switch advertisement.content {
        case .eddystoneTLM(let source, _):
            if case .sensor(let name) = source.battery { names.append((name, .voltage)) }
            if case .sensor(let name) = source.temperature { names.append((name, .temperature)) }
        case .btHome(let source):
            names = [(source.voltage, .voltage), (source.temperature, .temperature), (source.battery, .charge)]
            names += source.measurements.map { ($0.sensor, SensorQuantity(btHome: $0.kind)) }
        default: break
        }
        for case (let name?, let quantity) in names {
            if let problem = problem(name, quantity) { return problem }
        }
        return nil
    }

    private static func problem(_ name: String, _ quantity: SensorQuantity) -> String? {
        // With auto, a machine without a sensor is not an error.
        guard name != "auto" else { return nil }
        do {
            return SensorTree().problem(with: try SensorChoice(name, for: quantity), quantity)
        } catch {
            return "\(error)"
        }
    }
}
