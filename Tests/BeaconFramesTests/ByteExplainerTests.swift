import BeaconFrames
import BluetoothTypes
import Testing

private func notes(_ octets: String) -> [ByteNote] { AdvertisingData(octets: octetRow(octets)).explained() }

@Test func everyOctetOfAnIBeaconIsExplained() {
    let notes = publishedFrames[0].data.explained()
    #expect(notes.count == 30)
    #expect(notes[0].description == "0: 02 length: 2 bytes follow: type and data")
    #expect(notes[2].meaning.contains("LE general discoverable"))
    #expect(notes[5].description == "5: 4c company id: 0x004C Apple, least significant byte")
    #expect(notes[6].description == "6: 00 company id: 0x004C Apple, most significant byte")
    #expect(notes[9].description == "9: f7 UUID: f7826da6-4fa2-4e98-8024-bc5b71e0893e, byte 1 of 16")
    #expect(notes[26].description == "26: aa major: 170, least significant byte")
    #expect(notes[28].description == "28: bb minor: 187, least significant byte")
    #expect(notes[29].description == "29: b3 measured power: -77 dBm at 1 m")
}

@Test func everyOctetOfAnEddystoneURLIsExplained() {
    let notes = publishedFrames[2].data.explained()
    #expect(
        notes[2...].prefix(6).map(\.description) == [
            "2: aa service UUID: 0xFEAA Eddystone, least significant byte",
            "3: fe service UUID: 0xFEAA Eddystone, most significant byte",
            "4: 13 length: 19 bytes follow: type and data",
            "5: 16 AD type: Service Data - 16-bit UUID",
            "6: aa service UUID: 0xFEAA Eddystone, least significant byte",
            "7: fe service UUID: 0xFEAA Eddystone, most significant byte",
        ])
    #expect(
        notes[8..<12].map(\.description) == [
            "8: 10 frame type: Eddystone-URL", "9: f8 measured power: -8 dBm at 0 m", "10: 03 URL scheme: https://",
            "11: 67 URL text: \"g\"",
        ])
    #expect(notes[17].description == "17: 00 URL code: .com/")
}

@Test func telemetryIsExplainedInItsUnits() {
    let notes = publishedFrames[5].data.explained()
    #expect(notes[13].meaning == "3213 mV, most significant byte")
    #expect(notes[15].meaning == "-16 °C, most significant byte")
    #expect(notes[17].meaning == "1529297 advertising events since power-on, byte 1 of 4")
    #expect(notes[21].meaning == "14297644 s since power-on, byte 1 of 4")
}

@Test(arguments: [
    ("020af4", 2, "TX power level", "-12 dBm, the power of the transmitter"),
    ("06094e64654d31", 2, "local name", "\"N\" of \"NdeM1\""),
    ("0209ff", 2, "local name", "a byte, of a text that is not UTF-8"),
    (
        "1107669a0c200008fdbce2113345d05da467", 17, "service UUID",
        "67a45dd0-4533-11e2-bcfd-0800200c9a66, least significant byte first, byte 16 of 16"
    ),
    ("04ff5900aa", 4, "manufacturer data", "byte 1 of 1"),
    ("04160f1864", 2, "service UUID", "0x180F Battery, least significant byte"),
    ("033daabb", 1, "AD type", "AD type 0x3D"),
    ("03010600", 3, "flags", "reserved for future use"),
    ("030a0400", 3, "surplus", "bytes after the last field of this structure"),
    ("00ff", 1, "padding", "must be zero after early termination"),
    ("05ff4c", 0, "length", "5 bytes follow: type and data, but only 2 are there"),
    ("05ff4c", 2, "company id", "cut off, byte 1 of 2"),
    ("0416aafe31", 4, "frame type", "Eddystone-EID, but the low four bits must be 0"),
    ("0416aafe90", 4, "frame type", "unknown to Eddystone"),
    ("0616aafe101503", 5, "measured power", "21 dBm at 0 m, out of range -100...20 dBm"),
    ("0716aafe1000030e", 7, "URL code", "reserved"),
    ("0716aafe10000461", 6, "URL scheme", "reserved"),
    ("0616aafe200205", 5, "TLM version", "unknown"),
])
func unusualStructuresAreExplainedAsFarAsPossible(octets: String, offset: Int, field: String, meaning: String) throws {
    let note = try #require(notes(octets).first { $0.offset == offset })
    #expect(note.field == field)
    #expect(note.meaning == meaning)
}

@Test func reservedOctetOfAnAltBeaconIsExplained() {
    let notes = publishedFrames[8].data.explained()
    #expect(notes[5].meaning == "0x0118 Radius Networks, least significant byte")
    #expect(notes[29].description == "29: c5 reference RSSI: -59 dBm at 1 m")
    #expect(notes[30].description == "30: 09 manufacturer reserved: 0x09, free for the manufacturer")
}
