import BeaconFrames
import BeaconService
import TestSupport
import Testing

@Suite struct ServiceSensorsTests {
    @Test(
        arguments: [
            (0x12, "99999", "is 99999, but co2 needs a number in ppm in 0...65535; it is not sent"),
            (0x1A, "2", "is 2, but door needs true or false, on or off; it is not sent"),
            (0x1A, "-1", "is -1, but door needs true or false, on or off; it is not sent"),
        ] as [(UInt8, String, String)])
    func reportsAValueThatItsObjectCannotHoldOnce(_ id: UInt8, _ text: String, _ reason: String) throws {
        let folder = try TemporaryFolder()
        let sensor = "file:" + (try folder.file("value", text: text + "\n"))
        let kind = try #require(BTHomeKind(id: id))
        let sensors = ServiceSensors()
        #expect(sensors.measurement(kind, sensor) == nil)
        #expect(sensors.measurement(kind, sensor) == nil)
        #expect(sensors.takeMessages() == ["the value of \(sensor) \(reason)"])
        try folder.file("value", text: "1\n")
        #expect(sensors.measurement(kind, sensor) == "1")
        #expect(sensors.takeMessages() == ["the value of \(sensor) is in the range of \(kind.name) again"])
    }
}
