import BluetoothTypes
import LinuxHost
import TestSupport
import Testing

@Suite struct SensorReaderTests {
    private static let second: UInt64 = 1_000_000_000
    private let zone = "class/thermal/thermal_zone0/temp"

    /// A reader with its own clock, which advances one second per reading.
    private struct Bench {
        var reader: SensorReader
        var now: UInt64 = 0
        var events: [String] = []

        init(_ choice: SensorChoice, _ box: MadeUpBox, _ quantity: SensorQuantity = .temperature) {
            reader = SensorReader(choice, quantity, tree: box.tree)
        }

        mutating func read(seconds: UInt64 = 1) -> Int? {
            now += seconds * SensorReaderTests.second
            let (value, event) = reader.read(at: now)
            if let event { events.append("\(event)") }
            return value
        }
    }

    @Test func reportsTheAutomaticChoiceOnce() throws {
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        var bench = Bench(.auto, box)
        #expect(bench.read() == 48_199)
        try box.set(zone, "50000")
        #expect(bench.read() == 50_000)
        #expect(bench.events == ["telemetry comes from the sensor thermal:cpu-thermal"])
        #expect(bench.reader.name?.description == "thermal:cpu-thermal")
    }

    @Test func reportsALostSensorOnceAndItsReturn() throws {
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        var bench = Bench(.named(try SensorName("thermal:cpu-thermal", for: .temperature)), box)
        #expect(bench.read() == 48_199 && bench.events.isEmpty)
        box.remove("class/thermal/thermal_zone0")
        for _ in 0..<100 { #expect(bench.read() == nil) }
        #expect(
            bench.events == [
                "the sensor thermal:cpu-thermal is lost; telemetry sends this value as unknown, and BTHome omits it"
            ])
        try box.set("class/thermal/thermal_zone3/type", "cpu-thermal")
        try box.set("class/thermal/thermal_zone3/temp", "51000")
        // The sensor is searched every ten seconds, also under another number.
        let values = (0..<11).map { _ in bench.read() }
        #expect(values.last == 51_000)
        #expect(bench.events.last == "the sensor thermal:cpu-thermal is back" && bench.events.count == 2)
    }

    /// The machine's temperature must not be replaced by that of its disk.
    @Test func autoDoesNotJumpToAnotherSensor() throws {
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        var bench = Bench(.auto, box)
        #expect(bench.read() == 48_199)
        box.remove("class/thermal/thermal_zone0")
        for _ in 0..<30 { #expect(bench.read() == nil) }
        #expect(bench.reader.name?.description == "thermal:cpu-thermal")
    }

    @Test func followsASensorToAnotherNumber() throws {
        let box = try MadeUpBox(["class/hwmon/hwmon3/name": "bme280", "class/hwmon/hwmon3/temp1_input": "21000"])
        var bench = Bench(.named(try SensorName("hwmon:bme280:temp1", for: .temperature)), box)
        #expect(bench.read() == 21_000)
        box.remove("class/hwmon/hwmon3")
        try box.set("class/hwmon/hwmon5/name", "bme280")
        try box.set("class/hwmon/hwmon5/temp1_input", "22000")
        #expect(bench.read() == 22_000 && bench.events.isEmpty)
    }

    @Test func reportsALossAfterThreeFailedReadings() throws {
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        var bench = Bench(.named(try SensorName("thermal:cpu-thermal", for: .temperature)), box)
        #expect(bench.read() == 48_199)
        for _ in 0..<5 {
            try box.set(zone, "-274000")
            #expect(bench.read() == nil && bench.read() == nil)
            try box.set(zone, "48000")
            #expect(bench.read() == 48_000)
        }
        #expect(bench.events.isEmpty)
        try box.set(zone, "-274000")
        for _ in 0..<1000 { #expect(bench.read() == nil) }
        #expect(
            bench.events == [
                "the sensor thermal:cpu-thermal is lost; telemetry sends this value as unknown, and BTHome omits it"
            ])
        try box.set(zone, "47000")
        #expect(bench.read() == 47_000 && bench.events.last == "the sensor thermal:cpu-thermal is back")
    }

    @Test func reportsAMissingSensorOnceAndFindsALaterOne() throws {
        let box = try MadeUpBox([:])
        var bench = Bench(.auto, box, .voltage)
        for _ in 0..<50 { #expect(bench.read() == nil) }
        #expect(
            bench.events == [
                "this machine has no battery or supply voltage; telemetry sends this value as unknown, and BTHome omits it"
            ])
        try box.set("class/power_supply/BAT0/type", "Battery")
        try box.set("class/power_supply/BAT0/voltage_now", "3700000")
        #expect(bench.read(seconds: 10) == 3700)
        #expect(bench.events.last == "telemetry comes from the sensor power:BAT0")
    }

    @Test func reportsANamedSensorWithoutReadingOnce() throws {
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        var bench = Bench(.named(try SensorName("hwmon:rpi_volt:in0", for: .voltage)), box, .voltage)
        for _ in 0..<50 { #expect(bench.read() == nil) }
        #expect(
            bench.events == [
                "the battery or supply voltage hwmon:rpi_volt:in0 gives no reading; telemetry sends this value as unknown, and BTHome omits it"
            ])
        try box.set("class/hwmon/hwmon1/in0_input", "5100")
        #expect(bench.read(seconds: 10) == 5100)
        #expect(bench.events.last == "the sensor hwmon:rpi_volt:in0 is back")
    }

    @Test(arguments: [
        ("45200", "\"45200\", and a number of -128...127.999 °C is expected; the kernel's files contain thousandths"),
        ("45,2", "\"45,2\", and a number of -128...127.999 °C is expected, with a point instead of the comma; "),
        ("warm", "\"warm\", and a number of -128...127.999 °C is expected; telemetry sends"),
    ])
    func aFileWithoutAReadingIsQuotedWithTheExpectedUnit(_ text: String, _ reason: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("temperature", text: text + "\n")
        var reader = SensorReader(.named(try SensorName("file:\(path)", for: .temperature)), .temperature)
        let event = try #require(reader.read(at: 0).event)
        #expect("\(event)".contains("gives no reading: the file contains " + reason), "\(event)")
    }

    @Test func saysThatTheFileOfASensorDoesNotExist() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("none")
        var reader = SensorReader(.named(try SensorName("file:\(path)", for: .temperature)), .temperature)
        let event = try #require(reader.read(at: 0).event)
        #expect("\(event)".contains("file:\(path) gives no reading: the file does not exist; "), "\(event)")
    }

    @Test func namesTheWordsThatAreAcceptedInAFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("door", text: "open\n")
        var reader = SensorReader(.named(try SensorName("file:\(path)", for: .number)), .number)
        let event = try #require(reader.read(at: 0).event)
        #expect("\(event)".contains("\"open\", and a number, true, false, on or off is expected; "), "\(event)")
    }

    /// A directory tree that changes at random. The reader returns only values of the tree, and reports losses and
    /// returns alternately.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func reportsLossAndReturnAlternately(_ seed: UInt64) throws {
        var chance = SplitMix64(seed: seed)
        let box = try MadeUpBox(MadeUpBox.raspberryPi)
        var bench = Bench(.auto, box)
        _ = bench.read()
        for _ in 0..<200 {
            switch chance.next() % 4 {
            case 0: box.remove("class/thermal/thermal_zone0")
            case 1: try box.set(zone, "x")
            default:
                try box.set("class/thermal/thermal_zone0/type", "cpu-thermal")
                try box.set(zone, "45000")
            }
            let value = bench.read(seconds: chance.next() % 20)
            #expect(value == nil || value == 45_000)
        }
        let told = bench.events.dropFirst().map { $0.hasSuffix("is back") }
        for (index, isBack) in told.enumerated() { #expect(isBack == (index % 2 == 1)) }
    }

    /// A file can contain any number. No value is returned if the number is out of range.
    @Test(arguments: ["1125899906842623", "-1125899906842623", "9223372036854775807", "-9223372036854775808", "1e308"])
    func survivesAnyNumberInAFile(_ text: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("value", text: text)
        for quantity in [SensorQuantity.temperature, .humidity, .charge] {
            var reader = SensorReader(.named(try SensorName("file:\(path)", for: quantity)), quantity)
            #expect(reader.read(at: 0).value == nil)
        }
    }
}
