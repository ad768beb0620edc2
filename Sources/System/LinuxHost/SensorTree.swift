/// The sensors that a box has.
public struct SensorTree: Hashable, Sendable {
    private let root: String

    /// - Parameter root: Where sysfs is, for tests.
    public init(root: String = "/sys") {
        self.root = root
    }

    /// Every sensor of `quantity`, whether it reads at present or not, in the order of the kernel's parts and numbers.
    public func sensors(of quantity: SensorQuantity) -> [Sensor] {
        switch quantity {
        case .temperature: thermalZones() + monitors(.temperature) + industrial()
        case .voltage: batteries(.voltage) + monitors(.voltage)
        case .charge: batteries(.charge)
        }
    }

    /// The sensor of that name; `nil` when it is not there.
    public func sensor(named name: SensorName, _ quantity: SensorQuantity) -> Sensor? {
        let device = sensors(of: quantity).filter { $0.name.source == name.source && matches($0, name.device) }
        guard let channel = name.channel else { return device.first }
        return device.first { $0.name.channel == channel || label(of: $0) == channel }
    }

    /// The sensor that stands for the whole box: the best that gives a reading now.
    ///
    /// Temperature: the processor's own first, because nearly every box has one; then any other thermal zone, hardware
    /// monitor and industrial I/O device. Voltage: a battery, then a supply that is labelled as one or is measured by a
    /// chip made for that; never just any input of a board's monitor.
    public func best(_ quantity: SensorQuantity) -> Sensor? {
        let ranked = sensors(of: quantity).compactMap { sensor in rank(of: sensor).map { (rank: $0, sensor: sensor) } }
        // Sorting keeps the order of equals in no language by law; the place settles it.
        let order = ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
        return order.first { $0.element.sensor.read() != nil }?.element.sensor
    }

    /// Says why the choice is of no use here, with what there is instead; `nil` when it is of use.
    public func problem(with choice: SensorChoice, _ quantity: SensorQuantity) -> String? {
        guard case .named(let name) = choice, sensor(named: name, quantity) == nil else { return nil }
        let names = sensors(of: quantity).map(\.name.description)
        let advice =
            names.isEmpty ? "this machine has none; use null" : "this machine has " + names.joined(separator: ", ")
        return "there is no \(quantity.word) \"\(name)\"; \(advice)"
    }
}

extension SensorTree {
    private func thermalZones() -> [Sensor] {
        devices("class/thermal", prefix: "thermal_zone", nameFile: "type").map { directory, name in
            Sensor(SensorName(.thermal, name), .temperature, file: directory + "/temp")
        }
    }

    private func monitors(_ quantity: SensorQuantity) -> [Sensor] {
        let prefix = quantity == .temperature ? "temp" : "in"
        return devices("class/hwmon", prefix: "hwmon", nameFile: "name").flatMap { directory, name in
            numbered(Files.names(in: directory), prefix: prefix, suffix: "_input").map { channel in
                Sensor(SensorName(.hwmon, name, channel), quantity, file: "\(directory)/\(channel)_input")
            }
        }
    }

    private func industrial() -> [Sensor] {
        devices("bus/iio/devices", prefix: "iio:device", nameFile: "name").flatMap { directory, name -> [Sensor] in
            let files = Files.names(in: directory).filter { $0.hasPrefix("in_temp") }
            let processed = files.filter { $0.hasSuffix("_input") }.map { file in
                let channel = file.dropFirst(3).dropLast(6)
                return Sensor(SensorName(.iio, name, String(channel)), .temperature, file: directory + "/" + file)
            }
            let raw = files.filter { $0.hasSuffix("_raw") }.map { file in
                let channel = String(file.dropFirst(3).dropLast(4))
                // Channels of a kind may share what makes degrees of their counts.
                func attribute(_ what: String) -> String {
                    let own = "\(directory)/in_\(channel)_\(what)"
                    return Files.exists(own) ? own : "\(directory)/in_temp_\(what)"
                }
                return Sensor(
                    SensorName(.iio, name, channel), raw: directory + "/" + file, offset: attribute("offset"),
                    scale: attribute("scale"))
            }
            return processed + raw
        }
    }

    /// Batteries of the box; those of mice and headphones power something else.
    private func batteries(_ quantity: SensorQuantity) -> [Sensor] {
        let folder = root + "/class/power_supply"
        return Files.names(in: folder).compactMap { name in
            let directory = "\(folder)/\(name)"
            guard Files.firstLine(directory + "/type") == "Battery", Files.firstLine(directory + "/scope") != "Device",
                Files.firstLine(directory + "/present") != "0"
            else { return nil }
            return Sensor(
                SensorName(.power, name), quantity,
                file: directory + (quantity == .charge ? "/capacity" : "/voltage_now"),
                unitsPerOurs: quantity == .charge ? 1 : 1000)
        }
    }

    /// Directories in the order of their numbers, each with its name; the second of a name goes by its directory's.
    private func devices(_ folder: String, prefix: String, nameFile: String) -> [(String, String)] {
        var seen: Set<String> = []
        return numbered(Files.names(in: "\(root)/\(folder)"), prefix: prefix, suffix: "").map { entry in
            let directory = "\(root)/\(folder)/\(entry)"
            let name = Files.firstLine("\(directory)/\(nameFile)") ?? ""
            return (directory, !name.isEmpty && seen.insert(name).inserted ? name : entry)
        }
    }

    /// The names that are `prefix`, a number and `suffix`, without the suffix, in the order of the numbers.
    private func numbered(_ names: [String], prefix: String, suffix: String) -> [String] {
        names.compactMap { name -> (Int, String)? in
            guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
            let number = Int(name.dropFirst(prefix.count).dropLast(suffix.count))
            return number.map { ($0, String(name.dropLast(suffix.count))) }
        }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension SensorTree {
    private func matches(_ sensor: Sensor, _ device: String) -> Bool {
        if sensor.name.device == device { return true }
        let parts = sensor.file.split(separator: "/")
        return parts.count > 1 && parts[parts.count - 2] == device
    }

    private func label(of sensor: Sensor) -> String? {
        Files.firstLine(sensor.file.replacingSuffix("_input", "_label"))
    }

    /// The lower, the better; `nil` for what is never chosen unasked.
    private func rank(of sensor: Sensor) -> Int? {
        let device = sensor.name.device.lowercased()
        switch (sensor.quantity, sensor.name.source) {
        case (.temperature, .thermal):
            return ["cpu", "soc", "pkg"].contains { device.contains($0) } ? 0 : 2
        case (.temperature, .hwmon):
            return ["coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal"].contains(device) ? 1 : 3
        case (.temperature, _): return 4
        case (.voltage, .power), (.charge, _): return 0
        case (.voltage, _): return isSupply(sensor, device) ? 1 : nil
        }
    }

    /// Of TI's power monitors in1 is the bus, in0 the shunt (Documentation/hwmon/ina2xx.rst).
    private func isSupply(_ sensor: Sensor, _ device: String) -> Bool {
        if device.hasPrefix("ina2"), sensor.name.channel == "in1" { return true }
        guard let label = label(of: sensor)?.lowercased() else { return false }
        return ["vin", "vbat", "vbus", "vsys", "supply", "+5v", "5v0", "5v_in", "+12v"].contains { label.contains($0) }
    }
}
