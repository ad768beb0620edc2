import BluetoothTypes
import HCI
import Testing
import VirtualController

/// Random packets, which no host would send: the controller must not trap, and must answer every packet that is framed
/// as a command.
@Suite struct RandomPacketTests {
    private static let opcodes: [UInt16] =
        [0x0C01, 0x0C6D, 0x1001, 0x1002, 0x1003, 0x1009] + Array(0x2001...0x201C) + Array(0x2035...0x204B)
        + [0xFC01, 0xFC02, 0xFC0E, 0xFC0F, 0xFC26]
    private static let lengths: [UInt16: Int] = [
        0x0C01: 8, 0x0C6D: 2, 0x2001: 8, 0x2005: 6, 0x2006: 15, 0x2008: 32, 0x2009: 32, 0x200A: 1, 0x200B: 7,
        0x200C: 2, 0x2011: 7, 0x2012: 7, 0x2035: 7, 0x2036: 25, 0x203C: 1, 0x2042: 6, 0xFC0E: 4, 0xFC0F: 3, 0xFC26: 3,
    ]

    /// Parameters that often have the right length and small values, so that many commands succeed.
    private func command(_ random: inout SplitMix64) -> RawCommand {
        let opcode: UInt16
        switch random.next(upTo: 19) {
        case 0: opcode = UInt16(truncatingIfNeeded: random.next())
        case 1: opcode = 0x0C03
        default: opcode = Self.opcodes[random.next(upTo: UInt32(Self.opcodes.count - 1))]
        }
        var length = Self.lengths[opcode] ?? 0
        if random.next(upTo: 9) == 0 { length = random.next(upTo: 255) }
        let limit = UInt32([3, 0x20, 0xFF][random.next(upTo: 2)])
        var octets = (0..<length).map { _ in UInt8(random.next(upTo: limit)) }
        switch opcode {
        case 0x2037, 0x2038:
            let count = random.next(upTo: 251)
            octets = [UInt8(random.next(upTo: 3)), UInt8(random.next(upTo: 5)), 0, UInt8(count)]
            octets += [UInt8](repeating: 1, count: count)
        case 0x2039:
            let sets = random.next(upTo: 3)
            octets = [UInt8(random.next(upTo: 1)), UInt8(sets)]
            for _ in 0..<sets { octets += [UInt8(random.next(upTo: 3)), UInt8(random.next(upTo: 3)), 0, 0] }
        case 0x2041:
            octets = [0, 0, 1, UInt8(random.next(upTo: 1)), 0x10, 0, 0x10, 0]
        case 0x2036 where length == 25:
            octets.replaceSubrange(3..<9, with: [0x20, 0, 0, UInt8(0x20 + random.next(upTo: 9)), 0, 0])
            octets[20] = UInt8(1 + 2 * random.next(upTo: 1))
        default: break
        }
        return RawCommand(opcode, octets)
    }

    @Test(arguments: VirtualControllerModel.all)
    func everyCommandGetsOneAnswer(_ model: VirtualControllerModel) throws {
        let air = VirtualAir()
        var random = SplitMix64(seed: 42)
        var answers: [HCIPacket] = []
        let subject = air.attach(model) { if $0.octets[0] != 0x3E { answers.append($0) } }
        // Another device, which advertises and scans.
        let other = TestHost(.zephyr, on: air)
        try other.send([.allEvents, .allLEEvents, .extendedScan(type: 1), .extendedScanEnable()])
        try other.send([.set(properties: 0x12), .setScanResponse(1, [1]), .setEnable()])
        var succeeded = 0
        for _ in 0..<25_000 {
            let command = command(&random)
            answers.removeAll(keepingCapacity: true)
            subject.receive(command.packet)
            // Plain conditions: the macros cost more than the commands.
            guard answers.count == 1 else {
                Issue.record("\(answers.count) answers to \(command)")
                return
            }
            let octets = answers[0].octets
            let place = octets[0] == 0x0E ? 3 : 4
            guard octets.span.uint16LittleEndian(at: place) == command.opcode else {
                Issue.record("\(command) answered with \(octets)")
                return
            }
            if octets[0] == 0x0E, octets[5] == 0 { succeeded += 1 }
            if random.next(upTo: 3) == 0 {
                air.advance(to: air.now.advanced(byMicroseconds: random.next(upTo: 30_000)))
            }
        }
        #expect(succeeded > 5000)
    }

    @Test func randomPacketsAreAnsweredOnlyIfTheyAreCommands() throws {
        let air = VirtualAir()
        var answers: [HCIPacket] = []
        let subject = air.attach(.zephyr) { answers.append($0) }
        var random = SplitMix64(seed: 43)
        let kinds: [HCIPacket.Kind] = [.command, .command, .command, .acl, .sco, .event, .iso]
        for _ in 0..<50_000 {
            let octets = (0..<random.next(upTo: 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let kind = kinds[random.next(upTo: 6)]
            answers.removeAll(keepingCapacity: true)
            subject.receive(HCIPacket(kind, octets))
            let expected = kind == .command && octets.count >= 2 ? 1 : 0
            guard answers.count == expected else {
                Issue.record("\(answers.count) answers to \(octets)")
                return
            }
        }
    }
}
