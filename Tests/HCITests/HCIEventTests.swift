import BluetoothTypes
import HCI
import Testing

@Suite struct HCIEventTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let octets: String
        let event: HCIEvent
        var testDescription: String { name }
    }

    static let beacon = hex("02 01 06 03 03 AA FE")
    static let legacyReport = AdvertisingReport(
        type: .legacy(3), addressType: .random, address: address("F0:01:02:03:04:05"), rssi: -60,
        data: AdvertisingData(octets: beacon))
    static let scanResponse = AdvertisingReport(
        type: .legacy(4), addressType: .publicDevice, address: address("00:11:22:33:44:55"), rssi: nil,
        data: AdvertisingData(octets: []))
    static let extendedReport = AdvertisingReport(
        type: .extended(0x0010), addressType: .random, address: address("F0:01:02:03:04:05"), rssi: -70,
        data: AdvertisingData(octets: hex("020106")), primaryPHY: .le1M, secondaryPHY: .le2M, setIdentifier: 5,
        power: RadioPower(octet: 0xF8),
        periodicInterval: 0x0140, directAddressType: .randomIdentity, directAddress: address("C0:00:00:00:00:01"))

    static let vectors: [Vector] = [
        .init(
            name: "Command Complete of Reset", octets: "0E 04 01 03 0C 00", event: .completed(HCIReset.opcode, .success)
        ),
        .init(
            name: "Command Complete with a power", octets: "0E 05 01 07 20 00 0C",
            event: .completed(LEReadAdvertisingPhysicalChannelTxPower.self, .init(RadioPower(octet: 12)))),
        .init(
            name: "Command Complete without a status", octets: "0E 03 05 00 00",
            event: .commandComplete(CommandComplete(credits: 5, opcode: .noOperation, returnOctets: []))),
        .init(
            name: "Command Status", octets: "0F 04 01 02 36 20",
            event: .commandStatus(
                CommandStatus(status: .unknownCommand, credits: 2, opcode: HCIOpcode(rawValue: 0x2036)))),
        .init(name: "Hardware Error", octets: "10 01 42", event: .hardwareError(code: 0x42)),
        .init(
            name: "Advertising Set Terminated", octets: "3E 06 12 3C 02 00 00 00",
            event: .advertisingSetTerminated(
                AdvertisingSetTerminated(status: .advertisingTimeout, handle: 2, completedEvents: 0))),
        .init(
            name: "two legacy reports in one event",
            octets: "3E 1D 02 02 03 01 05 04 03 02 01 F0 07 02 01 06 03 03 AA FE C4 04 00 55 44 33 22 11 00 00 7F",
            event: .advertisingReports([legacyReport, scanResponse])),
        .init(
            name: "an extended report",
            octets: """
                3E 1D 0D 01 10 00 01 05 04 03 02 01 F0 01 02 05 F8 BA 40 01 03 01 00 00 00 00 C0 03 02 01 06
                """,
            event: .extendedAdvertisingReports([extendedReport])),
        .init(
            name: "an event without a name", octets: "13 05 01 40 00 01 00",
            event: .unknown(code: 0x13, parameters: hex("01 40 00 01 00"))),
        .init(
            name: "an LE Meta event without a name", octets: "3E 02 01 00",
            event: .unknown(code: 0x3E, parameters: hex("01 00"))),
    ]

    @Test(arguments: vectors)
    func eventsAreReadAndWritten(_ vector: Vector) throws {
        #expect(try event(hex(vector.octets)) == vector.event)
        #expect(Hexadecimal.text(vector.event.packet.octets) == Hexadecimal.text(hex(vector.octets)))
        #expect(vector.event.packet.kind == .event)
    }

    @Test(arguments: vectors)
    func truncatedEventsAreErrors(_ vector: Vector) {
        let octets = hex(vector.octets)
        for count in 0..<octets.count {
            #expect(throws: HCIEventError.self) { try event(Array(octets.prefix(count))) }
        }
    }

    @Test(
        arguments: [
            ("0E", HCIEventError(.truncated(field: .header, needed: 2, left: 1), at: 0)),
            ("0E 05 01 03 0C 00", HCIEventError(.lengthMismatch(claimed: 5, found: 4), at: 0)),
            ("0E 02 01 03", HCIEventError(.truncated(field: .commandComplete, needed: 3, left: 2), at: 2)),
            ("0F 05 00 01 06 20 00", HCIEventError(.trailing(1), at: 6)),
            ("10 00", HCIEventError(.truncated(field: .hardwareError, needed: 1, left: 0), at: 2)),
            ("3E 00", HCIEventError(.truncated(field: .subevent, needed: 1, left: 0), at: 2)),
            ("3E 01 02", HCIEventError(.truncated(field: .reportCount, needed: 1, left: 0), at: 3)),
            ("3E 02 02 01", HCIEventError(.truncated(field: .report, needed: 10, left: 0), at: 4)),
            (
                "3E 0C 02 01 03 01 05 04 03 02 01 F0 01 C4",
                HCIEventError(.truncated(field: .reportData, needed: 11, left: 10), at: 4)
            ),
            ("3E 0D 02 01 03 01 05 04 03 02 01 F0 00 C4 99", HCIEventError(.trailing(1), at: 14)),
            ("3E 07 12 3C 02 00 00 00 00", HCIEventError(.trailing(1), at: 8)),
        ] as [(String, HCIEventError)])
    func faultIsReportedWithItsOffset(_ octets: String, _ error: HCIEventError) {
        #expect(throws: error) { try event(hex(octets)) }
    }

    @Test func reportsBeforeAFaultAreStillRead() throws {
        let octets = hex("3E 18 02 02 03 01 05 04 03 02 01 F0 00 C4 03 01 05 04 03 02 01 F0 09 02 01 06")
        let span = octets.span
        var cursor = try AdvertisingReportCursor(event: span, in: 0..<octets.count)
        let first = try cursor?.next(in: span)
        #expect(first?.rssi == -60)
        var fault: HCIEventError?
        do throws(HCIEventError) { _ = try cursor?.next(in: span) } catch { fault = error }
        #expect(fault == HCIEventError(.truncated(field: .reportData, needed: 19, left: 12), at: 14))
        let after = try cursor?.next(in: span)
        #expect(after == nil)
    }

    @Test func aCursorFindsReportsInsideALargerBuffer() throws {
        let packet = HCIEvent.extendedAdvertisingReports([Self.extendedReport]).packet.octets
        let buffer = [UInt8](repeating: 0xFF, count: 7) + packet + [1, 2, 3]
        let span = buffer.span
        var cursor = try AdvertisingReportCursor(event: span, in: 7..<7 + packet.count)
        #expect(cursor?.isExtended == true)
        #expect(cursor?.remaining == 1)
        guard let element = try cursor?.next(in: span) else {
            Issue.record("no report")
            return
        }
        let report = AdvertisingReport(element, in: span)
        #expect(report == Self.extendedReport)
        #expect(buffer[element.data] == hex("020106")[...])
        let end = try cursor?.next(in: span)
        #expect(end == nil)
    }

    @Test func otherEventsHaveNoReports() throws {
        let octets = HCIEvent.hardwareError(code: 1).packet.octets
        let cursor = try AdvertisingReportCursor(event: octets.span, in: 0..<octets.count)
        #expect(cursor == nil)
    }

    @Test func reportsThatDoNotFitAreLeftOut() throws {
        let large = AdvertisingReport(
            type: .legacy(0), addressType: .random, address: address("F0:01:02:03:04:05"), rssi: 0,
            data: AdvertisingData(octets: Array(repeating: 7, count: 31)))
        let packet = HCIEvent.advertisingReports(Array(repeating: large, count: 9)).packet
        #expect(try event(packet.octets) == .advertisingReports(Array(repeating: large, count: 6)))

        var tooLarge = large
        tooLarge.type = .extended(0)
        tooLarge.data = AdvertisingData(octets: Array(repeating: 1, count: 230))
        #expect(HCIEvent.extendedAdvertisingReports([tooLarge]).packet.octets == hex("3E 02 0D 00"))
        tooLarge.data = AdvertisingData(octets: Array(repeating: 1, count: 229))
        #expect(HCIEvent.extendedAdvertisingReports([tooLarge]).packet.octets.count == 257)
    }

    @Test(
        arguments: [
            (.legacy(0), "ADV_IND", true, true, false, true), (.legacy(1), "ADV_DIRECT_IND", true, false, false, true),
            (.legacy(2), "ADV_SCAN_IND", false, true, false, true),
            (.legacy(3), "ADV_NONCONN_IND", false, false, false, true),
            (.legacy(4), "SCAN_RSP", false, true, true, true),
            (.legacy(9), "reserved type 0x09", false, false, false, true),
            (.extended(0x13), "ADV_IND", true, true, false, true),
            (.extended(0x1B), "SCAN_RSP", true, true, true, true),
            (.extended(0x00), "ADV_EXT_IND", false, false, false, false),
            (.extended(0x0A), "AUX_SCAN_RSP", false, true, true, false),
        ] as [(AdvertisingReportType, String, Bool, Bool, Bool, Bool)])
    func reportTypeDescribesThePDU(
        _ type: AdvertisingReportType, _ name: String, _ connectable: Bool, _ scannable: Bool, _ response: Bool,
        _ legacy: Bool
    ) {
        #expect(type.description == name)
        #expect(type.isConnectable == connectable)
        #expect(type.isScannable == scannable)
        #expect(type.isScanResponse == response)
        #expect(type.isLegacyPDU == legacy)
    }

    @Test func dataStatusIsReadFromItsBits() {
        #expect(AdvertisingReportType.extended(0x20).dataStatus == .incomplete)
        #expect(AdvertisingReportType.extended(0x40).dataStatus == .truncated)
        #expect(AdvertisingReportType.extended(0x60).dataStatus == .reserved)
        #expect(AdvertisingReportType.legacy(0).dataStatus == .complete)
    }
}
