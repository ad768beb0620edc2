import BluetoothTypes
import HCI
import Testing

@Suite struct ManagementAnswerTests {
    /// The answer of Debian 12's kernel for an adapter of btvirt, with another name and class.
    @Test func controllerInformationIsRead() throws {
        let octets = hex("00000200aa00 0a f105 ffbe0100 81020000") + [UInt8](repeating: 7, count: 263)
        let information = try #require(returned(ReadControllerInformation.ReturnParameters.self, octets))
        #expect(information.address.description == "00:AA:00:02:00:00")
        #expect(information.version.rawValue == 0x0A)
        #expect(information.manufacturer.rawValue == 0x05F1)
        #expect(information.current == [.powered, .bredr, .lowEnergy])
        #expect(information.supported.contains([.powered, .lowEnergy, .staticAddress]))
        #expect(information.octets == octets)
        #expect(returned(ReadControllerInformation.ReturnParameters.self, octets.dropLast()) == nil)
    }

    @Test func advertisingFeaturesAreRead() throws {
        let octets = hex("7ff40100 1f 1f 05 02 01 03")
        let features = try #require(returned(ReadAdvertisingFeatures.ReturnParameters.self, octets))
        #expect(features.supportedFlags.contains([.useIntervals, .useTxPower, .scanResponse, .canSetTxPower]))
        #expect(features.maximumInstances == 5)
        #expect(features.instances == [1, 3])
        #expect(features.octets == octets)
        #expect(returned(ReadAdvertisingFeatures.ReturnParameters.self, hex("7ff40100 1f 1f 05 03 01 03")) == nil)
    }

    @Test func listsAreReadToTheirLength() throws {
        let list = try #require(returned(ReadControllerIndexList.ReturnParameters.self, hex("0200 0000 0500 ff")))
        #expect(list.indexes == [0, 5])
        #expect(returned(ReadControllerIndexList.ReturnParameters.self, hex("0200 0000 05")) == nil)
        #expect(returned(ReadControllerIndexList.ReturnParameters.self, hex("ffff")) == nil)
        let commands = try #require(
            returned(ReadManagementSupportedCommands.ReturnParameters.self, hex("0200 0100 5400 5500 0300")))
        #expect(commands.commands == [0x54, 0x55])
        #expect(commands.events == [3])
        #expect(returned(ReadManagementSupportedCommands.ReturnParameters.self, hex("ffff ffff 5400")) == nil)
    }

    @Test func randomAnswersAreReadOrRefused() {
        var generator = SplitMix64(seed: 5)
        func check<C: ManagementCommand>(_ type: C.Type) {
            for _ in 0..<2_000 {
                let octets = generator.octets(Int.random(in: 0...300, using: &generator))
                guard let value = C.ReturnParameters(octets: octets.span, at: 0) else { continue }
                #expect(octets.starts(with: value.octets))
            }
            #expect(returned(C.ReturnParameters.self, []) == nil)
            #expect(returned(C.ReturnParameters.self, [1, 2, 3], at: 4) == nil)
        }
        for type in ManagementCommands.all { check(type) }
    }

    static let events: [(String, ManagementEvent.Content)] = [
        ("0100 0000 0400 0500 00 aa", .commandComplete(opcode: 5, status: .success, returned: [0xAA])),
        ("0200 0000 0300 5400 0d", .commandStatus(opcode: 0x54, status: .invalidParameters)),
        ("0300 0000 0100 42", .controllerError(code: 0x42)),
        ("0400 0000 0000", .indexAdded),
        ("0500 0000 0000", .indexRemoved),
        ("0600 0000 0400 01020000", .newSettings([.powered, .lowEnergy])),
        ("2300 0000 0100 01", .advertisingAdded(instance: 1)),
        ("2400 0000 0100 05", .advertisingRemoved(instance: 5)),
        ("2d00 0000 0100 01", .controllerSuspend(state: 1)),
        ("2e00 0000 0800 02 010203040506 00", .controllerResume(reason: 2, peer: [1, 2, 3, 4, 5, 6, 0])),
        (
            "1200 0000 1100 c1c1c1c1c1c1 02 c4 04000000 0300 020106",
            .deviceFound(
                ManagementDevice(
                    address: DeviceAddress(FixedOctets(repeating: 0xC1)), addressType: 2, rssi: -60,
                    flags: 4, data: [2, 1, 6]))
        ),
        ("2c00 0000 0200 0201", .monitorRemoved(0x0102)),
        (
            "2f00 0000 1000 0100 c1c1c1c1c1c1 01 7f 00000000 0000",
            .monitoredDeviceFound(
                monitor: 1,
                ManagementDevice(
                    address: DeviceAddress(FixedOctets(repeating: 0xC1)), addressType: 1, rssi: nil,
                    data: []))
        ),
        (
            "3000 0000 0900 0100 010203040506 02",
            .monitoredDeviceLost(monitor: 1, peer: [1, 2, 3, 4, 5, 6, 2])
        ),
        (
            "1200 0000 0e00 c1c1c1c1c1c1 02 c4 04000000 0100",
            .unknown(code: 0x12, parameters: hex("c1c1c1c1c1c102c4040000000100"))
        ),
        ("1500 0000 0200 0102", .unknown(code: 0x15, parameters: [1, 2])),
        ("2300 0000 0200 0102", .unknown(code: 0x23, parameters: [1, 2])),
        ("0600 0000 0000", .unknown(code: 6, parameters: [])),
        ("0100 0000 0200 0500", .unknown(code: 1, parameters: [5, 0])),
    ]

    @Test(arguments: events.indices)
    func anEventIsReadAndWritten(_ index: Int) throws {
        let (text, content) = Self.events[index]
        let packet = try #require(message(hex(text)))
        let event = ManagementEvent(packet)
        #expect(event.content == content)
        #expect(event.packet.octets == hex(text))
    }

    @Test func statusesAndSettingsAreNamed() {
        #expect(ManagementStatus.permissionDenied.description == "Permission Denied (0x14)")
        #expect(ManagementStatus.rfkilled.description == "RFKilled (0x12)")
        #expect(ManagementStatus(rawValue: 0x15).description == "unknown status (0x15)")
        #expect(ManagementSettings([.powered, .lowEnergy]).description == "powered, low energy (0x00000201)")
        #expect(ManagementAdvertisingFlags([]).description == "none (0x00000000)")
        #expect(
            ManagementError.refused(command: "Set Powered", index: 1, status: .permissionDenied).description
                == "the kernel refused Set Powered on hci1: Permission Denied (0x14); run as root, "
                + "or give the program CAP_NET_ADMIN")
    }
}
