import BluetoothTypes
import Configuration
import Glibc
import LinuxHost
import TestSupport
import Testing

/// The output of `pharos status` for the files that instances write.
@Suite struct StatusTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the status of an instance with two frames, telemetry and two kinds of faults. `process` is appended to
    /// the object.
    private static func lobby(_ state: String = "on-air", _ times: String = times, process: String) -> String {
        """
        {"name":"lobby-north","adapter":"hci0","address":"DC:A6:32:01:02:03","state":"\(state)",\(times),\
        "profileHash":"5e884898da28","advertisements":[\
        {"type":"ibeacon","address":"C0:11:22:33:44:55","intervalMs":200,"grantedIntervalMs":200,"radioPowerDbm":0,\
        "grantedRadioPowerDbm":0,"events":86400,"eventsCounted":true,"content":null,"octets":null},\
        {"type":"eddystone-tlm","address":"C0:11:22:33:44:55","intervalMs":5000.1,"grantedIntervalMs":5000,\
        "radioPowerDbm":4,"grantedRadioPowerDbm":null,"events":3455,"eventsCounted":false,"content":"Eddystone-TLM, 48 °C","octets":"0201"}],\
        "rearms":{"adapter-gone":1,"foreign-disabled":12},"lastError":null,\
        "rejectedFile":{"time":"2001-02-03T04:05:07Z","reason":"lobby.json:1:2: a comma is missing"},"controller":"Core 5.0, Cypress (0x0131)",\
        "telemetry":{"temperatureC":48.199,"temperatureSensor":"thermal:cpu-thermal","batteryMv":null,\
        "batterySensor":null},"eidClockAheadS":null\(process)}
        """
    }

    private static let times = "\"since\":\"2001-02-03T04:05:06Z\",\"lastVerified\":\"2001-02-03T04:05:07Z\""

    /// The test process acts as an instance that runs.
    private static var alive: String {
        let process = ProcessIdentity.current
        return ",\"pid\":\(process.id),\"startTicks\":\(process.startTicks.map(String.init) ?? "null")"
    }

    /// Returns the age of an old time, which the status shows relative to now.
    private static func age(of time: String) throws -> String {
        let begin = try #require(RFC3339Time(time)).secondsSince1970
        let seconds = Int(WallClock.microseconds() / 1_000_000) - begin
        let hours = seconds / 3600 % 24
        return "\(seconds / 86_400) d" + (hours == 0 ? "" : " \(hours) h")
    }

    private func put(_ name: String, _ text: String) throws {
        try folder.file("\(name).status.json", text: text + "\n")
    }

    private func status(_ options: String...) throws -> Program.Result {
        try Program.run(["status", "--runtime-dir", folder.path] + options)
    }

    @Test func aRefusedFileIsPrintedOnce() throws {
        let text = Self.lobby(process: Self.alive).replacing(
            "\"lastError\":null", with: "\"lastError\":\"reload refused: lobby.json:1:2: a comma is missing\"")
        try put("lobby-north", text)
        let result = try status()
        #expect(result.output.split(separator: "\n").count { $0.contains("a comma is missing") } == 1, "\(result)")
        #expect(!result.output.contains("last error"))
    }

    @Test func printsABeaconOnTheAir() throws {
        try put("lobby-north", Self.lobby(process: Self.alive))
        let result = try status()
        let since = try Self.age(of: "2001-02-03T04:05:06Z")
        let verified = try Self.age(of: "2001-02-03T04:05:07Z")
        #expect(
            result.output == """
                lobby-north: on the air since 2001-02-03T04:05:06Z (\(since)), hci0 DC:A6:32:01:02:03, \
                Core 5.0, Cypress (0x0131), verified \(verified) ago
                  frame          address            interval ms              power dBm              events when verified
                  ibeacon        C0:11:22:33:44:55  200                      0                      86400
                  eddystone-tlm  C0:11:22:33:44:55  5000 (requested 5000.1)  unknown (requested 4)  3455 (computed)
                  eddystone-tlm: Eddystone-TLM, 48 °C
                  telemetry: temperature 48.199 °C (thermal:cpu-thermal), battery unknown
                  recoveries: adapter-gone 1, foreign-disabled 12
                  changed file refused at 2001-02-03T04:05:07Z (\(verified) ago): lobby.json:1:2: a comma is missing

                """)
        #expect(result.code == 0 && result.errors == "")
    }

    @Test func jsonIsWhatTheInstanceWrote() throws {
        let text = Self.lobby(process: Self.alive)
        try put("lobby-north", text)
        let result = try status("--json")
        #expect(
            result.output
                == "{\"version\":1,\"instances\":[\(Self.lobby(process: ""))],\"listeners\":[],\"collectors\":[]}\n")
        #expect(result.code == 0)
    }

    @Test func groupsMetricsByFamily() throws {
        try put("lobby-north", Self.lobby(process: Self.alive))
        try put("b", "{\"name\":\"b\",\"adapter\":\"serial:/dev/\\\"x\\\\y\\n\",\"state\":\"off\"}")
        let result = try status("--metrics")
        #expect(
            result.output == """
                # HELP pharos_on_air Whether the beacon is on the air: 1 or 0.
                # TYPE pharos_on_air gauge
                pharos_on_air{profile="b"} 0
                pharos_on_air{profile="lobby-north"} 1
                # HELP pharos_info Profile, adapter and controller of the beacon, as labels; always 1.
                # TYPE pharos_info gauge
                pharos_info{profile="b",profile_hash="",adapter="serial:/dev/\\"x\\\\y\\n",address="",controller=""} 1
                pharos_info{profile="lobby-north",profile_hash="5e884898da28",adapter="hci0",\
                address="DC:A6:32:01:02:03",controller="Core 5.0, Cypress (0x0131)"} 1
                # HELP pharos_last_verified_timestamp_seconds Time at which advertising was last verified, \
                in seconds since 1970.
                # TYPE pharos_last_verified_timestamp_seconds gauge
                pharos_last_verified_timestamp_seconds{profile="lobby-north"} 981173107
                # HELP pharos_rearms_total Recoveries of the beacon, by the cause of the outage.
                # TYPE pharos_rearms_total counter
                pharos_rearms_total{profile="lobby-north",cause="adapter-gone"} 1
                pharos_rearms_total{profile="lobby-north",cause="foreign-disabled"} 12
                # HELP pharos_temperature_celsius The temperature that telemetry sends.
                # TYPE pharos_temperature_celsius gauge
                pharos_temperature_celsius{profile="lobby-north"} 48.199
                # HELP pharos_interval_seconds The granted advertising interval, by frame; for a pattern, the constant interval with as many events.
                # TYPE pharos_interval_seconds gauge
                pharos_interval_seconds{profile="lobby-north",frame="ibeacon"} 0.2
                pharos_interval_seconds{profile="lobby-north",frame="eddystone-tlm"} 5.0
                # HELP pharos_radio_power_dbm The radio power that the controller granted, by frame.
                # TYPE pharos_radio_power_dbm gauge
                pharos_radio_power_dbm{profile="lobby-north",frame="ibeacon"} 0
                # HELP pharos_events_total Advertising events sent, by frame; computed from the time on the air \
                if the controller does not count them.
                # TYPE pharos_events_total counter
                pharos_events_total{profile="lobby-north",frame="ibeacon"} 86400
                pharos_events_total{profile="lobby-north",frame="eddystone-tlm"} 3455
                # HELP pharos_events_counted Whether the controller counted the events (1) or they are computed (0).
                # TYPE pharos_events_counted gauge
                pharos_events_counted{profile="lobby-north",frame="ibeacon"} 1
                pharos_events_counted{profile="lobby-north",frame="eddystone-tlm"} 0

                """)
        #expect(result.code == 1 && result.errors == "")
    }

    @Test(arguments: [("starting", "starting"), ("recovering", "recovering"), ("off", "off")])
    func failsIfABeaconIsNotOnTheAir(_ state: String, _ word: String) throws {
        try put("a", Self.lobby("on-air", process: Self.alive))
        try put("b", "{\"name\":\"b\",\"adapter\":\"hci1\",\"state\":\"\(state)\",\"lastError\":\"why\"\(Self.alive)}")
        let result = try status()
        #expect(result.code == 1 && result.output.hasSuffix("\n\nb: \(word), hci1\n  last error: why\n"))
    }

    /// A process that does not exist, a later process with the same id, and a status without a process id.
    @Test(arguments: [",\"pid\":999999999,\"startTicks\":5", ",\"pid\":\(getpid()),\"startTicks\":1", ""])
    func reportsADeadProcessAsOff(_ process: String) throws {
        try put("lobby-north", Self.lobby(process: process))
        let result = try status()
        #expect(result.output.hasPrefix("lobby-north: off, hci0 DC:A6:32:01:02:03, "))
        #expect(
            result.output.hasSuffix(
                " exited without reporting a reason; see `systemctl status pharos@lobby-north` and its journal\n"))
        #expect(result.code == 1)
        let json = try status("--json").output
        #expect(json.contains("\"state\":\"off\",\"since\":null,\"lastVerified\":\"2001"))
        #expect(try status("--metrics").output.contains("pharos_on_air{profile=\"lobby-north\"} 0\n"))
    }

    /// /proc may hide the process, for example if it runs in another container; its lock still shows that it runs.
    @Test func detectsARunningInstanceByItsLock() throws {
        try put("lobby-north", Self.lobby(process: ""))
        let address = try #require(DeviceAddress("DC:A6:32:01:02:03"))
        let lock = try AdapterLock(LockedAdapter(address), for: "lobby-north", in: folder.path)
        #expect(try status().code == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func reportsThatNothingRuns() throws {
        let result = try status()
        #expect(
            result.output == """
                No beacon, listener or collector runs on this machine: there is no status file in \(folder.path).
                Start a beacon with `sudo pharos install FILE` or `pharos run FILE`,
                a listener with `systemctl enable --now pharos-listen@NAME` or `pharos listen FILE`,
                a collector with `systemctl enable --now pharos-collect@NAME` or `pharos collect FILE`.

                """)
        #expect(result.code == 1 && result.errors == "")
        #expect(
            try status("--json")
                == Program.Result(
                    output: "{\"version\":1,\"instances\":[],\"listeners\":[],\"collectors\":[]}\n", errors: "", code: 1
                ))
        #expect(try status("--metrics") == Program.Result(output: "", errors: "", code: 1))
    }

    @Test func ignoresOtherFiles() throws {
        try folder.file(".lobby.status.json.new", text: "{")
        try folder.file("lobby.prom", text: "x")
        try folder.file("adapter-DC:A6:32:01:02:03.lock", text: "1\nlobby\n")
        #expect(try status("--json").output == "{\"version\":1,\"instances\":[],\"listeners\":[],\"collectors\":[]}\n")
    }

    static let garbage = [
        ("", "it is not a status file: 2:1: "), ("{", "it is not a status file: "),
        ("\u{0}", "it is not a status file: "),
        ("[]", "it is not a status file: the instance's name is missing"),
        ("{}", "it is not a status file: the instance's name is missing"),
        ("{\"name\":\"x\"}", "the instance's state is not one of on-air, starting, recovering, off"),
        ("{\"name\":\"x\",\"state\":\"up\"}", "the instance's state is not one of on-air, starting, recovering, off"),
    ]

    @Test(arguments: garbage) func reportsInvalidFilesAndPrintsTheOthers(_ text: String, _ reason: String) throws {
        try put("a", Self.lobby(process: Self.alive))
        try put("b", text)
        let result = try status("--json")
        #expect(result.code == 66)
        #expect(result.errors.hasPrefix("pharos: \(folder.place("b.status.json")): \(reason)"))
        #expect(result.output.contains("lobby-north"))
    }

    @Test func readsInvalidMembersAsUnknown() throws {
        try put(
            "x",
            "{\"name\":\"x\",\"adapter\":7,\"address\":\"no\",\"state\":\"on-air\",\"since\":\"yesterday\",\"pid\":1e99,"
                + "\"advertisements\":[{\"type\":\"raw\",\"intervalMs\":100,\"events\":1.5},{},7],\"rearms\":[],"
                + "\"new\":true\(Self.alive.replacing("\"pid\"", "\"pid2\""))}")
        let result = try status("--json")
        #expect(
            result.output
                == "{\"version\":1,\"instances\":[{\"name\":\"x\",\"adapter\":\"?\",\"address\":null,\"state\":\"off\","
                + "\"since\":null,\"lastVerified\":null,\"profileHash\":null,\"advertisements\":[{\"type\":\"raw\","
                + "\"address\":null,\"intervalMs\":100,\"grantedIntervalMs\":null,\"radioPowerDbm\":null,"
                + "\"grantedRadioPowerDbm\":null,\"events\":null,\"eventsCounted\":false,\"content\":null,"
                + "\"octets\":null}],\"rearms\":{},"
                + "\"lastError\":\"the process exited without reporting a reason; see `systemctl status pharos@x` and "
                + "its journal\",\"rejectedFile\":null,\"controller\":null,\"telemetry\":null,\"eidClockAheadS\":null}],\"listeners\":[],\"collectors\":[]}\n"
        )
    }

    @Test func reportsDirectoriesThatCannotBeRead() throws {
        let missing = folder.place("none")
        let result = try Program.run("status", "--runtime-dir", missing)
        #expect(
            result
                == Program.Result(
                    output: "",
                    errors: "pharos: \(missing): this directory cannot be read: No such file or directory\n", code: 66))
        let file = try folder.file("plain", [])
        #expect(try Program.run("status", "--runtime-dir", file).code == 66)
        let both = try Program.run("status", "--json", "--metrics")
        #expect(both.code == 64 && both.errors.hasPrefix("pharos: --json and --metrics cannot be combined"))
    }
}

extension String {
    fileprivate func replacing(_ old: String, _ new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}
