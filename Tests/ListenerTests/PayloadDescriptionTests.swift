import BeaconFrames
import BluetoothTypes
import Configuration
import EddystoneSecurity
import Listener
import Testing

@Suite("Payload descriptions")
struct PayloadDescriptionTests {
    private static func data(_ digits: String) throws -> AdvertisingData {
        AdvertisingData(octets: try Hexadecimal.octets(digits))
    }

    private static let iBeacon = "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5"

    @Test("the JSON of an iBeacon has its structures and its frame, and no problems")
    func describesIBeacon() throws {
        let description = PayloadDescription(try Self.data(Self.iBeacon))
        #expect(description.isClean)
        #expect(
            JSONValue.record(description.members).line
                == "{\"octets\":\"\(Self.iBeacon)\",\"structures\":[{\"type\":1,\"name\":\"flags\",\"data\":\"06\"},"
                + "{\"type\":255,\"name\":\"manufacturer-data\",\"data\":"
                + "\"4c000215fb0b57a2822844cd913a94a122ba120600010002c5\"}],\"frames\":[{\"type\":\"ibeacon\","
                + "\"uuid\":\"fb0b57a2-8228-44cd-913a-94a122ba1206\",\"major\":1,\"minor\":2,\"measuredPowerDbm\":-59}],"
                + "\"problems\":[]}")
        #expect(JSONValue.record(description.members) == PayloadJSON.describe(description.data))
        #expect(description.lines().count == 1)
        #expect(description.lines(lint: true) == ["no rule is broken"])
        #expect(description.lines(explain: true).count == 1 + 1 + 30)
    }

    @Test("data without a frame is shown as structures, and rule violations are counted or listed")
    func describesOthers() throws {
        #expect(PayloadDescription(AdvertisingData(octets: [])).lines() == ["no AD structure"])
        let name = PayloadDescription(try Self.data("0309416f"))
        #expect(name.lines() == ["Complete Local Name: \"Ao\""])
        let cut = PayloadDescription(try Self.data("05ff"))
        #expect(!cut.isClean && cut.lines().last == "1 rule is broken (see --lint)")
        #expect(cut.lines(lint: true).count == 1 && cut.lines(lint: true) != ["no rule is broken"])
    }

    @Test("all bytes are shown, and an iBeacon without its first bytes is recognised")
    func showsUndecodedBytes() throws {
        let beacon = "4c000215fb0b57a2822844cd913a94a122ba120600010002c5"
        let cut = PayloadDescription(try Self.data("0201061bff" + beacon)).lines()
        #expect(cut.count == 3 && cut[1].hasPrefix("not decoded: 1b ff 4c 00 02 15 fb "), "\(cut)")
        #expect(cut[1].hasSuffix(" 00 02 c5 (the length byte is 27, but the number of bytes after it is 26)"))
        let bare = PayloadDescription(try Self.data(beacon)).lines()
        #expect(bare.contains("these bytes look like an iBeacon without its first bytes: put 1aff in front of them"))
        let half = PayloadDescription(try Self.data("ff" + beacon)).lines()
        #expect(half.contains("these bytes look like an iBeacon without its first bytes: put 1a in front of them"))
        #expect(PayloadDescription(try Self.data("0201060000")).lines() == ["Flags: 06"])
    }

    @Test("a local name is shown as text next to a frame and in JSON, or as bytes if it is not text")
    func showsNames() throws {
        let named = PayloadDescription(try Self.data("0303aafe0716aafe10f803610409c3a441"))
        #expect(named.lines() == ["Eddystone-URL https://a, -8 dBm at 0 m", "Complete Local Name: \"äA\""])
        #expect(
            JSONValue.record(named.members).line.contains(
                "\"name\":\"complete-local-name\",\"data\":\"c3a441\",\"text\":\"äA\"}"))
        let commanding = PayloadDescription(try Self.data("0c0941c2855be280ae420a1b43"))
        #expect(commanding.lines().contains("Complete Local Name: \"A\\u0085[\\u202eB\\n\\u001bC\""))
        #expect(JSONValue.record(commanding.members).line.contains("\"text\":\"A\\u0085[\\u202eB\\n\\u001bC\""))
        let broken = PayloadDescription(try Self.data("0308c3c3"))
        #expect(broken.lines().first == "Shortened Local Name: c3 c3")
    }

    @Test("a Find Hub frame is not shown as an unknown Eddystone frame", arguments: ["40", "41"])
    func namesFindHub(_ type: String) throws {
        let id = "00112233445566778899aabbccddeeff00112233"
        let description = PayloadDescription(try Self.data("0201061916aafe" + type + id + "55"))
        #expect(description.isClean)
        #expect(description.lines().last?.hasPrefix("Find Hub tag, ephemeral id " + id) == true)
        let table = PayloadDescription.table(of: description.data)
        #expect(table.contains("Find Hub") && !table.contains("Eddystone"))
    }

    @Test("control characters in a received name are escaped")
    func escapesNames() throws {
        // ESC [, a C1 control and an override of the writing direction, in UTF-8.
        let description = PayloadDescription(try Self.data("0e0961" + "1b5b326d" + "c29b" + "e280ae" + "626364"))
        for text in [description.lines(explain: true).joined(), PayloadDescription.table(of: description.data)] {
            #expect(
                text.unicodeScalars.allSatisfy {
                    $0 == "\n" || $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && $0 != "\u{202E}"
                })
        }
    }

    @Test("an Android scan record of 62 bytes may have a name in both packets")
    func judgesScanRecords() throws {
        let digits = "020106" + "0309416f" + "0309416f" + String(repeating: "00", count: 51)
        let data = try Self.data(digits)
        #expect(AdvertisingContainer(count: data.octets.count) == .androidScanRecord)
        #expect(PayloadDescription(data, in: .androidScanRecord).isClean)
        #expect(PayloadDescription(data).lines(lint: true).count == 2)
    }

    @Test("encrypted telemetry is decrypted with its key; a wrong key is reported")
    func opensTelemetry() throws {
        let key = IdentityKey(try FixedOctets<16>(hexadecimal: "00112233445566778899aabbccddeeff"))
        let exponent = try #require(RotationExponent(rawValue: 4))
        let telemetry = EddystoneTLM(
            batteryMillivolts: 3000, temperature: try FixedPointTemperature(celsius: 22.5), advertisements: 7,
            uptimeDeciseconds: 123)
        let frame = try key.seal(telemetry, at: 100_000, exponent: exponent, salt: 0x0A0B)
        let data = try frame.advertisingData()
        let opener = TelemetryOpener(key: key, exponent: exponent, time: 100_000)
        #expect(opener.open(frame) == telemetry)
        let line = PayloadJSON.describe(data, opener: opener).line
        #expect(
            line.contains(
                "\"decrypted\":{\"batteryMv\":3000,\"temperatureC\":22.5,\"advertisements\":7,\"uptimeS\":12.3}"),
            "\(line)")
        #expect(!PayloadJSON.describe(data).line.contains("decrypted"))
        let other = TelemetryOpener(key: IdentityKey(FixedOctets()), exponent: exponent, time: 100_000)
        #expect(PayloadJSON.describe(data, opener: other).line.contains("\"decrypted\":null"))
        #expect(
            PayloadDescription(data, opener: other).lines().contains(
                "decrypted: the integrity check fails: wrong key, time or exponent"))
    }

    @Test(
        "a payload is formatted for other programs",
        arguments: [
            (PayloadFormat.hex, "0201060409414243"),
            (
                .c,
                "static const uint8_t advertising_data[8] = {\n    0x02, 0x01, 0x06, 0x04, 0x09, 0x41, 0x42, 0x43,\n};"
            ),
            (.swift, "let advertisingData: [UInt8] = [\n    0x02, 0x01, 0x06, 0x04, 0x09, 0x41, 0x42, 0x43,\n]"),
            (
                .hcitool,
                "hcitool -i hci0 cmd 0x08 0x0006 a0 00 a0 00 03 00 00 00 00 00 00 00 00 07 00\n"
                    + "hcitool -i hci0 cmd 0x08 0x0008 08 02 01 06 04 09 41 42 43" + String(repeating: " 00", count: 23)
                    + "\nhcitool -i hci0 cmd 0x08 0x000a 01"
            ),
        ])
    func formats(_ format: PayloadFormat, _ text: String) throws {
        #expect(try format.text(Self.data("0201060409414243")) == text)
    }

    @Test("an hcitool command refuses more data than a legacy advertisement holds")
    func refusesLongData() {
        #expect(throws: (any Error).self) {
            try PayloadFormat.hcitool.text(AdvertisingData(octets: [UInt8](repeating: 0, count: 32)))
        }
    }
}

@Suite("Descriptions of BTHome packets")
struct BTHomePayloadTests {
    private static let sealed = "0201061216d2fc41a47266c95f730011223378237214"
    private static let objects =
        "\"objects\":[{\"id\":2,\"name\":\"temperature\",\"value\":25.06,\"unit\":\"°C\"},"
        + "{\"id\":3,\"name\":\"humidity\",\"value\":50.55,\"unit\":\"%\"}]"

    private func data(_ digits: String) throws -> AdvertisingData {
        AdvertisingData(octets: try Hexadecimal.octets(digits))
    }

    @Test("objects have names, values and units")
    func describesPlain() throws {
        let line = PayloadJSON.describe(try data("0201060a16d2fc4002ca0903bf13")).line
        #expect(
            line.contains("\"frames\":[{\"type\":\"bthome\",\"triggerBased\":false,\(Self.objects)}]"), "\(line)")
        let others = PayloadJSON.describe(try data("0d16d2fc440f013a0260055302c3a4")).line
        #expect(others.contains("\"triggerBased\":true"))
        #expect(others.contains("{\"id\":15,\"name\":\"generic_boolean\",\"value\":true,\"unit\":null}"), "\(others)")
        #expect(others.contains("\"value\":\"double_press\""))
    }

    @Test("an encrypted packet is decrypted with its key, and an address from either source")
    func opensSealed() throws {
        let key = try IdentityKey(hexadecimal: "231d39c1d7cc1ab1aee224cd096db932")
        let address = try #require(DeviceAddress("54:48:E6:8F:80:A5"))
        let data = try data(Self.sealed)
        let given = TelemetryOpener(btHomeKey: key, address: address)
        let told = TelemetryOpener(btHomeKey: key, address: nil)
        for opener in [given, told.from(address), given.from(DeviceAddress(FixedOctets()))] {
            #expect(PayloadJSON.describe(data, opener: opener).line.contains("\"decrypted\":{\(Self.objects)}"))
            #expect(
                PayloadDescription(data, opener: opener).lines().last
                    == "decrypted: BTHome temperature 25.06 °C, humidity 50.55 %")
        }
        #expect(PayloadJSON.describe(data, opener: told).line.contains("\"decrypted\":null"))
        #expect(
            PayloadDescription(data, opener: told).lines().last
                == "decrypted: the integrity check fails: wrong key or address")
        let line = PayloadJSON.describe(data).line
        #expect(
            line.contains("\"encrypted\":\"a47266c95f73\",\"counter\":857870592,\"mic\":\"78237214\"}"), "\(line)")
    }
}
