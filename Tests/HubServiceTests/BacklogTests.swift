import LinuxHost
import Store
import TestSupport
import Testing

@testable import HubService

/// The data that a listener keeps until a broker has received it, with crashes and a long absence of the broker.
/// Tests/Oracles/test_listen_service.py has the same tests with real programs.
@Suite("Events that wait for a broker") struct BacklogTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Knuth's MMIX generator, with the same numbers in each run.
    private struct Chance {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    /// The broker of a simulation: the events that it got, by id.
    private struct Broker {
        private(set) var ids: [String] = []
        private(set) var times: [String: Int] = [:]

        mutating func take(_ event: EventStore.Event) {
            if times[event.id] == nil { ids.append(event.id) }
            times[event.id, default: 0] += 1
        }
    }

    private func open(_ path: String) -> EventLedger {
        let ledger = EventLedger(path: path)
        ledger.open()
        #expect(ledger.takeNotices().isEmpty)
        return ledger
    }

    private func event(_ id: String, _ kind: String = "enter", of beacon: String) -> EventStore.Event {
        EventStore.Event(id: id, time: 1, kind: kind, zone: "near", beacon: beacon, json: "{}")
    }

    /// Copies the state in which an SQLite file is left if its process is killed now.
    private func copy(_ path: String, to next: String) throws {
        for suffix in ["", "-wal"] where Files.exists(path + suffix) {
            try Files.replace(next + suffix, with: try Files.read(path + suffix), isDurable: false)
        }
    }

    @Test("after a thousand crashes no event is lost or has two ids")
    func suddenEnds() throws {
        var chance = Chance(state: 13)
        var broker = Broker()
        var (happened, inside): ([String], Set<String>) = ([], [])
        var path = folder.place("0.db")
        for run in 0..<1000 {
            let ledger = open(path)
            #expect(Set(ledger.presences.map(\.beacon)) == inside)
            var sent: [Int64] = []
            for step in 0..<chance.below(8) {
                switch chance.below(4) {
                case 0, 1:
                    let (id, beacon) = ("\(run)-\(step)", "b-\(chance.below(20))")
                    let isInside = inside.contains(beacon)
                    let number = ledger.record(
                        event(id, isInside ? "exit" : "enter", of: beacon),
                        isInside
                            ? .outside(zone: "near", beacon: beacon)
                            : .inside(.init(zone: "near", beacon: beacon, since: 1, dwells: 0), isShared: false),
                        for: [EventLedger.broker])
                    #expect(number != nil)
                    inside.formSymmetricDifference([beacon])
                    happened.append(id)
                case 2:
                    for each in ledger.waiting(for: EventLedger.broker, limit: 2, after: sent.last ?? 0) ?? [] {
                        broker.take(each.event)
                        sent.append(each.sequence)
                    }
                // An acknowledgement. If it does not come in time, the event is sent again.
                default: if let number = sent.first { ledger.markDelivered(number, for: EventLedger.broker) }
                }
            }
            if run % 50 == 49 { ledger.prune(before: 2) }
            let next = folder.place("\(run + 1).db")
            try copy(path, to: next)
            for suffix in ["", "-wal", "-shm"] { try Files.remove(path + suffix) }
            path = next
        }
        let ledger = open(path)
        for each in ledger.waiting(for: EventLedger.broker, limit: .max) ?? [] {
            broker.take(each.event)
            ledger.markDelivered(each.sequence, for: EventLedger.broker)
        }
        #expect(happened.count > 1000 && broker.ids == happened)
        // Some events arrived more than once, with the same id.
        #expect(broker.times.values.contains { $0 > 1 })
        #expect(ledger.waitingCount(for: EventLedger.broker) == 0 && ledger.dropped == 0)
    }

    @Test("no event is lost during a day without a broker")
    func day() throws {
        let (file, minutes) = (folder.place("hall.db"), 24 * 60)
        var (ledger, spool) = (open(file), Outbox(path: file + ".spool", of: "sightings"))
        func text(_ second: Int) -> String { "{\"seq\":\(second)}" }
        for minute in 0..<minutes {
            // The listener is restarted now and then.
            if minute % 100 == 99 { (ledger, spool) = (open(file), Outbox(path: file + ".spool", of: "sightings")) }
            for part in 0..<3 {
                let number = ledger.record(
                    event("day-\(minute)-\(part)", of: "b"), .none, for: [EventLedger.broker])
                #expect(number != nil)
            }
            spool.append(
                (0..<60).map { second in
                    let second = minute * 60 + second
                    return .init(
                        topic: "pharos/site/sightings/1/hall", text: text(second), time: Int64(second) * 1_000_000)
                })
            #expect(spool.countInMemory == 0)
        }
        #expect(spool.count == minutes * 60 && spool.dropped == 0)
        #expect(ledger.waitingCount(for: EventLedger.broker) == minutes * 3)
        // The broker is back, and some of its acknowledgements are lost.
        var (broker, sightings, chance) = (Broker(), [String](), Chance(state: 1))
        while let some = ledger.waiting(for: EventLedger.broker, limit: 64), !some.isEmpty {
            for each in some { broker.take(each.event) }
            for each in some.prefix(chance.below(some.count + 1)) {
                ledger.markDelivered(each.sequence, for: EventLedger.broker)
            }
        }
        while case let some = spool.first(64), !some.isEmpty {
            guard chance.below(10) > 0 else { continue }
            sightings += some.map(\.message.text)
            spool.remove(some)
        }
        #expect(broker.ids == (0..<minutes).flatMap { minute in (0..<3).map { "day-\(minute)-\($0)" } })
        #expect(sightings == (0..<minutes * 60).map(text))
        #expect(spool.count == 0 && spool.dropped == 0)
    }
}
