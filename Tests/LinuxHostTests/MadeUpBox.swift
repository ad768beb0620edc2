import LinuxHost
import TestSupport

/// A directory tree like /sys with the files of a test.
final class MadeUpBox {
    let folder: TemporaryFolder
    let tree: SensorTree

    /// - Parameter files: Paths below /sys with the first line of each file.
    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder()
        tree = SensorTree(root: folder.path)
        for (name, text) in files { try folder.file(name, text: text + "\n") }
    }

    func set(_ name: String, _ text: String) throws { try folder.file(name, text: text + "\n") }
    func remove(_ name: String) { folder.remove(name) }

    func value(_ name: String, _ quantity: SensorQuantity) throws -> Int? {
        tree.sensor(named: try SensorName(name, for: quantity), quantity)?.read()
    }

    func names(_ quantity: SensorQuantity) -> [String] { tree.sensors(of: quantity).map(\.name.description) }

    /// A Raspberry Pi 4: one thermal zone, the same sensor as a monitor, and a power monitor without a reading.
    static let raspberryPi = [
        "class/thermal/thermal_zone0/type": "cpu-thermal", "class/thermal/thermal_zone0/temp": "48199",
        "class/hwmon/hwmon0/name": "cpu_thermal", "class/hwmon/hwmon0/temp1_input": "48300",
        "class/hwmon/hwmon1/name": "rpi_volt", "class/hwmon/hwmon1/in0_lcrit_alarm": "0",
    ]

    /// A laptop: the firmware's zone first, then a battery, a mouse's battery and the mains.
    static let laptop = [
        "class/thermal/thermal_zone0/type": "acpitz", "class/thermal/thermal_zone0/temp": "27800",
        "class/thermal/thermal_zone10/type": "x86_pkg_temp", "class/thermal/thermal_zone10/temp": "61000",
        "class/thermal/thermal_zone2/type": "acpitz", "class/thermal/thermal_zone2/temp": "29800",
        "class/hwmon/hwmon4/name": "coretemp", "class/hwmon/hwmon4/temp1_input": "60000",
        "class/hwmon/hwmon4/temp1_label": "Package id 0", "class/hwmon/hwmon4/temp10_input": "59000",
        "class/hwmon/hwmon4/temp2_input": "58000", "class/hwmon/hwmon4/temp2_label": "Core 0",
        "class/hwmon/hwmon4/in0_input": "1100",
        "class/power_supply/AC/type": "Mains", "class/power_supply/AC/online": "1",
        "class/power_supply/BAT0/type": "Battery", "class/power_supply/BAT0/voltage_now": "12345600",
        "class/power_supply/BAT0/present": "1", "class/power_supply/BAT0/capacity": "83",
        "class/power_supply/hidpp_battery_0/type": "Battery", "class/power_supply/hidpp_battery_0/scope": "Device",
        "class/power_supply/hidpp_battery_0/voltage_now": "3900000",
    ]

    /// A machine with a weather sensor and a power monitor on I2C.
    static let instruments = [
        "bus/iio/devices/iio:device0/name": "bme280", "bus/iio/devices/iio:device0/in_temp_input": "21250",
        "bus/iio/devices/iio:device0/in_pressure_input": "101.3",
        "bus/iio/devices/iio:device1/name": "mpu6050", "bus/iio/devices/iio:device1/in_temp_raw": "-1000",
        "bus/iio/devices/iio:device1/in_temp_offset": "12420", "bus/iio/devices/iio:device1/in_temp_scale": "2.941176",
        "class/hwmon/hwmon0/name": "ina219", "class/hwmon/hwmon0/in0_input": "3",
        "class/hwmon/hwmon0/in1_input": "5104",
    ]
}
