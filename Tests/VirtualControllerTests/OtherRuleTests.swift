import HCI
import Testing
import VirtualController

@Suite struct OtherRuleTests {
    static let familyProbes: [Probe] = [
        Probe("legacy shuts extended out", .zephyr, [(.parameters(), 0), (.set(), 0x0C), (.parameters(), 0)]),
        Probe(
            "extended shuts legacy out", .zephyr, [(.set(), 0), (.parameters(), 0x0C), (.enable, 0x0C), (.set(), 0)]),
        Probe("a reset opens both", .zephyr, [(.set(), 0), (.reset, 0), (.parameters(), 0), (.reset, 0), (.set(), 0)]),
        Probe("reading the power is legacy", .zephyr, [(RawCommand(0x2007), 0), (.set(), 0x0C)]),
        Probe("reading the power after extended", .zephyr, [(.set(), 0), (RawCommand(0x2007), 0x0C)]),
        Probe("legacy scanning is legacy", .zephyr, [(.scan(), 0), (.set(), 0x0C)]),
        Probe("extended scanning is extended", .zephyr, [(.extendedScan(), 0), (.scan(), 0x0C), (.enable, 0x0C)]),
        Probe("the number of sets is extended", .zephyr, [(RawCommand(0x203B), 0), (.parameters(), 0x0C)]),
        Probe("a failed command decides too", .zephyr, [(.setEnable(), 0x42), (.enable, 0x0C)]),
        Probe("a malformed command decides nothing", .zephyr, [(RawCommand(0x2036, [1]), 0x12), (.enable, 0)]),
        Probe(
            "commands of no family", .zephyr,
            [(.set(), 0), (.randomAddress, 0), (RawCommand(0x2003), 0), (RawCommand(0x204B), 0), (.allLEEvents, 0)]),
    ]

    static let scanProbes: [Probe] = [
        Probe("2.5 ms is the shortest", .raspberryPi, [(.scan(4, 4), 0)]),
        Probe("under 2.5 ms is not supported", .raspberryPi, [(.scan(4, 3), 0x11)]),
        Probe("over 10.24 s is not supported", .raspberryPi, [(.scan(0x4001, 4), 0x11)]),
        Probe("a window over its interval is invalid", .raspberryPi, [(.scan(0x10, 0x11), 0x12)]),
        Probe("scan type 2 is reserved", .raspberryPi, [(.scan(type: 2), 0x12)]),
        Probe("own address type 4 is reserved", .raspberryPi, [(.scan(own: 4), 0x12)]),
        Probe("filter policy 4 is reserved", .raspberryPi, [(.scan(policy: 4), 0x12)]),
        Probe("parameters stay while scanning", .raspberryPi, [(.scanEnable(), 0), (.scan(), 0x0C)]),
        Probe("scanning anew is allowed", .raspberryPi, [(.scanEnable(), 0), (.scanEnable(), 0)]),
        Probe("stopping twice is allowed", .raspberryPi, [(.scanEnable(0), 0), (.scanEnable(0), 0)]),
        Probe(
            "enable 2 and filter 2 are reserved", .raspberryPi,
            [(.scanEnable(2), 0x12), (.scanEnable(filter: 2), 0x12)]),
        Probe("random needs an address", .raspberryPi, [(.scan(own: 1), 0), (.scanEnable(), 0x12)]),
        Probe("extended: long intervals", .zephyr, [(.extendedScan(0xFFFF, 0xFFFF), 0)]),
        Probe("extended: no PHY is invalid", .zephyr, [(.extendedScan(phys: 0), 0x12)]),
        Probe("extended: 2M is no scanning PHY", .zephyr, [(.extendedScan(phys: 2), 0x11)]),
        Probe("extended: 1M and Coded", .zephyr, [(.extendedScan(phys: 5), 0)]),
        Probe("extended: no Coded on a chip without", .uncoded, [(.extendedScan(phys: 5), 0x11)]),
        Probe("extended: window over interval", .zephyr, [(.extendedScan(0x10, 0x11), 0x12)]),
        Probe("extended: parameters stay", .zephyr, [(.extendedScanEnable(), 0), (.extendedScan(), 0x0C)]),
        Probe(
            "extended: duration below period", .zephyr,
            [(.extendedScanEnable(duration: 127, period: 1), 0), (.extendedScanEnable(duration: 128, period: 1), 0x12)]),
        Probe(
            "extended: filter per period needs both", .zephyr,
            [
                (.extendedScanEnable(filter: 2), 0x12), (.extendedScanEnable(filter: 2, duration: 1), 0x12),
                (.extendedScanEnable(filter: 2, duration: 1, period: 1), 0),
            ]),
    ]

    static let unknownProbes: [Probe] = [
        Probe("a Raspberry Pi has no sets", .raspberryPi, [(.set(), 1), (.setEnable(0, []), 1), (.setData(1, []), 1)]),
        Probe("nor extended scanning", .raspberryPi, [(.extendedScan(), 1), (.extendedScanEnable(0), 1)]),
        Probe("nor LE Read Transmit Power", .raspberryPi, [(RawCommand(0x204B), 1)]),
        Probe("nobody knows 0xFFFF", .zephyr, [(RawCommand(0xFFFF), 1)]),
        Probe("no operation is no command", .zephyr, [(RawCommand(0), 1)]),
        Probe("connections are not there", .zephyr, [(RawCommand(0x200D, [UInt8](repeating: 0, count: 25)), 1)]),
        Probe("Broadcom's power on Zephyr", .zephyr, [(RawCommand(0xFC26, [0xFE, 0, 0]), 1)]),
        Probe("Zephyr's power on a Raspberry Pi", .raspberryPi, [(RawCommand(0xFC0E, [0, 0, 0, 0]), 1)]),
        Probe(
            "an Intel chip has no vendor power", .intel,
            [(RawCommand(0xFC0E, [0, 0, 0, 0]), 1), (RawCommand(0xFC01), 1)]),
        Probe(
            "LE Host Supported on dual-mode chips", .intel,
            [(RawCommand(0x0C6D, [1, 0]), 0), (RawCommand(0x0C6D, [2, 0]), 0x12)]),
        Probe("no LE Host Supported on LE-only chips", .zephyr, [(RawCommand(0x0C6D, [1, 0]), 1)]),
    ]

    static let vendorProbes: [Probe] = [
        Probe("12 dBm on a Raspberry Pi", .raspberryPi, [(RawCommand(0xFC26, [0xFE, 0, 12]), 0)]),
        Probe("-16 dBm on a Raspberry Pi", .raspberryPi, [(RawCommand(0xFC26, [0xFE, 0, 0xF0]), 0)]),
        Probe("16 dBm is out of range", .raspberryPi, [(RawCommand(0xFC26, [0xFE, 0, 16]), 0x30)]),
        Probe("-17 dBm is out of range", .raspberryPi, [(RawCommand(0xFC26, [0xFE, 0, 0xEF]), 0x30)]),
        Probe("a connection's power", .raspberryPi, [(RawCommand(0xFC26, [1, 0, 0]), 0x02)]),
        Probe(
            "Zephyr: legacy advertiser", .zephyr,
            [(RawCommand(0xFC0E, [0, 0, 0, 4]), 0), (RawCommand(0xFC0F, [0, 0, 0]), 0)]),
        Probe("Zephyr: legacy has only handle 0", .zephyr, [(RawCommand(0xFC0E, [0, 1, 0, 4]), 0x02)]),
        Probe("Zephyr: scanner", .zephyr, [(RawCommand(0xFC0E, [1, 0, 0, 4]), 0x02)]),
        Probe(
            "Zephyr: a set", .zephyr,
            [(.set(), 0), (RawCommand(0xFC0E, [0, 1, 0, 4]), 0), (RawCommand(0xFC0E, [0, 2, 0, 4]), 0x02)]),
        Probe("Zephyr: a handle over 255", .zephyr, [(.set(), 0), (RawCommand(0xFC0F, [0, 1, 1]), 0x02)]),
    ]

    static let listProbes: [Probe] = [
        Probe(
            "the accept list holds 16", .zephyr,
            (0..<16).map { (RawCommand(0x2011, [0, $0, 0, 0, 0, 0, 1]), 0) } + [
                (RawCommand(0x2011, [0, 16, 0, 0, 0, 0, 1]), 7), (RawCommand(0x2010), 0),
            ]),
        Probe(
            "the accept list stays while in use", .zephyr,
            [(.scan(policy: 1), 0), (.scanEnable(), 0), (RawCommand(0x2010), 0x0C)]),
        Probe("address type 2 is reserved", .zephyr, [(RawCommand(0x2011, [2, 0, 0, 0, 0, 0, 1]), 0x12)]),
    ]

    @Test(arguments: familyProbes) func familyRule(_ probe: Probe) throws { try probe.run() }
    @Test(arguments: scanProbes) func scanRule(_ probe: Probe) throws { try probe.run() }
    @Test(arguments: unknownProbes) func unknownCommand(_ probe: Probe) throws { try probe.run() }
    @Test(arguments: vendorProbes) func vendorRule(_ probe: Probe) throws { try probe.run() }
    @Test(arguments: listProbes) func acceptListRule(_ probe: Probe) throws { try probe.run() }

    /// Each command with one octet too few, with one too many, and with 255 octets.
    @Test(
        arguments: [
            (0x0C01, 8), (0x0C03, 0), (0x1001, 0), (0x1002, 0), (0x1003, 0), (0x1009, 0), (0x2001, 8), (0x2002, 0),
            (0x2003, 0), (0x2005, 6), (0x2006, 15), (0x2007, 0), (0x2008, 32), (0x2009, 32), (0x200A, 1), (0x200B, 7),
            (0x200C, 2), (0x200F, 0), (0x2010, 0), (0x2011, 7), (0x2012, 7), (0x2018, 0), (0x201C, 0), (0x2023, 0),
            (0x2024, 4), (0x202F, 0), (0x2035, 7),
            (0x2036, 25), (0x2037, 4), (0x2038, 4), (0x2039, 2), (0x203A, 0), (0x203B, 0), (0x203C, 1), (0x203D, 0),
            (0x2041, 3), (0x2042, 6), (0x204B, 0), (0xFC01, 0), (0xFC02, 0), (0xFC0E, 4), (0xFC0F, 3),
        ] as [(UInt16, Int)])
    func wrongLengthIsInvalid(_ opcode: UInt16, _ length: Int) throws {
        let host = TestHost(.zephyr)
        for wrong in [length - 1, length + 1, 255] where wrong >= 0 {
            let command = RawCommand(opcode, [UInt8](repeating: 0, count: wrong))
            #expect(try host.send(command) == 0x12, "\(wrong) octets")
        }
    }

    @Test func packetWithAWrongLengthOctetIsInvalid() throws {
        let host = TestHost()
        try host.channel.send(HCIPacket(.command, [0x0A, 0x20, 5, 1]))
        #expect(try host.channel.receive(until: host.air.now)?.octets == [0x0E, 4, 1, 0x0A, 0x20, 0x12])
    }
}
