import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

/// A connection ends connectable advertising, and the session enables it again.
@Suite struct ConnectionTests {
    private static let connected: [UInt8] = [0x3E, 19, 0x01, 0x00] + [UInt8](repeating: 0, count: 17)
    private static let enhancedConnected: [UInt8] = [0x3E, 31, 0x0A, 0x00] + [UInt8](repeating: 0, count: 29)
    private static let failed: [UInt8] = [0x3E, 19, 0x01, 0x3C] + [UInt8](repeating: 0, count: 17)
    private static let disconnected: [UInt8] = [0x05, 4, 0x00, 0x40, 0x00, 0x13]

    @Test(arguments: [
        (AdvertisingPDU.connectable, connected, ["200a+"]), (.connectable, enhancedConnected, ["200a+"]),
        (.connectable, disconnected, ["200a+"]), (.connectable, failed, []), (.nonconnectable, connected, []),
    ])
    func connectionEnablesLegacyAdvertisingAgain(_ pdu: AdvertisingPDU, _ event: [UInt8], _ steps: [String]) throws {
        let bench = Bench(.raspberryPi)
        var advertisement = try Sample.iBeacon()
        advertisement.pdu = pdu
        let session = try bench.session(advertisement)
        try session.start()
        bench.forget()
        bench.controller.inject(HCIPacket(.event, event))
        try bench.run(session, seconds: 1)
        #expect(bench.steps == steps)
    }

    @Test func retriesARefusedEnableAfterTheDisconnection() throws {
        let bench = Bench(.raspberryPi)
        var advertisement = try Sample.iBeacon()
        advertisement.pdu = .connectable
        let session = try bench.session(advertisement)
        try session.start()
        bench.controller.commandHook = {
            $0.octets.starts(with: [0x0A, 0x20]) ? .fail(HCIStatus(rawValue: 0x0D)) : .pass
        }
        bench.controller.inject(HCIPacket(.event, Self.connected))
        try bench.run(session, seconds: 1)
        bench.controller.commandHook = nil
        bench.forget()
        bench.controller.inject(HCIPacket(.event, Self.disconnected))
        try bench.run(session, seconds: 1)
        #expect(bench.steps == ["200a+"])
    }
}

/// The beacon goes on the air even if the controller refuses the commands about power.
@Suite struct PowerFaultTests {
    @Test(arguments: [
        (VirtualControllerModel.intel, HCIOpcode(rawValue: 0x204B)), (.raspberryPi, HCIOpcode(rawValue: 0x2007)),
        (.raspberryPi, HCIOpcode(rawValue: 0xFC26)),
    ])
    func startsDespiteARefusedPowerCommand(_ model: VirtualControllerModel, _ opcode: HCIOpcode) throws {
        let bench = Bench(model)
        bench.controller.commandHook = { packet in
            packet.commandHeader?.opcode == opcode ? .fail(.unknownCommand) : .pass
        }
        var advertisement = try Sample.iBeacon()
        advertisement.radioPower = try RadioPower(dBm: 0)
        let session = try bench.session(advertisement)
        try session.start()
        #expect(bench.isAdvertising)
    }
}
