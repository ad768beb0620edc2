import BeaconFrames
import BeaconService
import BluetoothTypes
import Glibc
import HCI
import HCITransports
import LinuxHost
import Sightings
import TestSupport
import Testing

@testable import Listener

/// Sources of sightings: adapters and recordings.
@Suite struct SightingSourceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let address = DeviceAddress(FixedOctets(repeating: 0xC1))
    private static let start: Int64 = 1_790_000_000_000_000

    private static func report(
        _ data: [UInt8], type: AdvertisingReportType = .legacy(3), rssi: Int8? = -60, set: UInt8? = nil
    ) -> AdvertisingReport {
        AdvertisingReport(
            type: type, addressType: .random, address: address, rssi: rssi, data: AdvertisingData(octets: data),
            setIdentifier: set)
    }

    /// Returns a btsnoop file of events with their times in microseconds.
    private func recording(_ events: [(Int64, HCIEvent)], cut: Int = 0) throws -> String {
        let records = events.flatMap { at, event in
            BTSnoopWriter.record(event.packet, isFromController: true, unixMicroseconds: Self.start + at)
        }
        return try folder.file("heard.btsnoop", Array((BTSnoopWriter.header + records).dropLast(cut)))
    }

    @Test func replaysARecordingWithItsOwnTimes() throws {
        let events = [0, 100_000, 250_000].map { at -> (Int64, HCIEvent) in
            (at, .advertisingReports([Self.report([2, 1, 6], rssi: -60), Self.report([2, 1, 4], rssi: -70)]))
        }
        let source = try SightingSource.recording(try recording(events), levels: -65...20)
        let hearer = KeepingConsumer()
        try source.run(hearer)
        #expect(hearer.reports.map(\.sighting.instant.nanoseconds) == [0, 100_000_000, 250_000_000])
        #expect(hearer.data == Array(repeating: [2, 1, 6], count: 3))
        #expect(hearer.reports.allSatisfy { $0.sighting.sender == Sender(Self.address, isRandom: true) })
        #expect(hearer.states == [.listening])
        #expect(hearer.finished?.nanoseconds == 250_000_000)
        #expect(source.counts.reports == 6)
        #expect(source.counts.lostInKernel == nil)
        #expect(source.adapter == nil)
        #expect(source.clock.unixMicroseconds(at: HeardInstant(nanoseconds: 100_000_000)) == Self.start + 100_000)
        #expect(source.clock.text(HeardInstant(nanoseconds: 0))?.hasSuffix(".000000Z") == true)
    }

    /// Each packet of a btsnoop file states how many packets were lost before it.
    @Test func readsTheNumberOfLostPackets() throws {
        let event = HCIEvent.advertisingReports([Self.report([2, 1, 6])]).packet
        let records = [0, 2, 7].flatMap { drops in
            BTSnoopWriter.record(event, isFromController: true, unixMicroseconds: Self.start, drops: drops)
        }
        let file = try folder.file("drops.btsnoop", BTSnoopWriter.header + records)
        let source = try SightingSource.recording(file)
        try source.run(KeepingConsumer())
        #expect(source.counts.reports == 3)
        #expect(source.counts.lostInKernel == 7)
    }

    @Test func joinsPiecesAndCountsIncompleteReports() throws {
        let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let pieces = [
            Self.report(Array(long.prefix(229)), type: .extended(0x20), set: 3),
            Self.report(Array(long.dropFirst(229)), type: .extended(0), set: 3),
            Self.report([1], type: .extended(0x40), set: 4),
        ]
        let source = try SightingSource.recording(
            try recording(pieces.map { (0, .extendedAdvertisingReports([$0])) }))
        let hearer = KeepingConsumer()
        try source.run(hearer)
        #expect(hearer.data == [long, [1]])
        #expect(source.counts.incomplete == 1)
        #expect(source.counts.malformedEvents == 0)
    }

    @Test func deliversTheReportsBeforeATruncatedPacket() throws {
        let events: [(Int64, HCIEvent)] = [0, 1].map { ($0, .advertisingReports([Self.report([2, 1, 6])])) }
        let source = try SightingSource.recording(try recording(events, cut: 3))
        let hearer = KeepingConsumer()
        #expect(throws: ListenerServiceError.self) { try source.run(hearer) }
        #expect(hearer.reports.count == 1)
        #expect(hearer.finished != nil)
    }

    @Test func refusesFilesThatAreNotRecordings() throws {
        let hearer = KeepingConsumer()
        let source = try SightingSource.recording(try folder.file("text", Array("not a recording at all".utf8)))
        #expect(throws: ListenerServiceError.self) { try source.run(hearer) }
        #expect(hearer.finished == nil)
        #expect(throws: ListenerServiceError.self) { try SightingSource.recording(folder.place("nothing")) }
    }

    @Test func reportsAClockChangeInARecording() throws {
        let events: [(Int64, HCIEvent)] = [0, -7_200_000_000, -7_199_900_000].map {
            ($0, .advertisingReports([Self.report([2, 1, 6])]))
        }
        let hearer = KeepingConsumer()
        try SightingSource.recording(try recording(events)).run(hearer)
        #expect(hearer.reports.map(\.sighting.instant.nanoseconds) == [0, 0, 100_000_000])
        #expect(hearer.sentences.count == 1)
    }

    /// Returns a recording that includes commands.
    private func recording(of packets: [(Int64, HCIPacket)]) throws -> String {
        let records = packets.flatMap { at, packet in
            BTSnoopWriter.record(
                packet, isFromController: packet.kind == .event, unixMicroseconds: Self.start + at * 1000)
        }
        return try folder.file("scan.btsnoop", BTSnoopWriter.header + records)
    }

    private static func answer(_ opcode: HCIOpcode, _ status: UInt8 = 0) -> HCIPacket {
        HCIPacket(
            .event, [0x0E, 4, 1, UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8), status])
    }

    private static let heard = HCIEvent.advertisingReports([report([2, 1, 6])]).packet
    private static let on = LESetScanEnable(true).packet
    private static let off = LESetScanEnable(false).packet
    private static let parameters = LESetScanParameters.opcode
    private static let enable = LESetScanEnable.opcode
    private static let begin: [(Int64, HCIPacket)] = [
        (0, answer(HCIReset.opcode)), (1, answer(parameters)), (2, on), (3, answer(enable)), (10, heard),
    ]

    /// The time while the adapter was away does not count as listened.
    @Test func findsTheTimesWithoutAScanInARecording() throws {
        let path = try recording(
            of: Self.begin + [
                (5_000, Self.heard),
                // The watchdog finds the scan on.
                (8_000, Self.answer(Self.parameters, 0x0C)),
                // The adapter is unplugged, and returns after a minute.
                (68_000, Self.answer(HCIReset.opcode)), (68_010, Self.answer(Self.parameters)), (68_020, Self.on),
                (68_030, Self.answer(Self.enable)), (68_100, Self.heard),
                // A pause for a beacon on the same radio, whose last report arrives late.
                (70_000, Self.off), (70_001, Self.answer(Self.enable)), (70_003, Self.heard),
                (70_300, Self.answer(Self.parameters)), (70_301, Self.on), (70_302, Self.answer(Self.enable)),
                (71_000, Self.heard),
                // The end of the scan, after which another program continues recording.
                (72_000, Self.off), (72_001, Self.answer(Self.enable)), (90_000, Self.answer(HCIReset.opcode)),
            ])
        let source = try SightingSource.recording(path)
        let hearer = KeepingConsumer()
        try source.run(hearer)
        #expect(hearer.reports.count == 5)
        #expect(hearer.states == [.listening, .recovering, .listening, .paused, .listening, .off])
        #expect(
            hearer.changes.map { $0.nanoseconds / 1_000_000 } == [0, 8_000, 68_030, 70_003, 70_302, 72_001])
        #expect(hearer.sentences.isEmpty)
    }

    @Test func reportsARecordedScanThatFilteredDuplicates() throws {
        let path = try recording(
            of: [
                (0, Self.answer(Self.parameters)), (1, LESetScanEnable(true, filterDuplicates: true).packet),
                (2, Self.answer(Self.enable)), (10, Self.heard),
            ])
        let hearer = KeepingConsumer()
        try SightingSource.recording(path).run(hearer)
        #expect(hearer.states == [.listening])
        #expect(hearer.sentences.count == 1 && hearer.sentences[0].contains("filtered duplicates"))
    }

    /// In a recording of two adapters, one may be off while the other one receives.
    @Test func findsNoGapInARecordingOfTwoAdapters() {
        var scan = RecordedScan()
        func take(_ packet: HCIPacket, _ adapter: UInt16, _ milliseconds: UInt64) -> RecordedScan.Sign {
            scan.take(
                event: packet.octets.span, in: packet.octets.indices, of: adapter,
                at: HeardInstant(nanoseconds: milliseconds * 1_000_000))
        }
        #expect(take(Self.heard, 0, 1) == .listened(nil))
        #expect(take(Self.answer(Self.parameters), 1, 2) == .none)
        #expect(scan.gap == nil)
        #expect(take(Self.heard, 1, 3) == .listened(nil))
        #expect(take(Self.answer(HCIReset.opcode), 0, 4) == .none)
        #expect(scan.gap == nil)
    }

    @Test func listensOnTheVirtualAdapterUntilTheConsumerIsSatisfied() throws {
        var options = SightingSource.Options(adapter: .virtual)
        options.recording = folder.place("live.btsnoop")
        options.durationMicroseconds = 20_000_000
        let source = try SightingSource.live(options)
        let hearer = KeepingConsumer()
        hearer.limit = 3
        try source.run(hearer)
        #expect(hearer.began == 1)
        #expect(hearer.reports.count >= 3)
        #expect(hearer.instants == hearer.instants.sorted())
        #expect(hearer.states.first == .listening)
        #expect(source.adapter == .virtual)
        // A replay gives the same reports.
        let again = KeepingConsumer()
        try SightingSource.recording(folder.place("live.btsnoop")).run(again)
        #expect(again.data == hearer.data)
    }

    @Test func aMissingAdapterEndsTheRun() throws {
        let hearer = KeepingConsumer()
        let source = try SightingSource.live(SightingSource.Options(adapter: .unix(path: folder.place("nobody"))))
        #expect(throws: ListenerServiceError.self) { try source.run(hearer) }
        #expect(hearer.reports.isEmpty)
        #expect(hearer.finished == nil)
    }

    @Test func refusesARawAdapterWithoutPermission() throws {
        let refusal = try #require(LiveFeed.missingPermission(for: .raw(index: 3), [.netAdmin]))
        guard case .refused(.notPermitted, let messages) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect(messages.count == 1 && messages[0].hasPrefix("hci3: receiving needs CAP_NET_RAW"))
        #expect(LiveFeed.missingPermission(for: .raw(index: 3), [.netRaw]) == nil)
        #expect(LiveFeed.missingPermission(for: .unix(path: "/x"), []) == nil)
    }

    @Test func refusesAnUnwritableRecordingBeforeOpeningTheAdapter() throws {
        var options = SightingSource.Options(adapter: .unix(path: folder.place("nobody")))
        options.recording = folder.place("no/such/directory/file")
        #expect(throws: ListenerServiceError.self) { try SightingSource.live(options) }
    }

    @Test("an instant always converts to the same time, although two clocks cannot be read at once")
    func sameMoment() {
        let clock = HearingClock()
        let moment = HeardInstant(nanoseconds: MonotonicClock.nanoseconds())
        #expect(Set((0..<5000).map { _ in clock.unixMicroseconds(at: moment) }).count == 1)
    }

    /// Reports that arrive while the consumer is busy, for example with a slow disk, keep their own times.
    @Test func aBusyConsumerReceivesEachReportWithItsOwnTime() throws {
        final class BusyConsumer: SightingConsumer {
            var times: [HeardInstant] = []
            var advanced: [HeardInstant] = []
            var isSatisfied: Bool { times.count >= 8 }
            func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
                times.append(report.sighting.instant)
                if times.count == 2 { usleep(700_000) }
            }
            func advance(to now: HeardInstant) { advanced.append(now) }
            func say(_ sentence: String, isWarning: Bool) {}
            func finish(at now: HeardInstant) {}
        }
        var options = SightingSource.Options(adapter: .virtual)
        options.durationMicroseconds = 60_000_000
        let consumer = BusyConsumer()
        try SightingSource.live(options).run(consumer)
        let gaps = zip(consumer.times, consumer.times.dropFirst()).map { $1.microseconds(since: $0) }
        #expect(consumer.times.count >= 8)
        // The sample beacon sends every 100 ms. Without their own times, all reports of the pause would have the same
        // time.
        #expect(gaps.allSatisfy { $0 < 600_000 } && gaps.filter { $0 > 50_000 }.count >= 6, "\(gaps)")
        #expect(consumer.advanced == consumer.advanced.sorted())
    }
}
