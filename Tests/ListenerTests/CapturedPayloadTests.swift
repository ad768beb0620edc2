import BeaconFrames
import BluetoothTypes
import Configuration
import HCI
import Listener
import Testing

@Suite("Payloads in a capture")
struct CapturedPayloadTests {
    /// Returns a btsnoop file (link type H4) with these packets, from 2026-03-01T12:00:00.000042Z on, one per second.
    private static func records(_ packets: [[UInt8]], shortened: Int? = nil) throws -> [CaptureRecord] {
        var file: [UInt8] = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
        for (index, packet) in packets.enumerated() {
            let original = UInt32(packet.count + (index == shortened ? 9 : 0))
            // Microseconds since the year 0, the epoch of btsnoop.
            let time = 0x00DC_DDB3_0F2F_8000 + (1_772_366_400 + Int64(index)) * 1_000_000 + 42
            for number in [original, UInt32(packet.count), 0, 0] { file.append(bigEndian: number) }
            for shift in stride(from: 56, through: 0, by: -8) { file.append(UInt8(truncatingIfNeeded: time >> shift)) }
            file += packet
        }
        return Array(try Capture(file))
    }

    /// Returns the payloads of a capture with these packets.
    private static func payloads(_ packets: [[UInt8]]) throws -> [CapturedPayload] {
        var tally = CaptureTally()
        return try records(packets).flatMap { tally.take($0) }
    }

    /// Returns an LE Advertising Report of one ADV_NONCONN_IND from C0:00:00:00:00:01 with -60 dBm (0x7F: no level).
    private static func report(rssi: UInt8 = 0xC4) -> [UInt8] {
        [0x04, 0x3E, 0x0F, 0x02, 0x01, 0x03, 0x01, 0x01, 0, 0, 0, 0, 0xC0, 0x03, 0x02, 0x01, 0x06, rssi]
    }

    private static let setData: [UInt8] =
        [0x01, 0x08, 0x20, 0x20, 0x03, 0x02, 0x01, 0x06] + [UInt8](repeating: 0, count: 28)

    @Test("a report has time, sender and signal strength")
    func describesReports() throws {
        let payloads = try Self.payloads([Self.report(), Self.report(rssi: 0x7F)])
        #expect(payloads.map(\.data.octets) == [[2, 1, 6], [2, 1, 6]])
        let headline = try #require(payloads.first?.headline)
        #expect(
            headline == "2026-03-01T12:00:00.000042Z  C0:00:00:00:00:01 (random (0x01))  -60 dBm  ADV_NONCONN_IND")
        #expect(payloads.last?.headline.contains("strength unknown") == true)
        let line = JSONValue.record(try #require(payloads.last).members).line
        #expect(
            line.hasPrefix(
                "{\"record\":2,\"time\":\"2026-03-01T12:00:01.000042Z\",\"adapter\":null,\"source\":\"report\","
                    + "\"address\":\"C0:00:00:00:00:01\",\"addressType\":\"random (0x01)\",\"reportType\":"),
            "\(line)")
        #expect(line.hasSuffix("\"rssi\":null}"))
    }

    @Test("a command that sets data has its name")
    func describesCommands() throws {
        let payload = try #require(try Self.payloads([Self.setData]).first)
        #expect(payload.data.octets == [2, 1, 6])
        #expect(payload.headline == "2026-03-01T12:00:00.000042Z  LE Set Advertising Data")
        #expect(
            JSONValue.record(payload.members).line.hasSuffix(
                "\"source\":\"command\",\"command\":\"LE Set Advertising Data\"}"))
    }

    @Test("other packets have no payload, and packets that cannot be decoded are counted")
    func countsRecords() throws {
        var tally = CaptureTally()
        let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
        for record in try Self.records([reset, Self.report(), Self.setData], shortened: 0) { _ = tally.take(record) }
        #expect(tally.payloads == 2)
        #expect(tally.warnings == ["1 record was shortened by the capturing program"])
        #expect(CaptureTally().warnings.isEmpty)
    }

    /// Returns an LE Extended Advertising Report with these Event_Type bits and data.
    private static func extended(_ type: UInt16, _ data: [UInt8], from last: UInt8 = 1) -> [UInt8] {
        var report: [UInt8] = [
            0x0D, 0x01, UInt8(truncatingIfNeeded: type), UInt8(type >> 8), 0x01, last, 0, 0, 0, 0, 0xC0,
        ]
        report += [0x01, 0x01, 0x00, 0x7F, 0xC4, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(data.count)] + data
        return [0x04, 0x3E, UInt8(report.count)] + report
    }

    @Test("the PDU type determines the maximum data length")
    func judgesByType() throws {
        let long = [40, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 37)
        let payloads = try Self.payloads([Self.extended(0, long), Self.extended(0x10, long)])
        #expect(payloads.map { PayloadDescription($0).isClean } == [true, false])
        #expect(
            PayloadDescription(payloads[0]).lines(lint: true)
                == ["no rule is broken (judged as an extended advertisement, at most 1650 bytes)"])
    }

    @Test("a fragmented extended advertisement is reassembled before it is checked")
    func putsPiecesTogether() throws {
        let data = [200, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 197)
        let (first, rest) = (Array(data.prefix(100)), Array(data.dropFirst(100)))
        let other = Self.extended(0, [2, 1, 6], from: 9)
        let payloads = try Self.payloads([other, Self.extended(0x20, first), Self.extended(0, rest)])
        #expect(payloads.map(\.data.octets) == [[2, 1, 6], data])
        #expect(payloads.allSatisfy { PayloadDescription($0).isClean })
        var tally = CaptureTally()
        for record in try Self.records([Self.extended(0x20, first)]) { #expect(tally.take(record).isEmpty) }
        #expect(tally.warnings == ["the last piece of 1 extended advertisement is missing"])
    }

    @Test("data that the receiver truncated is not reported as a sender's fault")
    func acceptsCutData() throws {
        let payload = try #require(try Self.payloads([Self.extended(0x40, [9, 0xFF, 1, 2])]).first)
        #expect(payload.isCut && PayloadDescription(payload).isClean)
        #expect(payload.headline.hasSuffix("ADV_EXT_IND, the end of its data was lost"))
    }

    /// Returns a command packet with these parameters.
    private static func command(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8] {
        [0x01, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters
    }

    @Test("data set in fragments is reassembled, and the limit is that of the set's PDU")
    func putsCommandsTogether() throws {
        let data = [60, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 57)
        func piece(_ operation: UInt8, _ octets: some Collection<UInt8>) -> [UInt8] {
            Self.command(0x2037, [1, operation, 0, UInt8(octets.count)] + octets)
        }
        let pieces = [piece(1, data.prefix(20)), piece(0, data.dropFirst(20).prefix(20)), piece(2, data.dropFirst(40))]
        let payload = try #require(try Self.payloads(pieces).first)
        #expect(payload.data.octets == data && PayloadDescription(payload).isClean)
        let legacy = Self.command(
            0x2036, [1, 0x10, 0, 0xA0, 0, 0, 0xA0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 1, 0, 1, 0, 0])
        let judged = try #require(try Self.payloads([legacy] + pieces).first)
        #expect(judged.container == .legacyPDU && !PayloadDescription(judged).isClean)
    }

    @Test(
        "a command with a wrong length is reported with its name",
        arguments: [
            (
                command(0x2008, [3, 2, 1, 6]),
                "LE Set Advertising Data has 32 bytes of parameters (the length and 31 bytes), not 4"
            ),
            (
                command(0x2008, [40] + [UInt8](repeating: 0, count: 31)),
                "the length byte of LE Set Advertising Data is 40; it is at most 31"
            ),
            (
                command(0x2037, [1, 3, 0, 9, 2, 1, 6]),
                "LE Set Extended Advertising Data announces 9 bytes of data, so it has 13 bytes of parameters, not 7"
            ),
            (command(0x2006, [1, 2, 3]), "3 bytes of parameters do not fit LE Set Advertising Parameters"),
            (
                [0x01, 0x0A, 0x20, 0x02, 0x01],
                "the header of LE Set Advertising Enable announces 2 bytes of parameters, and 1 follow"
            ),
        ])
    func namesWrongLengths(_ packet: [UInt8], _ fault: String) throws {
        let payload = try #require(try Self.payloads([packet]).first)
        #expect(payload.commandFault == fault)
        let description = PayloadDescription(payload)
        #expect(!description.isClean)
        #expect(description.lines().contains(fault))
        #expect(description.lines(lint: true).contains { $0.contains(fault) })
        #expect(JSONValue.record(description.members).line.contains("\"rule\":\"hci-command-length\""))
    }

    @Test("malformed reports are counted")
    func countsMalformedEvents() throws {
        var tally = CaptureTally()
        for record in try Self.records([[0x04, 0x3E, 0x03, 0x02, 0x01, 0x03]]) { _ = tally.take(record) }
        #expect(tally.warnings == ["1 event has a wrong length and could not be read"])
    }
}
