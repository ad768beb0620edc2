import BluetoothTypes
import Configuration
import HCITransports
import LinuxHost
import TestSupport
import Testing

@testable import BeaconService

/// Problems of a beacon on made-up machines. The results about this machine's own kernel, clock and processes are left
/// out, because they differ between machines.
@Suite struct DoctorReportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the findings of a topic with their marks, each followed by its remedy.
    private func lines(_ topic: String, _ adapter: AdapterName) throws -> [String] {
        DoctorReport(adapter, root: folder.path).findings.filter { $0.topic == topic }.flatMap { finding in
            ["\(finding.mark) \(topic) \(finding.message)"] + (finding.remedy.map { ["→ \($0)"] } ?? [])
        }
    }

    private func put(_ files: [String: String]) throws {
        for (name, text) in files { try folder.file(name, text: text + "\n") }
    }

    @Test func reportCountsTheProblems() {
        let good = DoctorReport(adapter: "hci0", findings: [.ok("a", "b"), .warn("long topic", "c", "d")])
        #expect(good.isGood)
        #expect(
            good.text(color: false) == """
                ok    a           b
                warn  long topic  c
                                  → d

                Nothing prevents a beacon on hci0, 1 warning.

                """)
        let bad = DoctorReport(adapter: nil, findings: [.fail("a", "b", "c"), .fail("d", "e", "f")])
        #expect(!bad.isGood)
        #expect(bad.text(color: false).hasSuffix("\n2 problems prevent a beacon.\n"))
        #expect(bad.text(color: true).hasPrefix("\u{1B}[1;31mfail\u{1B}[0m  a  b\n"))
        #expect(
            bad.json.line == #"{"adapter":null,"good":false,"findings":[{"topic":"a","mark":"fail","message":"b","#
                + #""remedy":"c"},{"topic":"d","mark":"fail","message":"e","remedy":"f"}]}"#)
    }

    /// Querying a controller resets it, so a controller that sends a beacon is not queried.
    @Test func controllerInUseIsNotQueried() throws {
        let process = ProcessIdentity.current
        let ticks = process.startTicks.map(String.init) ?? "null"
        try put([
            "run/pharos/hall.status.json":
                "{\"name\":\"hall\",\"adapter\":\"unix:/none\",\"state\":\"on-air\",\"pid\":\(process.id),"
                + "\"startTicks\":\(ticks)}"
        ])
        #expect(
            try lines("controller", .unix(path: "/none")) == [
                "ok controller not checked, because the beacon hall uses it"
            ])
    }

    @Test func reportsASharedAntenna() throws {
        #expect(try lines("antenna", .virtual).isEmpty)
        try put(["proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4"])
        #expect(
            try lines("antenna", .virtual) == [
                "ok antenna Bluetooth and 2.4 GHz Wi-Fi share one antenna, so Wi-Fi is slow during `pharos scan`; with "
                    + "--scan-window-ms 30 Wi-Fi has half of the time"
            ])
    }

    static let switches: [([String: String], [String])] = [
        ([:], ["ok rfkill the radio has no rfkill switch"]),
        (["type": "wlan", "name": "phy0", "soft": "1", "hard": "1"], ["ok rfkill the radio has no rfkill switch"]),
        (["type": "bluetooth", "name": "hci77", "soft": "0", "hard": "0"], ["ok rfkill the radio is switched on"]),
        (
            ["type": "bluetooth", "name": "hci77", "soft": "1", "hard": "0"],
            ["fail rfkill hci77 is switched off by software", "→ `sudo rfkill unblock bluetooth`"]
        ),
        (
            ["type": "bluetooth", "name": "tpacpi_bluetooth_sw", "soft": "1", "hard": "1"],
            [
                "fail rfkill tpacpi_bluetooth_sw is switched off by hardware",
                "→ turn the radio on with the machine's switch or key, or in its firmware settings",
            ]
        ),
        // The switch of another adapter.
        (
            ["type": "bluetooth", "name": "hci76", "soft": "1", "hard": "0"],
            ["ok rfkill the radio has no rfkill switch"]
        ),
    ]

    @Test(arguments: switches) func reportsTheRadioSwitches(_ files: [String: String], _ found: [String]) throws {
        try put(Dictionary(files.map { ("sys/class/rfkill/rfkill3/\($0)", $1) }) { first, _ in first })
        #expect(try lines("rfkill", .raw(index: 77)) == found)
        #expect(try lines("rfkill", .virtual).isEmpty)
    }

    @Test func unitThatIsNotInstalledIsAWarning() throws {
        #expect(
            try lines("unit", .virtual) == [
                "warn unit pharos@.service is not installed, so no beacon starts at boot",
                "→ install the package pharos, or run `sudo make install` in the source tree",
            ])
        try put(["usr/local/lib/systemd/system/pharos@.service": ""])
        #expect(
            try lines("unit", .virtual).first
                == "warn unit /usr/local/lib/systemd/system/pharos@.service is installed, but no beacon is enabled")
        try put(["etc/systemd/system/pharos@.service": ""])
        #expect(
            try lines("unit", .virtual).first
                == "warn unit /etc/systemd/system/pharos@.service is installed, but no beacon is enabled")
        try put(["etc/systemd/system/multi-user.target.wants/pharos@a.service": ""])
        #expect(
            try lines("unit", .virtual) == [
                "ok unit /etc/systemd/system/pharos@.service is installed, enabled for a",
                "warn unit pharos@a is enabled, but has no profile",
                "→ write /etc/pharos/a.json, or `sudo systemctl disable pharos@a`",
            ])
    }

    @Test func listsTheSensorsThatAutoDoesNotUse() throws {
        try put([
            "sys/class/hwmon/hwmon2/name": "nct6798", "sys/class/hwmon/hwmon2/in0_input": "900",
            "sys/class/thermal/thermal_zone0/type": "cpu", "sys/class/thermal/thermal_zone0/temp": "-274000",
        ])
        #expect(
            try lines("battery", .virtual) == [
                "ok battery no sensor for \"auto\" (available by name: hwmon:nct6798:in0); telemetry sends this value "
                    + "as unknown"
            ])
        #expect(
            try lines("temperature", .virtual) == [
                "ok temperature no sensor for \"auto\" (available by name: thermal:cpu); telemetry sends this value as "
                    + "unknown"
            ])
    }
}
