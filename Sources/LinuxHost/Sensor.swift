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
