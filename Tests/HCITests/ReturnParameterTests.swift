import BluetoothTypes
import HCI
import Testing

@Suite struct ReturnParameterTests {
    private func read<R: HCIReturnParameters>(_ type: R.Type, _ text: String) throws -> R {
        let octets = hex(text)
        let value = try #require(returned(R.self, [0x00] + octets, at: 1))
        #expect(value.octets == octets)
        #expect(returned(R.self, octets.dropLast()) == nil)
        #expect(returned(R.self, octets + [9]) == value, "later versions may append fields")
        #expect(returned(R.self, octets, at: -1) == nil)
        #expect(returned(R.self, octets, at: Int.max) == nil)
        return value
    }

    @Test func versionInformationIsRead() throws {
        let returned = try read(ReadLocalVersionInformation.ReturnParameters.self, "09 34 12 0A F1 05 78 56")
        #expect(returned.version == .core50)
        #expect(returned.revision == 0x1234)
        #expect(returned.lmpVersion == .core51)
        #expect(returned.company == .linuxFoundation)
        #expect(returned.lmpSubversion == 0x5678)
    }

    @Test func publicAddressIsReadInReverseOrder() throws {
        let returned = try read(ReadBDADDR.ReturnParameters.self, "05 04 03 02 01 F0")
        #expect(returned.address.description == "F0:01:02:03:04:05")
    }

    @Test func features() throws {
        let returned = try read(LEReadLocalSupportedFeatures.ReturnParameters.self, "BD 5F 66 00 00 00 00 00")
        #expect(returned.features.isSuperset(of: [.extendedAdvertising, .le2MPHY, .leCodedPHY, .encryption]))
        let raspberryPi = try read(LEReadLocalSupportedFeatures.ReturnParameters.self, "3F 00 00 08 00 00 00 00")
        #expect(!raspberryPi.features.contains(.extendedAdvertising))
    }

    @Test func powersAndNumbersAreRead() throws {
        #expect(try read(LEReadAdvertisingPhysicalChannelTxPower.ReturnParameters.self, "0C").power.dBm == 12)
        #expect(try read(LESetExtendedAdvertisingParameters.ReturnParameters.self, "F8").selectedPower.dBm == -8)
        let states = try read(LEReadSupportedStates.ReturnParameters.self, "3F FF 00 00 00 00 00 00")
        #expect(states.scans && states.scansWhileAdvertising)
        let alone = try read(LEReadSupportedStates.ReturnParameters.self, "10 05 00 00 00 00 00 00")
        #expect(alone.scans && !alone.scansWhileAdvertising)
        let range = try read(LEReadTransmitPower.ReturnParameters.self, "DE 07")
        #expect(range.minimum.dBm == -34)
        #expect(range.maximum.dBm == 7)
        #expect(try read(LEReadMaximumAdvertisingDataLength.ReturnParameters.self, "72 06").maximumLength == 1650)
        #expect(try read(LEReadNumberOfSupportedAdvertisingSets.ReturnParameters.self, "10").count == 16)
        let zephyr = try read(ZephyrTxPowerLevel.self, "00 02 01 F8")
        #expect(zephyr.handle == 0x0102)
        #expect(zephyr.power.dBm == -8)
    }

    @Test func zephyrInformationIsRead() throws {
        let version = try read(
            ZephyrReadVersionInformation.ReturnParameters.self, "02 00 03 00 00 04 05 00 44 33 22 11")
        #expect(version.hardwarePlatform == 2)
        #expect(version.firmwareBuild == 0x1122_3344)
        let bitmap = "FF 60" + String(repeating: "00", count: 62)
        #expect(try read(ZephyrReadSupportedCommands.ReturnParameters.self, bitmap).setsTxPower)
    }

    @Test func emptyReturnParametersAreRead() {
        #expect(returned(HCINoReturnParameters.self, []) == HCINoReturnParameters())
        #expect(HCINoReturnParameters().octets.isEmpty)
    }

    @Test(
        arguments: [
            (0x0C03, 5, 0x80), (0x0C01, 5, 0x40), (0x1001, 14, 0x08), (0x1009, 15, 0x02), (0x0C6D, 24, 0x40),
            (0x2005, 25, 0x10), (0x2006, 25, 0x20), (0x2007, 25, 0x40), (0x2008, 25, 0x80), (0x2009, 26, 0x01),
            (0x200A, 26, 0x02), (0x200B, 26, 0x04), (0x200C, 26, 0x08), (0x2035, 36, 0x02), (0x2036, 36, 0x04),
            (0x2037, 36, 0x08), (0x2038, 36, 0x10), (0x2039, 36, 0x20), (0x203A, 36, 0x40), (0x203B, 36, 0x80),
            (0x203C, 37, 0x01), (0x203D, 37, 0x02), (0x2041, 37, 0x20), (0x2042, 37, 0x40), (0x204B, 38, 0x80),
            (0x2074, 44, 0x02), (0x207F, 46, 0x04),
        ] as [(UInt16, Int, UInt8)])
    func supportedCommandHasItsBit(_ opcode: UInt16, _ octet: Int, _ bit: UInt8) throws {
        let type = try #require(HCICommands.type(HCIOpcode(rawValue: opcode)))
        var expected = FixedOctets<64>()
        expected[octet] = bit
        let commands = SupportedCommands([type])
        #expect(commands.octets == expected)
        #expect(commands.contains(type))
        let value = ReadLocalSupportedCommands.ReturnParameters(commands)
        #expect(returned(ReadLocalSupportedCommands.ReturnParameters.self, value.octets) == value)
    }

    @Test func vendorCommandsHaveNoBit() {
        #expect(SupportedCommands([BroadcomSetTransmitPower.self]).octets == FixedOctets())
        #expect(!SupportedCommands(octets: FixedOctets(repeating: 0xFF)).contains(BroadcomSetTransmitPower.self))
    }
}
