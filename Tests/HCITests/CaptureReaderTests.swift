import BluetoothTypes
import HCI
import Testing

/// Captures in btsnoop files; pcap and pcapng have separate tests.
@Suite struct CaptureReaderTests {
    /// 2024-02-29 12:34:56.789012 UTC.
    static let time: Int64 = 1_709_210_096_789_012
    static let event = HCIEvent.completed(HCIReset.opcode, .success).packet
    static let acl = HCIPacket(.acl, hex("40 00 00 00"))

    private func records(_ file: [UInt8]) throws -> (found: [CaptureElement], fault: CaptureError?) {
        let span = file.span
        var cursor = try CaptureCursor(span)
        var found: [CaptureElement] = []
        do throws(CaptureError) {
            while let record = try cursor.next(in: span) { found.append(record) }
            return (found, nil)
        } catch {
            let after = try cursor.next(in: span)
            #expect(after == nil)
            return (found, error)
        }
    }

    private func packets(_ file: [UInt8]) throws -> [HCIPacket?] {
        try records(file).found.map { $0.packet(in: file.span) }
    }

    private func file(datalink: UInt32, _ records: [(flags: UInt32, octets: [UInt8])]) -> [UInt8] {
        var file = Array(BTSnoopWriter.header.prefix(12))
        file.append(bigEndian: datalink)
        for record in records {
            file.append(bigEndian: UInt32(record.octets.count))
            file.append(bigEndian: UInt32(record.octets.count))
            file.append(bigEndian: record.flags)
            file.append(bigEndian: UInt32(0))
            file.append(bigEndian: Self.time + BTSnoopFormat.unixEpoch)
            file += record.octets
        }
        return file
    }

    @Test func writtenRecordsFollowTheFormat() {
        #expect(BTSnoopWriter.header == hex("62 74 73 6E 6F 6F 70 00 00 00 00 01 00 00 03 EA"))
        #expect(
            BTSnoopWriter.record(HCIReset().packet, isFromController: false, unixMicroseconds: 0)
                == hex("00000004 00000004 00000002 00000000 00DCDDB30F2F8000 01 03 0C 00"))
        #expect(
            BTSnoopWriter.record(Self.event, isFromController: true, unixMicroseconds: 1)
                == hex("00000007 00000007 00000003 00000000 00DCDDB30F2F8001 04 0E 04 01 03 0C 00"))
        #expect(
            BTSnoopWriter.record(Self.acl, isFromController: true, unixMicroseconds: -1)
                == hex("00000005 00000005 00000001 00000000 00DCDDB30F2F7FFF 02 40 00 00 00"))
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let written: [(HCIPacket, Bool)] = [(HCIReset().packet, false), (Self.event, true), (Self.acl, true)]
        var file = BTSnoopWriter.header
        for (packet, fromController) in written {
            file += BTSnoopWriter.record(packet, isFromController: fromController, unixMicroseconds: Self.time)
        }
        let (found, fault) = try records(file)
        #expect(fault == nil)
        #expect(try packets(file) == written.map(\.0))
        #expect(found.map(\.isFromController) == written.map(\.1))
        #expect(found.map(\.index) == [0, 1, 2])
        #expect(found.map(\.offset) == [16, 44, 75])
        #expect(found.allSatisfy { $0.unixMicroseconds == Self.time && $0.adapter == nil && !$0.isShortened })
    }

    @Test func unencapsulatedRecordsTakeTheirKindFromTheFlags() throws {
        let file = file(
            datalink: 1001,
            [(2, HCIReset().packet.octets), (3, Self.event.octets), (0, Self.acl.octets), (1, Self.acl.octets)])
        #expect(try packets(file) == [HCIReset().packet, Self.event, Self.acl, Self.acl])
        #expect(try records(file).found.map(\.isFromController) == [false, true, false, true])
    }

    @Test func monitorRecordsCarryAdapterAndKind() throws {
        let file = file(
            datalink: 2001,
            [
                (0x0000_0000, hex("00 01 05 04 03 02 01 F0 68 63 69 30 00 00 00 00")),
                (0x0001_0002, HCIReset().packet.octets), (0x0001_0003, Self.event.octets),
                (0x0000_0005, Self.acl.octets), (0xFFFF_000C, hex("4C 69 6E 75 78")),
            ])
        let found = try records(file).found
        #expect(found.map(\.adapter) == [0, 1, 1, 0, 0xFFFF])
        #expect(found.map(\.kind) == [.other, .hci(.command), .hci(.event), .hci(.acl), .other])
        #expect(found.map(\.isFromController) == [nil, false, true, true, nil])
        #expect(try packets(file) == [nil, HCIReset().packet, Self.event, Self.acl, nil])
    }

    @Test func unknownTypeOctetsAndEmptyRecordsAreNoPackets() throws {
        let file = file(datalink: 1002, [(0, [9, 1, 2]), (0, []), (1, Self.event.h4)])
        let found = try records(file).found
        #expect(found.map(\.kind) == [.other, .other, .hci(.event)])
        #expect(found.map(\.octets.count) == [3, 0, 6])
    }

    @Test func truncatedLastRecordIsReportedAfterTheOthers() throws {
        var whole = BTSnoopWriter.header
        for _ in 0..<2 {
            whole += BTSnoopWriter.record(Self.event, isFromController: true, unixMicroseconds: Self.time)
        }
        let start = whole.count - 31
        for cut in start + 1..<whole.count {
            let (found, fault) = try records(Array(whole.prefix(cut)))
            #expect(found.count == 1)
            let needed = cut < start + 24 ? 24 : 31
            #expect(
                fault == CaptureError(.truncated(needed: needed, left: cut - start), at: start, record: 1))
        }
        #expect(try records(Array(whole.prefix(start))).fault == nil)
    }

    @Test func refusesLengthsThatNoPacketHas() throws {
        var file = file(datalink: 1002, [(1, Self.event.h4)])
        for index in 16..<24 { file[index] = 0xFF }
        let (found, fault) = try records(file)
        #expect(found.isEmpty)
        #expect(fault == CaptureError(.recordTooLong(octets: 0xFFFF_FFFF), at: 16, record: 0))
    }

    @Test func shortenedPacketsAreMarked() throws {
        var file = file(datalink: 1002, [(1, Self.event.h4)])
        file[19] = 200
        #expect(try records(file).found.map(\.isShortened) == [true])
        file[19] = 3
        #expect(try records(file).fault == CaptureError(.lengthsDisagree(original: 3, included: 7), at: 16, record: 0))
    }

    @Test(
        arguments: [
            ("", CaptureError(.truncated(needed: 8, left: 0), at: 0)),
            ("62 74 73 6E 6F 6F 70 00 00 00 00 01 00 00 03", CaptureError(.truncated(needed: 16, left: 15), at: 0)),
            ("62 74 73 6E 6F 6F 71 00 00 00 00 01 00 00 03 EA", CaptureError(.unknownFormat, at: 0)),
            ("62 74 73 6E 6F 6F 70 00 00 00 00 02 00 00 03 EA", CaptureError(.unknownVersion(2, .btsnoop), at: 0)),
            ("62 74 73 6E 6F 6F 70 00 00 00 00 01 00 00 03 EB", CaptureError(.unknownLink(1003, .btsnoop), at: 0)),
        ] as [(String, CaptureError)])
    func otherFilesAreRefused(_ octets: String, _ error: CaptureError) {
        #expect(throws: error) { try records(hex(octets)) }
    }

    @Test func captureContainsItsRecordsInOrder() throws {
        let whole = file(datalink: 1002, [(0, HCIReset().packet.h4), (1, Self.event.h4)])
        let capture = try Capture(whole)
        #expect(capture.fault == nil)
        #expect(capture.map(\.content) == [.hci(HCIReset().packet), .hci(Self.event)])
        #expect(capture.map(\.unixMicroseconds) == [Self.time, Self.time])
        let cut = try Capture(whole.dropLast())
        #expect(cut.fault == CaptureError(.truncated(needed: 31, left: 30), at: 44, record: 1))
        #expect(cut.map(\.index) == [0])
    }

    @Test func streamInPiecesGivesTheSameRecords() throws {
        var whole = file(datalink: 1002, [(0, HCIReset().packet.h4), (1, Self.event.h4), (1, [9, 1])])
        let records = Array(try Capture(whole))
        whole += [1, 2, 3]
        for length in 1...60 {
            var reader = CaptureReader()
            var found: [CaptureRecord] = []
            for start in stride(from: 0, to: whole.count, by: length) {
                reader.push(whole[start...].prefix(length))
                while let record = try reader.next() { found.append(record) }
            }
            #expect(found == records)
            reader.finish()
            let fault = CaptureError(.truncated(needed: 24, left: 3), at: whole.count - 3, record: 3)
            #expect(throws: fault) { try reader.next() }
            #expect(throws: fault) { try reader.next() }
        }
    }
}
