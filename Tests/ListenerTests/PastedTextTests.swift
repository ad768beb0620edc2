import BluetoothTypes
import HCI
import Listener
import Testing

@Suite("Pasted text")
struct PastedTextTests {
    private static let iBeacon = "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5"
    private static let event = "043e2a02010301010000c0ffee1e" + iBeacon + "c4"
    private static let parameters = "1e" + iBeacon + "00"

    /// Returns the advertising data of a text, and the sentences about lines that cannot be read.
    private static func read(_ text: String) -> (data: [String], faults: [String]) {
        var tally = CaptureTally()
        var (data, faults): ([String], [String]) = ([], [])
        var reader = PastedText()
        reader.push(Array(text.utf8))
        reader.finish()
        while let entry = reader.next() {
            switch entry.content {
            case .success(.payload(let payload)): data.append("\(payload)")
            case .success(.packet(let record)): data += tally.take(record).map { "\($0.data)" }
            case .failure(let fault): faults.append("\(entry.line): \(fault)")
            }
        }
        return (data, faults)
    }

    /// Returns pairs of digits with blanks between them.
    private static func spaced(_ digits: String) throws -> String {
        Hexadecimal.text(try Hexadecimal.octets(digits), separator: " ")
    }

    @Test(
        "one payload is read in every notation",
        arguments: [
            iBeacon, "\u{FEFF}" + iBeacon, iBeacon + "\r\n", "0x" + iBeacon.uppercased(), event, "\u{FEFF}" + event,
            String(event.dropFirst(2)), "01082020" + parameters, "082020" + parameters,
            parameters, String(parameters.dropLast(2)), "08 08 " + parameters,
            "02010301010000c0ffee1e" + iBeacon + "c4",
            "d6 be 89 8e 42 24 01 00 00 00 00 c0 " + iBeacon + "010203",
        ])
    func readsOnePayload(_ text: String) {
        let (data, faults) = Self.read(text)
        #expect(data == [Self.iBeacon])
        #expect(faults == [])
    }

    @Test("an hcitool command is read from any word on, and a list as in source code")
    func readsCommandsFromAnyPoint() throws {
        let words = "sudo hcitool -i hci0 cmd 0x08 0x0008 " + (try Self.spaced(Self.parameters))
        let parts = words.split(separator: " ")
        for start in 0...7 where start != 2 {
            let text = parts[start...].joined(separator: " ")
            #expect(Self.read(text).data == [Self.iBeacon], "\(text)")
        }
        let list = try Hexadecimal.octets(Self.iBeacon).map { "0x" + Hexadecimal.text([$0]) }.joined(separator: ", ")
        for text in [list, "{\(list),}", "[ \(list) ]"] { #expect(Self.read(text).data == [Self.iBeacon], "\(text)") }
        let continued = parts[..<20].joined(separator: " ") + " \\\n   " + parts[20...].joined(separator: " ")
        #expect(Self.read(continued).data == [Self.iBeacon])
        #expect(Self.read("hcitool cmd 0x08 0x0008 3 2 1 6 && hcitool cmd 0x08 0x000a 01").data == ["020106"])
    }

    @Test(
        "the lines of an array in source code are one payload",
        arguments: [
            ("static const uint8_t advertising_data[30] = {\n", "};\n"), ("let data: [UInt8] = [ // an iBeacon\n", "]"),
            ("uint8_t data[] = {", "};"),
        ])
    func readsArrays(_ opening: String, _ closing: String) throws {
        let elements = try Hexadecimal.octets(Self.iBeacon).map { "0x" + Hexadecimal.text([$0]) }
        let rows = [elements[..<8], elements[8..<20], elements[20...]].map {
            "    " + $0.joined(separator: ", ") + ","
        }
        for separator in ["\n", "  // 8\n"] {
            let result = Self.read(opening + rows.joined(separator: separator) + "\n" + closing)
            #expect(result.data == [Self.iBeacon] && result.faults == [], "\(result)")
        }
    }

    @Test("of the output of --dry-run only the commands are read")
    func readsDryRuns() throws {
        let text = """
            # sent to a controller like intel (choose with --like); nothing leaves this machine
            01 08 20 20 \(try Self.spaced(Self.parameters))
                LE Set Advertising Data (0x08|0x0008)
                Advertising_Data: 02 01 04
            # on the air now; these commands take it off again:
            01 0a 20 01 00
                LE Set Advertising Enable (0x08|0x000A)

            """
        let result = Self.read(text)
        #expect(result.data == [Self.iBeacon] && result.faults == [], "\(result)")
    }

    @Test(
        "of a shell script only the commands of hcitool are read",
        arguments: [("#!/bin/sh\n# 02 01 04\nfade\n", 3), ("sudo hciconfig hci0 up\n", 2)])
    func readsShellScripts(_ start: String, _ skipped: Int) throws {
        let command = "hcitool -i hci0 cmd 0x08 0x0008 " + (try Self.spaced(Self.parameters)) + "\n"
        let text = start + "hciconfig hci0 noscan\n" + (skipped == 3 ? "hcitool lescan\n" : "") + command
        let result = Self.read(text)
        #expect(result.data == [Self.iBeacon] && result.faults == [], "\(result)")
        var reader = PastedText()
        reader.push(Array(text.utf8))
        reader.finish()
        while reader.next() != nil {}
        #expect(reader.skippedLines == skipped)
    }

    @Test("the output of hcitool for a command and its answer is read")
    func readsEchoes() throws {
        let rows = try Self.spaced(Self.parameters).uppercased().split(separator: " ")
        let text = """
            < HCI Command: ogf 0x08, ocf 0x0008, plen 32
              \(rows[..<20].joined(separator: " "))
              \(rows[20...].joined(separator: " "))
            > HCI Event: 0x0e plen 4
              01 08 20 00
            """
        #expect(Self.read(text).data == [Self.iBeacon])
        #expect(Self.read(text).faults == [])
    }

    @Test("hcidump packets on several lines are read, with or without times")
    func readsHcidump() throws {
        let rows = try Self.spaced(Self.event).uppercased().split(separator: " ")
        for time in ["", "2026-03-01 12:00:00.123456 ", "1772366400.123456 "] {
            let packet = """
                \(time)> \(rows[..<20].joined(separator: " "))
                  \(rows[20..<40].joined(separator: " "))
                  \(rows[40...].joined(separator: " "))

                """
            let text = "HCI sniffer - Bluetooth packet analyzer ver 5.66\ndevice: hci0 snap_len: 1500 filter: 0xff\n"
            let result = Self.read(text + packet + "< 01 03 0C 00\n" + packet)
            #expect(result.data == [Self.iBeacon, Self.iBeacon])
            #expect(result.faults == [])
        }
    }

    @Test(
        "unreadable text is reported with a reason and never read as something else",
        arguments: [
            (
                "> HCI Event: LE Meta Event (0x3e) plen 42  #1 [hci0] 2.3\n      LE Advertising Report (0x02)\n",
                "1: this is btmon's description of packets, which leaves bytes out: record with `btmon -w FILE`, and "
                    + "decode FILE"
            ),
            (
                "Bluetooth monitor ver 5.66\n= Note: Linux version 6.1\n",
                "1: this is btmon's description of packets, which leaves bytes out: record with `btmon -w FILE`, and "
                    + "decode FILE"
            ),
            (
                "HCI sniffer - Bluetooth packet analyzer ver 5.66\n> HCI Event: LE Meta Event (0x3e) plen 42\n",
                "2: this is hcidump's description of packets, which leaves bytes out: run `hcidump --raw`"
            ),
            (
                "00000000: 0201 061a ff4c\n",
                "1: this is a dump with offsets: paste the bytes alone, as `xxd -p FILE` prints them"
            ),
            ("0010  02 01 06\n", "1: this is a dump with offsets: paste the bytes alone, as `xxd -p FILE` prints them"),
            ("04 3e 2a 02 01 03\n020106\n", "1: the HCI event states a length of 45 bytes, but has 6"),
            ("> 04 3e 2a 02 01 03\n", "1: the HCI event states a length of 45 bytes, but has 6"),
            ("3e 2a 02 01 03\n", "1: the HCI event states a length of 45 bytes, but has 6"),
            (
                "043e0b02010301010000c0ffee09",
                "1: the advertising report at offset 4 needs 10 bytes, but only 9 are left"
            ),
            ("Data: 0215fb0b57a2", "1: \"t\" at character 3 is not a hexadecimal digit"),
            (
                "[NEW] Device C0:FF:EE:00:00:01 beacon\n[CHG] Device C0:FF:EE:00:00:01 RSSI: -60\n  02 01 06\n",
                "1: this is bluetoothctl's description of packets, which leaves bytes out: record with "
                    + "`btmon -w FILE`, and decode FILE"
            ),
            (
                "let data: [UInt8] = [\n    2, 1, 6\n]\n",
                "1: write each element of an array of bytes in hexadecimal, such as 0x02"
            ),
            ("uint8_t data[] = {\n    0x02, 0x01,\n", "1: the array that begins here has no closing bracket"),
            (
                "# sent to the kernel for a controller like x; y\n3e 00 00 00 01 00 01\n    Add (0x003E)\n",
                "1: these are messages to the kernel, not HCI packets: use --dry-run without hciN:mgmt"
            ),
            ("hcitool lescan\n", "1: of hcitool's commands, only `hcitool cmd` contains bytes"),
            ("2, 1, 6", "1: a digit is missing before character 2: every byte has two digits"),
        ])
    func reportsUnreadableText(_ text: String, _ fault: String) {
        let (data, faults) = Self.read(text)
        #expect(faults == [fault])
        #expect(data.isEmpty || data == ["020106"])
    }

    @Test(arguments: ["Data: 02 01 06", "raw:0x020106", "\\x02\\x01\\x06", "Payload: 02:01:06"])
    func payloadsWithALabelOrEscapesAreRead(_ text: String) {
        let (data, faults) = Self.read(text)
        #expect(data == ["020106"] && faults.isEmpty, "\(data) \(faults)")
    }

    @Test(
        "payloads that resemble packets stay payloads", arguments: ["020106", "03030f18", "0303aafe0416aafe20", "0101"])
    func keepsPayloads(_ digits: String) {
        #expect(Self.read(digits).data == [digits])
    }

    @Test("the result does not depend on how the text is split")
    func readsPieces() throws {
        let text = Array(("\u{FEFF}" + Self.event + "\r\n> " + (try Self.spaced(Self.event)) + "\n020106").utf8)
        for size in 1...7 {
            var reader = PastedText()
            var count = 0
            var rest = text[...]
            while !rest.isEmpty {
                reader.push(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                while reader.next() != nil { count += 1 }
            }
            reader.finish()
            while reader.next() != nil { count += 1 }
            #expect(count == 3)
        }
    }
}
