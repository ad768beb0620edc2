import BeaconFrames
import BeaconService
import TestSupport
import Testing

@Suite struct ServiceSensorsTests {
    @Test(
        arguments: [
            (0x12, "99999", "gives 99999, and co2 takes a number in ppm in 0...65535; BTHome leaves it out"),
            (0x1A, "2", "gives 2, and door takes true or false, on or off; BTHome leaves it out"),
            (0x1A, "-1", "gives -1, and door takes true or false, on or off; BTHome leaves it out"),
        ] as [(UInt8, String, String)])
    func reportsAValueThatItsObjectCannotHoldOnce(_ id: UInt8, _ text: String, _ reason: String) throws {
        let folder = try TemporaryFolder()
        let sensor = "file:" + (try folder.file("value", text: text + "\n"))
        let kind = try #require(BTHomeKind(id: id))
        let sensors = ServiceSensors()
        #expect(sensors.measurement(kind, sensor) == nil)
        #expect(sensors.measurement(kind, sensor) == nil)
        #expect(sensors.takeMessages() == ["the value \(sensor) \(reason)"])
        try folder.file("value", text: "1\n")
        #expect(sensors.measurement(kind, sensor) == "1")
        #expect(sensors.takeMessages() == ["the value \(sensor) is in the range of \(kind.name) again"])
    }
}
