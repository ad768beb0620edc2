import LinuxHost
import TestSupport
import Testing

/// `pharos doctor` on made-up machines. The results about this machine's own kernel, clock and processes are left out,
/// because they differ between machines.
@Suite struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the lines of a topic with their marks and remedies, without padding.
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

    @Test func reportsNoProblemOfAnInstalledVirtualBeacon() throws {
        try put(Self.raspberryPi)
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "virtual")
        #expect(
            result
                == Program.Result(
                    output: """
                        ok    kernel       virtual does not need the kernel's Bluetooth
                        ok    controller   Core 5.0, Broadcom (0x000F)
                        ok    advertising  legacy, 1 set: advertisements take turns, each at its own interval, with one power
                        ok    interval     at least 20 ms
                        ok    radio power  it is set by vendor command (Broadcom), unverified
                        ok    listening    it receives legacy advertisements, also while it advertises
                        ok    temperature  thermal:cpu-thermal reads 48.199 °C; other sensors: hwmon:cpu_thermal:temp1
                        ok    battery      no sensor for "auto"; telemetry sends this value as unknown
                        ok    unit         /usr/lib/systemd/system/pharos@.service is installed, enabled for lobby-north
                        ok    clock        it is synchronised

                        Nothing prevents a beacon on virtual.

                        """, errors: "", code: 0))
    }

    @Test func jsonHasTheSameFindings() throws {
        try put(Self.raspberryPi)
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "virtual", "--json")
        #expect(
            result.output.hasPrefix(
                "{\"adapter\":\"virtual\",\"good\":true,\"findings\":[{\"topic\":\"kernel\",\"mark\":\"ok\","
                    + "\"message\":\"virtual does not need the kernel's Bluetooth\",\"remedy\":null},"))
        #expect(
            result.output.hasSuffix(
                "{\"topic\":\"clock\",\"mark\":\"ok\",\"message\":\"it is synchronised\","
                    + "\"remedy\":null}]}\n"))
        #expect(result.code == 0 && result.errors == "")
    }

    @Test func reportsAMissingControllerAsAFailure() throws {
        let path = folder.place("no-socket")
        let found = try lines("controller", "--adapter", "unix:\(path)")
        #expect(
            found == [
                "fail controller unix:\(path): there is no such socket; is the controller's program running?",
                "→ plug it in or start it, then run doctor again",
            ])
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "unix:\(path)")
        #expect(result.code == 1)
        #expect(result.output.contains("\n1 problem prevents a beacon on unix:\(path), "))
    }

    @Test func reportsAMissingAdapterAsAFailure() throws {
        let result = try Program.run("doctor", "--root", folder.path, "--adapter", "hci77")
        #expect(result.code == 1)
        #expect(result.output.contains("fail  kernel ") || result.output.contains(" hci77 is missing\n"))
    }
}
