import BeaconFrames
import BluetoothTypes
import Testing

/// The examples of bthome.io/format: an object's octets, name, value and unit.
private let examples: [(String, String, String, String)] = [
    ("0009", "packet_id", "9", ""), ("0161", "battery", "97", "%"),
    ("02ca09", "temperature", "25.06", "°C"), ("03bf13", "humidity", "50.55", "%"),
    ("04138a01", "pressure", "1008.83", "hPa"), ("05138a14", "illuminance", "13460.67", "lx"),
    ("065e1f", "mass", "80.3", "kg"), ("073e1d", "mass", "74.86", "lb"),
    ("08ca06", "dewpoint", "17.38", "°C"), ("0960", "count", "96", ""),
    ("0a138a14", "energy", "1346.067", "kWh"), ("0b021b00", "power", "69.14", "W"),
    ("0c020c", "voltage", "3.074", "V"), ("0d120c", "pm2.5", "3090", "µg/m³"),
    ("0e021c", "pm10", "7170", "µg/m³"), ("0f01", "generic_boolean", "true", ""),
    ("1001", "power", "true", ""), ("12e204", "co2", "1250", "ppm"),
    ("133301", "tvoc", "307", "µg/m³"), ("14020c", "moisture", "30.74", "%"),
    ("1500", "battery", "false", ""), ("2101", "motion", "true", ""),
    ("2e23", "humidity", "35", "%"), ("2f23", "moisture", "35", "%"),
    ("3a01", "button", "press", ""), ("3a81", "button", "hold_release", ""),
    ("3a07", "button", "0x07", ""), ("3c0103", "dimmer", "rotate_left 3", ""),
    ("3d0960", "count", "24585", ""), ("3e2a2c0960", "count", "1611213866", ""),
    ("3f020c", "rotation", "307.4", "°"), ("400c00", "distance", "12", "mm"),
    ("414e00", "distance", "7.8", "m"), ("424e3400", "duration", "13.39", "s"),
    ("434e34", "current", "13.39", "A"), ("444e34", "speed", "133.9", "m/s"),
    ("451101", "temperature", "27.3", "°C"), ("4632", "uv_index", "5", ""),
    ("478756", "volume", "2215.1", "L"), ("48dc87", "volume", "34780", "mL"),
    ("49dc87", "volume_flow_rate", "34.78", "m³/h"), ("4a020c", "voltage", "307.4", "V"),
    ("4b138a14", "gas", "1346.067", "m³"), ("4c41018a01", "gas", "25821.505", "m³"),
    ("4d12138a14", "energy", "344593.17", "kWh"), ("4e87562a01", "volume", "19551.879", "L"),
    ("4f87562a01", "water", "19551.879", "L"), ("505d396164", "timestamp", "1684093277", "s"),
    ("518756", "acceleration", "22.151", "m/s²"), ("528756", "gyroscope", "22.151", "°/s"),
    ("530c48656c6c6f20576f726c6421", "text", "Hello World!", ""),
    ("540c48656c6c6f20576f726c6421", "raw", "48656c6c6f20576f726c6421", ""),
    ("57ea", "temperature", "-22", "°C"), ("58ea", "temperature", "-7.7", "°C"),
    ("59ea", "count", "-22", ""), ("5aeaea", "count", "-5398", ""),
    ("5bea0234ea", "count", "-365690134", ""), ("5c02fbffff", "power", "-12.78", "W"),
    ("5d02ea", "current", "-5.63", "A"), ("5e9f8c", "direction", "359.99", "°"),
    ("61ac0d", "rotational_speed", "3500", "rpm"), ("f00100", "device_type", "1", ""),
    ("f100010204", "firmware_version", "4.2.1.0", ""), ("f2000106", "firmware_version", "6.1.0", ""),
    ("3b0000", "command", "off", ""), ("3b010305", "command", "step_up 05", ""),
]

@Test(arguments: examples)
func anObjectIsReadAndWrittenAgain(_ example: (String, String, String, String)) throws {
    let packet = packet(0x40, example.0)
    let object = try #require(packet.objects.first)
    #expect(packet.objects.count == 1)
    let kind = object.kind
    #expect(kind.name == example.1 && object.text == example.2 && kind.unit == example.3, "\(object)")
    #expect(try BTHome([object]) == packet)
    // The text form of a value gives the same octets.
    let isText = kind.isNumber || kind.name == "text"
    let written = isText ? object.text : kind.isBinary ? "\(object.octets[0])" : Hexadecimal.text(object.octets)
    if kind.name != "button" { #expect(BTHomeObject(kind, text: written) == object) }
    // The printed text can be read again.
    #expect(BTHomeObject(kind, text: object.text) == object, "\(object.text)")
}

@Test func everyKindHasItsOwnNumber() {
    let ids = BTHomeKind.all.map(\.id)
    #expect(ids == Set(ids).sorted() && ids.count > 90)
    #expect(BTHomeKind(id: 0x30) == nil && BTHomeKind(id: 0x02)?.name == "temperature")
}

@Test(arguments: [
    (0x01, "256"), (0x01, "-1"), (0x01, "nan"), (0x01, "1e300"), (0x01, ""), (0x01, "abc"), (0x02, "327.68"),
    (0x02, "-327.69"), (0x0F, "2"), (0x53, ""), (0x54, "4"), (0x3C, "01"), (0x3E, "4294967296"),
])
func refusesValuesThatAKindCannotHold(_ id: UInt8, _ text: String) throws {
    let kind = try #require(BTHomeKind(id: id))
    #expect(BTHomeObject(kind, text: text) == nil)
}

@Test func objectsAreSortedAndEqualKindsKeepTheirOrder() throws {
    let objects = try [(0x3E, "2"), (0x02, "-1.5"), (0x3E, "1"), (0x01, "50")].map { id, text in
        try #require(BTHomeKind(id: id).flatMap { BTHomeObject($0, text: text) })
    }
    #expect(try BTHome(objects) == packet(0x40, "013202" + "6aff" + "3e02000000" + "3e01000000"))
    #expect(try BTHome(objects, isTriggerBased: true).isTriggerBased)
    let error = #expect(throws: BeaconFrameError.self) { try BTHome([BTHomeObject](repeating: objects[0], count: 6)) }
    #expect(error?.description == "the BTHome packet has 30 bytes, more than the limit of 26")
    #expect(BTHomeKind(id: 0x3A).flatMap { BTHomeObject($0, text: "2") }?.text == "double_press")
}

@Test func decodingEndsAtAnUnknownObject() {
    let packet = packet(0x40, "0161" + "30ff" + "02ca09")
    #expect(packet.objects.map(\.description) == ["battery 97 %"])
    #expect(throws: BeaconFrameError.self) { try packet.advertisingData() }
}

@Test(arguments: [
    "0616d2fc600161", "0616d2fc000161", "0616d2fc410161", "0316d2fc",
    "1f16d2fc40" + String(repeating: "0161", count: 13) + "01",
])
func malformedBTHomePacketsAreNoFrames(_ octets: String) {
    #expect(BeaconFrame(decoding: AdvertisingData(octets: octetRow(octets))) == nil)
}

@Test func everyOctetOfAPacketIsExplained() {
    let plain = AdvertisingData(octets: octetRow("0f16d2fc4002ca095303c3a41b30")).explained().map(\.description)
    #expect(
        plain[4...] == [
            "4: 40 device information: version 2, not encrypted, sent regularly", "5: 02 object: temperature",
            "6: ca temperature: 25.06 °C, byte 1 of 2", "7: 09 temperature: 25.06 °C, byte 2 of 2",
            "8: 53 object: text", "9: 03 length: 3 bytes follow", "10: c3 text: ä\\u{1B}, byte 1 of 3",
            "11: a4 text: ä\\u{1B}, byte 2 of 3", "12: 1b text: ä\\u{1B}, byte 3 of 3",
            "13: 30 object: unknown to BTHome",
        ])
    let sealed = publishedFrames.last?.data.explained().map(\.description) ?? []
    #expect(sealed[8].hasPrefix("8: a4 ciphertext: ") && sealed[14] == "14: 00 counter: 857870592, byte 1 of 4")
    #expect(sealed[18] == "18: 78 message integrity check: 78237214, byte 1 of 4")
}

@Test func packetIsDescribedInOneLine() {
    #expect(publishedFrames[publishedFrames.count - 2].frame.sentence == "BTHome temperature 25 °C, humidity 50.55 %")
    #expect(
        publishedFrames.last?.frame.sentence
            == "BTHome, encrypted: a47266c95f73, counter 857870592, MIC 78237214")
    #expect(BeaconFrame.btHome(packet(0x40, "")).sentence == "BTHome without values")
}

@Test func sourceSendsTheSelectedValues() throws {
    var source = Advertisement.BTHomeSource()
    #expect(!source.hasValues)
    (source.temperature, source.battery, source.voltage, source.hasPacketID) = ("auto", "auto", "auto", true)
    source.countsAdvertisements = true
    func packet(voltage: Int?) throws -> BTHome {
        try source.packet(
            temperature: FixedPointTemperature(rawValue: -0x0180)?.hundredths, battery: 97, voltage: voltage,
            advertisements: 256, uptime: 70_000, packet: 263)
    }
    #expect(
        try packet(voltage: nil).objects.map(\.description) == [
            "packet_id 7", "battery 97 %", "temperature -1.5 °C", "count 256",
        ])
    #expect(source.hasValues)
    #expect(try packet(voltage: 3000).data.count == 15)
    var advertisement = Advertisement(
        content: .btHome(source), interval: .nonconnectableMinimumBefore5, measuredPower: .none, address: .public)
    #expect(try advertisement.payloadOctetCount() == 23)
    (source.isEncrypted, source.keyFile) = (true, "key")
    advertisement.content = .btHome(source)
    #expect(try advertisement.payloadOctetCount() == 31 && advertisement.content.keyFile == "key")
    source.countsUptime = true
    #expect(try packet(voltage: nil).objects.last?.text == "70000")
    advertisement.content = .btHome(source)
    #expect(throws: PayloadError.self) { try advertisement.payloadOctetCount() }
    #expect(throws: PayloadError.missing("BTHome packet")) { try advertisement.payload() }
}
