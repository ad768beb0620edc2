import Testing

/// The commands that are sent, in hexadecimal, with names and fields. The expectations were derived by hand from the
/// Core Specification.
@Suite struct DryRunTests {
    /// Arguments for a controller that is not shared. The name of a model follows.
    private static let url = shared + ["--adapter", "virtual", "--like"]
    /// Arguments without an adapter. The advertiser then uses a raw hciN.
    private static let shared = [
        "advertise", "url", "--url", "http://a.info/x", "--measured-power-dbm", "0", "--address", "C0:11:22:33:44:55",
        "--interval-ms", "200", "--radio-power-dbm", "0", "--dry-run",
    ]
    private static let data = "02 01 06 03 03 aa fe 09 16 aa fe 10 00 02 61 04 78"

    private static let questions = """
        01 03 0c 00
            Reset (0x0C03)
        01 01 10 00
            Read Local Version Information (0x1001)
        01 02 10 00
            Read Local Supported Commands (0x1002)
        01 09 10 00
            Read BD_ADDR (0x1009)
        01 03 20 00
            LE Read Local Supported Features (0x2003)
        01 01 0c 08 ff ff ff ff ff 1f 00 20
            Set Event Mask (0x0C01)
            Event_Mask: 0x20001FFFFFFFFFFF

        """

    private static let legacy: [(String, [String])] = [
        ("01 0a 20 01 00", ["LE Set Advertising Enable (0x200A)", "Advertising_Enable: off (0x00)"]),
        ("01 05 20 06 55 44 33 22 11 c0", ["LE Set Random Address (0x2005)", "Random_Address: C0:11:22:33:44:55"]),
        (
            "01 06 20 0f 40 01 40 01 03 01 00 00 00 00 00 00 00 07 00",
            [
                "LE Set Advertising Parameters (0x2006)", "Advertising_Interval_Min: 0x0140 (200 ms)",
                "Advertising_Interval_Max: 0x0140 (200 ms)", "Advertising_Type: ADV_NONCONN_IND (0x03)",
                "Own_Address_Type: random (0x01)", "Peer_Address_Type: public (0x00)",
                "Peer_Address: 00:00:00:00:00:00",
                "Advertising_Channel_Map: 37,38,39 (0x07)", "Advertising_Filter_Policy: all devices (0x00)",
            ]
        ),
        (
            "01 26 fc 03 fe 00 00",
            [
                "Broadcom Set Transmit Power (0xFC26)", "Handle: LE advertising (0x00FE)", "Transmit_Power: 0 dBm",
            ]
        ),
        ("01 07 20 00", ["LE Read Advertising Physical Channel Tx Power (0x2007)"]),
        (
            "01 08 20 20 11 " + data + String(repeating: " 00", count: 14),
            [
                "LE Set Advertising Data (0x2008)", "Advertising_Data_Length: 17",
                "Advertising_Data: " + data.filter { $0 != " " },
            ]
        ),
        ("01 0a 20 01 01", ["LE Set Advertising Enable (0x200A)", "Advertising_Enable: on (0x01)"]),
    ]

    private static func text(_ commands: [(String, [String])]) -> String {
        commands.map { hex, lines in hex + "\n" + lines.map { "    " + $0 + "\n" }.joined() }.joined()
    }

    @Test func raspberryPi() throws {
        let result = try Program.run(Self.url + ["raspberry-pi"])
        let masks = """
            01 01 20 08 1f 00 00 00 00 00 00 00
                LE Set Event Mask (0x2001)
                LE_Event_Mask: 0x000000000000001F
            01 6d 0c 02 01 00
                Write LE Host Supported (0x0C6D)
                LE_Supported_Host: on (0x01)
                Unused: off (0x00)

            """
        let start =
            "# sent to a controller like raspberry-pi (choose with --like); nothing leaves this machine\n"
            + Self.questions
            + masks + Self.text(Self.legacy)
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(String(result.output.prefix(start.count)) == start)
        let rest = String(result.output.dropFirst(start.count))
        #expect(
            rest == "# on the air now; these commands take it off again:\n" + Self.text([Self.legacy[0]])
                + "01 03 0c 00\n    Reset (0x0C03)\n")
    }

    @Test(arguments: ["intel", "zephyr"])
    func extendedControllers(_ model: String) throws {
        let result = try Program.run(Self.url + [model])
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output.hasPrefix(
                "# sent to a controller like \(model) (choose with --like); nothing leaves this machine\n"
                    + Self.questions)
        )
        let commands = result.output.split(separator: "\n").filter { $0.hasPrefix("01 ") }.map(String.init)
        let dualMode = model == "intel" ? ["01 6d 0c 02 01 00"] : []
        let enable = "01 39 20 06 01 01 00 00 00 00"
        let disable = "01 39 20 06 00 01 00 00 00 00"
        #expect(
            commands == [
                "01 03 0c 00", "01 01 10 00", "01 02 10 00", "01 09 10 00", "01 03 20 00",
                "01 01 0c 08 ff ff ff ff ff 1f 00 20", "01 01 20 08 1f 10 02 00 00 00 00 00",
            ] + dualMode + [
                "01 3b 20 00", "01 3a 20 00", "01 4b 20 00", disable,
                "01 36 20 19 00 10 00 40 01 00 40 01 00 07 01 00 00 00 00 00 00 00 00 00 01 00 01 00 00",
                "01 35 20 07 00 55 44 33 22 11 c0", "01 37 20 15 00 03 01 11 " + Self.data, enable, disable,
                "01 03 0c 00",
            ])
        #expect(result.output.contains("    Advertising_Event_Properties: legacy PDU (0x0010)\n"))
        #expect(result.output.contains("    Primary_Advertising_Interval_Min: 0x0140 (200 ms)\n"))
        #expect(result.output.contains("    Advertising_TX_Power: 0 dBm\n"))
    }

    @Test func jsonHasALineForEachCommand() throws {
        let result = try Program.run(Self.url + ["core-4", "--json"])
        #expect(result.code == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines.contains(
                "{\"opcode\":\"0x200A\",\"name\":\"LE Set Advertising Enable\",\"hex\":\"010a200101\","
                    + "\"fields\":{\"Advertising_Enable\":\"on (0x01)\"}}"))
        #expect(lines.allSatisfy { $0.hasPrefix("{\"opcode\":\"0x") && $0.hasSuffix("}}") })
    }

    @Test func opensNoAdapter() throws {
        let result = try Program.run(Self.shared + ["--like", "intel", "--adapter", "unix:/missing.sock"])
        #expect(result.code == 0 && result.errors.isEmpty)
    }

    @Test func doesNotResetOrMaskASharedAdapter() throws {
        let result = try Program.run(Self.shared + ["--like", "intel", "--adapter", "hci7"])
        let commands = result.output.split(separator: "\n").filter { $0.hasPrefix("01 ") }.map(String.init)
        #expect(
            commands == [
                "01 01 10 00", "01 02 10 00", "01 09 10 00", "01 03 20 00", "01 3b 20 00", "01 3a 20 00", "01 4b 20 00",
                "01 39 20 06 00 01 ef 00 00 00",
                "01 36 20 19 ef 10 00 40 01 00 40 01 00 07 01 00 00 00 00 00 00 00 00 00 01 00 01 00 00",
                "01 35 20 07 ef 55 44 33 22 11 c0", "01 37 20 15 ef 03 01 11 " + Self.data,
                "01 39 20 06 01 01 ef 00 00 00", "01 39 20 06 00 01 ef 00 00 00", "01 3c 20 01 ef",
            ])
        #expect(try Program.run(Self.shared + ["--like", "intel"]).output == result.output)
    }

    @Test func severalAdvertisementsAreShownWithTheirRotation() throws {
        let profile = Program.profile("lobby-north")
        let result = try Program.run("advertise", profile, "--dry-run")
        #expect(result.code == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        // One command with parameters, and the data of each advertisement: the first before advertising is enabled, the
        // others while it is.
        #expect(lines.filter { $0 == "01 06 20 0f a3 00 a3 00 02 01 00 00 00 00 00 00 00 07 00" }.count == 1)
        let commands = lines.filter { $0.hasPrefix("01 ") }.map { $0.prefix(8) }
        #expect(
            commands == [
                "01 01 10", "01 02 10", "01 09 10", "01 03 20", "01 0a 20", "01 05 20", "01 06 20", "01 26 fc",
                "01 07 20",
                "01 08 20", "01 09 20", "01 0a 20", "01 08 20", "01 08 20", "01 08 20", "01 0a 20", "01 08 20",
                "01 09 20",
            ])
        let table = lines.drop { !$0.hasPrefix("# set 1 sends") }.prefix { $0.hasPrefix("#") }
        #expect(
            Array(table) == [
                "# set 1 sends 4 advertisements in turn: its interval is 101.875 ms, with an event every 106.875 ms on average",
                "#                     asked ms  granted ms  due in 600 s  sent in 600 s",
                "#   1  ibeacon             200     199.046          2927           2941",
                "#   2  eddystone-uid       350     348.348          1690           1698",
                "#   3  eddystone-url       700     696.719           851            855",
                "#   4  eddystone-tlm      5000    4976.712           120            120",
                "# on the air now; these commands take it off again:",
            ])
        let json = try Program.run("advertise", profile, "--dry-run", "--json")
        #expect(json.output.contains("\n{\"set\":1,\"setIntervalMs\":101.875,\"members\":[{\"advertisement\":1,"))
        let own = try Program.run("advertise", profile, "--dry-run", "--like", "intel")
        #expect(own.output.split(separator: "\n").filter { $0.hasPrefix("01 36 20 19 ") }.count == 4)
        #expect(!own.output.contains("shared"))
    }

    @Test func refusesACaptureOfADryRun() throws {
        #expect(try Program.run(Self.shared + ["--capture", "/missing/file"]).code == 64)
    }
}
