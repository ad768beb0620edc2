import Testing
import VirtualController

@Suite struct ExtendedRuleTests {
    static let octets32 = [UInt8](repeating: 7, count: 32)
    static let octets251 = [UInt8](repeating: 7, count: 251)

    static let parameterProbes: [Probe] = [
        Probe("a set is made", .zephyr, [(.set(), 0)]),
        Probe("handle 0xEF is the last", .zephyr, [(.set(0xEF), 0)]),
        Probe("handle 0xF0 is invalid", .zephyr, [(.set(0xF0), 0x12)]),
        Probe("20 ms is the shortest interval", .zephyr, [(.set(1, 0x20, 0x20), 0)]),
        Probe("under 20 ms is not supported", .zephyr, [(.set(1, 0x1F, 0x20), 0x11)]),
        Probe("24 bits of interval", .zephyr, [(.set(1, 0xFFFFFF, 0xFFFFFF), 0)]),
        Probe("minimum over maximum is invalid", .zephyr, [(.set(1, 0xA1, 0xA0), 0x12)]),
        Probe("no channel is invalid", .zephyr, [(.set(map: 0), 0x12)]),
        Probe("own address type 4 is reserved", .zephyr, [(.set(own: 4), 0x12)]),
        Probe("filter policy 4 is reserved", .zephyr, [(.set(filter: 4), 0x12)]),
        Probe("20 dBm is the highest power", .zephyr, [(.set(power: 20), 0)]),
        Probe("21 dBm is invalid", .zephyr, [(.set(power: 21), 0x12)]),
        Probe("-127 dBm is the lowest power", .zephyr, [(.set(power: 0x81), 0)]),
        Probe("-128 dBm is invalid", .zephyr, [(.set(power: 0x80), 0x12)]),
        Probe("SID 16 is reserved", .zephyr, [(.set(sid: 16), 0x12)]),
        Probe("notification 2 is reserved", .zephyr, [(.set(notify: 2), 0x12)]),
        Probe("legacy ADV_IND", .zephyr, [(.set(properties: 0x13), 0)]),
        Probe("legacy ADV_SCAN_IND", .zephyr, [(.set(properties: 0x12), 0)]),
        Probe("legacy directed", .zephyr, [(.set(properties: 0x15), 0), (.set(properties: 0x1D), 0)]),
        Probe("no legacy PDU is only connectable", .zephyr, [(.set(properties: 0x11), 0x12)]),
        Probe("no legacy PDU announces its power", .zephyr, [(.set(properties: 0x50), 0x12)]),
        Probe("no legacy PDU is anonymous", .zephyr, [(.set(properties: 0x30), 0x12)]),
        Probe("legacy PDUs not on Coded", .zephyr, [(.set(properties: 0x10, primary: 3), 0x12)]),
        Probe("extended: not connectable and scannable", .zephyr, [(.set(properties: 3), 0x12)]),
        Probe("extended: no high duty cycle", .zephyr, [(.set(properties: 0x0D), 0x12)]),
        Probe("extended: connectable is not anonymous", .zephyr, [(.set(properties: 0x21), 0x12)]),
        Probe("extended: anonymous with power", .zephyr, [(.set(properties: 0x60), 0)]),
        Probe("reserved properties", .zephyr, [(.set(properties: 0x80), 0x12)]),
        Probe("extended on Coded", .zephyr, [(.set(properties: 0, primary: 3, secondary: 3), 0)]),
        Probe("no Coded on a chip without", .uncoded, [(.set(properties: 0, primary: 3, secondary: 1), 0x11)]),
        Probe("2M is no primary channel", .zephyr, [(.set(properties: 0, primary: 2), 0x11)]),
        Probe("2M on the secondary channel", .zephyr, [(.set(properties: 0, secondary: 2), 0)]),
        Probe("no secondary channel", .zephyr, [(.set(properties: 0, secondary: 0), 0x11)]),
        Probe(
            "four sets on Zephyr", .zephyr,
            [(.set(0), 0), (.set(1), 0), (.set(2), 0), (.set(3), 0), (.set(4), 0x07), (.set(3), 0)]),
        Probe(
            "a removed set makes room", .zephyr,
            [
                (.set(0), 0), (.set(1), 0), (.set(2), 0), (.set(3), 0), (RawCommand(0x203C, [2]), 0), (.set(4), 0),
            ]),
        Probe(
            "parameters stay while enabled", .zephyr,
            [(.set(), 0), (.setEnable(), 0), (.set(), 0x0C), (.setEnable(0), 0), (.set(), 0)]),
        Probe(
            "data over 31 octets keeps a set from legacy PDUs", .zephyr,
            [(.set(properties: 0), 0), (.setData(1, octets32), 0), (.set(properties: 0x10), 0x12)]),
        Probe(
            "data keeps a set from scannable extended PDUs", .zephyr,
            [(.set(properties: 0), 0), (.setData(1, [1]), 0), (.set(properties: 2), 0x12)]),
        Probe(
            "a scan response keeps a set scannable", .zephyr,
            [(.set(properties: 0x12), 0), (.setScanResponse(1, [1]), 0), (.set(properties: 0x10), 0x12)]),
    ]

    static let dataProbes: [Probe] = [
        Probe("no data without a set", .zephyr, [(.setData(1, [1]), 0x42), (.setScanResponse(1, [1]), 0x42)]),
        Probe("no address without a set", .zephyr, [(.setAddress(1), 0x42)]),
        Probe("legacy PDUs take 31 octets", .zephyr, [(.set(), 0), (.setData(1, Array(octets32.prefix(31))), 0)]),
        Probe("legacy PDUs take no 32", .zephyr, [(.set(), 0), (.setData(1, octets32), 0x12)]),
        Probe("legacy PDUs take no fragments", .zephyr, [(.set(), 0), (.setData(1, [1], operation: 1), 0x12)]),
        Probe("legacy directed PDUs take none", .zephyr, [(.set(properties: 0x15), 0), (.setData(1, [1]), 0x12)]),
        Probe("scan response needs scannable", .zephyr, [(.set(), 0), (.setScanResponse(1, [1]), 0x12)]),
        Probe("discarding a scan response is allowed", .zephyr, [(.set(), 0), (.setScanResponse(1, []), 0)]),
        Probe(
            "legacy scan response takes no 32 octets", .zephyr,
            [(.set(properties: 0x12), 0), (.setScanResponse(1, octets32), 0x12)]),
        Probe("scannable extended takes no data", .zephyr, [(.set(properties: 2), 0), (.setData(1, [1]), 0x12)]),
        Probe("operation 5 is reserved", .zephyr, [(.set(properties: 0), 0), (.setData(1, [1], operation: 5), 0x12)]),
        Probe("a fragment is not empty", .zephyr, [(.set(properties: 0), 0), (.setData(1, [], operation: 1), 0x12)]),
        Probe(
            "fragments in order", .zephyr,
            [
                (.set(properties: 0), 0), (.setData(1, octets251, operation: 1), 0),
                (.setData(1, octets251, operation: 0), 0), (.setEnable(), 0x0C),
                (.setData(1, octets251, operation: 2), 0), (.setEnable(), 0),
            ]),
        Probe(
            "1650 octets fit, one more discards all", .zephyr,
            [(.set(properties: 0), 0), (.setData(1, octets251, operation: 1), 0)]
                + (0..<5).map { _ in (.setData(1, octets251, operation: 0), 0) }
                + [
                    (.setData(1, Array(octets251.prefix(144)), operation: 0), 0),
                    (.setData(1, [1], operation: 2), 0x07), (.setEnable(), 0),
                ]),
        Probe(
            "no fragments while enabled", .zephyr,
            [
                (.set(properties: 0), 0), (.setEnable(), 0), (.setData(1, [1], operation: 1), 0x0C),
                (.setData(1, [1]), 0),
            ]),
        Probe(
            "unchanged needs enabled data and no octets", .zephyr,
            [
                (.set(properties: 0), 0), (.setData(1, [1]), 0), (.setData(1, [], operation: 4), 0x12),
                (.setEnable(), 0), (.setData(1, [], operation: 4), 0), (.setData(1, [1], operation: 4), 0x12),
            ]),
        Probe(
            "unchanged is nothing for legacy PDUs", .zephyr,
            [(.set(), 0), (.setData(1, [1]), 0), (.setEnable(), 0), (.setData(1, [], operation: 4), 0x12)]),
        Probe(
            "unchanged is nothing for scan responses", .zephyr,
            [(.set(properties: 2), 0), (.setScanResponse(1, [], operation: 4), 0x12)]),
        Probe(
            "connectable extended data has one packet", .zephyr,
            [
                (.set(properties: 1), 0), (.setData(1, Array(octets251.prefix(245))), 0), (.setEnable(), 0),
                (.setData(1, Array(octets251.prefix(246))), 0x45), (.setEnable(0), 0),
                (.setData(1, Array(octets251.prefix(246))), 0), (.setEnable(), 0x12),
            ]),
        Probe(
            "753 octets keep a set from 20 ms on Coded", .zephyr,
            [
                (.set(properties: 0), 0), (.setData(1, octets251, operation: 1), 0),
                (.setData(1, octets251, operation: 0), 0), (.setData(1, octets251, operation: 2), 0),
                (.set(1, properties: 0, 0x20, 0x20, primary: 3, secondary: 3), 0x45),
                (.set(1, properties: 0, 0x60, 0x60, primary: 3, secondary: 3), 0), (.setEnable(), 0),
            ]),
        Probe(
            "753 octets do not fit into 20 ms on Coded", .zephyr,
            [
                (.set(1, properties: 0, 0x20, 0x20, primary: 3, secondary: 3), 0),
                (.setData(1, octets251, operation: 1), 0), (.setData(1, octets251, operation: 0), 0),
                (.setData(1, octets251, operation: 2), 0), (.setEnable(), 0x45),
            ]),
    ]

    static let enableProbes: [Probe] = [
        Probe("no set, nothing to enable", .zephyr, [(.setEnable(), 0x42)]),
        Probe("enabling none is invalid", .zephyr, [(.setEnable(1, []), 0x12)]),
        Probe(
            "disabling none means all", .zephyr, [(.set(), 0), (.setEnable(), 0), (.setEnable(0, []), 0), (.set(), 0)]),
        Probe("one set twice is invalid", .zephyr, [(.set(), 0), (.setEnable(1, [1, 1]), 0x12)]),
        Probe("one unknown set spoils all", .zephyr, [(.set(), 0), (.setEnable(1, [1, 2]), 0x42), (.set(), 0)]),
        Probe("enabling with 2 is invalid", .zephyr, [(.set(), 0), (.setEnable(2), 0x12)]),
        Probe("enabling twice is allowed", .zephyr, [(.set(), 0), (.setEnable(), 0), (.setEnable(), 0)]),
        Probe("disabling twice does nothing", .zephyr, [(.set(), 0), (.setEnable(0), 0), (.setEnable(0), 0)]),
        Probe(
            "random needs the set's own address", .zephyr,
            [(.randomAddress, 0), (.set(own: 1), 0), (.setEnable(), 0x12), (.setAddress(), 0), (.setEnable(), 0)]),
        Probe(
            "a connectable set's address stays while enabled", .zephyr,
            [(.set(properties: 0x13), 0), (.setEnable(), 0), (.setAddress(), 0x0C)]),
        Probe(
            "a non-connectable set's address may change", .zephyr,
            [(.set(), 0), (.setEnable(), 0), (.setAddress(), 0)]),
        Probe(
            "the device's random address may change too", .zephyr,
            [(.set(), 0), (.setEnable(), 0), (.randomAddress, 0)]),
        Probe(
            "scannable extended needs a scan response", .zephyr,
            [
                (.set(properties: 2), 0), (.setEnable(), 0x0C), (.setScanResponse(1, [1]), 0), (.setEnable(), 0),
                (.setScanResponse(1, []), 0x0C),
            ]),
        Probe(
            "high duty cycle needs a short duration", .zephyr,
            [
                (.set(properties: 0x1D), 0), (.setEnable(), 0x12), (.setEnable(duration: 129), 0x12),
                (.setEnable(duration: 128), 0),
            ]),
        Probe(
            "enabled sets are not removed", .zephyr,
            [
                (.set(), 0), (.set(2), 0), (.setEnable(), 0), (RawCommand(0x203C, [1]), 0x0C),
                (RawCommand(0x203D), 0x0C), (RawCommand(0x203C, [2]), 0), (.setEnable(0), 0), (RawCommand(0x203D), 0),
                (.setEnable(), 0x42),
            ]),
        Probe("no set, nothing to remove", .zephyr, [(RawCommand(0x203C, [1]), 0x42), (RawCommand(0x203D), 0)]),
        Probe(
            "a reset removes all sets", .zephyr, [(.set(), 0), (.setEnable(), 0), (.reset, 0), (.setEnable(), 0x42)]),
    ]

    @Test(arguments: parameterProbes) func parameterRule(_ probe: Probe) throws { try probe.run() }
    @Test(arguments: dataProbes) func dataRule(_ probe: Probe) throws { try probe.run() }
    @Test(arguments: enableProbes) func enableRule(_ probe: Probe) throws { try probe.run() }
}
