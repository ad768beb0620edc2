import Glibc
import LinuxHost
import TestSupport
import Testing

@testable import Store

@Suite("Event store") struct EventStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func event(_ id: String, at time: Int64? = 1, beacon: String? = "key") -> EventStore.Event {
        .init(id: id, time: time, kind: "enter", zone: "desk", beacon: beacon, json: #"{"id":"\#(id)"}"#)
    }

    @Test("an event, its presence and its outbox entries are stored together, once per id")
    func once() throws {
        let path = folder.place("hall.db")
        let presence = EventStore.Presence(zone: "desk", beacon: "key", since: 7, dwells: 2)
        do {
            let store = try EventStore(path: path)
            #expect(try store.record(event("a-1"), .inside(presence, isShared: false), for: ["hooks", "mqtt"]) == 1)
            #expect(try store.record(event("a-1"), .outside(zone: "desk", beacon: "key"), for: ["hooks"]) == nil)
        }
        let store = try EventStore(path: path)
        #expect(try store.presences() == [presence])
        #expect(try store.waiting(for: "hooks", limit: 10).map(\.event) == [event("a-1")])
        try store.markDelivered(.number(1, channel: "hooks"))
        #expect(try store.waitingCount(for: "hooks") == 0 && store.waitingCount(for: "mqtt") == 1)
    }

    @Test("an exit removes the presence; an exit from a shared zone removes any beacon")
    func leaving() throws {
        let store = try EventStore(path: folder.place("hall.db"))
        for name in ["a", "b"] {
            try store.record(
                event(name, beacon: name),
                .inside(.init(zone: "desk", beacon: name, since: 1, dwells: 0), isShared: false),
                for: [])
        }
        try store.record(event("c"), .outside(zone: "desk", beacon: "a"), for: [])
        #expect(try store.presences().map(\.beacon) == ["b"])
        try store.record(
            event("shared"), .inside(.init(zone: "desk", beacon: "c", since: 1, dwells: 1), isShared: true), for: [])
        #expect(try store.presences().map(\.beacon) == ["c"])
        try store.record(event("d"), .outside(zone: "desk", beacon: nil), for: [])
        #expect(try store.presences().isEmpty)
    }

    @Test("history is found by name and time, and pruning keeps undelivered events")
    func history() throws {
        let store = try EventStore(path: folder.place("hall.db"))
        for number in 1...9 {
            try store.record(
                event("e\(number)", at: Int64(number), beacon: number % 2 == 0 ? "key" : nil), .none,
                for: number == 3 ? ["hooks"] : [])
        }
        func ids(_ name: String, _ range: ClosedRange<Int64> = .min ... .max) throws -> [String] {
            try store.events(store.numbers(of: name, range)).map(\.id)
        }
        #expect(try ids("key") == ["e2", "e4", "e6", "e8"])
        #expect(try ids("desk", 3...5) == ["e3", "e4", "e5"])
        #expect(try store.names() == ["desk", "key"])
        #expect(try store.prune(before: 5) == 3)
        #expect(try ids("desk") == ["e3", "e5", "e6", "e7", "e8", "e9"])
    }

    @Test("events and sightings are stored together, and a repeated late batch counts once")
    func sightings() throws {
        let store = try EventStore(path: folder.place("museum.db"))
        var none: [HeardMinute] = []
        try store.minutes(of: "key").forEach { none.append($0) }
        #expect(none.isEmpty)
        let stay = EventStore.Presence(zone: "hall", beacon: "key", since: 5, dwells: 1)
        let other = EventStore.Presence(zone: "shop", beacon: "key", since: 5, dwells: 0)
        func row(_ time: Int64, _ level: Double?, late: Int64? = nil) -> SightingRow {
            SightingRow(
                receiver: "west", beacon: "key", milliseconds: time, reports: 2, level: level,
                batch: .init(boot: "8f", sequence: late ?? time), isLate: late != nil)
        }
        try store.write([.init(event("a"), .only(stay))], [row(60_000, -60), row(119_999, -63), row(120_000, nil)])
        for _ in 0..<3 { try store.write([.init(event("b"), .only(other))], [row(61_000, -66, late: 7)]) }
        #expect(try store.presences() == [other])
        var minutes: [HeardMinute] = []
        try store.minutes(of: "key").forEach { minutes.append($0) }
        #expect(
            minutes == [
                .init(receiver: "west", milliseconds: 60_000, reports: 6, late: 2, level: -63),
                .init(receiver: "west", milliseconds: 120_000, reports: 2, late: 0, level: nil),
            ])
        minutes = []
        try store.minutes(of: "key", 125_000_000...130_000_000).forEach { minutes.append($0) }
        #expect(minutes.map(\.milliseconds) == [120_000])
        try store.write([.init(event("c"), .nowhere(beacon: "key"))])
        #expect(try store.presences().isEmpty)
        try store.replacePresences(with: [stay])
        #expect(try store.presences() == [stay])
        try store.replacePresences(with: [])
        #expect(try store.presences().isEmpty)
        let lamp = [60_000, 300_000].map { time in
            SightingRow(
                receiver: "west", beacon: "lamp", milliseconds: time, reports: 1, level: nil,
                batch: .init(boot: "8f", sequence: time))
        }
        try store.write([], lamp)
        try store.prune(before: 200_000_000)
        minutes = []
        for name in ["key", "lamp"] { try store.minutes(of: name).forEach { minutes.append($0) } }
        #expect(minutes.map(\.milliseconds) == [300_000])
    }

    @Test("a recording read again adds nothing, and sightings after or before it are added")
    func again() throws {
        let path = folder.place("museum.db")
        func keep(_ sequences: ClosedRange<Int64>, boot: String = "8f") throws -> [Int] {
            let rows = sequences.flatMap { sequence in
                ["key", "lamp"].map { beacon in
                    SightingRow(
                        receiver: "west", beacon: beacon, milliseconds: sequence * 1000, reports: 5, level: -60,
                        batch: .init(boot: boot, sequence: sequence))
                }
            }
            let store = try EventStore(path: path)
            // In two transactions, as a program that continues to read does.
            let half = rows.count / 4 * 2
            try store.write([], Array(rows[..<half]))
            try store.write([], Array(rows[half...]))
            var reports: [Int] = []
            try store.minutes(of: "key").forEach { reports.append($0.reports) }
            return reports
        }
        #expect(try keep(100...129) == [100, 50])
        #expect(try keep(100...129) == [100, 50])
        #expect(try keep(120...139) == [100, 100])
        #expect(try keep(90...99) == [150, 100])
        #expect(try keep(90...139) == [150, 100])
        #expect(try keep(100...109, boot: "90") == [200, 100])
        try EventStore(path: path).prune(before: 10_000_000_000)
        #expect(try keep(100...101) == [10])
    }

    @Test("history of a room includes moves to another room, and queries by name use the indexes")
    func leavingForAnotherRoom() throws {
        let path = folder.place("museum.db")
        let store = try EventStore(path: path)
        func record(_ id: String, _ kind: String, _ zone: String, from: String?) throws {
            let json = #"{"id":"\#(id)","from":\#(from.map { "\"\($0)\"" } ?? "null")}"#
            try store.record(
                .init(id: id, time: 1, kind: kind, zone: zone, beacon: "key", json: json), .none, for: [])
        }
        try record("a", "room", "hall", from: nil)
        try record("b", "room", "shop", from: "hall")
        try record("c", "exit", "shop", from: "shop")
        try record("d", "enter", "", from: nil)
        func ids(_ name: String) throws -> [String] {
            let reader = try EventStore(path: path, isReadOnly: true)
            return try reader.events(reader.numbers(of: name)).map(\.id)
        }
        #expect(try ids("hall") == ["a", "b"])
        #expect(try ids("shop") == ["b", "c"])
        #expect(try store.names() == ["hall", "key", "shop"])
        // No step of either statement reads the whole table.
        let database = try Database(
            path: path, isReadOnly: true, application: EventStore.application, version: EventStore.version, setUp: "")
        for statement in [EventStore.ofName, EventStore.allNames] {
            var steps: [String] = []
            try database.query("EXPLAIN QUERY PLAN \(statement)") { if let step = $0.last?.text { steps.append(step) } }
            #expect(steps.count > 3 && !steps.contains { $0.hasPrefix("SCAN event") }, "\(steps)")
        }
    }

    @Test("names with SQL syntax are stored as values")
    func hostileNames() throws {
        let store = try EventStore(path: folder.place("hall.db"))
        let name = "x'); DROP TABLE event; --"
        try store.record(
            event("e", beacon: name), .inside(.init(zone: name, beacon: name, since: 1, dwells: 0), isShared: true),
            for: [name])
        let count = try store.numbers(of: name).count
        #expect(try count == 1 && store.waitingCount(for: name) == 1)
    }

    @Test("a file that is not a database of Pharos is refused and not changed")
    func foreign() throws {
        let text = try folder.file("text.db", Array(String(repeating: "no database at all\n", count: 99).utf8))
        let error = #expect(throws: StoreError.self) { try EventStore(path: text) }
        #expect(error?.kind == .corrupt)
        #expect(try Files.read(text).starts(with: Array("no database".utf8)))
        let other = folder.place("other.db")
        do { _ = try Database(path: other, application: 1, version: 1, setUp: "CREATE TABLE t (a)") }
        #expect(#expect(throws: StoreError.self) { try EventStore(path: other) }?.kind == .foreign)
        let later = folder.place("later.db")
        do {
            _ = try Database(
                path: later, application: EventStore.application, version: 2, setUp: "CREATE TABLE t (a)")
        }
        #expect(#expect(throws: StoreError.self) { try EventStore(path: later) }?.kind == .foreign)
        #expect(
            #expect(throws: StoreError.self) { try EventStore(path: folder.place("no/where.db")) }?.kind == .missing)
        #expect(
            #expect(throws: StoreError.self) { try EventStore(path: folder.place("none.db"), isReadOnly: true) }?.kind
                == .missing)
    }

    @Test("a damaged file is reported as damaged")
    func damaged() throws {
        let path = folder.place("hall.db")
        do {
            let store = try EventStore(path: path)
            for number in 0..<500 { try store.record(event("e\(number)"), .none, for: []) }
        }
        var octets = try Files.read(path)
        for place in stride(from: 4096, to: octets.count, by: 3) { octets[place] = 0xA5 }
        try Files.replace(path, with: octets)
        let error = #expect(throws: StoreError.self) {
            let store = try EventStore(path: path)
            try store.record(event("new"), .none, for: ["hooks"])
            _ = try store.events(store.numbers(of: "desk"))
        }
        #expect(error?.kind == .corrupt)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test("only the owner may open a new database")
    func privacy() throws {
        let store = try EventStore(path: folder.place("hall.db"))
        try store.record(event("a"), .none, for: [])
        for name in Files.names(in: folder.path) { #expect(mode(folder.place(name)) == 0o600, "\(name)") }
        #expect(Files.names(in: folder.path).contains("hall.db-wal"))
    }

    @Test("a named pipe or a directory instead of a database is refused immediately", arguments: [true, false])
    func otherKinds(_ isReadOnly: Bool) throws {
        let pipe = folder.place("pipe.db")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let error = #expect(throws: StoreError.self) { _ = try EventStore(path: pipe, isReadOnly: isReadOnly) }
        #expect(error?.description == "\(pipe): this is a named pipe, not a regular file")
        #expect(throws: StoreError.self) { _ = try EventStore(path: folder.path, isReadOnly: isReadOnly) }
        let missing = #expect(throws: StoreError.self) {
            _ = try EventStore(path: folder.place("none.db"), isReadOnly: true)
        }
        #expect(missing?.kind == .missing)
    }

    @Test(
        "a database or journal owned by another user is not used", .enabled(if: geteuid() == 0),
        arguments: ["hall.db", "hall.db-journal", "hall.db-wal"])
    func planted(_ name: String) throws {
        try #require(unsafe chmod(folder.path, 0o777) == 0)
        let path = try folder.file(name, [])
        try #require(unsafe chmod(path, 0o666) == 0 && chown(path, 65534, 65534) == 0)
        let error = #expect(throws: StoreError.self) { _ = try EventStore(path: folder.place("hall.db")) }
        #expect(error?.reason == "user 65534 has put this file there; remove it, or choose another name")
        #expect(try Files.read(path).isEmpty)
    }

    @Test("extreme numbers in a damaged file do not crash the program")
    func leastAndGreatest() throws {
        let path = folder.place("hall.db")
        let row = SightingRow(
            receiver: "hall", beacon: "key", milliseconds: 60_000, reports: 1, level: -60,
            batch: .init(boot: "a", sequence: 1))
        try EventStore(path: path).write([], [row])
        let database = try Database(
            path: path, application: EventStore.application, version: EventStore.version, setUp: "")
        try database.execute("UPDATE heard SET minute = -9223372036854775808, level = 9223372036854775807, levels = 1")
        let store = try EventStore(path: path)
        try store.write([], [row])
        #expect(try store.minutes(of: "key").count == 1)
    }
}
