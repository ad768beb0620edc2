/// Finds the sensors of this machine in sysfs.
public struct SensorTree: Hashable, Sendable {
    private let root: String

    /// Creates a tree. Each call of its functions reads sysfs again.
    ///
    /// - Parameter root: The path of sysfs. Tests use another directory.
    public init(root: String = "/sys") {
        self.root = root
    }

    /// Returns every sensor of `quantity`, including sensors without a reading, sorted by subsystem of the kernel and
    /// device number.
    public func sensors(of quantity: SensorQuantity) -> [Sensor] {
        switch quantity {
        case .temperature: thermalZones() + monitors(.temperature) + industrial(.temperature) + oneWire()
        case .voltage: batteries(.voltage) + monitors(.voltage)
        case .charge: batteries(.charge)
        case .humidity: industrial(.humidity) + monitors(.humidity)
        case .pressure, .illuminance: industrial(quantity)
        case .number: []
        }
    }

    /// Returns the sensor with this name; `nil` if there is none. For a file or a command, a sensor is always returned,
    /// because its file may appear later.
    public func sensor(named name: SensorName, _ quantity: SensorQuantity) -> Sensor? {
        switch name.source {
        case .file: return Sensor(name, quantity, decimal: name.device, thousandths: quantity.perUnit)
        case .command:
            let file = "\(SensorName.commandValuesDirectory)/\(name.device)"
            return Sensor(name, quantity, decimal: file, thousandths: quantity.perUnit)
        case .thermal, .hwmon, .iio, .power, .w1: break
        }
        let device = sensors(of: quantity).filter { $0.name.source == name.source && matches($0, name.device) }
        guard let channel = name.channel else { return device.first }
        return device.first { $0.name.channel == channel || label(of: $0) == channel }
    }

    /// Returns the sensor that `auto` selects: the best sensor with a reading; `nil` if there is none.
    ///
    /// For a temperature, the order is: the sensor of the processor, which nearly every machine has; any other thermal
    /// zone; a hardware monitor; an industrial I/O device. For a voltage, the order is: a battery; an input of a
    /// hardware monitor that is labelled as a supply or belongs to a power monitor. Other voltage inputs of a hardware
    /// monitor are never selected.
    public func best(_ quantity: SensorQuantity) -> Sensor? {
        let ranked = sensors(of: quantity).compactMap { sensor in rank(of: sensor).map { (rank: $0, sensor: sensor) } }
        // The position in the list is the second key: it keeps the order of sensors with the same rank.
        let bestFirst = ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
        return bestFirst.first { $0.element.sensor.read() != nil }?.element.sensor
    }

    /// Returns a sentence if this machine does not have the chosen sensor; otherwise `nil`. The sentence names the
    /// sensors that the machine has.
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
        let prefix = quantity == .temperature ? "temp" : quantity == .humidity ? "humidity" : "in"
        return devices("class/hwmon", prefix: "hwmon", nameFile: "name").flatMap { directory, name in
            numbered(Files.names(in: directory), prefix: prefix, suffix: "_input").map { channel in
                Sensor(SensorName(.hwmon, name, channel), quantity, file: "\(directory)/\(channel)_input")
            }
        }
    }

    /// Returns the channels of industrial I/O devices. Documentation/ABI/testing/sysfs-bus-iio describes their units.
    private func industrial(_ quantity: SensorQuantity) -> [Sensor] {
        let (kind, factor) =
            switch quantity {
            case .humidity: ("humidityrelative", 1)
            case .pressure: ("pressure", 10_000)
            case .illuminance: ("illuminance", 1000)
            case .temperature, .voltage, .charge, .number: ("temp", 1)
            }
        return devices("bus/iio/devices", prefix: "iio:device", nameFile: "name").flatMap {
            directory, name -> [Sensor] in
            let files = Files.names(in: directory).filter { $0.hasPrefix("in_\(kind)") }
            let processed = files.filter { $0.hasSuffix("_input") }.map { file in
                let channel = file.dropFirst(3).dropLast(6)
                return Sensor(
                    SensorName(.iio, name, String(channel)), quantity, decimal: directory + "/" + file,
                    thousandths: factor)
            }
            let raw = files.filter { $0.hasSuffix("_raw") }.map { file in
                let channel = String(file.dropFirst(3).dropLast(4))
                // Channels of the same kind may share the files that convert the raw value.
                func attribute(_ what: String) -> String {
                    let ownFile = "\(directory)/in_\(channel)_\(what)"
                    return Files.exists(ownFile) ? ownFile : "\(directory)/in_\(kind)_\(what)"
                }
                return Sensor(
                    SensorName(.iio, name, channel), quantity, raw: directory + "/" + file, offset: attribute("offset"),
                    scale: attribute("scale"), factor: factor)
            }
            return processed + raw
        }
    }

    /// Returns the 1-wire thermometers, such as DS18B20. Their file `temperature` has thousandths of a degree.
    private func oneWire() -> [Sensor] {
        let folder = root + "/bus/w1/devices"
        return Files.names(in: folder).filter { Files.exists("\(folder)/\($0)/temperature") }.map { name in
            Sensor(SensorName(.w1, name), .temperature, file: "\(folder)/\(name)/temperature")
        }
    }

    /// Returns the batteries of the machine, without those of devices such as mice and headphones.
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
                divisor: quantity == .charge ? 1 : 1000)
        }
    }

    /// Returns the device directories in the order of their numbers, each with the device's name. A device with an
    /// empty name, or with the name of an earlier device, gets the name of its directory.
    private func devices(_ folder: String, prefix: String, nameFile: String) -> [(String, String)] {
        var usedNames: Set<String> = []
        return numbered(Files.names(in: "\(root)/\(folder)"), prefix: prefix, suffix: "").map { entry in
            let directory = "\(root)/\(folder)/\(entry)"
            let name = Files.firstLine("\(directory)/\(nameFile)") ?? ""
            return (directory, !name.isEmpty && usedNames.insert(name).inserted ? name : entry)
        }
    }

    /// Returns the names that consist of `prefix`, a number and `suffix`, without the suffix, in the order of the
    /// numbers.
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

    /// Returns the rank of a sensor, 0 for the best; `nil` if `auto` never selects it.
    private func rank(of sensor: Sensor) -> Int? {
        let device = sensor.name.device.lowercased()
        switch (sensor.quantity, sensor.name.source) {
        case (.temperature, .thermal):
            return ["cpu", "soc", "pkg"].contains { device.contains($0) } ? 0 : 2
        case (.temperature, .hwmon):
            return ["coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal"].contains(device) ? 1 : 3
        case (.temperature, _): return 4
        case (.humidity, _), (.pressure, _), (.illuminance, _): return 0
        case (.number, _): return nil
        case (.voltage, .power), (.charge, _): return 0
        case (.voltage, _): return isSupply(sensor, device) ? 1 : nil
        }
    }

    /// Returns true if the voltage input measures a supply. In TI's power monitors (ina2xx), in1 is the bus voltage and
    /// in0 the shunt voltage (Documentation/hwmon/ina2xx.rst).
    private func isSupply(_ sensor: Sensor, _ device: String) -> Bool {
        if device.hasPrefix("ina2"), sensor.name.channel == "in1" { return true }
        guard let label = label(of: sensor)?.lowercased() else { return false }
        return ["vin", "vbat", "vbus", "vsys", "supply", "+5v", "5v0", "5v_in", "+12v"].contains { label.contains($0) }
    }
}
