import BeaconFrames
import BluetoothTypes
import Testing

private let address = Advertisement.AddressRule.public
private let interval = AdvertisingInterval(rawValue: 160)

private func advertisement(_ content: Advertisement.Content, _ power: MeasuredPowerRule = .none) -> Advertisement {
    Advertisement(content: content, interval: interval, measuredPower: power, address: address)
}

private func calibration(_ points: [(Int, Int)], fallback: Int? = nil) throws -> PowerCalibration {
    PowerCalibration(
        points: try points.map {
            PowerCalibration.Point(
                radioPower: try RadioPower(dBm: $0.0), measuredPower: try MeasuredPowerAtOneMeter(dBm: $0.1))
        },
        fallback: try fallback.map { try MeasuredPowerAtOneMeter(dBm: $0) })
}

@Test(arguments: [
    (0, -59), (4, -55), (2, -57), (1, -58), (-20, -79), (-10, -69), (-13, -72), (-1, -60), (-19, -78),
])
func measuredPowerIsLinearBetweenCalibratedPowers(radio: Int, measured: Int) throws {
    let calibration = try calibration([(4, -55), (0, -59), (-20, -79)], fallback: -40)
    #expect(try calibration.measuredPower(for: RadioPower(dBm: radio)).dBm == Int8(measured))
}

/// The exact values are -60, -59.5, -59, -58.5 and -58 dBm.
@Test(arguments: [(0, -60), (1, -59), (2, -59), (3, -58), (4, -58)])
func aHalfIsRoundedUp(radio: Int, measured: Int) throws {
    let power = try calibration([(0, -60), (4, -58)]).measuredPower(for: RadioPower(dBm: radio))
    #expect(power.dBm == Int8(measured))
}

@Test(arguments: [5, 20, -21, -127])
func refusesPowersOutsideTheCalibrationDespiteAFallback(radio: Int) throws {
    let calibration = try calibration([(4, -55), (0, -59), (-20, -79)], fallback: -40)
    let power = try RadioPower(dBm: radio)
    let error = MeasuredPowerError.outsideCalibration(
        power, lowest: try RadioPower(dBm: -20), highest: try RadioPower(dBm: 4))
    #expect(throws: error) { try calibration.measuredPower(for: power) }
}

@Test func fallbackIsUsedForAnUnknownRadioPower() throws {
    let calibration = try calibration([(0, -59)], fallback: -62)
    #expect(try calibration.measuredPower(for: nil).dBm == -62)
    #expect(try calibration.measuredPower(for: .noPreference).dBm == -62)
    let withoutDefault = PowerCalibration(points: calibration.points, fallback: nil)
    #expect(throws: MeasuredPowerError.noFallback) { try withoutDefault.measuredPower(for: nil) }
    let onlyDefault = PowerCalibration(points: [], fallback: calibration.fallback)
    #expect(try onlyDefault.measuredPower(for: RadioPower(dBm: 8)).dBm == -62)
}

@Test func ruleGivesTheMeasuredPowerAtBothDistances() throws {
    let one = MeasuredPowerRule.atOneMeter(try MeasuredPowerAtOneMeter(dBm: -59))
    let zero = MeasuredPowerRule.atZeroMeters(try MeasuredPowerAtZeroMeters(dBm: -18))
    let calibrated = MeasuredPowerRule.calibrated(try calibration([(0, -59)]))
    let radio = try RadioPower(dBm: 0)
    for rule in [one, zero, calibrated] {
        #expect(try rule.atOneMeter(radioPower: radio).dBm == -59)
        #expect(try rule.atZeroMeters(radioPower: radio).dBm == -18)
    }
    #expect(throws: MeasuredPowerError.notGiven) { try MeasuredPowerRule.none.atZeroMeters(radioPower: radio) }
    let strong = MeasuredPowerRule.atOneMeter(try MeasuredPowerAtOneMeter(dBm: -10))
    #expect(throws: MeasuredPowerError.self) { try strong.atZeroMeters(radioPower: radio) }
    let weak = MeasuredPowerRule.atZeroMeters(try MeasuredPowerAtZeroMeters(dBm: -100))
    #expect(throws: MeasuredPowerError.self) { try weak.atOneMeter(radioPower: radio) }
}

@Test func anAdvertisementGivesThePayloadOfItsContent() throws {
    let power = MeasuredPowerRule.calibrated(try calibration([(0, -77), (8, -69)]))
    let live = Advertisement.LiveValues(radioPower: try RadioPower(dBm: 0))
    let iBeacon = advertisement(
        .iBeacon(
            uuid: fixed("f7826da6-4fa2-4e98-8024-bc5b71e0893e"), major: 170, minor: 187, flags: ADFlags(rawValue: 0x1A)),
        power)
    #expect(try iBeacon.payload(live) == publishedFrames[0].data)

    let altBeacon = advertisement(
        .altBeacon(
            companyID: 0x0118, beaconID: fixed("2f234454cf6d4a0fadf2f4911ba9ffa600010002"), reserved: 9, flags: .beacon),
        .atOneMeter(try MeasuredPowerAtOneMeter(dBm: -59)))
    #expect(try altBeacon.payload() == publishedFrames[8].data)

    let uid = advertisement(
        .eddystoneUID(namespace: fixed("12345678901234678901"), instance: fixed("000000000001")),
        .atZeroMeters(try MeasuredPowerAtZeroMeters(dBm: -29)))
    #expect(try uid.payload() == publishedFrames[1].data)

    let url = advertisement(.eddystoneURL(try CompressedURL("https://github.com/citruz")), power)
    #expect(try url.payload(live).description.hasSuffix("16aafe10dc03676974687562" + "00" + "63697472757a"))
    #expect(throws: PayloadError.measuredPower(.noFallback)) { try url.payload() }

    let raw = advertisement(.raw(publishedFrames[4].data))
    #expect(try raw.payload() == publishedFrames[4].data)
    #expect(try raw.content.frame(measuredPower: raw.measuredPower) == nil)
}

@Test func payloadNeedsTheLiveValuesOfARunningBeacon() throws {
    let key = Advertisement.RotatingKey(identityKeyFile: "beacon.key", rotationExponent: 10)
    let source = Advertisement.TelemetrySource(battery: .fixed(3213), temperature: .sensor("auto"))
    let telemetry = source.telemetry(
        sensorBattery: 1, sensorTemperature: try FixedPointTemperature(celsius: -16), advertisements: 0x0017_55D1,
        uptimeDeciseconds: 0x0885_A5B8)
    let clear = advertisement(.eddystoneTLM(source, encryption: nil))
    #expect(try clear.payload(Advertisement.LiveValues(telemetry: telemetry)) == publishedFrames[5].data)
    #expect(throws: PayloadError.missing("telemetry")) { try clear.payload() }

    let sealed = advertisement(.eddystoneTLM(source, encryption: key))
    #expect(throws: PayloadError.missing("encrypted telemetry")) {
        try sealed.payload(Advertisement.LiveValues(telemetry: telemetry))
    }
    guard case .eddystoneEncryptedTLM(let frame) = publishedFrames[6].frame else { return }
    #expect(try sealed.payload(Advertisement.LiveValues(encryptedTelemetry: frame)) == publishedFrames[6].data)

    let eid = advertisement(.eddystoneEID(key), .atZeroMeters(try MeasuredPowerAtZeroMeters(dBm: -18)))
    #expect(throws: PayloadError.missing("ephemeral id")) { try eid.payload() }
    #expect(
        try eid.payload(Advertisement.LiveValues(ephemeralID: fixed("a9b76a71c5f89290"))) == publishedFrames[7].data)
}

@Test func unknownAndMissingReadingsAreSentAsUnknown() {
    let source = Advertisement.TelemetrySource(battery: .sensor("auto"), temperature: .unknown)
    let telemetry = source.telemetry(
        sensorBattery: nil, sensorTemperature: FixedPointTemperature(rawValue: 1), advertisements: 0,
        uptimeDeciseconds: 0)
    #expect(telemetry.batteryMillivolts == nil)
    #expect(telemetry.temperature == nil)
}
