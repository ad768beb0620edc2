import BluetoothTypes
import HCI
import Testing

/// pcap and pcapng: the files of tcpdump, Wireshark and sniffers.
@Suite struct PCAPTests {
    static let event = HCIEvent.completed(HCIReset.opcode, .success).packet
    static let reset = HCIReset().packet

    /// Writes integers in one of the two byte orders.
    struct Order: Sendable {
        let isBig: Bool

        func octets(_ value: some FixedWidthInteger) -> [UInt8] {
            var octets: [UInt8] = []
            if isBig { octets.append(bigEndian: value) } else { octets.append(littleEndian: value) }
            return octets
        }

        func pcap(link: UInt32, magic: UInt32 = 0xA1B2_C3D4, _ packets: [[UInt8]]) -> [UInt8] {
            var file = octets(magic) + octets(UInt16(2)) + octets(UInt16(4)) + [UInt8](repeating: 0, count: 8)
            file += octets(UInt32(262_144)) + octets(link)
            for packet in packets {
                file += octets(UInt32(5)) + octets(UInt32(7)) + octets(UInt32(packet.count))
                file += octets(UInt32(packet.count)) + packet
            }
            return file
        }

        func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
            let padded = body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
            let length = octets(UInt32(padded.count + 12))
            return octets(type) + length + padded + length
        }

        func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
            octets(code) + octets(UInt16(value.count)) + value
                + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }

        var section: [UInt8] {
            let version = octets(UInt16(1)) + octets(UInt16(0))
            return block(0x0A0D_0D0A, octets(UInt32(0x1A2B_3C4D)) + version + octets(UInt64.max))
        }

        func interface(link: UInt16, _ options: [UInt8] = []) -> [UInt8] {
            block(1, octets(link) + octets(UInt16(0)) + octets(UInt32(0)) + options)
        }

        func packet(_ packet: [UInt8], interface: UInt32 = 0, ticks: UInt64 = 0, flags: UInt32? = nil) -> [UInt8] {
            let padding = [UInt8](repeating: 0, count: (4 - packet.count % 4) % 4)
            let time = octets(UInt32(truncatingIfNeeded: ticks >> 32)) + octets(UInt32(truncatingIfNeeded: ticks))
            let lengths = octets(UInt32(packet.count)) + octets(UInt32(packet.count))
            let options = flags.map { option(2, octets($0)) + option(0, []) } ?? []
            return block(6, octets(interface) + time + lengths + packet + padding + options)
        }
    }

    static let orders = [Order(isBig: true), Order(isBig: false)]

    @Test(arguments: orders)
    func hciPacketsAreReadFromEveryLinkType(_ order: Order) throws {
        let table: [(link: UInt32, packets: [[UInt8]], directions: [Bool?], adapter: UInt16?)] = [
            (187, [Self.reset.h4, Self.event.h4], [false, true], nil),
            (201, [[0, 0, 0, 0] + Self.reset.h4, [0, 0, 0, 1] + Self.event.h4], [false, true], nil),
            (254, [[0, 3, 0, 2] + Self.reset.octets, [0, 3, 0, 3] + Self.event.octets], [false, true], 3),
        ]
        for row in table {
            let records = Array(try Capture(order.pcap(link: row.link, row.packets)))
            #expect(records.map(\.content) == [.hci(Self.reset), .hci(Self.event)])
            #expect(records.map(\.isFromController) == row.directions)
            #expect(records.map(\.adapter) == [row.adapter, row.adapter])
            #expect(records.map(\.unixMicroseconds) == [5_000_007, 5_000_007])
        }
        let nano = try Capture(order.pcap(link: 187, magic: 0xA1B2_3C4D, [Self.event.h4]))
        #expect(nano.map(\.unixMicroseconds) == [5_000_000])
    }

    @Test(arguments: orders)
    func blocksOfPCAPNGFilesAreRead(_ order: Order) throws {
        var file = order.section + order.interface(link: 1) + order.interface(link: 187)
        file += order.block(0xBAD, [1, 2, 3]) + order.packet(Self.reset.h4, interface: 1, ticks: 1 << 32)
        file += order.packet([1, 2, 3], interface: 0) + order.packet([2, 0, 0, 0, 0], interface: 1, flags: 1)
        // A new section starts with no interfaces, and may be in the other order.
        let other = Order(isBig: !order.isBig)
        file += other.section + other.interface(link: 187, other.option(9, [0x83]) + other.option(14, other.octets(10)))
        file += other.packet(Self.event.h4, ticks: 12, flags: 2)
        file += other.block(3, other.octets(UInt32(Self.event.h4.count)) + Self.event.h4)
        let capture = try Capture(file)
        #expect(capture.fault?.reason == .packetsLeftOut(1, link: 1))
        var reader = CaptureReader()
        reader.push(file)
        reader.finish()
        for _ in 0..<5 { #expect(try reader.next() != nil) }
        #expect(throws: try #require(capture.fault)) { try reader.next() }
        #expect(
            capture.map(\.content) == [
                .hci(Self.reset), .unsupported(link: 1), .hci(HCIPacket(.acl, [0, 0, 0, 0])), .hci(Self.event),
                .hci(Self.event),
            ])
        #expect(capture.map(\.unixMicroseconds) == [1 << 32, 0, 0, 11_500_000, nil])
        #expect(capture.map(\.isFromController) == [false, nil, true, false, true])
    }

    @Test func extremeClockOptionsDoNotOverflow() throws {
        let order = Order(isBig: false)
        for resolution: UInt8 in [0, 6, 9, 19, 38, 39, 127, 0x80, 0xBF, 0xC0, 0xFF] {
            for offset: Int64 in [.min, -1, 0, .max] {
                let options = order.option(9, [resolution]) + order.option(14, order.octets(offset))
                let file = order.section + order.interface(link: 187, options)
                let capture = try Capture(file + order.packet(Self.event.h4, ticks: .max))
                #expect(capture.map(\.content) == [.hci(Self.event)])
            }
        }
    }

    @Test func invalidLengthsAreFaults() throws {
        let order = Order(isBig: false)
        let start = order.section + order.interface(link: 187)
        let offset = start.count
        var pcap = order.pcap(link: 187, [Self.event.h4])
        pcap.replaceSubrange(32..<40, with: [UInt8](repeating: 0xFF, count: 8))
        #expect(try Capture(pcap).fault == CaptureError(.recordTooLong(octets: 0xFFFF_FFFF), at: 24, record: 0))
        let table: [([UInt8], CaptureError.Reason)] = [
            (order.packet(Self.event.h4, interface: 1), .unknownInterface(1)),
            (
                order.octets(UInt32(6)) + order.octets(UInt32(0xFFFF_FFFC)) + order.octets(UInt32(0)),
                .recordTooLong(octets: 0xFFFF_FFFC)
            ),
            (order.octets(UInt32(6)) + order.octets(UInt32(8)) + order.octets(UInt32(0)), .badBlockLength(8)),
            (order.octets(UInt32(6)) + order.octets(UInt32(34)) + order.octets(UInt32(0)), .badBlockLength(34)),
            (order.packet(Self.event.h4).dropLast(4) + [0, 0, 0, 0], .badBlockLength(40)),
            (order.block(6, [0, 0, 0, 0]), .badBlockLength(16)),
            (
                order.block(6, [UInt8](repeating: 0, count: 12) + order.octets(UInt32(9)) + order.octets(UInt32(9))),
                .lengthsDisagree(original: 9, included: 9)
            ),
            (order.block(0x0A0D_0D0A, [1, 2, 3, 4]), .badByteOrder(0x0102_0304)),
            (
                order.octets(UInt32(0xBAD)) + order.octets(UInt32(4000)) + order.octets(UInt32(0)),
                .truncated(needed: 4000, left: 12)
            ),
        ]
        for (octets, reason) in table {
            #expect(try Capture(start + octets).fault == CaptureError(reason, at: offset, record: 0))
            var reader = CaptureReader()
            reader.push(start + octets)
            reader.finish()
            #expect(throws: CaptureError(reason, at: offset, record: 0)) { try reader.next() }
        }
        let many = start + (0..<5000).flatMap { _ in order.interface(link: 187) }
        #expect(try Capture(many).fault?.reason == .tooManyInterfaces(limit: 4096))
        #expect(throws: CaptureError(.unknownLink(1, .pcap), at: 0)) { try Capture(order.pcap(link: 1, [])) }
    }

    private static let sniffedAddress: [UInt8] = [1, 2, 3, 4, 5, 0xC6]
    private static let access: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]

    private func report(_ link: UInt32, _ packet: [UInt8]) throws -> AdvertisingReport? {
        let capture = try Capture(Order(isBig: false).pcap(link: link, [packet]))
        guard case .advertisement(let report)? = capture.first(where: { _ in true })?.content else { return nil }
        return report
    }

    @Test(arguments: [(0x40, 0), (0x42, 3), (0x44, 4), (0x46, 2)] as [(UInt8, UInt8)])
    func sniffedLegacyPDUsAreReports(_ header: UInt8, _ type: UInt8) throws {
        let packet = Self.access + [header, 9] + Self.sniffedAddress + [2, 1, 6] + [0, 0, 0]
        let expected = AdvertisingReport(
            type: .legacy(type), addressType: .random, address: address("C6:05:04:03:02:01"), rssi: nil,
            data: AdvertisingData(octets: [2, 1, 6]))
        #expect(try report(251, packet) == expected)
        // Channel 39, -60 dBm, which is valid; checksum checked and right.
        let reception: [UInt8] = [39, 0xC4, 0, 0, 0, 0, 0, 0, 0x03, 0x0C]
        #expect(try report(256, reception + packet)?.rssi == -60)
        #expect(try report(256, reception.dropLast() + [0x04] + packet) == nil)
        #expect(try report(256, [39, 0xC4, 0, 0, 0, 0, 0, 0, 0x01, 0x00] + packet)?.rssi == nil)
    }

    @Test(arguments: [(1, 6), (2, 6), (3, 2)] as [(UInt8, UInt8)])
    func packetsOfAnNRFSnifferAreReports(_ version: UInt8, _ identifier: UInt8) throws {
        let packet = Self.access + [0x42, 9] + Self.sniffedAddress + [2, 1, 6] + [0, 0, 0]
        let header: [UInt8] = [7, 0, 0, version, 0, 0, identifier]
        let expected = AdvertisingReport(
            type: .legacy(3), addressType: .random, address: address("C6:05:04:03:02:01"), rssi: -64,
            data: AdvertisingData(octets: [2, 1, 6]))
        let reception: [UInt8] = [10, 1, 38, 64, 0, 0, 0, 0, 0, 0]
        #expect(try report(272, header + reception + packet) == expected)
        // A wrong checksum, a physical layer of 2 Mbit/s, a packet that is not a reception, and a header that is too
        // short.
        #expect(try report(272, header + [10, 0] + reception.dropFirst(2) + packet) == nil)
        #expect(try report(272, header + [10, 0x11] + reception.dropFirst(2) + packet)?.primaryPHY == .le2M)
        #expect(try report(272, header.dropLast() + [8] + reception + packet) == nil)
        #expect(try report(272, header + reception.dropLast()) == nil)
    }

    @Test func sniffedExtendedPDUsAreReports() throws {
        // Fields: address, data identifier (set 5), power -7 dBm; AdvMode 1, connectable.
        let body = [0x40 | 10, 0x49] + Self.sniffedAddress + [0x34, 0x52, 0xF9] + [2, 1, 6]
        let packet = Self.access + [0x07, UInt8(body.count)] + body + [0, 0, 0]
        let found = try #require(try report(251, packet))
        #expect(found.type == .extended(0x01) && found.addressType == .publicDevice && found.data.octets == [2, 1, 6])
        #expect(found.setIdentifier == 5 && found.power?.dBm == -7)
        // On the coded physical layer, with its octet after the access address.
        let coded = [UInt8](repeating: 0, count: 9) + [0x80] + Self.access + [0] + packet.dropFirst(4)
        #expect(try report(256, coded)?.secondaryPHY == .leCoded)
    }

    @Test(
        arguments: [
            // No data; a scan request; another access address; a truncated packet; fields too long; too few octets.
            [0xD6, 0xBE, 0x89, 0x8E, 0x07, 9, 8, 0x11, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0],
            [0xD6, 0xBE, 0x89, 0x8E, 0x03, 12, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0],
            [0xD6, 0xBE, 0x89, 0x8F, 0x00, 9, 1, 2, 3, 4, 5, 6, 2, 1, 6, 0, 0, 0],
            [0xD6, 0xBE, 0x89, 0x8E, 0x00, 99, 1, 2, 3, 4, 5, 6, 2, 1, 6, 0, 0, 0],
            [0xD6, 0xBE, 0x89, 0x8E, 0x07, 6, 2, 0xFF, 1, 2, 1, 6, 0, 0, 0],
            [0xD6, 0xBE, 0x89, 0x8E, 0x00, 5, 1, 2, 3, 4, 5, 0, 0, 0], [0xD6, 0xBE], [],
        ] as [[UInt8]])
    func packetsWithoutDataAreNoReports(_ packet: [UInt8]) throws {
        #expect(try report(251, packet) == nil)
        #expect(try report(256, [UInt8](repeating: 0, count: 10) + packet) == nil)
    }
}
