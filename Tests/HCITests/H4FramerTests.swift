import BluetoothTypes
import HCI
import Testing

@Suite struct H4FramerTests {
    static let packets: [HCIPacket] = [
        HCIReset().packet,
        HCIPacket(.event, hex("0E 04 01 03 0C 00")),
        HCIPacket(.acl, hex("40 20 03 00 01 02 03")),
        HCIPacket(.sco, hex("40 00 02 AA BB")),
        HCIPacket(.iso, hex("40 00 02 C0 CC DD")),
        HCIPacket(.event, hex("10 00")),
        HCIPacket(.command, hex("01 0C 00")),
    ]
    static let stream = packets.flatMap(\.h4)

    private func frame(_ pieces: [[UInt8]]) throws -> [HCIPacket] {
        var framer = H4Framer()
        var found: [HCIPacket] = []
        for piece in pieces {
            framer.push(piece)
            while let packet = try framer.next() { found.append(packet) }
        }
        #expect(framer.pending == 0)
        return found
    }

    @Test func aWholeStreamGivesItsPackets() throws {
        #expect(try frame([Self.stream]) == Self.packets)
    }

    @Test func singleOctetsGiveTheSamePackets() throws {
        #expect(try frame(Self.stream.map { [$0] }) == Self.packets)
    }

    @Test func everySplitInThreeGivesTheSamePackets() throws {
        for first in 0...Self.stream.count {
            for second in first...Self.stream.count {
                let pieces = [Self.stream[..<first], Self.stream[first..<second], Self.stream[second...]]
                #expect(try frame(pieces.map(Array.init)) == Self.packets, "split at \(first) and \(second)")
            }
        }
    }

    @Test func packetsCanBeReadAfterTheWholeStream() throws {
        var framer = H4Framer()
        for octet in Self.stream { framer.push([octet]) }
        var found: [HCIPacket] = []
        while let packet = try framer.next() { found.append(packet) }
        #expect(found == Self.packets)
    }

    @Test func anUnknownTypeEndsTheStreamForGood() throws {
        var framer = H4Framer()
        framer.push(HCIReset().packet.h4 + [0x00, 0x01, 0x03, 0x0C, 0x00])
        #expect(try framer.next() == HCIReset().packet)
        let error = H4Error(.unknownType(0x00), at: 4)
        #expect(throws: error) { try framer.next() }
        framer.push(HCIReset().packet.h4)
        #expect(throws: error) { try framer.next() }
        #expect(framer.pending == 0)
    }

    @Test func offsetsCountFromTheStartOfTheStream() throws {
        var framer = H4Framer()
        for _ in 0..<1000 {
            framer.push(HCIReset().packet.h4)
            #expect(try framer.next() == HCIReset().packet)
        }
        framer.push([6])
        #expect(throws: H4Error(.unknownType(6), at: 4000)) { try framer.next() }
    }

    @Test func packetThatIsTooLongIsRefusedByItsHeader() {
        var framer = H4Framer(limit: 258)
        framer.push(hex("02 40 00 FF FF"))
        #expect(throws: H4Error(.tooLong(.acl, octets: 65540, limit: 258), at: 0)) { try framer.next() }
    }

    @Test func theLongestPacketOfEachKindFits() throws {
        for (head, length) in [
            ("01 01 0C FF", 255), ("02 40 00 FF FF", 65535), ("03 40 00 FF", 255), ("04 3E FF", 255),
            ("05 40 00 FF 3F", 16383),
        ] {
            let octets = hex(head) + [UInt8](repeating: 4, count: length)
            #expect(try frame([octets]).map(\.h4) == [octets])
        }
    }
}
