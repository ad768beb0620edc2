import Testing

/// Wrong arguments, bad input and missing files: each with its exit code (sysexits) and its message.
@Suite struct ExitCodeTests {
    struct Mistake: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let code: Int32
        /// Expected in the first line on standard error.
        let sentence: String

        init(_ words: String, _ code: Int32, _ sentence: String) {
            arguments = words.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            self.code = code
            self.sentence = "pharos: " + sentence
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"
    private static let url = "advertise url --url https://a.org --measured-power-dbm -18"

    private static func value(_ text: String, _ option: String, _ reason: String) -> String {
        "The value '\(text)' is invalid for '\(option)': \(reason)"
    }

    static let encoding = [
        Mistake(
            "encode ibeacon", 64,
            "Missing expected arguments '--uuid <uuid>', '--major <number>' and "
                + "'--minor <number>'"),
        Mistake(
            "ibeacon --major=1 --uuid \(uuid)", 64,
            "Missing expected argument '--minor <number>'"),
        Mistake("encode beacon", 64, "pharos encode has no command \"beacon\"; did you mean `pharos encode ibeacon`?"),
        Mistake("stauts", 64, "pharos has no command \"stauts\"; did you mean `pharos status`?"),
        Mistake(
            "check lobby.json", 64,
            "pharos has no command \"check\"; did you mean `pharos profile check`, `pharos fleet check` or `pharos site check`?"
        ),
        Mistake("interval", 64, "pharos has no command \"interval\"; did you mean `pharos plan interval`?"),
        Mistake("help stauts", 64, "pharos has no command \"stauts\"; did you mean `pharos status`?"),
        Mistake(
            "help profile nosuch", 64, "pharos profile has no command \"nosuch\"; there are init, check, show, schema"),
        Mistake("encode tlm --speed 1", 64, "Unknown option '--speed'"),
        Mistake(
            "encode ibeacon --uuid 12 --major 1 --minor 1 --measured-power-dbm -59", 64,
            value("12", "--uuid <uuid>", "a UUID has 32 hexadecimal digits, not 2")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major 65536 --minor 1 --measured-power-dbm -59", 64,
            value("65536", "--major <number>", "65536 is out of range 0...65535")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major -1 --minor 1 --measured-power-dbm -59", 64,
            value("-1", "--major <number>", "-1 is out of range 0...65535")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major 0x-1 --minor 1 --measured-power-dbm -59", 64,
            value("0x-1", "--major <number>", "it is not a whole number (decimal, or hexadecimal after 0x)")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major 3,5 --minor 1 --measured-power-dbm -59", 64,
            value(
                "3,5", "--major <number>",
                "it is not a whole number (decimal, or hexadecimal after 0x); did you mean 3 or 4?")),
        Mistake(
            "scan --path-loss-exponent 2,5", 64,
            value("2,5", "--path-loss-exponent <n>", "write a decimal point, not a comma")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major 99999999999999999999 --minor 1 --measured-power-dbm -59", 64,
            value(
                "99999999999999999999", "--major <number>",
                "it is not a whole number (decimal, or hexadecimal after 0x)")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major 1 --minor 1 --measured-power-dbm 1", 64,
            value("1", "--measured-power-dbm <dBm>", "measured power at 1 m: 1 is out of range -127...0 dBm")),
        Mistake(
            "encode ibeacon --uuid \(uuid) --major 1 --minor 1 --measured-power-dbm -128", 64,
            value("-128", "--measured-power-dbm <dBm>", "measured power at 1 m: -128 is out of range -127...0 dBm")),
        Mistake(
            "encode url --url https://a.org --measured-power-dbm 21", 64,
            value("21", "--measured-power-dbm <dBm>", "measured power at 0 m: 21 is out of range -100...20 dBm")),
        Mistake(
            "encode url --url https://a.org --measured-power-dbm 0 --measured-power-1m-dbm -41", 64,
            "Give --measured-power-dbm or --measured-power-1m-dbm, not both."),
        Mistake(
            "encode uid --instance 000000000001 --measured-power-dbm 0", 64,
            "Give the namespace: --namespace, --namespace-from-domain or --namespace-from-uuid."),
        Mistake(
            "encode tlm --salt 1234", 64, "--rotation-exponent, --time-s and --salt go with --identity-key-file."),
        Mistake(
            "encode tlm --identity-key \(EncodeTests.key) --rotation-exponent 3", 64,
            "The encrypted form needs --time-s and --salt."),
        Mistake(
            "encode tlm --uptime-s -0.01", 64,
            value("-0.01", "--uptime-s <seconds>", "it is out of range 0...429496729.5 s")),
        Mistake(
            "encode eid --identity-key \(EncodeTests.key) --rotation-exponent 16 --time-s 0 --measured-power-dbm 0", 64,
            value("16", "--rotation-exponent <k>", "16 is out of range 0...15")),
        Mistake(
            "encode raw --structure 01:06 --format json --explain", 64,
            "--explain prints a table for people: use it with --format hex."),
        Mistake("encode raw", 64, "Give at least one --structure TYPE:HEX."),
        Mistake(
            "encode raw --structure 100:00", 64,
            value(
                "100:00", "--structure <type:hex>", "the type before the colon has one or two hexadecimal digits")),
        Mistake(
            "encode raw --structure 0x09", 64,
            value(
                "0x09", "--structure <type:hex>",
                "write TYPE:HEX, the type in hexadecimal, such as 09:4e64654d31")),
    ]

    static let advertising = [
        Mistake(
            "\(url) --interval-ms 19.6", 64,
            value("19.6", "--interval-ms <ms>", "it is out of range 20 ms...10485.759 s")),
        Mistake(
            "\(url) --interval-ms 1000000000000000s", 64,
            value("1000000000000000s", "--interval-ms <ms>", "it is out of range 20 ms...10485.759 s")),
        Mistake(
            "\(url) --interval-ms fast", 64,
            value(
                "fast", "--interval-ms <ms>", "write milliseconds as 100, 100ms or 152.5, or seconds as 1.28s")),
        Mistake(
            "\(url) --duration-s 1000000000000000", 64,
            value(
                "1000000000000000", "--duration-s <seconds>",
                "that is too long: a hundred years is the longest time")),
        Mistake(
            "\(url) --duration-s -1", 64,
            value(
                "-1", "--duration-s <seconds>",
                "write a number of seconds such as 15, or with a unit: 15s, 1.5 min, 2 h")),
        Mistake(
            "\(url) --radio-power-dbm 21", 64,
            value("21", "--radio-power-dbm <dBm>", "radio power: 21 is out of range -127...20 dBm")),
        Mistake(
            "\(url) --channels 36", 64, value("36", "--channels <list>", "name one or more of 37,38,39")),
        Mistake(
            "\(url) --pdu none", 64,
            value("none", "--pdu <type>", "use nonconnectable, scannable, connectable")),
        Mistake(
            "\(url) --address 40:11:22:33:44:55", 64,
            value(
                "40:11:22:33:44:55", "--address <address>",
                "use public, random-static, or six bytes whose first byte is C0...FF")),
        Mistake(
            "\(url) --like pc", 64,
            value("pc", "--like <model>", "use one of raspberry-pi, zephyr, intel, core-4")),
        Mistake(
            "\(url) --adapter usb0", 64,
            value(
                "usb0", "--adapter <name>",
                "\"usb0\" is not the name of an adapter; use hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, "
                    + "serial:/dev/ttyACM0@115200 or virtual")),
        Mistake(
            "\(url) --local-name x --pdu nonconnectable", 64,
            "--local-name needs --pdu scannable or connectable."),
        Mistake(
            "advertise eid --identity-key \(EncodeTests.key) --rotation-exponent 3 --measured-power-dbm 0 --local-name x",
            64, "--local-name cannot be combined with an ephemeral id: the name would identify the beacon."),
        Mistake(
            "\(url) --interval-ms 99 --like core-4 --adapter virtual", 64,
            "interval 98.75 ms is out of this controller's range 100 ms...10240 ms: the controller implements Core 4.2, which "
                + "requires at least 100 ms for ADV_NONCONN_IND"),
        Mistake("advertise missing.json", 66, "missing.json: there is no such file"),
        Mistake("advertise /", 66, "/: this is a directory, not a file"),
        Mistake(
            "\(url) --adapter unix:/missing.sock", 69,
            "unix:/missing.sock: there is no such socket; is the controller's program running?"),
        Mistake(
            "\(url) --adapter serial:/missing@9600", 69,
            "serial:/missing@9600: there is no such serial line; is the board plugged in? "
                + "`ls /dev/ttyACM* /dev/ttyUSB*` lists the serial lines"),
        Mistake(
            "\(url) --adapter virtual --capture /missing/file", 71,
            "--capture /missing/file: it cannot be written: No such file or directory"),
    ]

    static let others = [
        Mistake(
            "bogus", 64,
            "pharos has no command \"bogus\"; there are encode, decode, adapters, advertise, ibeacon, run, install, set, remove, scan, "
                + "audit, qualify, calibrate, find, irk, status, "
                + "doctor, controller, profile, fleet, plan, site, sample, collect, crowd, history, inventory, listen, locate, map, proxy, rehearse, where, zones"
        ),
        Mistake("decode", 64, "Missing expected argument '<input> ...'"),
        Mistake("decode ", 65, "nothing to decode: there are no bytes"),
        Mistake("decode a.btsnoop b.btsnoop", 64, "a.btsnoop: decode takes one file and no other arguments"),
        Mistake("decode 02 /dev/null", 64, "/dev/null: decode takes one file and no other arguments"),
        Mistake(
            "decode 020106 --json --explain", 64,
            "--explain prints a table for people: leave it out with --json."),
        Mistake("decode zz", 65, "\"z\" at character 1 is not a hexadecimal digit"),
        Mistake("decode /missing", 66, "/missing: there is no such file"),
        Mistake("decode missing.btsnoop", 66, "missing.btsnoop: there is no such file"),
        Mistake("decode /", 66, "/: this is a directory, not a file"),
        Mistake(
            "decode 00 --identity-key \(EncodeTests.key)", 64,
            "Decrypting needs --rotation-exponent and --time-s as well as the identity key."),
        Mistake("profile check missing.json", 66, "missing.json: there is no such file"),
        Mistake("profile show missing.json", 66, "missing.json: there is no such file"),
        Mistake("profile check /", 66, "/: this is a directory, not a file"),
        Mistake(
            "adapters --adapter unix:", 64,
            value("unix:", "--adapter <name>", "\"unix:\" needs the path of a socket: unix:PATH")),
        Mistake("controller", 64, "Missing expected argument '--listen <address> ...'"),
        Mistake(
            "controller --listen nowhere", 64,
            value("nowhere", "--listen <address>", "use unix:PATH, tcp:HOST:PORT or vhci")),
        Mistake(
            "controller --listen unix:/missing/a.sock", 69,
            "/missing/a.sock: bind: No such file or directory"),
    ]

    @Test(arguments: encoding + advertising + others)
    func mistakeHasItsExitCodeAndMessage(_ mistake: Mistake) throws {
        let result = try Program.run(mistake.arguments)
        #expect(result.code == mistake.code)
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").first.map(String.init) == mistake.sentence)
    }

    @Test func messagesNameStandardInput() throws {
        for (input, sentence) in [
            ("02010\n", "standard input:1: "), ("020106\nzz\n", "standard input:2: \"z\" at character 1 "),
            ("", "standard input: nothing to decode: it is empty"),
            ("\u{FF}\u{FE}", "standard input:1: \"\\u{00FF}\" at character 1 is not a hexadecimal digit"),
            ("\u{0}", "standard input: this is neither a capture (btsnoop, pcap, pcapng) nor hexadecimal text"),
        ] {
            let result = try Program.run(["decode", "-"], input: input)
            #expect(result.code == 65)
            #expect(result.errors.hasPrefix("pharos: " + sentence))
        }
    }

    /// No value of an option makes the program trap.
    @Test(arguments: [
        "", "-", "--", "0x", "-9223372036854775808", "9223372036854775807", "1e400", "nan", "\u{301}0", "\u{663}",
        "0..",
        ":",
    ])
    func oddValuesAreRefused(_ text: String) throws {
        let options = [
            "--interval-ms", "--duration-s", "--radio-power-dbm", "--channels", "--pdu", "--address", "--like",
            "--adapter",
            "--measured-power-dbm",
        ]
        for option in options {
            let arguments = ["advertise", "url", "--url", "https://a.org", "--measured-power-1m-dbm", "-50"]
            #expect(try Program.run(arguments + ["\(option)=\(text)", "--dry-run"]).code == 64, "\(option)=\(text)")
        }
        for option in ["--battery-mv", "--temperature-c", "--advertisements", "--uptime-s"] {
            #expect(try Program.run("encode", "tlm", "\(option)=\(text)").code == 64, "\(option)=\(text)")
        }
    }
}
