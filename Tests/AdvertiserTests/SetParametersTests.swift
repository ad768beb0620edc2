import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

/// The requests that are refused before any command is sent, and the messages.
@Suite struct SetParametersTests {
    private func refusal(
        _ model: VirtualControllerModel, address: DeviceAddress? = nil, _ advertisement: Advertisement
    ) throws -> String? {
        let bench = Bench(model, address: address)
        let error = failure { _ = try bench.session(advertisement) }
        #expect(bench.commands.isEmpty)
        #expect(bench.pdus.isEmpty)
        return error?.description
    }

    @Test(arguments: [AdvertisingPDU.nonconnectable, .scannable])
    func nonconnectableBelow100MsIsRefusedOnCore4(_ pdu: AdvertisingPDU) throws {
        var advertisement = try Sample.iBeacon(intervalUnits: 0x9F)
        advertisement.pdu = pdu
        let name = pdu == .scannable ? "ADV_SCAN_IND" : "ADV_NONCONN_IND"
        #expect(
            try refusal(.core4, advertisement)
                == "interval 99.375 ms is out of this controller's range 100 ms...10240 ms: "
                + "the controller implements Core 4.2, which requires at least 100 ms for \(name)")
        advertisement.interval = AdvertisingInterval(rawValue: 0xA0)
        #expect(try refusal(.core4, advertisement) == nil)
    }

    @Test func acceptsConnectableAdvertisingAt20MsOnCore4() throws {
        var advertisement = try Sample.iBeacon(intervalUnits: 0x20)
        advertisement.pdu = .connectable
        #expect(try refusal(.core4, advertisement) == nil)
    }

    @Test(arguments: [
        (VirtualControllerModel.core4, UInt32(0x4001), "100 ms...10240 ms"),
        (.raspberryPi, 0x1F, "20 ms...10240 ms"),
        (.raspberryPi, 0x4001, "20 ms...10240 ms"),
        (.intel, 0x1F, "20 ms...10485759.375 ms"),
        (.zephyr, 0x100_0000, "20 ms...10485759.375 ms"),
    ])
    func intervalsOutsideTheRangeAreRefused(_ model: VirtualControllerModel, _ units: UInt32, _ range: String) throws {
        let advertisement = try Sample.iBeacon(intervalUnits: units)
        #expect(
            try refusal(model, advertisement)
                == "interval \(advertisement.interval) is out of this controller's range \(range)")
    }

    @Test(arguments: [
        (VirtualControllerModel.core4, UInt32(0x4000)), (.raspberryPi, 0x20), (.raspberryPi, 0x4000), (.intel, 0x20),
        (.zephyr, 0xFF_FFFF),
    ])
    func intervalsAtTheLimitsAreAccepted(_ model: VirtualControllerModel, _ units: UInt32) throws {
        #expect(try refusal(model, try Sample.iBeacon(intervalUnits: units)) == nil)
    }

    @Test(arguments: ["BF:11:22:33:44:55", "40:11:22:33:44:55", "C0:00:00:00:00:00", "FF:FF:FF:FF:FF:FF"])
    func addressesThatAreNotStaticRandomAreRefused(_ text: String) throws {
        var advertisement = try Sample.iBeacon()
        advertisement.address = .staticRandom(try #require(DeviceAddress(text)))
        #expect(
            try refusal(.intel, advertisement)
                == "\(text) is not a static random address: its first byte must be C0...FF")
    }

    @Test func refusesAPublicAddressIfTheControllerHasNone() throws {
        var advertisement = try Sample.iBeacon()
        advertisement.address = .public
        #expect(
            try refusal(.zephyr, address: DeviceAddress(FixedOctets()), advertisement)
                == "this controller has no public address; use a static random one: --address random-static")
    }

    @Test(arguments: VirtualControllerModel.tested)
    func usesTheControllersPublicAddress(_ model: VirtualControllerModel) throws {
        let address = try #require(DeviceAddress("00:00:5E:00:53:01"))
        let bench = Bench(model, address: address)
        var advertisement = try Sample.iBeacon()
        advertisement.address = .public
        let session = try bench.session(advertisement)
        #expect(session.address == address)
        try session.start()
        #expect(!bench.steps.contains("2005") && !bench.steps.contains("2035"))
        try bench.run(session, seconds: 1)
        #expect(bench.pdus.count >= 24)
        #expect(bench.pdus.allSatisfy { $0.address == address && $0.addressType == .publicDevice })
    }

    @Test func scanResponseNeedsAScannableOrConnectablePDU() throws {
        var advertisement = try Sample.iBeacon()
        advertisement.scanResponse = AdvertisingData(octets: [2, 9, 65])
        #expect(
            try refusal(.intel, advertisement)
                == "a scan response needs --pdu scannable or connectable")
        advertisement.pdu = .scannable
        #expect(try refusal(.intel, advertisement) == nil)
        advertisement.scanResponse = AdvertisingData(octets: [UInt8](repeating: 0, count: 32))
        #expect(try refusal(.intel, advertisement) == "the scan response has 32 bytes; 31 is the limit")
        advertisement.scanResponse = AdvertisingData(octets: [UInt8](repeating: 0, count: 31))
        #expect(try refusal(.intel, advertisement) == nil)
    }

    @Test(arguments: VirtualControllerModel.tested)
    func scanResponseIsSetBeforeEnabling(_ model: VirtualControllerModel) throws {
        let bench = Bench(model)
        var advertisement = try Sample.iBeacon()
        advertisement.pdu = .scannable
        advertisement.scanResponse = AdvertisingData(octets: [2, 9, 65])
        try bench.session(advertisement).start()
        if let parameters = bench.parameters(0x2009) {
            #expect(parameters == [3, 2, 9, 65] + [UInt8](repeating: 0, count: 28))
            #expect(bench.steps.suffix(3) == ["2008", "2009", "200a+"])
        } else {
            #expect(bench.parameters(0x2038) == [0, 3, 1, 3, 2, 9, 65])
            #expect(bench.steps.suffix(3) == ["2037", "2038", "2039+"])
        }
    }
}
