import BluetoothTypes
import HCI
import Testing
import VirtualController

/// The library's own host, with its encoders and decoders, on virtual controllers.
@Suite struct VirtualChannelTests {
    private static let payload: [UInt8] = [2, 1, 6, 5, 0xFF, 0xFF, 0xFF, 1, 2]
    private static let interval = AdvertisingInterval(rawValue: 0xA0)

    private func prepare(_ host: HCIHost) throws {
        try host.execute(HCIReset())
        try host.execute(SetEventMask(.standardAndLE))
        try host.execute(
            LESetEventMask([.advertisingReport, .extendedAdvertisingReport, .advertisingSetTerminated]))
    }

    @Test func legacyHostReceivesALegacyHost() throws {
        let air = VirtualAir()
        let sender = HCIHost(channel: VirtualChannel(.raspberryPi, on: air))
        let listener = HCIHost(channel: VirtualChannel(.raspberryPi, on: air))
        try prepare(sender)
        try prepare(listener)
        try sender.execute(
            LESetAdvertisingParameters(
                intervalMinimum: Self.interval, intervalMaximum: Self.interval, type: .scannable,
                ownAddressType: .publicDevice))
        try sender.execute(LESetAdvertisingData(Self.payload))
        try sender.execute(LESetScanResponseData([1, 0]))
        try sender.execute(LESetAdvertisingEnable(true))
        try listener.execute(
            LESetScanParameters(type: .active, interval: ScanInterval(rawValue: 16), window: ScanInterval(rawValue: 16))
        )
        try listener.execute(LESetScanEnable(true))
        let address = try sender.execute(ReadBDADDR()).address
        for (type, data) in [(UInt8(2), Self.payload), (4, [1, 0])] {
            let event = try listener.nextEvent(until: air.now.advanced(byMicroseconds: 1_000_000))
            let report = AdvertisingReport(
                type: .legacy(type), addressType: .publicDevice, address: address, rssi: 12 - 50,
                data: AdvertisingData(octets: data))
            #expect(event == .advertisingReports([report]))
        }
    }

    @Test func extendedHostReceivesAnExtendedHost() throws {
        let air = VirtualAir()
        let sender = HCIHost(channel: VirtualChannel(.zephyr, on: air))
        let listener = HCIHost(channel: VirtualChannel(.intel, on: air))
        try prepare(sender)
        try prepare(listener)
        let granted = try sender.execute(
            LESetExtendedAdvertisingParameters(
                handle: 7, properties: .legacyNonconnectable, intervalMinimum: Self.interval,
                intervalMaximum: Self.interval, ownAddressType: .random, power: RadioPower(dBm: -10)))
        #expect(granted.selectedPower.dBm == -12)
        let address = try #require(DeviceAddress("C0:11:22:33:44:55"))
        try sender.execute(LESetAdvertisingSetRandomAddress(handle: 7, address: address))
        try sender.execute(LESetExtendedAdvertisingData(handle: 7, data: Self.payload))
        try listener.execute(
            LESetExtendedScanParameters(
                le1M: .init(type: .passive, interval: ScanInterval(rawValue: 16), window: ScanInterval(rawValue: 16))))
        try listener.execute(LESetExtendedScanEnable(true, filterDuplicates: .on))
        try sender.execute(LESetExtendedAdvertisingEnable(true, [.init(handle: 7, maximumEvents: 20)]))
        let event = try listener.nextEvent(until: air.now.advanced(byMicroseconds: 1_000_000))
        let report = AdvertisingReport(
            type: .extended(0x10), addressType: .random, address: address, rssi: -12 - 50,
            data: AdvertisingData(octets: Self.payload))
        #expect(event == .extendedAdvertisingReports([report]))
        let end = try sender.nextEvent(until: air.now.advanced(byMicroseconds: 5_000_000))
        #expect(
            end == .advertisingSetTerminated(.init(status: .limitReached, handle: 7, completedEvents: 20)))
    }

    /// Each command has a wrong length. A model that knows the command answers 0x12 (Invalid HCI Command Parameters).
    @Test func everyDeclaredCommandIsKnownToSomeModel() throws {
        for command in HCICommands.all {
            let answers = try VirtualControllerModel.all.map { model in
                try TestHost(model).send(RawCommand(command.opcode.rawValue, [UInt8](repeating: 0, count: 200)))
            }
            #expect(answers.contains(0x12), "\(command.name)")
        }
    }

    @Test func faultsBecomeErrorsOfTheHost() throws {
        func outcome(_ fault: VirtualFault) throws -> HCICommandError? {
            let channel = VirtualChannel(.zephyr)
            channel.controller.commandHook = { _ in fault }
            let host = HCIHost(channel: channel)
            do throws(HCICommandError) {
                try host.execute(LEReadLocalSupportedFeatures(), timeout: .seconds(1))
                return nil
            } catch {
                return error
            }
        }
        let name = LEReadLocalSupportedFeatures.name
        let opcode = LEReadLocalSupportedFeatures.opcode
        let noAnswer = HCICommandError.noAnswer(command: name, opcode: opcode, after: .seconds(1))
        #expect(try outcome(.pass) == nil)
        #expect(try outcome(.delay(microseconds: 900_000)) == nil)
        #expect(try outcome(.drop) == noAnswer)
        #expect(try outcome(.delay(microseconds: 1_100_000)) == noAnswer)
        #expect(try outcome(.replace(RawCommand.reset.packet)) == noAnswer)
        #expect(
            try outcome(.fail(.controllerBusy)) == .refused(command: name, opcode: opcode, status: .controllerBusy))
        guard case .channel(.gone) = try outcome(.vanish) else {
            Issue.record("a controller that vanishes must end the command")
            return
        }
    }

    @Test func hostWaitsForCredits() throws {
        let channel = VirtualChannel(.zephyr)
        channel.controller.commandHook = { _ in .withoutCredits(forMicroseconds: 300_000) }
        let host = HCIHost(channel: channel)
        for _ in 0..<3 { try host.execute(HCIReset(), timeout: .seconds(1)) }
        #expect(channel.now.nanoseconds == 600_000_000)
        channel.controller.commandHook = { _ in .withoutCredits(forMicroseconds: nil) }
        try host.execute(HCIReset(), timeout: .seconds(1))
        #expect(throws: HCICommandError.self) { try host.execute(HCIReset(), timeout: .seconds(1)) }
    }
}
