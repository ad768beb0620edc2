import BeaconFrames
import BeaconService
import BluetoothTypes
import HCI
import HCITransports
import LinuxHost
import Listener
import Sightings
import TestSupport
import Testing

@testable import ListenerService

/// Adapters and recordings as one source of sightings.
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

    /// A btsnoop file of events, each so many microseconds after the start.
    private func recording(_ events: [(Int64, HCIEvent)], cut: Int = 0) throws -> String {
        let records = events.flatMap { at, event in
            BTSnoopWriter.record(event.packet, isFromController: true, unixMicroseconds: Self.start + at)
        }
        return try folder.file("heard.btsnoop", Array((BTSnoopWriter.header + records).dropLast(cut)))
    }

    @Test func aRecordingTellsWhatIsInItByItsOwnClock() throws {
        let events = [0, 100_000, 250_000].map { at -> (Int64, HCIEvent) in
            (at, .advertisingReports([Self.report([2, 1, 6], rssi: -60), Self.report([2, 1, 4], rssi: -70)]))
        }
        let source = try SightingSource.recording(try recording(events), levels: -65...20)
        let hearer = Hearer()
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

    @Test func piecesOfARecordingAreWholeAgainAndWhatIsLostIsCounted() throws {
        let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let pieces = [
            Self.report(Array(long.prefix(229)), type: .extended(0x20), set: 3),
            Self.report(Array(long.dropFirst(229)), type: .extended(0), set: 3),
            Self.report([1], type: .extended(0x40), set: 4),
        ]
        let source = try SightingSource.recording(
            try recording(pieces.map { (0, .extendedAdvertisingReports([$0])) }))
        let hearer = Hearer()
        try source.run(hearer)
        #expect(hearer.data == [long, [1]])
        #expect(source.counts.incomplete == 1)
        #expect(source.counts.malformedEvents == 0)
    }

    @Test func aRecordingThatBreaksOffTellsWhatCameBefore() throws {
        let events: [(Int64, HCIEvent)] = [0, 1].map { ($0, .advertisingReports([Self.report([2, 1, 6])])) }
        let source = try SightingSource.recording(try recording(events, cut: 3))
        let hearer = Hearer()
        #expect(throws: ListenerServiceError.self) { try source.run(hearer) }
        #expect(hearer.reports.count == 1)
        #expect(hearer.finished != nil)
    }

    @Test func whatIsNoRecordingTellsNothing() throws {
        let hearer = Hearer()
        let source = try SightingSource.recording(try folder.file("text", Array("not a recording at all".utf8)))
        #expect(throws: ListenerServiceError.self) { try source.run(hearer) }
        #expect(hearer.finished == nil)
        #expect(throws: ListenerServiceError.self) { try SightingSource.recording(folder.place("nothing")) }
    }

    @Test func aClockThatWasSetWhileRecordingIsSaid() throws {
        let events: [(Int64, HCIEvent)] = [0, -7_200_000_000, -7_199_900_000].map {
            ($0, .advertisingReports([Self.report([2, 1, 6])]))
        }
        let hearer = Hearer()
        try SightingSource.recording(try recording(events)).run(hearer)
        #expect(hearer.reports.map(\.sighting.instant.nanoseconds) == [0, 0, 100_000_000])
        #expect(hearer.sentences.count == 1)
    }

    @Test func theVirtualAdapterIsHeardUntilNothingMoreIsWanted() throws {
        var options = SightingSource.Options(adapter: .virtual)
        options.recording = folder.place("live.btsnoop")
        options.durationMicroseconds = 20_000_000
        let source = try SightingSource.live(options)
        let hearer = Hearer()
        hearer.limit = 3
        try source.run(hearer)
        #expect(hearer.began == 1)
        #expect(hearer.reports.count >= 3)
        #expect(hearer.instants == hearer.instants.sorted())
        #expect(hearer.states.first == .listening)
        #expect(source.adapter == .virtual)
        // What was recorded is heard again.
        let again = Hearer()
        try SightingSource.recording(folder.place("live.btsnoop")).run(again)
        #expect(again.data == hearer.data)
    }

    @Test func anAdapterThatIsNotThereEndsTheRun() throws {
        let hearer = Hearer()
        let source = try SightingSource.live(SightingSource.Options(adapter: .unix(path: folder.place("nobody"))))
        #expect(throws: ListenerServiceError.self) { try source.run(hearer) }
        #expect(hearer.reports.isEmpty)
        #expect(hearer.finished == nil)
    }

    @Test func withoutTheRightToARawSocketNobodyListens() throws {
        let refusal = try #require(LiveFeed.missingRight(for: .raw(index: 3), [.netAdmin]))
        guard case .refused(.notPermitted, let messages) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect(messages.count == 1 && messages[0].hasPrefix("hci3: listening needs CAP_NET_RAW"))
        #expect(LiveFeed.missingRight(for: .raw(index: 3), [.netRaw]) == nil)
        #expect(LiveFeed.missingRight(for: .unix(path: "/x"), []) == nil)
    }

    @Test func aRecordingThatCannotBeWrittenIsRefusedBeforeAnythingIsOpened() throws {
        var options = SightingSource.Options(adapter: .unix(path: folder.place("nobody")))
        options.recording = folder.place("no/such/directory/file")
        #expect(throws: ListenerServiceError.self) { try SightingSource.live(options) }
    }

    @Test("a moment is always told by the same time: the two clocks cannot be read at once")
    func sameMoment() {
        let clock = HearingClock()
        let moment = HeardInstant(nanoseconds: MonotonicClock.nanoseconds())
        #expect(Set((0..<5000).map { _ in clock.unixMicroseconds(at: moment) }).count == 1)
    }
}
