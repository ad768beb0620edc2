import HCI
import Testing
import VirtualController

/// Version 2 of LE Set Extended Advertising Parameters, and the coding in reports.
@Suite struct CodedAdvertisingTests {
    private static let payload: [UInt8] = [2, 1, 6, 3, 3, 0xAA, 0xFE]
    private static let hostFeature = RawCommand(0x2074, [41, 1])

    private static func coded(primary: UInt8, secondary: UInt8) -> RawCommand {
        RawCommand(
            0x207F, RawCommand.set(properties: 0, primary: 3, secondary: 3).parameters + [primary, secondary])
    }

    @Test(arguments: [(0, 0, 0), (1, 2, 0), (3, 4, 0), (5, 0, 0x12), (0, 5, 0x12)] as [(UInt8, UInt8, UInt8)])
    func options(_ primary: UInt8, _ secondary: UInt8, _ status: UInt8) throws {
        #expect(try TestHost(.zephyr).send(Self.coded(primary: primary, secondary: secondary)) == status)
    }

    @Test(arguments: [VirtualControllerModel.intel, .raspberryPi])
    func controllersWithoutTheFeatureRefuseTheCommands(_ model: VirtualControllerModel) throws {
        #expect(try TestHost(model).send(Self.coded(primary: 3, secondary: 3)) == 1)
        #expect(try TestHost(model).send(Self.hostFeature) == 1)
    }

    @Test(arguments: [(41, 1, 0), (41, 2, 0x12), (32, 1, 0x11)] as [(UInt8, UInt8, UInt8)])
    func hostFeatureBitsAndValuesAreChecked(_ bit: UInt8, _ value: UInt8, _ status: UInt8) throws {
        #expect(try TestHost(.zephyr).send(RawCommand(0x2074, [bit, value])) == status)
    }

    /// - Parameters:
    ///   - options: 3 requires S=2, 4 requires S=8.
    ///   - asks: `true` if the receiving host has set the feature.
    @Test(arguments: [(3, true, 4), (3, false, 3), (4, true, 3)] as [(UInt8, Bool, UInt8)])
    func reportsContainTheCodingIfTheHostRequestsIt(_ options: UInt8, _ asks: Bool, _ phy: UInt8) throws {
        let sender = TestHost(.zephyr)
        try sender.send([
            Self.coded(primary: options, secondary: options), .setData(1, Self.payload), .setEnable(),
        ])
        let host = TestHost(.zephyr, on: sender.air)
        try host.send([.allEvents, .allLEEvents] + (asks ? [Self.hostFeature] : []))
        try host.send([.extendedScan(phys: 4), .extendedScanEnable()])
        let report = try #require(host.listen(milliseconds: 2000).first)
        #expect(report[11] == phy && report[12] == phy)
        #expect(Array(report.suffix(Self.payload.count)) == Self.payload)
    }

    /// A packet with S=2 is on the air for 574 µs, one with S=8 for 1168 µs.
    @Test(arguments: [(3, 574), (4, 1168), (0, 1168)] as [(UInt8, Int)])
    func theCodingDecidesTheAirtime(_ options: UInt8, _ microseconds: Int) throws {
        let air = VirtualAir()
        var airtimes: Set<Int> = []
        air.observer = { airtimes.insert($0.airtimeMicroseconds) }
        let sender = TestHost(.zephyr, on: air)
        try sender.send([
            Self.coded(primary: options, secondary: options), .setData(1, Self.payload), .setEnable(),
        ])
        try sender.listen(milliseconds: 300)
        #expect(airtimes == [microseconds])
    }
}
