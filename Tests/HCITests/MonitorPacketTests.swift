import BluetoothTypes
import HCI
import Testing

private func monitor(_ text: String) -> MonitorPacket? { monitored(hex(text)) }

@Suite struct MonitorPacketTests {
    static let vectors: [(String, UInt16, MonitorPacket.Content)] = [
        (
            "0000 0100 1000 00 00 0102030405c0 6863693100000000", 1,
            .newIndex(address: address("C0:05:04:03:02:01"), name: "hci1")
        ),
        ("0100 0100 0000", 1, .deleteIndex),
        ("0200 0000 0400 0a200100", 0, .hci(.command(LESetAdvertisingEnable.opcode, [0]), isFromController: false)),
        ("0300 0000 0600 0e04010a2000", 0, .hci(HCIPacket(.event, hex("0e04010a2000")), isFromController: true)),
        ("0500 0000 0100 ff", 0, .hci(HCIPacket(.acl, [0xFF]), isFromController: true)),
        ("0800 0000 0000", 0, .openIndex),
        ("0900 0000 0000", 0, .closeIndex),
        (
            "0e00 0000 1e00 07000000 0000 021600 01000000 10 686369746f6f6c000000000000000000", 0,
            .socketOpened(cookie: 7, kind: .raw, program: "hcitool")
        ),
        (
            "0e00 ffff 1e00 08000000 0200 011600 01000000 10 626c7565746f6f746864000000000000", 0xFFFF,
            .socketOpened(cookie: 8, kind: .management, program: "bluetoothd")
        ),
        (
            "0e00 0000 1000 09000000 0100 021600 00000000 02 1b5b", 0,
            .socketOpened(cookie: 9, kind: .user, program: "?[")
        ),
        ("0f00 0000 0400 07000000", 0, .socketClosed(cookie: 7)),
        (
            "1000 0000 0700 08000000 3f00 00", 0,
            .managementCommand(cookie: 8, ManagementPacket(code: 0x3F, index: 0, parameters: [0]))
        ),
        (
            "1100 0000 0700 09000000 2400 05", 0,
            .managementEvent(cookie: 9, ManagementPacket(code: 0x24, index: 0, parameters: [5]))
        ),
        ("0c00 ffff 0300 414243", 0xFFFF, .other(opcode: MonitorOpcode(rawValue: 12), octets: [0x41, 0x42, 0x43])),
        ("0e00 0000 0300 010203", 0, .other(opcode: .controlOpen, octets: [1, 2, 3])),
        ("0f00 0000 0000", 0, .other(opcode: .controlClose, octets: [])),
        ("1000 0000 0500 0800000000", 0, .other(opcode: .controlCommand, octets: [8, 0, 0, 0, 0])),
        ("0000 0100 0100 00", 1, .other(opcode: .newIndex, octets: [0])),
    ]

    @Test(arguments: vectors.indices)
    func isRead(_ number: Int) {
        let (text, index, content) = Self.vectors[number]
        #expect(monitor(text) == MonitorPacket(index: index, content))
    }

    @Test(arguments: ["", "0100 0100", "0100 0100 0100", "0100 0100 0000 00"])
    func aMessageWhoseLengthIsWrongIsNone(_ text: String) {
        #expect(monitor(text) == nil)
    }

    @Test func randomPacketsOfTheRightLengthAreRead() {
        var generator = SplitMix64(seed: 6)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let opcode = UInt8.random(in: 0...20, using: &generator)
            let octets = [opcode, 0, 0, 0, UInt8(count), 0] + generator.octets(count)
            #expect(monitored(octets) != nil)
        }
    }

    @Test func socketsAreFollowedFromOpeningToClosing() {
        var sockets = MonitoredSockets()
        for (text, _, _) in Self.vectors.prefix(10) {
            if let packet = monitor(text) { sockets.receive(packet) }
        }
        #expect(sockets.programs(on: 0) == ["?[", "hcitool"])
        #expect(sockets.programs(on: 1) == [])
        #expect(sockets.managers == ["bluetoothd"])
        #expect(sockets[8]?.program == "bluetoothd")
        sockets.receive(MonitorPacket(index: 0, .socketClosed(cookie: 7)))
        #expect(sockets.programs(on: 0) == ["?["])
        #expect(sockets[7] == nil)
    }
}
