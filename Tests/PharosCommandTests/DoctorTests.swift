import LinuxHost
import TestSupport
import Testing

/// `pharos doctor` on made-up boxes. What it says about this machine's own kernel, clock and processes differs from one
/// machine to the next, and is left out.
@Suite struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The lines of a topic with their marks and remedies, without the padding.
    private func lines(_ topic: String, _ arguments: String...) throws -> [String] {
        let result = try Program.run(["doctor", "--root", folder.path] + arguments)
        var lines: [String] = []
        var isInTopic = false
        for line in result.output.split(separator: "\n") {
            let words = line.split(separator: " ").joined(separator: " ")
            if words.hasPrefix("→ ") {
                if isInTopic { lines.append(words) }
            } else {
                isInTopic = words.split(separator: " ", maxSplits: 1).last?.hasPrefix(topic + " ") == true
                if isInTopic { lines.append(words) }
            }
        }
        return lines
    }

    private func put(_ files: [String: String]) throws {
        for (name, text) in files { try folder.file(name, text: text + "\n") }
    }

    private static let raspberryPi = [
        "sys/class/thermal/thermal_zone0/type": "cpu-thermal", "sys/class/thermal/thermal_zone0/temp": "48199",
        "sys/class/hwmon/hwmon0/name": "cpu_thermal", "sys/class/hwmon/hwmon0/temp1_input": "48300",
        "usr/lib/systemd/system/pharos@.service": "[Unit]",
        "etc/systemd/system/pharos.target.wants/pharos@lobby-north.service": "",
        "etc/pharos/lobby-north.json": "{}",
        "run/systemd/timesync/synchronized": "",
    ]

    @Test func virtualBeaconOnAnInstalledBoxIsInOrder() throws {
        try put(Self.raspberryPi)
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "virtual")
        #expect(
            result
                == Program.Result(
                    output: """
                        ok    kernel       its Bluetooth is not needed for virtual
                        ok    controller   Core 5.0, Broadcom (0x000F)
                        ok    advertising  legacy, 1 set: several advertisements take turns, with one interval and power
                        ok    interval     20 ms at least
                        ok    radio power  it is set by vendor command (Broadcom), unverified
                        ok    temperature  thermal:cpu-thermal reads 48.199 °C; also there: hwmon:cpu_thermal:temp1
                        ok    battery      no sensor for auto; telemetry sends it as unknown
                        ok    unit         /usr/lib/systemd/system/pharos@.service is installed, enabled for lobby-north
                        ok    clock        it is kept right

                        Nothing stops a beacon on virtual.

                        """, errors: "", code: 0))
    }

    @Test func jsonHasTheSameFindings() throws {
        try put(Self.raspberryPi)
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "virtual", "--json")
        #expect(
            result.output.hasPrefix(
                "{\"adapter\":\"virtual\",\"good\":true,\"findings\":[{\"topic\":\"kernel\",\"mark\":\"ok\","
                    + "\"message\":\"its Bluetooth is not needed for virtual\",\"remedy\":null},"))
        #expect(
            result.output.hasSuffix(
                "{\"topic\":\"clock\",\"mark\":\"ok\",\"message\":\"it is kept right\","
                    + "\"remedy\":null}]}\n"))
        #expect(result.code == 0 && result.errors == "")
    }

    @Test func controllerThatIsNotThereStopsTheBeacon() throws {
        let path = folder.place("no-socket")
        let found = try lines("controller", "--adapter", "unix:\(path)")
        #expect(
            found == [
                "fail controller unix:\(path): there is no such socket; is the controller's program running?",
                "→ plug it in or start it, then ask again",
            ])
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "unix:\(path)")
        #expect(result.code == 1)
        #expect(result.output.contains("\n1 thing stops a beacon on unix:\(path), "))
    }

    /// Asking a controller resets it: one that sends a beacon is left alone.
    @Test func controllerInUseIsNotAsked() throws {
        let process = ProcessIdentity.current
        let ticks = process.startTicks.map(String.init) ?? "null"
        try put([
            "run/pharos/hall.status.json":
                "{\"name\":\"hall\",\"adapter\":\"unix:/none\",\"state\":\"on-air\",\"pid\":\(process.id),"
                + "\"startTicks\":\(ticks)}"
        ])
        #expect(
            try lines("controller", "--adapter", "unix:/none") == [
                "ok controller hall sends with it, so it is not asked"
            ])
    }

    @Test func adapterThatIsNotThereStopsTheBeacon() throws {
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "hci77")
        #expect(result.code == 1)
        #expect(result.output.contains("fail  kernel ") || result.output.contains(" hci77 is not there\n"))
    }

    static let switches: [([String: String], [String])] = [
        ([:], ["ok rfkill no switch stands before the radio"]),
        (["type": "wlan", "name": "phy0", "soft": "1", "hard": "1"], ["ok rfkill no switch stands before the radio"]),
        (["type": "bluetooth", "name": "hci77", "soft": "0", "hard": "0"], ["ok rfkill the radio is switched on"]),
        (
            ["type": "bluetooth", "name": "hci77", "soft": "1", "hard": "0"],
            ["fail rfkill hci77 is switched off by software", "→ `sudo rfkill unblock bluetooth`"]
        ),
        (
            ["type": "bluetooth", "name": "tpacpi_bluetooth_sw", "soft": "1", "hard": "1"],
            [
                "fail rfkill tpacpi_bluetooth_sw is switched off by hardware",
                "→ turn on the radio with the box's own switch or key, or in its firmware settings",
            ]
        ),
        // Another adapter's switch.
        (
            ["type": "bluetooth", "name": "hci76", "soft": "1", "hard": "0"],
            ["ok rfkill no switch stands before the radio"]
        ),
    ]

    @Test(arguments: switches) func radioSwitchesAreTold(_ files: [String: String], _ found: [String]) throws {
        try put(Dictionary(files.map { ("sys/class/rfkill/rfkill3/\($0)", $1) }) { first, _ in first })
        #expect(try lines("rfkill", "--adapter", "hci77") == found)
        #expect(try lines("rfkill", "--adapter", "virtual").isEmpty)
    }

    @Test func unitThatIsNotInstalledIsAWarning() throws {
        #expect(
            try lines("unit", "--adapter", "virtual") == [
                "warn unit pharos@.service is not installed: no beacon starts with the box",
                "→ install the package, or copy systemd/pharos@.service to /etc/systemd/system",
            ])
        try put(["etc/systemd/system/pharos@.service": ""])
        #expect(
            try lines("unit", "--adapter", "virtual").first
                == "warn unit /etc/systemd/system/pharos@.service is installed, and no beacon is enabled")
        try put(["etc/systemd/system/multi-user.target.wants/pharos@a.service": ""])
        #expect(
            try lines("unit", "--adapter", "virtual") == [
                "ok unit /etc/systemd/system/pharos@.service is installed, enabled for a",
                "warn unit pharos@a is enabled and has no profile",
                "→ write /etc/pharos/a.json, or `sudo systemctl disable pharos@a`",
            ])
    }

    @Test func sensorsThatReadNothingAreNamed() throws {
        try put([
            "sys/class/hwmon/hwmon2/name": "nct6798", "sys/class/hwmon/hwmon2/in0_input": "900",
            "sys/class/thermal/thermal_zone0/type": "cpu", "sys/class/thermal/thermal_zone0/temp": "-274000",
        ])
        #expect(
            try lines("battery", "--adapter", "virtual") == [
                "ok battery no sensor for auto (by name: hwmon:nct6798:in0); telemetry sends it as unknown"
            ])
        #expect(
            try lines("temperature", "--adapter", "virtual") == [
                "ok temperature no sensor for auto (by name: thermal:cpu); telemetry sends it as unknown"
            ])
    }
}
