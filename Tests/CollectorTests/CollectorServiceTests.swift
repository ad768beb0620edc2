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

    private func service(state: String = "state.json") throws -> CollectorService {
        let file = try PresenceTests.collector().file
        let ledger = EventLedger(path: folder.place("museum.db"))
        ledger.open()
        return CollectorService(
            file, RoomPlan(file, sites: []), state: folder.place(state), ledger: ledger)
    }

    /// Sends one line per second from each of two receivers. The receiver in the hall receives the beacon, and the
    /// receiver at the desk does not.
    private func run(_ service: CollectorService, _ seconds: Range<Int>) -> [SightingCollector.Event] {
        seconds.flatMap { second in
            ["hall", "desk"].flatMap { receiver in
                service.process(
                    ReceiverLine(
                        receiver: receiver, unixMilliseconds: PresenceTests.begin + second * 1000 + 500,
                        beacons: receiver == "hall" ? [.init(name: "key", level: -60)] : []),
                    from: nil, arrival: 0)
            }
        }
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
