import Testing

/// `--adapter hciN:mgmt` on a kernel without Bluetooth: the commands that would be sent, and the refusals.
@Suite struct ManagedTests {
    private static let url = [
        "advertise", "url", "--url", "http://a.info/x", "--measured-power-dbm", "0", "--interval-ms", "200",
        "--radio-power-dbm", "-4", "--adapter", "hci3:mgmt",
    ]
    private static let data = "02 01 06 03 03 aa fe 09 16 aa fe 10 00 02 61 04 78"

    @Test func aDryRunShowsTheMessagesToTheKernel() throws {
        let result = try Program.run(Self.url + ["--dry-run", "--like", "intel"])
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                # sent to the kernel for a controller like intel (choose with --like); nothing leaves this machine
                # warning: hci3:mgmt: the kernel chooses a new random address at each start; --adapter hci3 or hci3:user keeps one address
                54 00 03 00 12 00 0c 00 c0 00 00 00 00 00 00 40 01 00 00 40 01 00 00 fc
                    Add Extended Advertising Parameters (0x0054)
                    Instance: 12
                    Flags: use intervals, use TX power (0x0000C000)
                    Duration: 0 s
                    Timeout: 0 s
                    Min_Interval: 0x0140 (200 ms)
                    Max_Interval: 0x0140 (200 ms)
                    TX_Power: -4 dBm
                55 00 03 00 14 00 0c 11 00 \(Self.data)
                    Add Extended Advertising Data (0x0055)
                    Instance: 12
                    Adv_Data: \(Self.data.filter { $0 != " " })
                    Scan_Rsp: none
                # on the air now; these commands take it off again:
                3f 00 03 00 01 00 0c
                    Remove Advertising (0x003F)
                    Instance: 12

                """)
    }

    @Test func dryRunWarnsOfIgnoredSettings() throws {
        let result = try Program.run(Self.url + ["--dry-run", "--like", "raspberry-pi"])
        let warnings = result.output.split(separator: "\n").filter { $0.hasPrefix("# warning: hci3:mgmt: ") }
        #expect(warnings.count == 3)
        #expect(warnings.allSatisfy { $0.contains("--adapter hci3 or hci3:user") })
        #expect(result.output.contains("the interval is not 200 ms"))
        #expect(result.output.contains("the radio power of -4 dBm is ignored"))
    }

    @Test func jsonHasALineForEachMessageAndWarningsGoToStderr() throws {
        let result = try Program.run(Self.url + ["--dry-run", "--json"])
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        let removal =
            "{\"opcode\":\"0x003F\",\"name\":\"Remove Advertising\",\"hex\":\"3f000300010005\","
            + "\"fields\":{\"Instance\":\"5\"}}"
        #expect(lines.last == removal)
        #expect(result.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("pharos: warning: hci3:mgmt: ") })
    }

    @Test func refusesACaptureAndSuggestsBtmon() throws {
        let result = try Program.run(Self.url + ["--capture", "/missing/file"])
        #expect(result.code == 64)
        #expect(result.errors.contains("btmon -w"))
    }

    @Test func adaptersCommandRefusesTheKernelsManager() throws {
        let result = try Program.run("adapters", "--adapter", "hci3:mgmt")
        #expect(result.code == 64)
        #expect(result.errors.contains("hci3:mgmt: the kernel's advertising manager accepts no HCI commands"))
    }
}
