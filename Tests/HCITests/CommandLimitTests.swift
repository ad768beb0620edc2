import BluetoothTypes
import HCI
import Testing

/// Values that the specification forbids are refused, and the error names the field.
@Suite struct CommandLimitTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let text: String
        let make: @Sendable () throws -> Void
        var testDescription: String { text }

        init(_ text: String, _ make: @escaping @Sendable () throws -> Void) {
            self.text = text
            self.make = make
        }
    }

    static func legacy(
        _ minimum: UInt32 = 0xA0, _ maximum: UInt32 = 0xA0, type: UInt8 = 3, channels: UInt8 = 7, own: UInt8 = 1
    ) throws {
        _ = try LESetAdvertisingParameters(
            intervalMinimum: AdvertisingInterval(rawValue: minimum),
            intervalMaximum: AdvertisingInterval(rawValue: maximum),
            type: LegacyAdvertisingType(rawValue: type), ownAddressType: OwnAddressType(rawValue: own),
            channels: AdvertisingChannels(rawValue: channels))
    }

    static func extended(
        _ minimum: UInt32 = 0xA0, _ maximum: UInt32 = 0xA0, handle: UInt8 = 0, properties: UInt16 = 0x10,
        primary: UInt8 = 1, power: UInt8 = 0x7F, sid: UInt8 = 0, channels: UInt8 = 7
    ) throws {
        _ = try LESetExtendedAdvertisingParameters(
            handle: handle, properties: AdvertisingEventProperties(rawValue: properties),
            intervalMinimum: AdvertisingInterval(rawValue: minimum),
            intervalMaximum: AdvertisingInterval(rawValue: maximum),
            channels: AdvertisingChannels(rawValue: channels), ownAddressType: .random,
            power: RadioPower(octet: power), primaryPHY: AdvertisingPHY(rawValue: primary), setIdentifier: sid)
    }

    static let refusals: [Refusal] = [
        .init("Advertising_Interval_Min: 31 is out of range 32...160") { try legacy(0x1F) },
        .init("Advertising_Interval_Min: 161 is out of range 32...160") { try legacy(0xA1) },
        .init("Advertising_Interval_Max: 16385 is out of range 32...16384") { try legacy(0xA0, 0x4001) },
        .init("Advertising_Interval_Max: 31 is out of range 32...16384") { try legacy(0x10, 0x1F) },
        .init("Advertising_Interval_Max: 65536 is out of range 0...65535") { try legacy(0, 0x1_0000, type: 1) },
        .init("Advertising_Type: 5 is out of range 0...4") { try legacy(type: 5) },
        .init("Advertising_Channel_Map: 0 is out of range 1...7") { try legacy(channels: 0) },
        .init("Advertising_Channel_Map: 8 is out of range 1...7") { try legacy(channels: 8) },
        .init("Own_Address_Type: 4 is out of range 0...3") { try legacy(own: 4) },
        .init("Advertising_Data_Length: 32 is out of range 0...31 bytes") {
            _ = try LESetAdvertisingData([UInt8](repeating: 0, count: 32))
        },
        .init("Scan_Response_Data_Length: 32 is out of range 0...31 bytes") {
            _ = try LESetScanResponseData([UInt8](repeating: 0, count: 32))
        },
        .init("Primary_Advertising_Interval_Max: 16777216 is out of range 32...16777215") {
            try extended(0xA0, 0x100_0000)
        },
        .init("Advertising_Handle: 240 is out of range 0...239") { try extended(handle: 0xF0) },
        .init("no legacy PDU has these properties") { try extended(properties: 0x11) },
        .init("connectable or scannable, not both") { try extended(properties: 0x03) },
        .init("only legacy PDUs have a high duty cycle") { try extended(properties: 0x0C) },
        .init("bits 7 to 15 are reserved") { try extended(properties: 0x80) },
        .init("legacy PDUs are sent on LE 1M only") { try extended(primary: 3) },
        .init("only LE 1M and LE Coded are allowed on the primary channels") {
            try extended(properties: 0, primary: 2)
        },
        .init("Advertising_TX_Power: 21 is out of range -127...20 dBm") { try extended(power: 21) },
        .init("Advertising_TX_Power: -128 is out of range -127...20 dBm") { try extended(power: 0x80) },
        .init("Advertising_SID: 16 is out of range 0...15") { try extended(sid: 16) },
        .init("Primary_Advertising_Channel_Map: 0 is out of range 1...7") { try extended(channels: 0) },
        .init("Advertising_Data_Length: 252 is out of range 0...251 bytes") {
            _ = try LESetExtendedAdvertisingData(handle: 0, data: [UInt8](repeating: 0, count: 252))
        },
        .init("Advertising_Data_Length: 0 is out of range 1...251 bytes") {
            _ = try LESetExtendedAdvertisingData(handle: 0, operation: .lastFragment, data: [])
        },
        .init("Operation: 4 is out of range 0...3") {
            _ = try LESetExtendedScanResponseData(handle: 0, operation: .unchanged, data: [])
        },
        .init("Num_Sets: 0 is out of range 1...63") { _ = try LESetExtendedAdvertisingEnable(true, []) },
        .init("Num_Sets: 64 is out of range 0...63") {
            _ = try LESetExtendedAdvertisingEnable(false, (0..<64).map { .init(handle: $0) })
        },
        .init("Advertising_Handle: 0x01 is not allowed: the list contains this set twice") {
            _ = try LESetExtendedAdvertisingEnable(true, [.init(handle: 1), .init(handle: 1)])
        },
        .init("Advertising_Handle: 240 is out of range 0...239") { _ = try LERemoveAdvertisingSet(handle: 0xF0) },
        .init("LE_Scan_Interval: 3 is out of range 4...16384") {
            _ = try LESetScanParameters(
                type: .passive, interval: ScanInterval(rawValue: 3), window: ScanInterval(rawValue: 3))
        },
        .init("LE_Scan_Window: 17 is out of range 4...16") {
            _ = try LESetScanParameters(
                type: .passive, interval: ScanInterval(rawValue: 16), window: ScanInterval(rawValue: 17))
        },
        .init("Scanning_PHYs: 0 is out of range 1...5") { _ = try LESetExtendedScanParameters(le1M: nil) },
        .init("Scan_Window: 5 is out of range 4...4") {
            _ = try LESetExtendedScanParameters(
                le1M: .init(type: .passive, interval: ScanInterval(rawValue: 4), window: ScanInterval(rawValue: 5)))
        },
        .init("it needs a duration and a period") {
            _ = try LESetExtendedScanEnable(true, filterDuplicates: .perPeriod)
        },
        .init("it must be shorter than the period of 1280 ms") {
            _ = try LESetExtendedScanEnable(true, duration: 128, period: 1)
        },
        .init("Transmit_Power: 127 is out of range -127...20 dBm") {
            _ = try BroadcomSetTransmitPower(power: .noPreference)
        },
        .init("Handle_Type: 3 is out of range 0...2") {
            _ = try ZephyrReadTxPowerLevel(handleType: ZephyrHandleType(rawValue: 3))
        },
    ]

    @Test(arguments: refusals)
    func isRefused(_ refusal: Refusal) {
        do {
            try refusal.make()
            Issue.record("the command was accepted")
        } catch {
            #expect("\(error)".contains(refusal.text))
        }
    }

    @Test func parametersThatFitIntoNoPacketAreNotRead() {
        // The longest parameters have 255 bytes: four of LE Set Extended Advertising Data, and 251 of data.
        for count in [251, 252] {
            let parameters = [0, 3, 1, UInt8(count)] + [UInt8](repeating: 0, count: count)
            #expect((LESetExtendedAdvertisingData(parameters: parameters.span) != nil) == (count == 251))
        }
    }

    @Test func valuesAtTheLimitsAreAccepted() throws {
        try Self.legacy(0x20, 0x4000)
        try Self.legacy(0, 0, type: 1)
        try Self.extended(0x20, 0xFF_FFFF, handle: 0xEF, power: 20, sid: 15)
        for properties: UInt16 in [0x00, 0x01, 0x02, 0x10, 0x12, 0x13, 0x15, 0x1D, 0x20, 0x40, 0x05] {
            try Self.extended(properties: properties)
        }
        _ = try LESetAdvertisingData([UInt8](repeating: 1, count: 31))
        _ = try LESetExtendedAdvertisingData(handle: 0, data: [UInt8](repeating: 1, count: 251))
        _ = try LESetExtendedAdvertisingData(handle: 0, operation: .unchanged, data: [])
        _ = try LESetExtendedAdvertisingEnable(true, (0..<63).map { .init(handle: $0) })
    }
}

@Test(arguments: [
    (0, 0), (312, 0), (313, 1), (2500, 4), (10_000, 16), (60_000, 96), (40_959_375, 0xFFFF), (40_959_687, 0xFFFF),
])
func scanIntervalIsRoundedToTheNearestUnit(microseconds: Int, units: UInt16) {
    #expect(ScanInterval(microseconds: microseconds)?.rawValue == units)
    #expect(ScanInterval(microseconds: Int(units) * 625)?.microseconds == Int(units) * 625)
}

@Test func refusesScanIntervalsThatDoNotFitTheField() {
    #expect(ScanInterval(microseconds: -1) == nil && ScanInterval(microseconds: 40_959_688) == nil)
    #expect(ScanInterval(rawValue: 18).description == "11.25 ms")
}
