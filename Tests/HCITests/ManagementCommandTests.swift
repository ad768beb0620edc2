import BluetoothTypes
import HCI
import Testing

/// A management command to hci2 and its octets, worked out by hand from the layouts in doc/mgmt-api.txt.
struct ManagementVector: Sendable, CustomTestStringConvertible {
    let command: any ManagementCommand
    let octets: String

    var testDescription: String { "\(type(of: command))" }

    static let all: [ManagementVector] = (try? make()) ?? []

    private static func make() throws -> [ManagementVector] {
        [
            .init(command: ReadManagementSupportedCommands(), octets: "0200 0200 0000"),
            .init(command: ReadControllerIndexList(), octets: "0300 0200 0000"),
            .init(command: ReadControllerInformation(), octets: "0400 0200 0000"),
            .init(command: SetPowered(true), octets: "0500 0200 0100 01"),
            .init(command: SetPowered(false), octets: "0500 0200 0100 00"),
            .init(command: SetLowEnergy(true), octets: "0d00 0200 0100 01"),
            .init(command: ReadAdvertisingFeatures(), octets: "3d00 0200 0000"),
            .init(
                command: try AddAdvertising(
                    instance: 5, flags: [.connectable, .useDuration], duration: 0x0102, timeout: 0x0304,
                    data: hex("020106"), scanResponse: hex("0209ff")),
                octets: "3e00 0200 1100 05 01100000 0201 0403 03 03 020106 0209ff"),
            .init(
                command: try AddAdvertising(instance: 1, data: hex("020106")),
                octets: "3e00 0200 0e00 01 00000000 0000 0000 03 00 020106"),
            .init(command: try RemoveAdvertising(instance: 254), octets: "3f00 0200 0100 fe"),
            .init(
                command: try AddExtendedAdvertisingParameters(
                    instance: 4, flags: [.useIntervals, .useTxPower, .scanResponse], duration: 1, timeout: 2,
                    intervalMinimum: AdvertisingInterval(rawValue: 0xA0),
                    intervalMaximum: AdvertisingInterval(rawValue: 0x012345), power: RadioPower(dBm: -20)),
                octets: "5400 0200 1200 04 00c00100 0100 0200 a0000000 45230100 ec"),
            .init(
                command: try AddExtendedAdvertisingParameters(instance: 4, flags: []),
                octets: "5400 0200 1200 04 00000000 0000 0000 00000000 00000000 7f"),
            .init(
                command: try AddExtendedAdvertisingData(
                    instance: 4, data: hex("020106"), scanResponse: hex("03094142")),
                octets: "5500 0200 0a00 04 03 04 020106 03094142"),
            .init(
                command: try AddExtendedAdvertisingData(instance: 4, data: []), octets: "5500 0200 0300 04 00 00"),
            .init(
                command: try AddAdvertisementPatternsMonitor([
                    .init(.serviceData16, at: 0, hex("aafe")), .init(.manufacturerData, at: 2, hex("beac")),
                ]),
                octets: "5200 0200 4500 02 16 00 02 aafe" + String(repeating: "00", count: 29) + "ff 02 02 beac"
                    + String(repeating: "00", count: 29)),
            .init(command: try RemoveAdvertisementMonitor(monitor: 0x0102), octets: "5300 0200 0200 0201"),
        ]
    }
}

@Suite struct ManagementCommandTests {
    @Test(arguments: ManagementVector.all)
    func isSentAsTheseOctets(_ vector: ManagementVector) {
        #expect(Hexadecimal.text(vector.command.packet(2).octets) == Hexadecimal.text(hex(vector.octets)))
    }

    @Test(arguments: ManagementVector.all)
    func isReadBackAsItself(_ vector: ManagementVector) throws {
        func check<C: ManagementCommand>(_ command: C) throws {
            let packet = try #require(message(hex(vector.octets)))
            #expect(packet.code == C.opcode)
            #expect(packet.index == 2)
            #expect(managementCommand(C.self, packet.parameters) == command)
            #expect(ManagementCommands.describe(packet).name == C.name)
            #expect(ManagementCommands.describe(packet).fields == command.fields)
            #expect(command.parameters.isEmpty == command.fields.isEmpty)
        }
        try check(vector.command)
    }

    @Test(arguments: ManagementVector.all)
    func anotherNumberOfOctetsIsRefused(_ vector: ManagementVector) {
        func check<C: ManagementCommand>(_ command: C) {
            let octets = command.parameters
            #expect(managementCommand(C.self, octets + [0]) == nil)
            for count in 0..<octets.count {
                #expect(managementCommand(C.self, Array(octets.prefix(count))) == nil, "\(count) octets")
            }
        }
        check(vector.command)
    }

    @Test func everyDeclaredCommandHasAVector() {
        let vectors = Set(ManagementVector.all.map { type(of: $0.command).opcode })
        #expect(vectors == Set(ManagementCommands.all.map { $0.opcode }))
        #expect(vectors.count == ManagementCommands.all.count)
    }

    @Test(arguments: ["", "0500 0200", "0500 0200 0100", "0500 0200 0000 01", "0500 0200 0200 01"])
    func aMessageWhoseLengthIsWrongIsNone(_ text: String) {
        #expect(message(hex(text)) == nil)
    }

    @Test func refusesReservedInstanceNumbers() {
        for instance: UInt8 in [0, 255] {
            #expect(throws: HCIParameterError.self) { try RemoveAdvertising(instance: instance) }
            #expect(throws: HCIParameterError.self) { try AddAdvertising(instance: instance, data: []) }
            #expect(throws: HCIParameterError.self) { try AddExtendedAdvertisingData(instance: instance, data: []) }
            #expect(throws: HCIParameterError.self) {
                try AddExtendedAdvertisingParameters(instance: instance, flags: [])
            }
        }
    }

    @Test func refusesInvalidMonitors() {
        #expect(throws: HCIParameterError.self) { try RemoveAdvertisementMonitor(monitor: 0) }
        #expect(throws: HCIParameterError.self) { try AddAdvertisementPatternsMonitor([]) }
        for (offset, count): (UInt8, Int) in [(0, 0), (0, 32), (31, 1), (30, 2)] {
            #expect(throws: HCIParameterError.self) {
                try AddAdvertisementPatternsMonitor.Pattern(
                    .serviceData16, at: offset, [UInt8](repeating: 1, count: count))
            }
        }
    }

    @Test func refusesDataThatTheLengthOctetCannotCount() {
        let data = [UInt8](repeating: 0, count: 256)
        #expect(throws: HCIParameterError.self) { try AddAdvertising(instance: 1, data: data) }
        #expect(throws: HCIParameterError.self) { try AddAdvertising(instance: 1, data: [], scanResponse: data) }
        #expect(throws: HCIParameterError.self) { try AddExtendedAdvertisingData(instance: 1, data: data) }
    }

    @Test(arguments: [(0x1F, 0xA0), (0xA0, 0x1000000), (0xA1, 0xA0), (0, 0)])
    func intervalsAreCheckedIfTheyAreUsed(_ minimum: UInt32, _ maximum: UInt32) {
        #expect(throws: HCIParameterError.self) {
            try AddExtendedAdvertisingParameters(
                instance: 1, flags: .useIntervals, intervalMinimum: AdvertisingInterval(rawValue: minimum),
                intervalMaximum: AdvertisingInterval(rawValue: maximum))
        }
    }

    @Test func randomParametersAreReadAndWrittenUnchanged() {
        var generator = SplitMix64(seed: 4)
        func check<C: ManagementCommand>(_ type: C.Type) {
            for _ in 0..<2_000 {
                let octets = generator.octets(Int.random(in: 0...40, using: &generator))
                guard let command = C(parameters: octets.span) else { continue }
                #expect(command.parameters == octets)
                _ = command.fields
            }
        }
        for type in ManagementCommands.all { check(type) }
    }
}
