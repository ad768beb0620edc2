import Configuration
import Glibc
import LinuxHost
import TestSupport
import Testing

@testable import Store
@testable import pharos_hub

/// `collect`, `where` and `history` on the lines of two receivers.
@Suite struct CollectCommandTests {
    private let files: HubFolder

    init() throws { files = try HubFolder() }

    /// Collects ten seconds in which the receiver in the west receives the beacon better.
    private func collect(_ more: String...) throws -> HubProgram.Result {
        let west = try files.lines("west", seconds: 10, level: -50)
        let east = try files.lines("east", seconds: 10, level: -80)
        return try HubProgram.run(
            [
                "collect", files.path("museum.json"), "--from", west, "--from", east, "--state-file",
                files.path("museum.where.json"), "--state-dir", files.folder.path,
            ] + more)
    }

    @Test func eventsArePrintedAsJSON() throws {
        let result = try collect("--json")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(
            result.lines.compactMap { $0["event"]?.string } == [
                "receiver-alive", "receiver-alive", "enter", "room", "known",
            ])
        let room = result.lines.first { $0["event"]?.string == "room" }
        #expect(room?["beacon"]?.string == "key-ana" && room?["room"]?.string == "hall")
    }

    @Test func aTableShowsWhereBeaconsAre() throws {
        let result = try collect()
        #expect(result.code == 0 && result.output.contains("enter  key-ana"))
        #expect(result.output.contains("beacon   room"), "\(result.output)")
    }

    @Test func whereReadsTheStateFile() throws {
        _ = try collect()
        let result = try HubProgram.run("where", "key-ana", "--state-file", files.path("museum.where.json"), "--json")
        let beacon = result.lines.first?["beacons"]?.elements?.first
        #expect(result.code == 0 && beacon?["room"]?.string == "hall" && beacon?["receiver"]?.string == "west")
        let other = try HubProgram.run("where", "key-anna", "--state-file", files.path("museum.where.json"))
        #expect(other.code == 64 && other.errors.contains("did you mean \"key-ana\"?"))
        let room = try HubProgram.run("where", "hall", "--state-file", files.path("museum.where.json"))
        #expect(room.code == 64 && room.errors.contains("\"hall\" is a room, not a beacon"))
        let none = try HubProgram.run("where", "--state-file", files.path("museum.json"))
        #expect(none.code == 65 && none.errors.contains("this is not a state file"))
    }

    /// Writes the state file of a collector that followed a broker.
    private func writeState(secondsAgo: Int, startTicks: UInt64?) throws {
        let process = ProcessIdentity.current
        let time = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000) - secondsAgo)
        let ticks = startTicks.map(String.init) ?? "null"
        try files.folder.file(
            "museum.where.json",
            text: """
                {"version":1,"collector":"museum","written":"\(time)","pid":\(process.id),"startTicks":\(ticks),\
                "receivers":[{"name":"west","room":"hall","state":"alive"}],"beacons":[{"beacon":"key-ana",\
                "present":"ON","known":true,"room":"hall","reason":null}]}
                """)
    }

    @Test func whereReportsACollectorThatHasEnded() throws {
        // A later process has the same id.
        try writeState(secondsAgo: 30, startTicks: 1)
        let path = files.path("museum.where.json")
        let table = try HubProgram.run("where", "--state-file", path, "--utc")
        #expect(table.code == 69 && table.output.contains("key-ana  hall"), "\(table)")
        #expect(table.errors.contains("the collector museum has not run since "), "\(table.errors)")
        #expect(table.errors.contains("; the table shows what was last known"), "\(table.errors)")
        let json = try HubProgram.run("where", "key-ana", "--state-file", path, "--json")
        #expect(json.code == 69 && json.errors.contains("has not run since "), "\(json)")
        #expect(json.output.contains(#""present":null,"known":false,"room":null"#), "\(json.output)")
        #expect(json.output.contains(#""state":"unknown""#), "\(json.output)")
    }

    @Test func whereTrustsACollectorThatRuns() throws {
        let path = files.path("museum.where.json")
        try writeState(secondsAgo: 30, startTicks: ProcessIdentity.current.startTicks)
        #expect(try HubProgram.run("where", "--state-file", path).code == 0)
        // A process in another container is not visible.
        try writeState(secondsAgo: 1, startTicks: 1)
        let json = try HubProgram.run("where", "--state-file", path, "--json")
        #expect(json.code == 0 && json.output.contains(#""known":true,"room":"hall""#), "\(json)")
    }

    @Test func historyReadsTheDatabase() throws {
        _ = try collect()
        let database = files.path("museum.db")
        let json = try HubProgram.run("history", "key-ana", "--history", database, "--json")
        #expect(json.code == 0 && json.lines.compactMap { $0["event"]?.string } == ["enter", "room", "known"])
        let csv = try HubProgram.run("history", "hall", "--history", database, "--csv")
        #expect(csv.code == 0 && csv.output.hasPrefix("at,event,zone,beacon,"))
        #expect(csv.output.contains(",\"key-ana\","))
        let heard = try HubProgram.run("history", "key-ana", "--history", database, "--heard", "--json")
        #expect(heard.lines.contains { $0["event"]?.string == "heard" && $0["receiver"]?.string == "east" })
        let file = try HubProgram.run(
            "history", "key-ana", "--history", files.path("museum.json"), "--state-dir", files.folder.path, "--json")
        #expect(file == json)
        let unknown = try HubProgram.run("history", "key-anna", "--history", database)
        #expect(unknown.code == 66 && unknown.errors.contains("did you mean \"key-ana\"?"))
        let earlier = try HubProgram.run("history", "key-ana", "--history", database, "--to", "2026-01-01")
        #expect(earlier.code == 0 && earlier.output.isEmpty && earlier.errors.contains("has no events"))
    }

    @Test func ignoredLinesAreCounted() throws {
        let west = try files.lines("west", seconds: 2, level: -50)
        let unknown = try files.folder.file(
            "other.jsonl", Array(#"{"event":"beacons","listener":"north","beacons":[]}"#.utf8))
        let result = try HubProgram.run(
            "collect", files.path("museum.json"), "--from", west, "--from", unknown, "--state-file",
            files.path("museum.where.json"), "--state-dir", files.folder.path)
        #expect(result.code == 65)
        #expect(result.errors.contains("the receiver \"north\" is not in museum: the receivers are west, east"))
        #expect(result.errors.contains("1 line is from \"north\", which is not in museum"), "\(result.errors)")
        let nobody = try HubProgram.run("collect", files.path("museum.json"), "--from", "north=\(west)")
        #expect(nobody.code == 64 && nobody.errors.contains("no receiver of this name"))
    }

    @Test func historyOfADirectoryWithoutADatabaseSaysWhatMakesOne() throws {
        let result = try HubProgram.run("history", "key-ana", "--state-dir", files.folder.path)
        #expect(result.code == 66 && result.errors.contains("no database here yet"), "\(result.errors)")
        #expect(!result.errors.contains("sudo"), "\(result.errors)")
        let missing = try HubProgram.run("history", "key-ana", "--state-dir", files.path("missing"))
        #expect(missing.code == 66 && missing.errors.contains("no database here yet"), "\(missing.errors)")
    }

    @Test func historyReadsTheDatabaseOfAListenerFile() throws {
        let store = try EventStore(path: files.path("desk.db"))
        let json = #"{"event":"enter","id":"1","zone":"near","beacon":"key-peter","receiver":"desk"}"#
        try store.record(
            EventStore.Event(id: "1", time: 1, kind: "enter", zone: "near", beacon: "key-peter", json: json), .none,
            for: [])
        let result = try HubProgram.run(
            "history", "key-peter", "--history", files.path("desk.json"), "--state-dir", files.folder.path, "--json")
        #expect(result.code == 0 && result.output == json + "\n", "\(result)")
    }

    @Test func aWrongCollectorFileIsRefused() throws {
        let path = try files.folder.file("wrong.json", Array(#"{"version":1,"name":"m","receiver":[]}"#.utf8))
        let result = try HubProgram.run("collect", path)
        #expect(result.code == 78 && result.errors.contains("did you mean \"receivers\"?"))
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func onlyTheOwnerCanReadStateAndHistory() throws {
        let west = try files.lines("west", seconds: 10, level: -50)
        let state = files.path("new/state")
        let result = try HubProgram.run(
            "collect", files.path("museum.json"), "--from", west, "--runtime-dir", files.folder.path, "--state-dir",
            state)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(mode(files.path("museum.where.json")) == 0o600)
        #expect(mode(state) == 0o700 && mode(state + "/museum.db") == 0o600)
    }

    @Test func aMissingRuntimeDirectoryIsMade() throws {
        let west = try files.lines("west", seconds: 3, level: -50)
        let result = try HubProgram.run(
            "collect", files.path("museum.json"), "--from", west, "--runtime-dir", files.path("new/run"), "--state-dir",
            files.folder.path)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(Files.exists(files.path("new/run/museum.where.json")))
    }

    @Test func doesNotReplaceAFileThatIsNotAStateFile() throws {
        let before = try Files.read(files.path("museum.json"))
        let west = try files.lines("west", seconds: 3, level: -50)
        let result = try HubProgram.run(
            "collect", files.path("museum.json"), "--from", west, "--state-file", files.path("museum.json"),
            "--state-dir",
            files.folder.path)
        #expect(result.errors.contains("this file has other contents, so it is not replaced"), "\(result.errors)")
        #expect(try Files.read(files.path("museum.json")) == before)
    }

    /// The program skips pipes, directories and damaged files in the directory, and shows the other files.
    @Test func oneBadFileDoesNotHideTheOthers() throws {
        _ = try collect()
        for name in ["a.db", "a.where.json"] {
            try files.folder.file(name, text: "damaged")
            try #require(unsafe mkfifo(files.path("b" + name), 0o600) == 0 && mkdir(files.path("c" + name), 0o700) == 0)
        }
        let history = try HubProgram.run("history", "key-ana", "--state-dir", files.folder.path)
        #expect(history.code == 0 && history.output.contains("enter"), "\(history)")
        let place = try HubProgram.run("where", "--runtime-dir", files.folder.path, "--json")
        #expect(place.code == 0 && place.lines.first?["beacons"]?.elements?.count == 1, "\(place)")
        for result in [history, place] {
            #expect(result.errors.contains("/a.") && result.errors.contains("a named pipe"), "\(result.errors)")
            #expect(result.errors.contains("irectory"), "\(result.errors)")
        }
        // The command fails if no file can be used.
        files.folder.remove("museum.where.json")
        #expect(try HubProgram.run("where", "--runtime-dir", files.folder.path).code == 65)
    }

    /// A damaged database may contain any number.
    @Test(arguments: [Int64.min, .max]) func acceptsAnyNumberAsAMinute(_ time: Int64) {
        let minute = HeardMinute(receiver: "west", milliseconds: time, reports: 1, late: 0, level: 1e300)
        #expect(HistoryRow.event(minute, of: "key").kind == "heard")
    }

    @Test func aSilentReceiverIsTheReasonWhyARoomIsUnknown() throws {
        let west = try files.lines("west", seconds: 30, level: -50)
        let east = try files.lines("east", seconds: 10, level: -80)
        let database = files.path("museum.db")
        let result = try HubProgram.run(
            "collect", files.path("museum.json"), "--from", west, "--from", east, "--state-file",
            files.path("museum.where.json"), "--state-dir", files.folder.path, "--json")
        let unknown = result.lines.first { $0["event"]?.string == "unknown" }
        #expect(unknown?["reason"]?.string?.hasPrefix("receiver east silent since ") == true, "\(result.output)")
        #expect(unknown?["silentReceivers"]?.elements?.first?["receiver"]?.string == "east")
        let state = try HubProgram.run("where", "--state-file", files.path("museum.where.json"), "--utc")
        #expect(state.output.contains("unknown: receiver east silent since 2026-09-21 14:13 UTC"), "\(state.output)")
        let history = try HubProgram.run("history", "key-ana", "--history", database, "--utc")
        #expect(history.output.contains("receiver east silent since 14:13 UTC"), "\(history.output)")
    }

    @Test(arguments: [
        (#""present":"OFF","known":true,"reason":null"#, "away"),
        (#""present":null,"known":false,"reason":null"#, "unknown: no receiver works that could receive it"),
        (#""present":"ON","known":true,"room":"hall","reason":null"#, "hall"),
    ])
    func whereShowsWhetherABeaconIsPresent(members: String, answer: String) throws {
        let beacons = #"[{"beacon":"key-ana",\#(members)}]"#
        let nodes = try #require(JSONDocument.parse(Array(beacons.utf8)).root?.elements)
        let table = WhereTable.text(nodes, .utc)
        #expect(table.contains("key-ana  \(answer)"), "\(table)")
    }

    @Test func ignoresMessagesOfOtherTopics() throws {
        // As `mosquitto_sub -F %J` prints them.
        let batch =
            #"{"v":1,"boot":"8f","seq":1,"bootMs":1000,"windowMs":1000,"b":[{"id":"key-ana","n":5,"rssi":-60}]}"#
        let lines = [
            #"{"tst":"2026-09-21T14:13:20.000000Z","topic":"pharos/museum/sightings/3/west","payload":\#(batch)}"#,
            #"{"tst":"2026-09-21T14:13:21.000000Z","topic":"pharos/museum/zones/near/state","payload":{"inside":[]}}"#,
            #"{"tst":"2026-09-21T14:13:21.000000Z","topic":"pharos/museum/beacons/key-ana/state","payload":{"known":true}}"#,
        ]
        try files.folder.file("mqtt.jsonl", text: lines.joined(separator: "\n") + "\n")
        let result = try HubProgram.run(
            "collect", files.path("museum.json"), "--from", files.path("mqtt.jsonl"), "--state-file",
            files.path("museum.where.json"), "--state-dir", files.folder.path)
        #expect(result.code == 0 && !result.errors.contains("does not name"), "\(result.errors)")
    }

    @Test func historyShowsTheTimeInEachRoom() throws {
        _ = try collect()
        let database = files.path("museum.db")
        let totals = try HubProgram.run(
            "history", "key-ana", "--history", database, "--totals", "--json", "--utc", "--to", "2026-09-21 14:13:30")
        let row = totals.lines.first { $0["zone"]?.string == "hall" }
        #expect(row?["stays"]?.integer == 1 && row?["ongoing"] != nil, "\(totals.output)")
        #expect((1...30).contains(row?["seconds"]?.integer ?? 0), "\(totals.output)")
        let later = try HubProgram.run(
            "history", "key-ana", "--history", database, "--totals", "--csv", "--utc", "--from", "2026-09-21 14:14",
            "--to", "2026-09-21 14:14:09")
        #expect(later.output == "beacon,zone,seconds,stays,ongoing,receiver\r\n\"key-ana\",\"hall\",10,1,true,\"\"\r\n")
    }
}
