import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct DecodeTests {
    struct Payload: CustomTestStringConvertible, Sendable {
        let hex: String
        let words: String
        /// The JSON text from `structures` on.
        let json: String

        init(_ hex: String, _ words: String, _ json: String) {
            self.hex = hex
            self.words = words
            self.json = json
        }

        var testDescription: String { words }
    }

    private static let flags = "{\"type\":1,\"name\":\"flags\",\"data\":\"06\"}"
    private static let eddystone = flags + ",{\"type\":3,\"name\":\"complete-16-bit-uuids\",\"data\":\"aafe\"}"

    private static func service(_ data: String) -> String {
        "\"structures\":[\(eddystone),{\"type\":22,\"name\":\"service-data-16\",\"data\":\"\(data)\"}]"
    }

    static let payloads = [
        Payload(
            "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5",
            "iBeacon fb0b57a2-8228-44cd-913a-94a122ba1206, major 1, minor 2, -59 dBm at 1 m",
            "\"structures\":[\(flags),{\"type\":255,\"name\":\"manufacturer-data\","
                + "\"data\":\"4c000215fb0b57a2822844cd913a94a122ba120600010002c5\"}],\"frames\":[{\"type\":\"ibeacon\","
                + "\"uuid\":\"fb0b57a2-8228-44cd-913a-94a122ba1206\",\"major\":1,\"minor\":2,\"measuredPowerDbm\":-59}]"
        ),
        Payload(
            "0201061bff1801beac000102030405060708090a0b0c0d0e0f10111213c307",
            "AltBeacon 000102030405060708090a0b0c0d0e0f10111213, company 0x0118, -61 dBm at 1 m",
            "\"structures\":[\(flags),{\"type\":255,\"name\":\"manufacturer-data\","
                + "\"data\":\"1801beac000102030405060708090a0b0c0d0e0f10111213c307\"}],\"frames\":[{\"type\":\"altbeacon\","
                + "\"companyId\":280,\"id\":\"000102030405060708090a0b0c0d0e0f10111213\",\"measuredPowerDbm\":-61,"
                + "\"reserved\":7}]"),
        Payload(
            "0201060303aafe1716aafe00f48b0ca750095477cb3e770000000000020000",
            "Eddystone-UID 8b0ca750095477cb3e77 000000000002, -12 dBm at 0 m",
            service("aafe00f48b0ca750095477cb3e770000000000020000")
                + ",\"frames\":[{\"type\":\"eddystone-uid\",\"namespace\":\"8b0ca750095477cb3e77\","
                + "\"instance\":\"000000000002\",\"measuredPowerDbm\":-12}]"),
        Payload(
            "0201060303aafe0916aafe100002610478", "Eddystone-URL http://a.info/x, 0 dBm at 0 m",
            service("aafe100002610478")
                + ",\"frames\":[{\"type\":\"eddystone-url\",\"url\":\"http://a.info/x\",\"measuredPowerDbm\":0}]"),
        Payload(
            "0201060303aafe1116aafe2000000080000000000000000000",
            "Eddystone-TLM battery unknown, temperature unknown, 0 advertisements, up 0 s",
            service("aafe2000000080000000000000000000")
                + ",\"frames\":[{\"type\":\"eddystone-tlm\",\"batteryMv\":null,\"temperatureC\":null,"
                + "\"advertisements\":0,\"uptimeS\":0}]"),
        Payload(
            "0201060303aafe1116aafe20000bb8fe800102030400010001",
            "Eddystone-TLM 3000 mV, -1.5 °C, 16909060 advertisements, up 6553.7 s",
            service("aafe20000bb8fe800102030400010001")
                + ",\"frames\":[{\"type\":\"eddystone-tlm\",\"batteryMv\":3000,\"temperatureC\":-1.5,"
                + "\"advertisements\":16909060,\"uptimeS\":6553.7}]"),
        Payload(
            "0201060303aafe1516aafe2001d4dfc281194a7a8daa84acdd1234e9be",
            "Eddystone-TLM, encrypted: d4dfc281194a7a8daa84acdd, salt 0x1234, MIC 0xE9BE",
            service("aafe2001d4dfc281194a7a8daa84acdd1234e9be")
                + ",\"frames\":[{\"type\":\"eddystone-etlm\",\"encrypted\":\"d4dfc281194a7a8daa84acdd\","
                + "\"salt\":\"1234\",\"mic\":\"e9be\"}]"),
        Payload(
            "0201060303aafe0d16aafe30ee823ea23e8675bc96", "Eddystone-EID 823ea23e8675bc96, -18 dBm at 0 m",
            service("aafe30ee823ea23e8675bc96")
                + ",\"frames\":[{\"type\":\"eddystone-eid\",\"id\":\"823ea23e8675bc96\",\"measuredPowerDbm\":-18}]"),
        Payload("020106", "Flags: 06", "\"structures\":[\(flags)],\"frames\":[]"),
    ]

    private static func succeeds(_ output: String) -> Program.Result {
        Program.Result(output: output, errors: "", code: 0)
    }

    @Test(arguments: payloads)
    func decodesFramesAsTextAndJSON(_ payload: Payload) throws {
        let json = "{\"octets\":\"\(payload.hex)\",\(payload.json),\"problems\":[]}\n"
        #expect(try Program.run("decode", payload.hex) == Self.succeeds(payload.words + "\n"))
        #expect(try Program.run("decode", payload.hex, "--json") == Self.succeeds(json))
        #expect(try Program.run("decode", payload.hex, "--lint") == Self.succeeds("no rule is broken\n"))
    }

    @Test(arguments: ["02 01 06", "02:01:06", "020106", "02-01-06", "0x020106", "0x02 0X01 0x06"])
    func acceptsBytesWithSeparatorsAndPrefixes(_ text: String) throws {
        #expect(try Program.run("decode", text) == Self.succeeds("Flags: 06\n"))
        #expect(try Program.run(["decode", "-"], input: text + "\n") == Self.succeeds("Flags: 06\n"))
    }

    @Test(arguments: ["hex", "hcitool", "c", "swift"])
    func readsTheFormatsOfEncode(_ format: String) throws {
        let result = try Program.shell(
            "$0 encode url --url https://example.org --measured-power-dbm -20 --format $1 | $0 decode -", format)
        #expect(result.code == 0 && result.output.contains("Eddystone-URL https://example.org"), "\(result)")
        #expect(result.errors == "")
    }

    @Test func readsTheCommandsOfADryRun() throws {
        let result = try Program.shell(
            "$0 advertise url --url https://example.org --measured-power-dbm -20 --adapter virtual --dry-run | $0 decode -"
        )
        #expect(result.code == 0 && result.errors == "", "\(result)")
        #expect(result.output.split(separator: "\n").filter { $0.contains("Eddystone-URL ") }.count == 1, "\(result)")
    }

    @Test func countsTheOtherLinesOfAShellScript() throws {
        let script = "#!/bin/sh\nhciconfig hci0 up\nhcitool -i hci0 cmd 0x08 0x0008 3 2 1 6\n"
        let result = try Program.run(["decode", "-"], input: script)
        #expect(result.errors.hasSuffix("pharos: standard input: 1 other line left out\n"), "\(result)")
    }

    @Test func octetsMayBeSeveralArguments() throws {
        #expect(try Program.run("decode", "02", "01", "06") == Self.succeeds("Flags: 06\n"))
    }

    @Test func linesAreDecodedOneByOne() throws {
        let input = "020106\n020104\n"
        #expect(try Program.run(["decode", "-"], input: input) == Self.succeeds("Flags: 06\n\nFlags: 04\n"))
        let json = try Program.run(["decode", "-", "--json"], input: input).output.split(separator: "\n")
        #expect(json.map { $0.prefix(18) } == ["{\"octets\":\"020106\"", "{\"octets\":\"020104\""])
    }

    @Test func skipsEmptyLinesButCountsThem() throws {
        #expect(try Program.run(["decode", "-"], input: "\n020106\r\n \n") == Self.succeeds("Flags: 06\n"))
        let wrong = try Program.run(["decode", "-"], input: "020106\n\nzz\n")
        #expect(wrong.code == 65 && wrong.errors.hasPrefix("pharos: standard input:3: "))
    }

    @Test func badLinesDoNotDiscardGoodOnes() throws {
        let result = try Program.run(["decode", "-"], input: "zz\n020106\n0\n020104\n\u{1B}[2J\n")
        #expect(result.code == 65)
        #expect(result.output == "Flags: 06\n\nFlags: 04\n")
        #expect(
            result.errors == """
                pharos: standard input:1: "z" at character 1 is not a hexadecimal digit
                pharos: standard input:3: a digit is missing before character 2: every byte has \
                two digits
                pharos: standard input:5: "\\u{1B}" at character 1 is not a hexadecimal digit

                """)
    }

    @Test func reportsTheFirstBadLinesAndCountsTheRest() throws {
        let long = String(repeating: "0", count: 70_000)
        let input = "020106\n\(long)\n" + String(repeating: "zz\n", count: 200_000) + "020104\r\n"
        let result = try Program.run(["decode", "-", "--json"], input: input)
        #expect(result.code == 65)
        #expect(result.output.split(separator: "\n").count == 2)
        let told = result.errors.split(separator: "\n")
        #expect(told.count == 21)
        #expect(told.first == "pharos: standard input:2: the line is longer than 65536 characters")
        #expect(told.last == "pharos: standard input: 199981 more lines could not be decoded")
    }

    /// Each line is decoded when it arrives, also from a named pipe, and is not kept in memory.
    @Test func inputIsStreamed() throws {
        SignalDescriptor.ignoreBrokenPipes()
        let folder = try TemporaryFolder()
        let path = folder.place("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let program = try RunningProgram(["decode", path, "--json"])
        var writer: Descriptor?
        // Opening the pipe for writing waits for its reader.
        #expect(eventually { (try? writer = Descriptor.open(path, .replace)) != nil })
        let pipe = try #require(writer)
        try pipe.writeAll(Array("020106\n".utf8))
        #expect(program.prints("\n"))
        let before = try #require(program.residentKilobytes)
        let line = Array("0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5\n".utf8)
        let block = (0..<1000).flatMap { _ in line }
        for _ in 0..<20 { try pipe.writeAll(block, timeoutMilliseconds: 30_000) }
        try pipe.writeAll(Array("zz\n".utf8), timeoutMilliseconds: 30_000)
        #expect(eventually { program.errors.contains(":20002: ") })
        #expect(try #require(program.residentKilobytes) < before + 8192)
        writer = nil
        _ = consume pipe
        #expect(program.end().code == 65)
    }

    @Test func decodesPcapAndRefusesOtherLinkTypes() throws {
        let folder = try TemporaryFolder()
        let event: [UInt8] = [4, 0x3E, 15, 2, 1, 3, 1, 1, 2, 3, 4, 5, 0xC6, 3, 2, 1, 6, 0xC4]
        let header: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8)
        let record: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0, 18, 0, 0, 0]
        let pcap = header + [0, 0, 4, 0, 187, 0, 0, 0] + record + event
        let path = try folder.file("a.pcap", pcap)
        let expected = "1970-01-01T00:00:00.000000Z  C6:05:04:03:02:01 (random (0x01))  -60 dBm  ADV_NONCONN_IND\n"
        #expect(try Program.run("decode", path) == Self.succeeds(expected + "    Flags: 06\n"))
        #expect(
            try Program.shell("cat $1 | $0 decode -", path) == Self.succeeds(expected + "    Flags: 06\n"))
        let foreign = try folder.file("b.pcap", header + [0, 0, 4, 0, 1, 0, 0, 0])
        #expect(
            try Program.run("decode", foreign)
                == Program.Result(
                    output: "",
                    errors: "pharos: \(foreign): link type 1 (Ethernet) is not supported; 187, 201 and 254 (HCI), 251, "
                        + "256 and 272 (LE link layer) are\n", code: 65))
    }

    @Test func escapesControlCharactersInReceivedNames() throws {
        let result = try Program.run("decode", "07091b5b324a0a41", "--explain")
        #expect(result.code == 0)
        #expect(result.output.contains(" of \"\\u{1B}[2J\\u{A}A\""))
        #expect(result.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    }

    @Test func reportsShortenedRecords() throws {
        let folder = try TemporaryFolder()
        // Two records of H4 packets of 8 octets, of which 2 were kept.
        let record: [UInt8] = [0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xE0, 0, 0, 0, 0, 0, 0, 4, 0x3E]
        let header = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
        let path = try folder.file("a.btsnoop", header + record + record)
        #expect(
            try Program.run("decode", path)
                == Program.Result(
                    output: "no advertising data in this capture\n",
                    errors: "pharos: \(path): 2 records were shortened by the capturing program\n", code: 0))
    }

    @Test func decryptsTelemetryWithItsKey() throws {
        let arguments = [
            "decode", "0201060303aafe1516aafe2001d4dfc281194a7a8daa84acdd1234e9be", "--identity-key", EncodeTests.key,
            "--rotation-exponent", "10", "--time-s",
        ]
        let sentence = "Eddystone-TLM, encrypted: d4dfc281194a7a8daa84acdd, salt 0x1234, MIC 0xE9BE\n"
        #expect(
            try Program.run(arguments + ["65280"])
                == Self.succeeds(
                    sentence + "decrypted: Eddystone-TLM 3000 mV, 22.5 °C, 4660 advertisements, up 360 s\n"))
        let json = try Program.run(arguments + ["65535", "--json"]).output
        #expect(
            json.contains(
                "\"decrypted\":{\"batteryMv\":3000,\"temperatureC\":22.5,\"advertisements\":4660,\"uptimeS\":360}"))
        let wrong = try Program.run(arguments + ["1"])
        #expect(wrong.output.hasPrefix(sentence + "decrypted: the integrity check fails"))
        #expect(try Program.run(arguments + ["1", "--json"]).output.contains("\"decrypted\":null"))
    }

    @Test func lintListsBrokenRulesAndExitsWith1() throws {
        let line =
            "byte 3: the length byte is 5, but the number of bytes after it is 1 "
            + "(Core Specification 5.4, Vol 3 Part C 11)\n"
        #expect(try Program.run("decode", "02010605ff", "--lint") == Program.Result(output: line, errors: "", code: 1))
        #expect(
            try Program.run("decode", "02010605ff")
                == Self.succeeds(
                    "Flags: 06\nnot decoded: 05 ff (the length byte is 5, but the number of bytes after it is 1)\n"
                        + "1 rule is broken (see --lint)\n"))
        let json = try Program.run("decode", "02010605ff", "--lint", "--json")
        #expect(json.code == 1)
        #expect(
            json.output
                == "{\"octets\":\"02010605ff\",\"structures\":[{\"type\":1,\"name\":\"flags\",\"data\":\"06\"}],"
                + "\"frames\":[],\"problems\":[{\"offset\":3,\"rule\":\"truncated-structure\","
                + "\"message\":\"the length byte is 5, but the number of bytes after it is 1\","
                + "\"source\":\"Core Specification 5.4, Vol 3 Part C 11\"}]}\n")
        // One bad line among good ones gives the exit code 1.
        #expect(try Program.run(["decode", "-", "--lint"], input: "020106\n02010605ff\n020106\n").code == 1)
    }
}
