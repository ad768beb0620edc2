import Collector
import Configuration
import LinuxHost
import Sites
import Store
import TestSupport
import Testing

/// A running collector without a broker: the events that it returns, and the files that it writes.
@Suite struct CollectorServiceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func service(
        state: String = "state.json", at reading: WallClockSteps.Reading = .now()
    ) throws -> CollectorService {
        let file = try PresenceTests.collector().file
        let ledger = EventLedger(path: folder.place("museum.db"))
        ledger.open()
        return CollectorService(
            file, RoomPlan(file, sites: []), state: folder.place(state), ledger: ledger, at: reading)
    }

    /// Sends one line per second from each of two receivers. The receiver in the hall receives the beacon, and the
    /// receiver at the desk does not.
    ///
    /// - Parameters:
    ///   - offset: The difference between the receivers' clock and the usual one, in milliseconds.
    ///   - arrivalOffset: The difference between this machine's clock and the usual one, in milliseconds, if the lines
    ///     are live; `nil` for a recording.
    private func run(
        _ service: CollectorService, _ seconds: Range<Int>, offset: Int = 0, arrivalOffset: Int? = nil
    ) -> [SightingCollector.Event] {
        seconds.flatMap { second in
            ["hall", "desk"].flatMap { receiver in
                let time = PresenceTests.begin + second * 1000 + 500
                return service.process(
                    ReceiverLine(
                        receiver: receiver, unixMilliseconds: time + offset,
                        beacons: receiver == "hall" ? [.init(name: "key", level: -60)] : []),
                    from: nil, arrival: arrivalOffset.map { time + $0 } ?? 0, isLive: arrivalOffset != nil)
            }
        }
    }

    /// Returns the clocks of this machine.
    ///
    /// - Parameter offset: The difference between the wall clock and the usual one, in milliseconds.
    private static func reading(_ second: Int, offset: Int) -> WallClockSteps.Reading {
        .init(
            wall: Int64(PresenceTests.begin + second * 1000 + offset) * 1000,
            boot: UInt64(second + 9) * 1_000_000_000)
    }

    private func stored() throws -> [String] {
        let store = try EventStore(path: folder.place("museum.db"), isReadOnly: true)
        return try store.events(store.numbers(of: "key")).map(\.id)
    }

    @Test func storesEventsBeforeReturningThem() throws {
        let service = try service()
        let events = run(service, 0..<30).filter { $0.beacon != nil }
        #expect(PresenceTests.kinds(events) == [.enter, .room, .known])
        #expect(try stored() == events.map(\.id))
        service.close(isHurried: false)
        #expect(service.takeNotices().isEmpty)
        let state = JSONDocument.parse(try Files.read(folder.place("state.json"))).root
        #expect(state?["beacons"]?.elements?.first?["room"]?.string == "hall")
    }

    /// `pharos where` checks whether the process runs that writes the file.
    @Test func theStateFileNamesTheProcessOnlyIfItIsLive() throws {
        let service = try service()
        _ = run(service, 0..<5)
        service.close(isHurried: false)
        let recorded = JSONDocument.parse(try Files.read(folder.place("state.json"))).root
        #expect(recorded?["version"]?.integer == 1 && recorded?["pid"]?.integer == nil)
        let state = service.collector.state(written: .now, process: .current)
        let live = JSONDocument.parse(Array(state.line.utf8)).root
        #expect(live?["pid"]?.integer == Int(ProcessIdentity.current.id))
        #expect(live?["startTicks"]?.integer != nil)
    }

    @Test func unprintedEventsAreReturnedByTheNextRun() throws {
        // The process is killed after it has stored the events and before it prints them.
        let events = run(try service(), 0..<30).filter { $0.beacon != nil }
        let next = try service()
        #expect(next.takeUnprinted() == events.map(\.json.line))
        #expect(run(next, 40..<60).filter { $0.beacon != nil }.isEmpty)
        next.markPrinted()
        next.close(isHurried: false)
        #expect(try service().takeUnprinted().isEmpty)
    }

    @Test func aRestartContinuesWithTheStoredPresence() throws {
        let first = try service()
        _ = run(first, 0..<30)
        first.close(isHurried: false)
        let second = try service()
        #expect(PresenceTests.kinds(run(second, 40..<60)).isEmpty)
        #expect(second.collector.stays.map(\.room) == ["hall"])
    }

    @Test func standbyClearsThePresenceUntilLinesArriveAgain() throws {
        let service = try service()
        _ = run(service, 0..<30)
        service.standBy()
        #expect(service.collector.stays.isEmpty)
        #expect(PresenceTests.kinds(run(service, 40..<60)).isEmpty)
        #expect(service.collector.stays.map(\.room) == ["hall"])
    }

    private static let day = 86_400_000

    /// The lines have the times of another machine, whose clock is a day behind and is not set.
    @Test(arguments: [3_600_000, -3_600_000])
    func aStepOfThisMachinesClockDoesNotShiftTheLinesOfAnotherClock(step: Int) throws {
        let service = try service(at: Self.reading(0, offset: Self.day))
        var events = run(service, 0..<60, arrivalOffset: Self.day)
        #expect(service.follow(Self.reading(60, offset: Self.day + step)))
        events += run(service, 60..<120, arrivalOffset: Self.day + step)
        #expect(events.map(\.kind).filter { $0 == .receiverDead }.isEmpty)
        #expect(PresenceTests.kinds(events) == [.enter, .room, .known])
        let counts = service.collector.counts
        #expect(counts.late == 0 && counts.wrongClocks == 0 && counts.reports == 120)
        #expect(service.collector.stays.first?.since == events.first { $0.kind == .enter }?.since)
    }

    /// A machine without a battery-backed clock starts a day in the past. Then NTP sets its clock.
    @Test func aClockThatIsBehindLosesNoPresence() throws {
        let first = try service()
        _ = run(first, 0..<30)
        first.close(isHurried: false)
        let second = try service(at: Self.reading(40, offset: -Self.day))
        #expect(PresenceTests.kinds(run(second, 40..<60, offset: -Self.day, arrivalOffset: -Self.day)).isEmpty)
        #expect(second.collector.stays.map(\.room) == ["hall"])
        #expect(second.follow(Self.reading(60, offset: 0)))
        #expect(PresenceTests.kinds(run(second, 60..<80, arrivalOffset: 0)).isEmpty)
        #expect(second.collector.stays.map(\.room) == ["hall"])
        second.close(isHurried: false)
        // The stored presence is that of the same beacon, so a third run continues too.
        let third = try service()
        #expect(PresenceTests.kinds(run(third, 90..<110)).isEmpty)
    }

    @Test func aStateFileThatCannotBeWrittenIsReportedOnce() throws {
        let service = try service(state: "missing/state.json")
        _ = run(service, 0..<5)
        service.writePending()
        service.close(isHurried: false)
        let notices = service.takeNotices()
        #expect(notices.count == 1)
        #expect(notices.first?.text.contains("cannot be written") == true)
    }
}
