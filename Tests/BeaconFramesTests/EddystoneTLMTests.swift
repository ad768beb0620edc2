import BeaconFrames
import BluetoothTypes
import Testing

@Test(
    arguments: [
        (21.25, 0x1540), (-4.5, 0xFB80), (-0.1, 0xFFE6), (0, 0x0000), (-0.0, 0x0000), (0.001, 0x0000), (0.002, 0x0001),
        (22.5, 0x1680), (-16, 0xF000), (127.996, 0x7FFF), (127.99609375, 0x7FFF), (-127.99609375, 0x8001),
        (-128, 0x8001), (-127.999, 0x8001), (-1, 0xFF00),
    ] as [(Double, UInt16)])
func aTemperatureIsRoundedToTheNearestStep(celsius: Double, octets: UInt16) throws {
    let temperature = try FixedPointTemperature(celsius: celsius)
    #expect(UInt16(bitPattern: temperature.rawValue) == octets)
    #expect(abs(temperature.celsius - celsius) <= 1.0 / 256)
}

@Test(arguments: [
    128, 127.999, -128.001, 1000, -1e300, 1e300, Double.infinity, -Double.infinity, Double.nan, Double.signalingNaN,
])
func aTemperatureThatDoesNotFitIsRefused(celsius: Double) {
    #expect(throws: TemperatureOutOfRange.self) { try FixedPointTemperature(celsius: celsius) }
}

@Test func everyTemperatureIsConvertedToDegreesAndBack() throws {
    for rawValue in (-Int16.max)...Int16.max {
        let temperature = try #require(FixedPointTemperature(rawValue: rawValue))
        #expect(try FixedPointTemperature(celsius: temperature.celsius) == temperature)
    }
    #expect(FixedPointTemperature(rawValue: .min) == nil)
}

@Test func unknownReadingsAreSentAsTheirReservedValues() throws {
    let unknown = EddystoneTLM(batteryMillivolts: nil, temperature: nil, advertisements: 1, uptimeDeciseconds: 2)
    let data = try unknown.advertisingData()
    #expect(data.description == "0201060303aafe1116aafe2000" + "0000" + "8000" + "00000001" + "00000002")
    #expect(BeaconFrame(decoding: data) == .eddystoneTLM(unknown))
}

@Test func versionOctetIsAlwaysSent() throws {
    let data = try EddystoneTLM(
        batteryMillivolts: 1, temperature: nil, advertisements: 0, uptimeDeciseconds: 0
    ).advertisingData()
    #expect(Array(data.octets[11..<13]) == [0x20, 0x00])
    #expect(data.octets.count == 25)
}

@Test func theUptimeIsCountedInTenthsOfASecond() throws {
    guard case .eddystoneTLM(let frame)? = BeaconFrame(decoding: publishedFrames[3].data) else {
        Issue.record("no telemetry")
        return
    }
    #expect(frame.uptimeSeconds == Double(0x0506_0708) / 10)
    #expect(frame.temperature?.celsius == 22.5)
}

@Test func negativeTemperatureIsDecoded() {
    guard case .eddystoneTLM(let frame)? = BeaconFrame(decoding: publishedFrames[5].data) else {
        Issue.record("no telemetry")
        return
    }
    #expect(frame.temperature?.celsius == -16)
    #expect(frame.temperature?.description == "-16 °C")
}

@Test(arguments: [(5440, "21.25 °C"), (-26, "-0.102 °C"), (32767, "127.996 °C"), (0, "0 °C"), (-32767, "-127.996 °C")])
func aTemperatureIsPrintedInThousandths(rawValue: Int16, text: String) throws {
    #expect(try #require(FixedPointTemperature(rawValue: rawValue)).description == text)
}
