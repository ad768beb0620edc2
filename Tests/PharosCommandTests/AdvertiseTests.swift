import Configuration
import Glibc
import HCI
import LinuxHost
import TestSupport
import Testing

/// `advertise` on the virtual adapter, in real time.
@Suite struct AdvertiseTests {
    private static let octets = "0201060303aafe0916aafe100002610478"
    private static let url = [
        "advertise", "url", "--url", "http://a.info/x", "--measured-power-dbm", "0", "--address", "C0:11:22:33:44:55",
        "--adapter", "virtual",
    ]

    /// Returns the JSON value of each line.
    private func values(_ text: String) throws -> [JSONNode] {
        try text.split(separator: "\n").map { line in
            let (root, problems) = JSONDocument.parse(Array(line.utf8))
            #expect(problems.isEmpty)
            return try #require(root, "no JSON: \(line)")
        }
    }

    @Test func jsonReportsOnAirAndOffAir() throws {
        let begin = MonotonicClock.nanoseconds()
        let result = try Program.run(
            Self.url + ["--json", "--duration-s", "1.2", "--interval-ms", "100", "--radio-power-dbm", "4"])
        let seconds = Double(MonotonicClock.nanoseconds() - begin) / 1e9
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(seconds >= 1.2 && seconds < 20)
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 2)
        let members =
            "\"address\":\"C0:11:22:33:44:55\",\"addressType\":\"random-static\",\"type\":\"eddystone-url\","
            + "\"pdu\":\"nonconnectable\",\"intervalMs\":100,\"grantedIntervalMs\":100,\"sharedBy\":1,\"instance\":null,"
            + "\"radioPowerDbm\":4,\"grantedRadioPowerDbm\":4,\"radioPowerNote\":\"4 dBm granted\","
            + "\"octets\":\"\(Self.octets)\",\"localName\":null"
        #expect(
            lines[0] == "{\"event\":\"on-air\",\"name\":\"url\",\"adapter\":\"virtual\",\"family\":\"legacy\","
                + "\(members),\"advertisements\":[{\(members)}],\"warnings\":[]}")
        #expect(try values(result.output).map { $0["event"]?.string } == ["on-air", "off-air"])
        let off = try #require(
            lines[1].wholeMatch(
                of:
                    /\{"event":"off-air","events":(\d+),"eventsCounted":false,"heard":(\d+),"advertisements":\[.*\]\}/
            ))
        #expect(lines[1].hasSuffix("\"advertisements\":[{\"type\":\"eddystone-url\",\"events\":\(off.1)}]}"))
        let numbers = [off.1, off.2].map { Int($0) ?? 0 }
        // In 1.2 s with an event every 105 ms; on a busy machine there may be fewer.
        #expect((11...14).contains(numbers[0]) && numbers[1] >= 1 && numbers[1] <= numbers[0] + 1, "\(lines[1])")
    }

    @Test(arguments: [
        ("https://example.org", "use `pharos advertise url --url https://example.org`"),
        ("kitchen.json --radio-power-dbm 4", "write \"radioPowerDbm\" into kitchen.json."),
        ("eddystone-url --bogus", "Unknown option '--bogus'"),
    ])
    func pointsToTheCommandOrTheFile(_ words: String, _ advice: String) throws {
        let result = try Program.run(["advertise"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 64 && result.errors.contains(advice), "\(result)")
    }

    @Test func acceptsTheTypeNameOfAFrame() throws {
        let words = ["--url", "https://example.org", "--adapter", "virtual", "--dry-run"]
        let short = try Program.run(["advertise", "url"] + words)
        let long = try Program.run(["advertise", "eddystone-url"] + words)
        #expect(long.code == 0 && long.output == short.output, "\(long)")
    }

    @Test func channelsMayHaveSpacesBetweenThem() throws {
        let result = try Program.run(Self.url + ["--dry-run", "--channels", "37, 38"])
        let expected = try Program.run(Self.url + ["--dry-run", "--channels", "37,38"])
        #expect(result.code == 0 && result.output == expected.output, "\(result)")
    }

    @Test func aCaptureReplacesAFileOnlyWithForce() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("a.btsnoop", text: "old")
        let capture = Self.url + ["--quiet", "--duration-s", "0.2", "--capture"]
        let refused = try Program.run(capture + [path])
        #expect(refused.code == 64 && refused.errors.contains("this file exists; choose another name, or use --force"))
        #expect(try Files.read(path) == Array("old".utf8))
        #expect(try Program.run(capture + [path, "--force"]).code == 0)
        #expect(try Files.read(path).starts(with: Array("btsnoop".utf8)))
        let output = try Program.run(capture + ["-"])
        #expect(output.code == 64 && output.errors.contains("--capture needs the name of a file"), "\(output)")
    }

    @Test func showsTheLocalNameOfTheScanResponse() throws {
        let result = try Program.run(Self.url + ["--duration-s", "0.2", "--local-name", "Hall"])
        #expect(
            result.code == 0 && result.output.contains("  local name    \"Hall\" in the scan response\n"), "\(result)")
    }

    @Test func jsonHasTheLocalNameOfTheScanResponse() throws {
        let result = try Program.run(Self.url + ["--duration-s", "0.2", "--local-name", "Hall \"1\"", "--json"])
        let onAir = try values(result.output).first
        #expect(onAir?["localName"]?.string == "Hall \"1\"", "\(result)")
        #expect(onAir?["advertisements"]?[0]?["localName"]?.string == "Hall \"1\"", "\(result)")
    }

    @Test(arguments: ["raspberry-pi", "zephyr", "intel", "core-4"])
    func everyModelSendsAndIsReceived(_ model: String) throws {
        let result = try Program.run(Self.url + ["--like", model, "--duration-s", "0.8"])
        #expect(result.code == 0 && result.errors.isEmpty)
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 10)
        #expect(lines[0].hasPrefix("url on virtual · Core "))
        #expect(lines[1] == "● on the air for 00:00:00")
        #expect(lines[2] == "  payload       Eddystone-URL http://a.info/x, 0 dBm at 0 m")
        #expect(lines[3] == "  bytes         02 01 06 03 03 aa fe 09 16 aa fe 10 00 02 61 04 78")
        #expect(lines[4] == "  address       C0:11:22:33:44:55 (static random)")
        #expect(lines[5] == "  interval      requested 100 ms, granted 100 ms; an event every 105 ms on average")
        #expect(lines[6].hasPrefix("  radio power   ") && lines[6].hasSuffix(" dBm, the controller's own choice"))
        #expect(lines[7] == "  events        1 (computed: this controller does not count them)")
        #expect(lines[8].hasPrefix("off the air after 00:00:0"))
        #expect(lines[9].contains(" times at ") && lines[9].hasSuffix(": Eddystone-URL http://a.info/x, 0 dBm at 0 m"))
    }

    @Test func countsReceivedReportsOfEachFrame() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(
            "two.json",
            text: """
                { "version": 1, "name": "two", "advertisements": [
                  { "type": "eddystone-url", "url": "https://example.org", "intervalMs": 100, "measuredPowerDbm": 0 },
                  { "type": "eddystone-tlm", "temperature": null, "battery": null, "intervalMs": 200 } ] }
                """)
        let result = try Program.run("advertise", path, "--adapter", "virtual", "--duration-s", "1")
        let received = result.output.split(separator: "\n").filter { $0.contains("second virtual controller") }
        #expect(result.code == 0 && received.count == 2, "\(result)")
        #expect(
            received.first?.contains(": Eddystone-URL ") == true && received.last?.contains(": Eddystone-TLM ") == true)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func signalsEndAdvertising(_ signal: Int32) throws {
        let program = try RunningProgram(Self.url + ["--json"])
        try #require(program.prints("\"on-air\""))
        usleep(300_000)
        #expect(!program.output.contains("off-air"))
        program.signal(signal)
        let result = program.end()
        #expect(result.code == 0 && result.errors.isEmpty)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasPrefix("{\"event\":\"off-air\",\"events\":"))
    }

    @Test func furtherSignalsAreIgnored() throws {
        let program = try RunningProgram(Self.url + ["--json"])
        try #require(program.prints("\"on-air\""))
        for _ in 0..<5 { program.signal(SIGINT) }
        let result = program.end()
        #expect(result.code == 0 && result.output.contains("\"off-air\""))
    }

    @Test func quietPrintsNothing() throws {
        #expect(
            try Program.run(Self.url + ["--quiet", "--duration-s", "0.2"])
                == Program.Result(output: "", errors: "", code: 0))
    }

    @Test func captureIsReadByDecode() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("a.btsnoop")
        #expect(try Program.run(Self.url + ["--quiet", "--duration-s", "0.2", "--capture", path]).code == 0)
        let octets = try Files.read(path)
        // btsnoop version 1, datalink 1002: HCI with H4 type octets.
        #expect(Array(octets.prefix(16)) == Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA])
        let lines = try values(try Program.run("decode", path, "--json").output)
        try #require(lines.count == 1)
        #expect(lines[0]["octets"]?.string == Self.octets && lines[0]["source"]?.string == "command")
        #expect(lines[0]["command"]?.string == "LE Set Advertising Data")
        let text = try Program.run("decode", path)
        #expect(text.code == 0)
        #expect(text.output.hasSuffix("  LE Set Advertising Data\n    Eddystone-URL http://a.info/x, 0 dBm at 0 m\n"))
        // A capture that is cut off is malformed input; the packets before the cut are printed.
        let short = try folder.file("short.btsnoop", Array(octets.dropLast(3)))
        let cut = try Program.run("decode", short)
        #expect(cut.code == 65 && cut.output == text.output)
        #expect(cut.errors.hasPrefix("pharos: \(short): "))
    }

    @Test func captureWithAnyTimeIsDecoded() throws {
        let folder = try TemporaryFolder()
        let packet: [UInt8] = [0x01, 0x08, 0x20, 0x20, 3, 2, 1, 6] + [UInt8](repeating: 0, count: 28)
        for time in [UInt8(0), 0x7F, 0x80, 0xFF] {
            let size: [UInt8] = [0, 0, 0, UInt8(packet.count)]
            let record = size + size + [0, 0, 0, 2, 0, 0, 0, 0] + [UInt8](repeating: time, count: 8) + packet
            let file = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA] + record
            let result = try Program.run("decode", try folder.file("time.btsnoop", file), "--json")
            #expect(result.code == 0, "\(time): \(result.errors)")
            #expect(result.output.contains("\"octets\":\"020106\""))
        }
    }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"

    @Test(arguments: [
        ("url --url https://a.org", "02010603 03aafe 0816aafe10ee 0361 08"),
        ("ibeacon --uuid \(uuid) --major 1 --minor 2", "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5"),
    ])
    func sendsAndReportsATypicalMeasuredPower(_ words: String, _ octets: String) throws {
        let octets = octets.filter { $0 != " " }
        let encoded = try Program.shell("exec \"$0\" encode \(words)")
        #expect(encoded.code == 0 && encoded.output == octets + "\n", "\(encoded)")
        let sent = try Program.shell("exec \"$0\" advertise \(words) --adapter virtual --duration-s 0.1s --json")
        #expect(sent.code == 0 && sent.output.contains("\"octets\":\"\(octets)\""), "\(sent)")
        for result in [encoded, sent] {
            #expect(result.errors.hasPrefix("pharos: the measured power is typical (-59 dBm at 1 m), not measured"))
        }
        let given = try Program.shell("exec \"$0\" encode \(words) --measured-power-dbm -20")
        #expect(given.code == 0 && given.errors.isEmpty, "\(given)")
    }

    @Test(arguments: [
        ("advertise --url https://a.org", "'--url'. Did you mean `pharos advertise url --url`?"),
        ("advertise url --url https://a.org --duration 3", "'--duration'. Did you mean '--duration-s'?"),
        ("plan collisions --beacons 5 --interval 100ms", "'--interval'. Did you mean '--interval-ms'?"),
        ("plan collisions --beacons 5 --intervall-ms 100", "'--intervall-ms'. Did you mean '--interval-ms'?"),
        ("plan density --detect-within 10", "'--detect-within'. Did you mean '--detect-within-s'?"),
    ])
    func reportsAMisspelledOptionBeforeAMissingOne(_ words: String, _ sentence: String) throws {
        let result = try Program.shell("exec \"$0\" \(words)")
        #expect(result.code == 64 && result.errors.hasPrefix("pharos: Unknown option \(sentence)\n"), "\(result)")
    }

    @Test(arguments: [
        ("--detect-within-s 15s --probability 95", "--detect-within-s 15 --probability 0.95"),
        ("--detect-within-s '0.5 min' --probability 95%", "--detect-within-s 30 --probability 0.95"),
        ("--detect-within-s 15000ms --probability '95 %'", "--detect-within-s 15 --probability .95"),
    ])
    func acceptsTimesWithUnitsAndProbabilitiesInPercent(_ words: String, _ plain: String) throws {
        let results = try [words, plain].map { try Program.shell("exec \"$0\" plan interval --beacons 5 \($0) --json") }
        #expect(results[0].code == 0 && results[0] == results[1], "\(results)")
        let unclear = try Program.shell("exec \"$0\" plan interval --beacons 5 --detect-within-s 9 --probability 1.5")
        #expect(unclear.code == 64 && unclear.errors.contains("did you mean 1.5 %? Write 1.5% or 0.015"), "\(unclear)")
    }

    @Test func ownValuesAreSent() throws {
        let folder = try TemporaryFolder()
        let value = try folder.file("co2", text: "417\n")
        let profile = try folder.file(
            "a.json",
            text: """
                {"version": 1, "name": "a", "advertisements": [{"type": "bthome", "intervalMs": 1000, "temperature": null,
                "battery": null, "voltage": null, "advertisements": false, "values": {"co2": "file:\(value)",
                "door": true, "count": 7, "button": "press", "humidity": "file:\(folder.path)/none"}}]}
                """)
        let sent = try Program.run("advertise", profile, "--adapter", "virtual", "--duration-s", "0.2", "--json")
        #expect(sent.code == 0, "\(sent)")
        let octets = sent.output.split(separator: "\"octets\":\"").last?.prefix { $0 != "\"" } ?? ""
        let decoded = try Program.run("decode", String(octets)).output
        for text in ["co2 417 ppm", "door true", "count 7", "button press"] {
            #expect(decoded.contains(text), "\(decoded)")
        }
        #expect(!decoded.contains("humidity"))
        let shown = try Program.run("profile", "show", profile)
        #expect(shown.code == 0 && shown.output.contains("\"co2\": \"file:\(value)\""), "\(shown)")
    }

    @Test(arguments: [
        ("temprature=21", "BTHome has no object \"temprature\"; did you mean temperature?"),
        ("temperature = 21", "BTHome has no object \"temperature \"; did you mean temperature?"),
        ("door=maybe", "door takes true or false, on or off"), ("button=hit", "button takes one of none, press, "),
    ])
    func explainsWrongBTHomeValues(_ value: String, _ sentence: String) throws {
        let result = try Program.run("encode", "bthome", "--value", value)
        #expect(result.code == 64 && result.errors.contains(sentence), "\(result)")
    }

    @Test func encodeAcceptsBTHomeValuesAsDecodePrintsThem() throws {
        let values = ["door=on", "window=false", "button=long_press", "dimmer=rotate_left 3", "command=step_up 05"]
        let encoded = try Program.run(["encode", "bthome", "--value"] + values)
        #expect(encoded.code == 0, "\(encoded)")
        let decoded = try Program.run("decode", encoded.output.filter { !$0.isNewline }).output
        #expect(
            decoded.contains(
                "door true, window false, button long_press, command step_up 05, dimmer rotate_left 3")
                || decoded.contains("dimmer rotate_left 3"), "\(decoded)")
    }
}
