import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct LegacyRuleTests {
    static let probes: [Probe] = [
        Probe("default parameters can be enabled", .raspberryPi, [(.enable, 0)]),
        Probe("20 ms is the shortest interval", .raspberryPi, [(.parameters(0x20, 0x20), 0)]),
        Probe("under 20 ms is not supported", .raspberryPi, [(.parameters(0x1F, 0x20), 0x11)]),
        Probe("10.24 s is the longest interval", .raspberryPi, [(.parameters(0x4000, 0x4000), 0)]),
        Probe("over 10.24 s is not supported", .raspberryPi, [(.parameters(0x4000, 0x4001), 0x11)]),
        Probe("minimum over maximum is invalid", .raspberryPi, [(.parameters(0xA1, 0xA0), 0x12)]),
        Probe("minimum may differ from maximum", .raspberryPi, [(.parameters(0xA0, 0xF0), 0)]),
        Probe("no channel is invalid", .raspberryPi, [(.parameters(map: 0), 0x12)]),
        Probe("reserved channels alone are none", .raspberryPi, [(.parameters(map: 0x38), 0x12)]),
        Probe("one channel is enough", .raspberryPi, [(.parameters(map: 4), 0)]),
        Probe("type 4 is known", .raspberryPi, [(.parameters(type: 4), 0)]),
        Probe("type 5 is reserved", .raspberryPi, [(.parameters(type: 5), 0x12)]),
        Probe("own address type 3 is known", .raspberryPi, [(.parameters(own: 3), 0)]),
        Probe("own address type 4 is reserved", .raspberryPi, [(.parameters(own: 4), 0x12)]),
        Probe("peer address type 2 is reserved", .raspberryPi, [(.parameters(peerType: 2), 0x12)]),
        Probe("filter policy 3 is known", .raspberryPi, [(.parameters(filter: 3), 0)]),
        Probe("filter policy 4 is reserved", .raspberryPi, [(.parameters(filter: 4), 0x12)]),
        Probe("high duty cycle ignores the interval", .raspberryPi, [(.parameters(0, 0, type: 1), 0)]),
        Probe(
            "parameters stay while advertising", .raspberryPi,
            [(.enable, 0), (.parameters(), 0x0C), (.disable, 0), (.parameters(), 0)]),
        Probe("Core 4: non-connectable from 100 ms on", .core4, [(.parameters(0xA0, 0xA0, type: 3), 0)]),
        Probe("Core 4: non-connectable not under 100 ms", .core4, [(.parameters(0x9F, 0xA0, type: 3), 0x11)]),
        Probe("Core 4: scannable not under 100 ms", .core4, [(.parameters(0x20, 0x20, type: 2), 0x11)]),
        Probe("Core 4: connectable from 20 ms on", .core4, [(.parameters(0x20, 0x20, type: 0), 0)]),
        Probe("Core 5: scannable from 20 ms on", .raspberryPi, [(.parameters(0x20, 0x20, type: 2), 0)]),
        Probe("31 bytes of data fit", .raspberryPi, [(.data([UInt8](repeating: 1, count: 31)), 0)]),
        Probe("no data is data", .raspberryPi, [(.data([]), 0)]),
        Probe("32 octets are invalid", .raspberryPi, [(.data([], length: 32), 0x12)]),
        Probe("255 octets are invalid", .raspberryPi, [(.data([], length: 255), 0x12)]),
        Probe("32 octets of scan response are invalid", .raspberryPi, [(.scanResponse([], length: 32), 0x12)]),
        Probe(
            "data may change while advertising", .raspberryPi,
            [(.enable, 0), (.data([2, 1, 6]), 0), (.scanResponse([2, 1, 6]), 0)]),
        Probe("enabling with 2 is invalid", .raspberryPi, [(RawCommand(0x200A, [2]), 0x12)]),
        Probe("enabling twice is allowed", .raspberryPi, [(.enable, 0), (.enable, 0)]),
        Probe("disabling twice does nothing", .core4, [(.enable, 0), (.disable, 0), (.disable, 0)]),
        Probe(
            "a Raspberry Pi refuses to disable twice", .raspberryPi,
            [(.disable, 0x0C), (.enable, 0), (.disable, 0), (.disable, 0x0C)]),
        Probe("random needs a random address", .raspberryPi, [(.parameters(own: 1), 0), (.enable, 0x12)]),
        Probe(
            "random works with a random address", .raspberryPi,
            [(.randomAddress, 0), (.parameters(own: 1), 0), (.enable, 0)]),
        Probe("type 3 falls back to random", .raspberryPi, [(.parameters(own: 3), 0), (.enable, 0x12)]),
        Probe("type 2 falls back to public", .raspberryPi, [(.parameters(own: 2), 0), (.enable, 0)]),
        Probe(
            "an address of zeros is none", .raspberryPi,
            [(RawCommand(0x2005, [0, 0, 0, 0, 0, 0]), 0), (.parameters(own: 1), 0), (.enable, 0x12)]),
        Probe(
            "the random address stays while advertising", .raspberryPi,
            [(.enable, 0), (.randomAddress, 0x0C), (.disable, 0), (.randomAddress, 0)]),
        Probe(
            "the random address stays while scanning", .raspberryPi,
            [(.scanEnable(), 0), (.randomAddress, 0x0C), (.scanEnable(0), 0), (.randomAddress, 0)]),
        Probe(
            "a reset forgets the random address", .raspberryPi,
            [(.randomAddress, 0), (.reset, 0), (.parameters(own: 1), 0), (.enable, 0x12)]),
        Probe(
            "a reset ends advertising", .raspberryPi, [(.enable, 0), (.reset, 0), (.parameters(), 0)]),
        Probe("the power can be read", .raspberryPi, [(RawCommand(0x2007), 0)]),
    ]

    @Test(arguments: probes) func rule(_ probe: Probe) throws { try probe.run() }

    @Test func publicAddressTypeNeedsAPublicAddress() throws {
        let channel = VirtualChannel(.raspberryPi, address: .init(.init()))
        try channel.send(RawCommand.enable.packet)
        let answer = try #require(try channel.receive(until: channel.now))
        #expect(answer.octets.last == 0x12)
    }
}
