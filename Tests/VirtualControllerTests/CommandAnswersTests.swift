import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct CommandAnswersTests {
    @Test func unknownCommandGetsCommandStatus() throws {
        #expect(try TestHost().answer(to: RawCommand(0x2036, [1])) == [0x0F, 4, 1, 1, 0x36, 0x20])
    }

    @Test func versionDependsOnTheModel() throws {
        #expect(try TestHost(.raspberryPi).returned(RawCommand(0x1001)) == [9, 0, 0, 9, 0x0F, 0, 0, 0])
        #expect(try TestHost(.zephyr).returned(RawCommand(0x1001)) == [13, 0, 0, 13, 0xF1, 0x05, 0, 0])
        #expect(try TestHost(.core4).returned(RawCommand(0x1001))[0] == 8)
    }

    @Test func featureBit12MatchesTheCommandFamily() throws {
        for model in VirtualControllerModel.all {
            let features = try TestHost(model).returned(RawCommand(0x2003))
            let sets = try TestHost(model).send(RawCommand(0x203B))
            #expect((features[1] & 0x10 != 0) == (sets == 0))
        }
    }

    @Test func supportedCommandBitsMatchTheKnownCommands() throws {
        for model in VirtualControllerModel.all {
            let host = TestHost(model)
            let bitmap = try host.returned(RawCommand(0x1002))
            #expect(bitmap.count == 64)
            // Octet and bit of some commands, from the specification's table.
            for (opcode, octet, bit) in [
                (0x2006, 25, 5), (0x2007, 25, 6), (0x200A, 26, 1), (0x200C, 26, 3), (0x2018, 27, 7), (0x2036, 36, 2),
                (0x203B, 36, 7), (0x203D, 37, 1), (0x2042, 37, 6), (0x204B, 38, 7), (0x0C6D, 24, 6), (0x1003, 14, 5),
                (0x201C, 28, 3), (0x2011, 27, 0), (0x2002, 25, 1), (0x0C03, 5, 7), (0x2043, 37, 7), (0x2023, 33, 7),
                (0x2024, 34, 0), (0x202F, 35, 3),
            ] as [(UInt16, Int, Int)] {
                let isKnown = try TestHost(model).send(RawCommand(opcode, [UInt8](repeating: 0, count: 99))) != 1
                #expect((bitmap[octet] >> UInt8(bit) & 1 == 1) == isKnown, "\(model.name) \(opcode)")
            }
        }
    }

    @Test func extendedModelsReportTheirLimits() throws {
        #expect(try TestHost(.zephyr).returned(RawCommand(0x203A)) == [0x72, 0x06])
        #expect(try TestHost(.zephyr).returned(RawCommand(0x203B)) == [4])
        #expect(try TestHost(.intel).returned(RawCommand(0x203B)) == [12])
        #expect(try TestHost(.intel).returned(RawCommand(0x204B)) == [UInt8(bitPattern: -34), 7])
    }

    @Test(arguments: [(5, 5), (1, 0), (20, 8), (-127, -40), (-30, -40), (127, 0)] as [(Int8, Int8)])
    func selectedPowerIsAnAvailableLevel(_ wish: Int8, _ granted: Int8) throws {
        let host = TestHost(.zephyr)
        #expect(try host.returned(.set(power: UInt8(bitPattern: wish))) == [UInt8(bitPattern: granted)])
        let vendor = try host.returned(RawCommand(0xFC0F, [0, 1, 0]))
        #expect(vendor == [0, 1, 0, UInt8(bitPattern: granted)])
    }

    @Test func refusedParametersStillReturnAPower() throws {
        #expect(try TestHost(.zephyr).answer(to: .set(map: 0)) == [0x0E, 5, 1, 0x36, 0x20, 0x12, 0])
    }

    @Test func vendorPowerIsReadBack() throws {
        let pi = TestHost(.raspberryPi)
        #expect(try pi.returned(RawCommand(0x2007)) == [12])
        try pi.send(RawCommand(0xFC26, [0xFE, 0, UInt8(bitPattern: -5)]))
        #expect(try pi.returned(RawCommand(0x2007)) == [UInt8(bitPattern: -8)])
        try pi.send(.reset)
        #expect(try pi.returned(RawCommand(0x2007)) == [12])
        let zephyr = TestHost(.zephyr)
        #expect(try zephyr.returned(RawCommand(0xFC0E, [0, 0, 0, 5])) == [0, 0, 0, 5])
        #expect(try zephyr.returned(RawCommand(0x2007)) == [5])
        #expect(try zephyr.returned(RawCommand(0xFC02))[1] == 0x60)
        #expect(try zephyr.returned(RawCommand(0xFC01)).count == 12)
    }

    @Test func controllersHaveDifferentAddresses() throws {
        let air = VirtualAir()
        let hosts = (0..<300).map { _ in TestHost(.core4, on: air) }
        let addresses = try Set(hosts.map { try $0.returned(RawCommand(0x1009)) })
        #expect(addresses.count == 300)
    }

    @Test func randomNumbersDiffer() throws {
        let host = TestHost()
        #expect(try host.returned(RawCommand(0x2018)) != host.returned(RawCommand(0x2018)))
    }

    @Test func modelsAreFoundByName() {
        #expect(VirtualControllerModel(named: "raspberry-pi") == .raspberryPi)
        #expect(VirtualControllerModel(named: "zephyr") == .zephyr)
        #expect(VirtualControllerModel(named: "intel") == .intel)
        #expect(VirtualControllerModel(named: "Zephyr") == nil)
    }
}
