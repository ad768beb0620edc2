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

    /// Returns an LE Advertising Report of one ADV_NONCONN_IND from C0:00:00:00:00:01 with -60 dBm (0x7F: no level).
    private static func report(rssi: UInt8 = 0xC4) -> [UInt8] {
        [0x04, 0x3E, 0x0F, 0x02, 0x01, 0x03, 0x01, 0x01, 0, 0, 0, 0, 0xC0, 0x03, 0x02, 0x01, 0x06, rssi]
    }

    private static let setData: [UInt8] =
        [0x01, 0x08, 0x20, 0x20, 0x03, 0x02, 0x01, 0x06] + [UInt8](repeating: 0, count: 28)

    @Test("a report tells when, from whom and how strong")
    func tellsOfReports() throws {
        let payloads = try Self.records([Self.report(), Self.report(rssi: 0x7F)]).flatMap(CapturedPayload.all)
        #expect(payloads.map(\.data.octets) == [[2, 1, 6], [2, 1, 6]])
        let headline = try #require(payloads.first?.headline)
        #expect(
            headline == "2026-03-01T12:00:00.000042Z  C0:00:00:00:00:01 (random (0x01))  -60 dBm  ADV_NONCONN_IND")
        #expect(payloads.last?.headline.contains("strength unknown") == true)
        let line = JSONValue.record(try #require(payloads.last).members).line
        #expect(
            line.hasPrefix(
                "{\"record\":1,\"time\":\"2026-03-01T12:00:01.000042Z\",\"adapter\":null,\"source\":\"report\","
                    + "\"address\":\"C0:00:00:00:00:01\",\"addressType\":\"random (0x01)\",\"reportType\":"),
            "\(line)")
        #expect(line.hasSuffix("\"rssi\":null}"))
    }

    @Test("a command that sets data tells its name")
    func tellsOfCommands() throws {
        let payload = try #require(try Self.records([Self.setData]).flatMap(CapturedPayload.all).first)
        #expect(payload.data.octets == [2, 1, 6])
        #expect(payload.headline == "2026-03-01T12:00:00.000042Z  LE Set Advertising Data")
        #expect(
            JSONValue.record(payload.members).line.hasSuffix(
                "\"source\":\"command\",\"command\":\"LE Set Advertising Data\"}"))
    }

    @Test("other packets hold no payload, and what could not be decoded is counted")
    func countsRecords() throws {
        var tally = CaptureTally()
        let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
        for record in try Self.records([reset, Self.report(), Self.setData], shortened: 0) { _ = tally.take(record) }
        #expect(tally.payloads == 2)
        #expect(tally.warnings == ["1 record was shortened by the capturing program"])
        #expect(CaptureTally().warnings.isEmpty)
    }
}
