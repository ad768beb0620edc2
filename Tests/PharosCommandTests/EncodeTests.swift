import Testing

/// Standard output byte for byte. The payloads were derived by hand from the frames' specifications; ids and
/// ciphertexts with pycryptodome.
@Suite struct EncodeTests {
    struct Frame: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let hex: String

        init(_ words: String, _ hex: String) {
            arguments = words.split(separator: " ").map(String.init)
            self.hex = hex
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let key = "00112233445566778899aabbccddeeff"
    static let iBeacon = Frame(
        "ibeacon --uuid FB0B57A2-8228-44CD-913A-94A122BA1206 --major 1 --minor 0x0002 --measured-power-dbm -59",
        "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5")
    static let url = Frame("url --url http://a.info/x --measured-power-dbm 0", "0201060303aafe0916aafe100002610478")
    static let raw = Frame("raw --structure 0x01:06 --structure 09:4e64654d31", "02010606094e64654d31")

    static let frames = [
        iBeacon, url, raw,
        Frame(
            "ibeacon --uuid fb0b57a2822844cd913a94a122ba1206 --major=65535 --minor=0 --measured-power-dbm=-127 "
                + "--flags 0x1a", "02011a1aff4c000215fb0b57a2822844cd913a94a122ba1206ffff000081"),
        Frame(
            "altbeacon --company-id 0x0118 --id 000102030405060708090a0b0c0d0e0f10111213 --measured-power-dbm -61 "
                + "--reserved 7", "0201061bff1801beac000102030405060708090a0b0c0d0e0f10111213c307"),
        Frame(
            "uid --namespace 8b0ca750095477cb3e77 --instance 00:00:00:00:00:02 --measured-power-dbm -12",
            "0201060303aafe1716aafe00f48b0ca750095477cb3e770000000000020000"),
        Frame(
            "uid --namespace-from-uuid 8b0ca750-e7a7-4e14-bd99-095477cb3e77 --instance 000000000002 "
                + "--measured-power-1m-dbm -53", "0201060303aafe1716aafe00f48b0ca750095477cb3e770000000000020000"),
        Frame(
            "uid --namespace-from-domain example.org --instance 000000000002 --measured-power-dbm 20",
            "0201060303aafe1716aafe001420116dfd6774a9e7b32e0000000000020000"),
        Frame(
            "url --url https://www.example.com/ --measured-power-dbm -100",
            "0201060303aafe0e16aafe109c016578616d706c6500"),
        Frame("tlm", "0201060303aafe1116aafe2000000080000000000000000000"),
        Frame(
            "bthome --value voltage=3.074 temperature=-1.5 0x15=1 packet_id=9 0x3e=258 count=70000",
            "0201061816d2fc40000902" + "6aff" + "0c020c15013e020100003e70110100"),
        Frame(
            "bthome --value temperature=25.06 humidity=50.55 --encryption-key 231d39c1d7cc1ab1aee224cd096db932 "
                + "--device-address 54:48:E6:8F:80:A5 --counter 857870592",
            "0201061216d2fc41a47266c95f730011223378237214"),
        Frame(
            "tlm --battery-mv 3000 --temperature-c -1.5 --advertisements 0x01020304 --uptime-s 6553.7",
            "0201060303aafe1116aafe20000bb8fe800102030400010001"),
        Frame(
            "tlm --battery-mv 3000 --temperature-c 22.5 --advertisements 4660 --uptime-s 360 --identity-key \(key) "
                + "--rotation-exponent 10 --time-s 65280 --salt 1234",
            "0201060303aafe1516aafe2001d4dfc281194a7a8daa84acdd1234e9be"),
        Frame(
            "eid --identity-key \(key) --rotation-exponent 10 --time-s 65280 --measured-power-dbm -18",
            "0201060303aafe0d16aafe30ee823ea23e8675bc96"),
    ]

    private static func succeeds(_ output: String) -> Program.Result {
        Program.Result(output: output, errors: "", code: 0)
    }

    @Test(arguments: frames)
    func hexIsOneLineInLowerCase(_ frame: Frame) throws {
        #expect(try Program.run(["encode"] + frame.arguments) == Self.succeeds(frame.hex + "\n"))
        #expect(
            try Program.run(["encode"] + frame.arguments + ["--format", "hex"]) == Self.succeeds(frame.hex + "\n"))
    }

    @Test(arguments: frames)
    func hcitoolSetsTheSameData(_ frame: Frame) throws {
        let count = frame.hex.count / 2
        let padded = Self.octets(frame.hex) + [String](repeating: "00", count: 31 - count)
        let length = String(count, radix: 16)
        let line = (["hcitool -i hci0 cmd 0x08 0x0008", length.count == 1 ? "0" + length : length] + padded)
        // The sequence that starts advertising: parameters, data, enable.
        let sequence = [
            "hcitool -i hci0 cmd 0x08 0x0006 a0 00 a0 00 03 00 00 00 00 00 00 00 00 07 00",
            line.joined(separator: " "), "hcitool -i hci0 cmd 0x08 0x000a 01",
        ]
        #expect(
            try Program.run(["encode"] + frame.arguments + ["--format", "hcitool"])
                == Self.succeeds(sequence.joined(separator: "\n") + "\n"))
    }

    @Test(arguments: frames)
    func sourceCodeHoldsEightOctetsALine(_ frame: Frame) throws {
        let octets = Self.octets(frame.hex).map { "0x" + $0 }
        let rows = stride(from: 0, to: octets.count, by: 8).map { start in
            "    " + octets[start..<min(start + 8, octets.count)].joined(separator: ", ") + ",\n"
        }.joined()
        #expect(
            try Program.run(["encode"] + frame.arguments + ["--format", "c"])
                == Self.succeeds("static const uint8_t advertising_data[\(octets.count)] = {\n\(rows)};\n"))
        #expect(
            try Program.run(["encode"] + frame.arguments + ["--format", "swift"])
                == Self.succeeds("let advertisingData: [UInt8] = [\n\(rows)]\n"))
    }

    @Test(arguments: frames)
    func jsonEqualsTheOutputOfDecode(_ frame: Frame) throws {
        let encoded = try Program.run(["encode"] + frame.arguments + ["--format", "json"])
        #expect(encoded.code == 0 && encoded.output.hasPrefix("{\"octets\":\"\(frame.hex)\",\"structures\":[{"))
        #expect(try Program.run("decode", frame.hex, "--json") == encoded)
    }

    private static func octets(_ hex: String) -> [String] {
        stride(from: 0, to: hex.count, by: 2).map { String(hex.dropFirst($0).prefix(2)) }
    }

    @Test("the hcitool commands set the requested interval")
    func hcitoolSetsTheInterval() throws {
        let words = ["encode"] + Self.url.arguments + ["--format", "hcitool", "--interval-ms"]
        let result = try Program.run(words + ["2s"])
        #expect(result.output.hasPrefix("hcitool -i hci0 cmd 0x08 0x0006 80 0c 80 0c 03 00 "), "\(result.output)")
        for (value, format, message) in [("5", "hcitool", "20 ms...10.24 s"), ("100", "c", "needs --format hcitool")] {
            let refused = try Program.run(
                ["encode"] + Self.url.arguments + ["--format", format, "--interval-ms", value])
            #expect(refused.code == 64 && refused.errors.contains(message), "\(refused.errors)")
        }
    }

    private static let introduction = """
             0   02  length          2 bytes follow: type and data
             1   01  AD type         Flags
             2   06  flags           LE general discoverable, BR/EDR not supported

        """

    @Test func explainDescribesEveryByteOfAURL() throws {
        let table = """
            0201060303aafe0916aafe100002610478

            offset  hex  field           meaning

            """
            + Self.introduction + """
                     3   03  length          3 bytes follow: type and data
                     4   03  AD type         Complete List of 16-bit Service UUIDs
                     5   aa  service UUID    0xFEAA Eddystone, least significant byte
                     6   fe  service UUID    0xFEAA Eddystone, most significant byte
                     7   09  length          9 bytes follow: type and data
                     8   16  AD type         Service Data - 16-bit UUID
                     9   aa  service UUID    0xFEAA Eddystone, least significant byte
                    10   fe  service UUID    0xFEAA Eddystone, most significant byte
                    11   10  frame type      Eddystone-URL
                    12   00  measured power  0 dBm at 0 m
                    13   02  URL scheme      http://
                    14   61  URL text        "a"
                    15   04  URL code        .info/
                    16   78  URL text        "x"

                """
        #expect(try Program.run(["encode"] + Self.url.arguments + ["--explain"]) == Self.succeeds(table))
    }

    @Test func explainDescribesEveryByteOfAnIBeacon() throws {
        let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"
        let octets = Self.octets(uuid.filter { $0 != "-" }).enumerated().map { index, octet in
            "\(index < 1 ? "     " : "    ")\(9 + index)   \(octet)  UUID            \(uuid), byte \(index + 1) of 16\n"
        }
        let table = """
            \(Self.iBeacon.hex)

            offset  hex  field           meaning

            """
            + Self.introduction + """
                     3   1a  length          26 bytes follow: type and data
                     4   ff  AD type         Manufacturer Specific Data
                     5   4c  company id      0x004C Apple, least significant byte
                     6   00  company id      0x004C Apple, most significant byte
                     7   02  Apple type      iBeacon
                     8   15  Apple length    21 bytes follow

                """ + octets.joined() + """
                    25   00  major           1, most significant byte
                    26   01  major           1, least significant byte
                    27   00  minor           2, most significant byte
                    28   02  minor           2, least significant byte
                    29   c5  measured power  -59 dBm at 1 m

                """
        #expect(try Program.run(["encode"] + Self.iBeacon.arguments + ["--explain"]) == Self.succeeds(table))
    }

    @Test(arguments: frames)
    func explainHasARowForEveryOctet(_ frame: Frame) throws {
        let result = try Program.run(["encode"] + frame.arguments + ["--explain"])
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try #require(result.code == 0 && lines.count > 3)
        #expect(lines[0] == frame.hex && lines[1] == "" && lines.last == "")
        let rows = lines.dropFirst(3).dropLast().map { $0.split(separator: " ").map(String.init) }
        #expect(rows.map { $0[0] } == (0..<frame.hex.count / 2).map(String.init))
        #expect(rows.map { $0[1] } == Self.octets(frame.hex))
        #expect(rows.allSatisfy { $0.count >= 4 })
        #expect(lines.allSatisfy { $0.last != " " })
        let decoded = try Program.run("decode", frame.hex, "--explain")
        #expect(decoded.output.hasSuffix(lines.dropFirst(2).joined(separator: "\n")))
    }
}

/// Numbers and times in the forms that people write and paste, and the advice about refused ones.
@Suite struct PlainNumberTests {
    @Test(arguments: [("60s", "3600s"), ("1 min", "1h"), ("60", "3600")])
    func theUptimeAcceptsAUnit(_ minute: String, _ hour: String) throws {
        let expected = [("60", minute), ("3600", hour)]
        for (seconds, text) in expected {
            let plain = try Program.run("encode", "tlm", "--uptime-s", seconds)
            let withUnit = try Program.run("encode", "tlm", "--uptime-s", text)
            #expect(withUnit.code == 0 && withUnit.output == plain.output, "\(withUnit)")
        }
    }

    @Test(arguments: [
        ("tlm --temperature-c 21,5", "it is not a temperature in °C; did you mean 21.5?"),
        ("bthome --value temperature=21,5", "a number in °C, -3276.8...3276.7; did you mean 21.5?"),
        ("bthome --value temperature=99999", "temperature takes a number in °C, -3276.8...3276.7"),
        ("bthome --value temp=21.5", "did you mean temperature?"),
        ("url --url https://example.org --measured-power-dbm \u{2212}59", "after 0x); did you mean -59?"),
        ("url --url https://example.org --measured-power-dbm -4,5", "after 0x); did you mean -5 or -4?"),
        ("url --url https://example.org --measured-power-dbm 4.5", "after 0x); did you mean 4 or 5?"),
        ("url --url https://example.org --format hcitool --interval-ms 100,5", "; did you mean 100.5?"),
        ("bthome --value temperature=1 --encryption-key 0011", "the key has 32 hexadecimal digits, not 4"),
    ])
    func suggestsTheIntendedNumber(_ words: String, _ advice: String) throws {
        let result = try Program.run(["encode"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 64 && result.errors.contains(advice), "\(result)")
    }

    @Test func acceptsTheTypeNameOfAFrame() throws {
        let short = try Program.run("encode", "url", "--url", "https://example.org")
        let long = try Program.run("encode", "eddystone-url", "--url", "https://example.org")
        #expect(long.code == 0 && long.output == short.output, "\(long)")
    }
}
