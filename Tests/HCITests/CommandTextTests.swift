import BluetoothTypes
import HCI
import Testing

@Suite struct CommandTextTests {
    @Test func fieldsAreNamedAsInTheSpecification() throws {
        let command = try LESetAdvertisingParameters(
            intervalMinimum: AdvertisingInterval(rawValue: 0xA0), intervalMaximum: AdvertisingInterval(rawValue: 0xF4),
            type: .nonconnectable, ownAddressType: .random)
        let description = try #require(HCICommandDescription.describe(command.packet))
        #expect(description.name == "LE Set Advertising Parameters")
        #expect(description.isWellFormed)
        #expect(
            description.fields.map(\.description) == [
                "Advertising_Interval_Min: 0x00A0 (100 ms)",
                "Advertising_Interval_Max: 0x00F4 (152.5 ms)",
                "Advertising_Type: ADV_NONCONN_IND (0x03)",
                "Own_Address_Type: random (0x01)",
                "Peer_Address_Type: public (0x00)",
                "Peer_Address: 00:00:00:00:00:00",
                "Advertising_Channel_Map: 37,38,39 (0x07)",
                "Advertising_Filter_Policy: all devices (0x00)",
            ])
    }

    @Test func unknownCommandsShowTheirOctets() {
        let vendor = HCICommandDescription.describe(HCIOpcode(rawValue: 0xFC99), parameters: hex("0102").span)
        #expect(vendor.name == "vendor command 0xFC99")
        #expect(vendor.fields == [HCIField("parameters", "0102")])
        let other = HCICommandDescription.describe(HCIOpcode(rawValue: 0x0405), parameters: hex("").span)
        #expect(other.name == "command 0x0405")
        #expect(other.fields.isEmpty)
    }

    @Test func malformedCommandsAreMarkedAndShowTheirOctets() {
        let cut = HCICommandDescription.describe(LESetAdvertisingEnable.opcode, parameters: hex("0100").span)
        #expect(cut.name == "LE Set Advertising Enable")
        #expect(!cut.isWellFormed)
        #expect(cut.fields == [HCIField("parameters", "0100")])
    }

    @Test(
        arguments: [
            (0x00, "Success (0x00)"), (0x01, "Unknown HCI Command (0x01)"), (0x0C, "Command Disallowed (0x0C)"),
            (0x11, "Unsupported Feature or Parameter Value (0x11)"), (0x12, "Invalid HCI Command Parameters (0x12)"),
            (0x1F, "Unspecified Error (0x1F)"),
            (0x22, "LMP Response Timeout / LL Response Timeout (0x22)"),
            (0x28, "Instant Passed (0x28)"), (0x2F, "Insufficient Security (0x2F)"),
            (0x30, "Parameter Out Of Mandatory Range (0x30)"), (0x36, "Extended Inquiry Response Too Large (0x36)"),
            (0x3A, "Controller Busy (0x3A)"), (0x3C, "Advertising Timeout (0x3C)"),
            (0x42, "Unknown Advertising Identifier (0x42)"), (0x43, "Limit Reached (0x43)"),
            (0x45, "Packet Too Long (0x45)"), (0x2B, "unknown status (0x2B)"), (0xFF, "unknown status (0xFF)"),
        ] as [(UInt8, String)])
    func statusHasItsName(_ octet: UInt8, _ text: String) {
        #expect(HCIStatus(rawValue: octet).description == text)
    }

    @Test func opcodesConsistOfGroupAndCommand() {
        #expect(LESetAdvertisingParameters.opcode.group == 0x08)
        #expect(LESetAdvertisingParameters.opcode.command == 0x006)
        #expect(BroadcomSetTransmitPower.opcode.isVendorSpecific)
        #expect(BroadcomSetTransmitPower.opcode.command == 0x026)
    }

    @Test func versionsAndCompaniesHaveTheirNames() {
        #expect(HCIVersion(rawValue: 6).description == "Core 4.0")
        #expect(HCIVersion(rawValue: 9) == .core50)
        #expect(HCIVersion(rawValue: 13).description == "Core 5.4")
        #expect(HCIVersion(rawValue: 99).description == "unknown version 0x63")
        #expect(CompanyIdentifier.linuxFoundation.rawValue == 0x05F1)
        #expect(CompanyIdentifier.nordic.description == "Nordic Semiconductor (0x0059)")
        #expect(CompanyIdentifier(rawValue: 0xFFFF).description == "company 0xFFFF")
    }
}
