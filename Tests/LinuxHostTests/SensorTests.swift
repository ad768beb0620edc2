import LinuxHost
import TestSupport
import Testing

@Suite struct SensorTests {
    static let names: [(String, SensorQuantity, String?)] = [
        ("thermal:cpu-thermal", .temperature, nil), ("hwmon:coretemp:temp1", .temperature, "temp1"),
        ("hwmon:coretemp:Core 0", .temperature, "Core 0"), ("hwmon:cpu_thermal", .temperature, nil),
        ("iio:bme280", .temperature, nil), ("iio:bme280:temp", .temperature, "temp"),
        ("thermal:zone:with:colons", .temperature, nil), ("power:BAT0", .voltage, nil), ("power:BAT0", .charge, nil),
        ("hwmon:rpi_volt:in0", .voltage, "in0"), ("hwmon:x:a:b", .voltage, "a:b"),
        ("w1:28-0316a2795b1f", .temperature, nil), ("file:/run/a:b", .charge, nil), ("command:co2", .humidity, nil),
        ("iio:bme280", .pressure, nil), ("hwmon:sht4x:humidity1", .humidity, "humidity1"),
    ]

    @Test(arguments: names) func namesAreReadAsTheyArePrinted(
        _ text: String, _ quantity: SensorQuantity, _ channel: String?
    ) throws {
        let name = try SensorName(text, for: quantity)
        #expect(name.description == text && name.channel == channel)
        #expect(try SensorChoice(text, for: quantity) == .named(name))
        #expect(try SensorChoice("auto", for: quantity) == .auto)
    }

    static let nonsense: [(String, SensorQuantity)] = [
        ("", .temperature), ("cpu", .temperature), ("thermal:", .temperature), ("termal:cpu", .temperature),
        ("hwmon::temp1", .temperature), ("hwmon:x:", .temperature), ("power:BAT0", .temperature),
        ("hwmon:x:in0", .charge),
        ("thermal:cpu", .voltage), ("iio:x", .voltage), ("Auto", .voltage), (":", .voltage),
        ("file:co2", .temperature), ("file:", .temperature), ("command:../co2", .temperature), ("w1:28-0", .humidity),
        ("iio:x", .charge), ("auto", .number), ("iio:x", .number),
    ]

    @Test(arguments: nonsense) func refusesInvalidSensorNames(_ text: String, _ quantity: SensorQuantity) {
        #expect(throws: SensorNameError(text: text, quantity: quantity)) { try SensorChoice(text, for: quantity) }
    }

    @Test func errorListsTheFormsOfSensorNames() {
        #expect(
            "\(SensorNameError(text: "cpu", quantity: .temperature))"
                == "\"cpu\" is not the name of a temperature sensor; use auto, or one of the forms "
                + "thermal:TYPE, hwmon:NAME:tempN, iio:NAME, w1:ID, file:PATH, command:NAME")
        #expect(
            "\(SensorNameError(text: "x", quantity: .voltage))"
                == "\"x\" is not the name of a battery or supply voltage; use auto, or one of the forms "
                + "power:NAME, hwmon:NAME:inN, file:PATH, command:NAME")
        #expect(
            "\(SensorNameError(text: "file:val/temp", quantity: .temperature))"
                == "\"file:val/temp\" is a relative path; write the absolute path, such as file:/run/value")
        #expect(
            "\(SensorNameError(text: "auto", quantity: .number))"
                == "\"auto\" is not the name of a value; use one of the forms file:PATH, command:NAME")
    }

    @Test func sensorsAreListedInTheOrderOfTheirNumbers() throws {
        let laptop = try MadeUpBox(MadeUpBox.laptop)
        #expect(
            laptop.names(.temperature) == [
                "thermal:acpitz", "thermal:thermal_zone2", "thermal:x86_pkg_temp", "hwmon:coretemp:temp1",
                "hwmon:coretemp:temp2", "hwmon:coretemp:temp10",
            ])
        #expect(laptop.names(.voltage) == ["power:BAT0", "hwmon:coretemp:in0"])
        let instruments = try MadeUpBox(MadeUpBox.instruments)
        #expect(instruments.names(.temperature) == ["iio:bme280:temp", "iio:mpu6050:temp"])
        #expect(instruments.names(.voltage) == ["hwmon:ina219:in0", "hwmon:ina219:in1"])
        #expect(try MadeUpBox([:]).names(.temperature).isEmpty)
    }

    static let readings: [(String, SensorQuantity, Int?)] = [
        ("thermal:acpitz", .temperature, 27_800), ("thermal:thermal_zone2", .temperature, 29_800),
        ("hwmon:coretemp", .temperature, 60_000), ("hwmon:coretemp:Core 0", .temperature, 58_000),
        ("hwmon:hwmon4:temp10", .temperature, 59_000), ("hwmon:coretemp:in0", .voltage, 1100),
        ("power:BAT0", .charge, 83), ("power:hidpp_battery_0", .charge, nil),
        ("power:BAT0", .voltage, 12_346), ("power:hidpp_battery_0", .voltage, nil),
        ("thermal:none", .temperature, nil), ("hwmon:coretemp:temp3", .temperature, nil),
    ]

    @Test(arguments: readings) func sensorsAreFoundByName(
        _ name: String, _ quantity: SensorQuantity, _ value: Int?
    ) throws {
        #expect(try MadeUpBox(MadeUpBox.laptop).value(name, quantity) == value)
    }

    /// (raw + offset) · scale: (-1000 + 12420) · 2.941176 = 33588.2 thousandths of a degree.
    @Test func computesReadingsOfConverters() throws {
        let box = try MadeUpBox(MadeUpBox.instruments)
        #expect(try box.value("iio:mpu6050", .temperature) == 33_588)
        #expect(try box.value("iio:bme280:temp", .temperature) == 21_250)
        try box.set("bus/iio/devices/iio:device1/in_temp_scale", "-2.941176")
        #expect(try box.value("iio:mpu6050", .temperature) == -33_588)
        for scale in ["1e300", "nan", "inf", "x", "1e9"] {
            try box.set("bus/iio/devices/iio:device1/in_temp_scale", scale)
            #expect(try box.value("iio:mpu6050", .temperature) == nil)
        }
    }

    static let implausible: [(String, Int?)] = [
        ("-40000", -40_000), ("-128000", -128_000), ("127999", 127_999), ("-128001", nil), ("128000", nil),
        ("-274000", nil), ("", nil), ("N/A", nil), ("99999999999999999999", nil), ("9223372036854775807", nil),
        ("-9223372036854775808", nil), (" 5", nil),
    ]

    @Test(arguments: implausible) func implausibleReadingsAreUnknown(_ text: String, _ value: Int?) throws {
        let box = try MadeUpBox(["class/thermal/thermal_zone0/type": "cpu", "class/thermal/thermal_zone0/temp": text])
        #expect(try box.value("thermal:cpu", .temperature) == value)
    }

    @Test(arguments: [
        ("0", nil), ("499", nil), ("500", 1), ("-3000000", nil), ("65535000", 65_535), ("65536000", nil),
        ("9223372036854775807", nil),
    ]) func roundsVoltagesToMillivolts(_ microvolts: String, _ millivolts: Int?) throws {
        let folder = "class/power_supply/BAT"
        let box = try MadeUpBox(["\(folder)/type": "Battery", "\(folder)/voltage_now": microvolts])
        #expect(try box.value("power:BAT", .voltage) == millivolts)
    }

    @Test(
        arguments: [
            ("21.5", .temperature, 21_500), ("-4\r", .temperature, -4000), ("3.074", .voltage, 3074),
            ("97", .charge, 97),
            ("50.55 ", .humidity, 50_550), ("1008.83", .pressure, 1_008_830), ("13460.67", .illuminance, 13_460_670),
            ("417", .number, 417_000), ("true", .number, 1000), ("off", .number, 0), ("", .number, nil),
            ("21,5", .temperature, nil), ("200", .temperature, nil), ("101", .charge, nil), ("1e3", .number, nil),
        ] as [(String, SensorQuantity, Int?)])
    func readsFilesInUsualUnits(_ text: String, _ quantity: SensorQuantity, _ value: Int?) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("value", text: text + "\n")
        let name = try SensorName("file:\(path)", for: quantity)
        #expect(SensorTree().sensor(named: name, quantity)?.read() == value)
        #expect(SensorTree().problem(with: .named(name), quantity) == nil)
        folder.remove("value")
        #expect(SensorTree().sensor(named: name, quantity)?.read() == nil)
    }

    @Test func findsSensorsOfIIOHwmonAndOneWire() throws {
        let box = try MadeUpBox([
            "bus/iio/devices/iio:device0/name": "bme280", "bus/iio/devices/iio:device0/in_temp_input": "21250",
            "bus/iio/devices/iio:device0/in_humidityrelative_input": "43210.5",
            "bus/iio/devices/iio:device0/in_pressure_input": "101.325976",
            "bus/iio/devices/iio:device1/name": "bh1750", "bus/iio/devices/iio:device1/in_illuminance_raw": "300",
            "bus/iio/devices/iio:device1/in_illuminance_scale": "0.833333",
            "class/hwmon/hwmon0/name": "sht4x", "class/hwmon/hwmon0/humidity1_input": "38000",
            "bus/w1/devices/28-0316a2795b1f/temperature": "23125", "bus/w1/devices/w1_bus_master1/name": "x",
        ])
        #expect(box.names(.humidity) == ["iio:bme280:humidityrelative", "hwmon:sht4x:humidity1"])
        #expect(box.names(.temperature) == ["iio:bme280:temp", "w1:28-0316a2795b1f"])
        #expect(try box.value("iio:bme280", .humidity) == 43_211)
        #expect(try box.value("iio:bme280", .pressure) == 1_013_260)
        #expect(try box.value("iio:bh1750", .illuminance) == 250_000)
        #expect(try box.value("hwmon:sht4x:humidity1", .humidity) == 38_000)
        #expect(try box.value("w1:28-0316a2795b1f", .temperature) == 23_125)
        #expect(box.tree.best(.humidity)?.name.description == "iio:bme280:humidityrelative")
    }

    @Test func brokenSensorsReadNothing() throws {
        let box = try MadeUpBox(MadeUpBox.laptop)
        try box.set("class/hwmon/hwmon4/temp1_fault", "1")
        #expect(try box.value("hwmon:coretemp:temp1", .temperature) == nil)
        #expect(try box.value("hwmon:coretemp:temp2", .temperature) == 58_000)
    }

    static let choices: [([String: String], String?, String?)] = [
        (MadeUpBox.raspberryPi, "thermal:cpu-thermal", nil),
        (MadeUpBox.laptop, "thermal:x86_pkg_temp", "power:BAT0"),
        (MadeUpBox.instruments, "iio:bme280:temp", "hwmon:ina219:in1"),
        ([:], nil, nil),
        // On a mainboard, the processor's sensor is preferred to the firmware's zone, and only a supply with a label is
        // used.
        (
            [
                "class/thermal/thermal_zone0/type": "acpitz", "class/thermal/thermal_zone0/temp": "27800",
                "class/hwmon/hwmon1/name": "k10temp", "class/hwmon/hwmon1/temp1_input": "45000",
                "class/hwmon/hwmon2/name": "nct6798", "class/hwmon/hwmon2/in0_input": "900",
                "class/hwmon/hwmon2/in4_input": "5040", "class/hwmon/hwmon2/in4_label": "+5V",
            ], "hwmon:k10temp:temp1", "hwmon:nct6798:in4"
        ),
        // The best sensor gives no reading at present.
        (
            [
                "class/thermal/thermal_zone0/type": "cpu-thermal", "class/thermal/thermal_zone0/temp": "-274000",
                "class/hwmon/hwmon1/name": "drivetemp", "class/hwmon/hwmon1/temp1_input": "31000",
            ], "hwmon:drivetemp:temp1", nil
        ),
    ]

    @Test(arguments: choices) func autoChoosesTheBestSensorWithAReading(
        _ files: [String: String], _ temperature: String?, _ voltage: String?
    ) throws {
        let tree = try MadeUpBox(files)
        #expect(tree.tree.best(.temperature)?.name.description == temperature)
        #expect(tree.tree.best(.voltage)?.name.description == voltage)
    }

    @Test func problemListsTheSensorsOfTheMachine() throws {
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        func problem(_ text: String, _ quantity: SensorQuantity) throws -> String? {
            box.tree.problem(with: try SensorChoice(text, for: quantity), quantity)
        }
        #expect(try problem("auto", .voltage) == nil)
        #expect(try problem("thermal:cpu-thermal", .temperature) == nil)
        #expect(
            try problem("thermal:gpu", .temperature)
                == "there is no temperature sensor \"thermal:gpu\"; this machine has thermal:cpu-thermal, "
                + "hwmon:cpu_thermal:temp1")
        #expect(
            try problem("power:BAT1", .voltage)
                == "there is no battery or supply voltage \"power:BAT1\"; this machine has none; use null")
    }
}
