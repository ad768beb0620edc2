import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct CommandSequenceTests {
    struct Sequence: CustomTestStringConvertible, Sendable {
        let model: VirtualControllerModel
        let asking: [String]
        let start: [String]
        let stop: [String]
        let sharedStop: [String]

        var testDescription: String { model.name }
    }

    private static let sequences = [
        Sequence(
            model: .raspberryPi,
            asking: ["0c03", "1001", "1002", "1009", "2003", "0c01", "2001", "0c6d"],
            start: ["200a-", "2005", "2006", "fc26", "2007", "2008", "200a+"],
            stop: ["200a-", "0c03"], sharedStop: ["200a-", "2008", "2009"]),
        Sequence(
            model: .core4,
            asking: ["0c03", "1001", "1002", "1009", "2003", "0c01", "2001", "0c6d"],
            start: ["200a-", "2005", "2006", "2007", "2008", "200a+"],
            stop: ["200a-", "0c03"], sharedStop: ["200a-", "2008", "2009"]),
        Sequence(
            model: .legacyZephyr,
            asking: ["0c03", "1001", "1002", "1009", "2003", "0c01", "2001", "fc01", "fc02"],
            start: ["200a-", "2005", "2006", "fc0e", "2008", "200a+"],
            stop: ["200a-", "0c03"], sharedStop: ["200a-", "2008", "2009", "fc0e"]),
        Sequence(
            model: .zephyr,
            asking: ["0c03", "1001", "1002", "1009", "2003", "0c01", "2001", "203b", "203a", "204b"],
            start: ["2039-", "2036", "2035", "2037", "2039+"],
            stop: ["2039-", "0c03"], sharedStop: ["2039-", "203c"]),
        Sequence(
            model: .intel,
            asking: ["0c03", "1001", "1002", "1009", "2003", "0c01", "2001", "0c6d", "203b", "203a", "204b"],
            start: ["2039-", "2036", "2035", "2037", "2039+"],
            stop: ["2039-", "0c03"], sharedStop: ["2039-", "203c"]),
    ]

    @Test(arguments: sequences)
    func exclusiveControllerGetsTheExpectedCommands(_ sequence: Sequence) throws {
        let bench = Bench(sequence.model)
        _ = try bench.capabilities()
        #expect(bench.steps == sequence.asking)
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = Sample.power(0)
        let session = try bench.session(advertisement)
        try session.start()
        #expect(bench.steps == sequence.start)
        #expect(bench.isAdvertising)
        bench.forget()
        try session.stop()
        #expect(bench.steps == sequence.stop)
        #expect(!bench.isAdvertising)
    }

    @Test(arguments: sequences)
    func sharedControllerIsNotResetAndKeepsItsEventMasks(_ sequence: Sequence) throws {
        let bench = Bench(sequence.model)
        _ = try bench.capabilities(isExclusive: false)
        #expect(bench.steps == sequence.asking.filter { !["0c03", "0c01", "2001", "0c6d"].contains($0) })
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = Sample.power(0)
        let session = try bench.session(advertisement, isExclusive: false)
        try session.start()
        #expect(bench.steps == sequence.start)
        bench.forget()
        try session.stop()
        #expect(bench.steps == sequence.sharedStop)
        #expect(!bench.isAdvertising)
    }

    @Test(arguments: [VirtualControllerModel.zephyr, .intel])
    func extendedControllerNeverGetsALegacyCommand(_ model: VirtualControllerModel) throws {
        for pdu in AdvertisingPDU.allCases {
            let bench = Bench(model)
            var advertisement = try Sample.iBeacon()
            advertisement.pdu = pdu
            advertisement.radioPower = Sample.power(0)
            let capabilities = try bench.capabilities()
            try PassiveScan(capabilities).start(bench.host)
            let session = try BeaconSession(host: bench.host, advertisement, on: capabilities)
            try session.start()
            try bench.run(session, seconds: 2)
            try session.stop()
            let opcodes = bench.commands.map(Bench.opcode)
            #expect(opcodes.contains(0x2036))
            #expect(!opcodes.contains { (0x2006...0x200C).contains($0) })
        }
    }

    @Test func commandFamilyFollowsTheExtendedAdvertisingFeature() throws {
        func family(_ model: VirtualControllerModel, isExclusive: Bool) throws -> SetParameters.Family {
            try Bench(model).session(Sample.iBeacon(), isExclusive: isExclusive).setPlan.family
        }
        #expect(try family(.raspberryPi, isExclusive: true) == .legacy)
        #expect(try family(.core4, isExclusive: false) == .legacy)
        #expect(try family(.legacyZephyr, isExclusive: true) == .legacy)
        #expect(try family(.intel, isExclusive: true) == .extended(handle: 0))
        #expect(try family(.zephyr, isExclusive: false) == .extended(handle: 0xEF))
    }

    /// The octets are worked out by hand from Core Specification 5.4, Vol 4 Part E 7.8.5, 7.8.4, 7.8.7.
    @Test func legacyOctets() throws {
        let bench = Bench(.core4)
        try bench.session(Sample.iBeacon(intervalUnits: 0x1234)).start()
        #expect(bench.parameters(0x2006) == [0x34, 0x12, 0x34, 0x12, 3, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0])
        #expect(bench.parameters(0x2005) == [0x55, 0x44, 0x33, 0x22, 0x11, 0xC0])
        #expect(bench.parameters(0x2008) == [30] + Sample.iBeaconOctets + [0])
    }

    /// Core Specification 5.4, Vol 4 Part E 7.8.53, 7.8.52, 7.8.54, 7.8.56.
    @Test func extendedOctets() throws {
        let bench = Bench(.intel)
        var advertisement = try Sample.iBeacon(intervalUnits: 0x01_2345)
        advertisement.channels = try #require(AdvertisingChannels(numbers: [37, 39]))
        try bench.session(advertisement).start()
        let parameters = try #require(bench.parameters(0x2036))
        #expect(parameters.count == 25)
        #expect(
            Array(parameters.prefix(20)) == [
                0, 0x10, 0, 0x45, 0x23, 0x01, 0x45, 0x23, 0x01, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F,
            ])
        #expect(bench.parameters(0x2035) == [0, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0])
        #expect(bench.parameters(0x2037) == [0, 3, 1, 30] + Sample.iBeaconOctets)
        #expect(bench.parameters(0x2039) == [1, 1, 0, 0, 0, 0])
    }

    @Test(arguments: VirtualControllerModel.tested, AdvertisingPDU.allCases)
    func minimumAndMaximumIntervalAreEqualForEveryPDU(_ model: VirtualControllerModel, _ pdu: AdvertisingPDU) throws {
        let bench = Bench(model)
        var advertisement = try Sample.iBeacon(intervalUnits: 0x0321)
        advertisement.pdu = pdu
        let session = try bench.session(advertisement)
        try session.start()
        if let parameters = bench.parameters(0x2006) {
            #expect(Array(parameters[0..<4]) == [0x21, 0x03, 0x21, 0x03])
            #expect(parameters[4] == ["connectable": 0, "scannable": 2, "nonconnectable": 3][pdu.rawValue])
        } else {
            let parameters = try #require(bench.parameters(0x2036))
            #expect(Array(parameters[3..<9]) == [0x21, 0x03, 0, 0x21, 0x03, 0])
            #expect(parameters[1] == ["connectable": 0x13, "scannable": 0x12, "nonconnectable": 0x10][pdu.rawValue])
        }
        #expect(session.setPlan.interval == advertisement.interval)
    }

    @Test func passiveScanUsesTheControllersCommandFamily() throws {
        for (model, steps) in [(VirtualControllerModel.core4, ["200b", "200c+"]), (.intel, ["2041", "2042+"])] {
            let bench = Bench(model)
            let capabilities = try bench.capabilities()
            bench.forget()
            try PassiveScan(capabilities).start(bench.host)
            #expect(bench.steps == steps)
            #expect(bench.controller.isScanning)
        }
    }
}
