import BluetoothTypes
import HCI
import Testing

/// A command and the octets that H4 sends for it, worked out by hand from the specification's layouts.
struct CommandVector: Sendable, CustomTestStringConvertible {
    let command: any HCICommand
    let h4: String

    var testDescription: String { type(of: command).name }

    static let all: [CommandVector] = (try? make()) ?? []

    private static func make() throws -> [CommandVector] {
        let random = address("F0:01:02:03:04:05")
        let interval = AdvertisingInterval(rawValue: 0x00A0)
        return [
            .init(command: SetEventMask(.standardAndLE), h4: "01 01 0C 08 FF FF FF FF FF 1F 00 20"),
            .init(command: HCIReset(), h4: "01 03 0C 00"),
            .init(command: WriteLEHostSupported(true), h4: "01 6D 0C 02 01 00"),
            .init(command: ReadLocalVersionInformation(), h4: "01 01 10 00"),
            .init(command: ReadLocalSupportedCommands(), h4: "01 02 10 00"),
            .init(command: ReadBDADDR(), h4: "01 09 10 00"),
            .init(
                command: LESetEventMask([.standard, .extendedAdvertisingReport, .advertisingSetTerminated]),
                h4: "01 01 20 08 1F 10 02 00 00 00 00 00"),
            .init(command: LEReadLocalSupportedFeatures(), h4: "01 03 20 00"),
            .init(command: LESetRandomAddress(random), h4: "01 05 20 06 05 04 03 02 01 F0"),
            .init(
                command: try LESetAdvertisingParameters(
                    intervalMinimum: interval, intervalMaximum: AdvertisingInterval(rawValue: 0x4000),
                    type: .nonconnectable, ownAddressType: .random, channels: [.channel37, .channel39]),
                h4: "01 06 20 0F A0 00 00 40 03 01 00 00 00 00 00 00 00 05 00"),
            .init(command: LEReadAdvertisingPhysicalChannelTxPower(), h4: "01 07 20 00"),
            .init(
                command: try LESetAdvertisingData(hex("020106")),
                h4: "01 08 20 20 03 02 01 06" + String(repeating: "00", count: 28)),
            .init(
                command: try LESetScanResponseData(hex("03094142")),
                h4: "01 09 20 20 04 03 09 41 42" + String(repeating: "00", count: 27)),
            .init(command: LESetAdvertisingEnable(true), h4: "01 0A 20 01 01"),
            .init(command: LESetAdvertisingEnable(false), h4: "01 0A 20 01 00"),
            .init(
                command: try LESetScanParameters(
                    type: .active, interval: ScanInterval(rawValue: 0x60), window: ScanInterval(rawValue: 0x30),
                    ownAddressType: .random),
                h4: "01 0B 20 07 01 60 00 30 00 01 00"),
            .init(command: LESetScanEnable(true, filterDuplicates: true), h4: "01 0C 20 02 01 01"),
            .init(
                command: try LESetAdvertisingSetRandomAddress(handle: 0xEF, address: random),
                h4: "01 35 20 07 EF 05 04 03 02 01 F0"),
            .init(
                command: try LESetExtendedAdvertisingParameters(
                    handle: 2, properties: .legacyNonconnectable, intervalMinimum: interval,
                    intervalMaximum: AdvertisingInterval(rawValue: 0x012345), ownAddressType: .random,
                    power: RadioPower(dBm: -20), setIdentifier: 7),
                h4: "01 36 20 19 02 10 00 A0 00 00 45 23 01 07 01 00 00 00 00 00 00 00 00 EC 01 00 01 07 00"),
            .init(
                command: try LESetExtendedAdvertisingParametersV2(
                    LESetExtendedAdvertisingParameters(
                        handle: 2, properties: [], intervalMinimum: interval, intervalMaximum: interval,
                        ownAddressType: .random, primaryPHY: .leCoded, secondaryPHY: .leCoded),
                    primaryOptions: .requiresS8, secondaryOptions: .prefersS2),
                h4: "01 7F 20 1B 02 00 00 A0 00 00 A0 00 00 07 01 00 00 00 00 00 00 00 00 7F 03 00 03 00 00 04 01"),
            .init(command: LESetHostFeature.codingInReports, h4: "01 74 20 02 29 01"),
            .init(
                command: try LESetExtendedAdvertisingData(handle: 2, data: hex("020106")),
                h4: "01 37 20 07 02 03 01 03 02 01 06"),
            .init(
                command: try LESetExtendedScanResponseData(
                    handle: 2, operation: .firstFragment, mayFragment: true, data: hex("03")),
                h4: "01 38 20 05 02 01 00 01 03"),
            .init(
                command: try LESetExtendedAdvertisingEnable(
                    true, [.init(handle: 2, duration: 0x1234, maximumEvents: 5), .init(handle: 3)]),
                h4: "01 39 20 0A 01 02 02 34 12 05 03 00 00 00"),
            .init(command: LESetExtendedAdvertisingEnable.disableAll, h4: "01 39 20 02 00 00"),
            .init(command: LEReadMaximumAdvertisingDataLength(), h4: "01 3A 20 00"),
            .init(command: LEReadNumberOfSupportedAdvertisingSets(), h4: "01 3B 20 00"),
            .init(command: try LERemoveAdvertisingSet(handle: 0xEF), h4: "01 3C 20 01 EF"),
            .init(command: LEClearAdvertisingSets(), h4: "01 3D 20 00"),
            .init(
                command: try LESetExtendedScanParameters(
                    le1M: .init(
                        type: .passive, interval: ScanInterval(rawValue: 0x10), window: ScanInterval(rawValue: 0x10)),
                    leCoded: .init(
                        type: .active, interval: ScanInterval(rawValue: 0x1234), window: ScanInterval(rawValue: 0x20))),
                h4: "01 41 20 0D 00 00 05 00 10 00 10 00 01 34 12 20 00"),
            .init(
                command: try LESetExtendedScanEnable(true, filterDuplicates: .perPeriod, duration: 100, period: 2),
                h4: "01 42 20 06 01 02 64 00 02 00"),
            .init(command: LEReadSupportedStates(), h4: "01 1C 20 00"),
            .init(command: LEReadTransmitPower(), h4: "01 4B 20 00"),
            .init(command: try BroadcomSetTransmitPower(power: RadioPower(dBm: 9)), h4: "01 26 FC 03 FE 00 09"),
            .init(command: ZephyrReadVersionInformation(), h4: "01 01 FC 00"),
            .init(command: ZephyrReadSupportedCommands(), h4: "01 02 FC 00"),
            .init(
                command: try ZephyrWriteTxPowerLevel(handle: 2, power: RadioPower(dBm: -8)),
                h4: "01 0E FC 04 00 02 00 F8"),
            .init(
                command: try ZephyrReadTxPowerLevel(handleType: .connection, handle: 0x0102),
                h4: "01 0F FC 03 02 02 01"),
        ]
    }
}

@Suite struct HCICommandTests {
    @Test(arguments: CommandVector.all)
    func isSentAsTheseOctets(_ vector: CommandVector) {
        #expect(Hexadecimal.text(vector.command.packet.h4) == Hexadecimal.text(hex(vector.h4)))
    }

    @Test(arguments: CommandVector.all)
    func isReadBackAsItself(_ vector: CommandVector) throws {
        func check<C: HCICommand>(_ command: C) throws {
            let header = try #require(command.packet.commandHeader)
            #expect(header.opcode == C.opcode)
            #expect(HCITests.command(C.self, Array(command.packet.octets[header.parameters])) == command)
            #expect(header.parameters.isEmpty == command.fields.isEmpty)
        }
        try check(vector.command)
    }

    @Test func everyDeclaredCommandHasAVector() {
        let vectors = Set(CommandVector.all.map { type(of: $0.command).opcode })
        #expect(vectors == Set(HCICommands.all.map { $0.opcode }))
        #expect(vectors.count == HCICommands.all.count)
    }

    @Test(arguments: CommandVector.all)
    func anotherNumberOfOctetsIsRefused(_ vector: CommandVector) {
        func check<C: HCICommand>(_ command: C) {
            let octets = command.parameters
            #expect(HCITests.command(C.self, octets + [0]) == nil)
            for count in 0..<octets.count {
                #expect(HCITests.command(C.self, Array(octets.prefix(count))) == nil, "\(count) octets")
            }
        }
        check(vector.command)
    }

    @Test func valuesOutOfRangeAreKeptWhenRead() throws {
        let octets = hex("00 00 FF FF 09 07 05 01 02 03 04 05 06 F8 44")
        let read = try #require(command(LESetAdvertisingParameters.self, octets))
        #expect(read.intervalMinimum.rawValue == 0)
        #expect(read.channels.rawValue == 0xF8)
        #expect(read.type.name == nil)
        #expect(read.parameters == octets)

        let data = [UInt8](repeating: 0xAB, count: 32)
        let tooLong = try #require(command(LESetAdvertisingData.self, data))
        #expect(tooLong.length == 0xAB)
        #expect(tooLong.data == Array(repeating: 0xAB, count: 31))
        #expect(tooLong.parameters == data)
    }

    @Test func randomParametersAreReadAndWrittenUnchanged() {
        var generator = SplitMix64(seed: 1)
        func check<C: HCICommand>(_ type: C.Type) {
            for _ in 0..<2_000 {
                let octets = generator.octets(Int.random(in: 0...40, using: &generator))
                guard let command = C(parameters: octets.span) else { continue }
                #expect(command.parameters == octets)
                #expect(command.packet.octets.count == 3 + octets.count)
                _ = command.fields
            }
        }
        for type in HCICommands.all { check(type) }
    }
}
