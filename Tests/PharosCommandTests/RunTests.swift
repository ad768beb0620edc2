import Glibc
import LinuxHost
import TestSupport
import Testing

/// The service, on virtual controllers.
@Suite struct RunTests {
    /// A box for one service: its folders, its profile, and a controller that can come and go.
    private final class Box {
        let folder: TemporaryFolder
        let socket: String
        private(set) var service: RunningProgram?
        private var controller: RunningProgram?

        init(_ profile: String = Box.profile()) throws {
            folder = try TemporaryFolder()
            socket = folder.place("controller")
            try write(profile)
        }

        static func profile(name: String = "lobby", minor: Int = 2, adapter: String? = nil) -> String {
            """
            {"version": 1, "name": "\(name)", \(adapter.map { "\"adapter\": \"\($0)\", " } ?? "")"advertisements": [
            {"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": \(minor),
            "intervalMs": 100, "measuredPowerDbm": -59}]}
            """
        }

        func write(_ profile: String) throws { try folder.file("p.json", text: profile) }

        func start(adapter: String? = nil, _ more: [String] = []) throws -> RunningProgram {
            let place = folder.place("")
            let program = try RunningProgram(
                ["run", folder.place("p.json"), "--adapter", adapter ?? "unix:\(socket)", "--state-dir", place]
                    + ["--runtime-dir", place] + more)
            service = program
            return program
        }

        func plug() throws {
            let program = try RunningProgram(["controller", "--listen", "unix:\(socket)", "--like", "raspberry-pi"])
            controller = program
            #expect(program.prints("listening"))
        }

        func unplug() {
            controller?.signal(SIGTERM)
            _ = controller?.end()
            controller = nil
        }

        func says(_ text: String) -> Bool {
            guard let service else { return false }
            return eventually { service.errors.contains(text) }
        }

        func status() throws -> String { try Program.run("status", "--json", "--runtime-dir", folder.place("")).output }
    }

    @Test func sigtermEndsItWithinASecond() throws {
        let box = try Box()
        let service = try box.start(adapter: "virtual")
        #expect(box.says("on the air"))
        let begin = MonotonicClock.nanoseconds()
        service.signal(SIGTERM)
        #expect(service.end().code == 0)
        #expect(MonotonicClock.nanoseconds() - begin < 1_000_000_000)
        #expect(try box.status().contains("\"state\":\"off\""))
    }

    @Test func itWaitsForItsController() throws {
        let box = try Box()
        _ = try box.start()
        #expect(box.says("there is no such socket"))
        #expect(try box.status().contains("\"state\":\"starting\""))
        try box.plug()
        #expect(box.says("on the air"))
        #expect(try box.status().contains("\"state\":\"on-air\""))
    }

    @Test func aControllerThatGoesAndComesIsSurvived() throws {
        let box = try Box()
        try box.plug()
        _ = try box.start()
        #expect(box.says("on the air"))
        box.unplug()
        #expect(box.says("the controller closed the connection"))
        #expect(eventually { (try? box.status().contains("\"state\":\"recovering\"")) == true })
        try box.plug()
        #expect(box.says("back on the air"))
        #expect(try box.status().contains("\"rearms\":{\"peer-gone\":1}"))
    }

    @Test func aGoodProfileTakesOverAndABadOneDoesNot() throws {
        let box = try Box()
        let service = try box.start(adapter: "virtual")
        #expect(box.says("on the air"))
        let first = try box.status()
        try box.write("{")
        service.signal(SIGHUP)
        #expect(box.says("reload refused"))
        #expect(try box.status() != "" && service.errors.contains("p.json:1:2"))
        try box.write(Box.profile(minor: 3))
        service.signal(SIGHUP)
        #expect(box.says("reloaded"))
        // The hash of the profile is in it.
        #expect(eventually { (try? box.status()) != first })
        #expect(!service.errors.contains("back on the air"))
    }

    @Test func anotherNameIsNoReload() throws {
        let box = try Box()
        let service = try box.start(adapter: "virtual")
        #expect(box.says("on the air"))
        try box.write(Box.profile(name: "hall"))
        service.signal(SIGHUP)
        #expect(box.says("its name is hall now"))
    }

    @Test func aReloadMayNameAnotherAdapter() throws {
        let box = try Box(Box.profile(adapter: "virtual"))
        let place = box.folder.place("")
        let service = try RunningProgram(
            ["run", box.folder.place("p.json"), "--state-dir", place, "--runtime-dir", place])
        #expect(eventually { service.errors.contains("on the air") })
        try box.plug()
        try box.write(Box.profile(adapter: "unix:\(box.socket)"))
        service.signal(SIGHUP)
        #expect(eventually { (try? box.status().contains("unix:")) == true })
        #expect(eventually { (try? box.status().contains("\"state\":\"on-air\"")) == true })
        service.signal(SIGTERM)
        #expect(service.end().code == 0)
    }

    static let refusals: [(String, Int32, String)] = [
        ("{", 65, "p.json:1:2"),
        ("{}", 78, "the key \"version\" is missing"),
        (
            #"{"version": 1, "name": "a", "advertisements": [{"type": "eddystone-eid", "rotationExponent": 3, "#
                + #""identityKeyFile": "none", "intervalMs": 100, "measuredPowerDbm": -20}]}"#, 66, "none"
        ),
        (
            #"{"version": 1, "name": "a", "advertisements": [{"type": "eddystone-tlm", "intervalMs": 1000, "#
                + #""temperature": "thermal:nowhere"}]}"#, 78, "nowhere"
        ),
    ]

    @Test(arguments: refusals)
    func aProfileThatCannotBeSentIsRefused(_ profile: String, _ code: Int32, _ reason: String) throws {
        let box = try Box(profile)
        let result = try box.start(adapter: "virtual").end()
        #expect(result.code == code)
        #expect(result.errors.contains(reason), "\(result.errors)")
    }

    @Test func aMissingProfileIsTold() throws {
        #expect(try Program.run("run", "/nowhere/p.json").code == 66)
        #expect(try Program.run("run").code == 64)
    }

    /// Too many events a second for one set that keeps 100 ms apart.
    @Test func whatTheControllerCannotSendIsRefused() throws {
        let frame =
            #"{"type": "eddystone-url", "url": "https://example.org", "intervalMs": 20, "measuredPowerDbm": -20}"#
        let box = try Box(#"{"version": 1, "name": "a", "advertisements": [\#(frame), \#(frame), \#(frame)]}"#)
        let result = try box.start(adapter: "virtual").end()
        #expect(result.code == 78, "\(result.errors)")
    }

    @Test func filesThatCannotBeWrittenCostTheirContentsOnly() throws {
        let box = try Box()
        let nowhere = box.folder.place("p.json/no")
        let service = try RunningProgram(
            [
                "run", box.folder.place("p.json"), "--adapter", "virtual", "--state-dir", nowhere, "--runtime-dir",
                nowhere,
            ])
        #expect(eventually { service.errors.contains("on the air:") })
        #expect(eventually { service.errors.contains("it tells nothing new until it can be written") })
        service.signal(SIGTERM)
        #expect(service.end().code == 0)
    }

    static let garbage = ["", "{", "[]", #"{"version": 1, "eidCounter": -1, "turns": []}"#, #"{"version": 2}"#]

    @Test(arguments: garbage)
    func aStateOfGarbageIsToldAndCostsNothingElse(_ text: String) throws {
        let key = String(repeating: "ab", count: 16)
        let box = try Box(
            #"{"version": 1, "name": "lobby", "advertisements": [{"type": "eddystone-eid", "rotationExponent": 3, "#
                + #""identityKeyFile": "eid.key", "intervalMs": 100, "measuredPowerDbm": -20}]}"#)
        _ = unsafe chmod(try box.folder.file("eid.key", Array(key.utf8)), 0o600)
        try box.folder.file("lobby.json", text: text)
        let service = try box.start(adapter: "virtual")
        #expect(box.says("this is no state file"))
        #expect(box.says("on the air:"))
        service.signal(SIGTERM)
        #expect(service.end().code == 0)
        // Now it holds the clock and the address.
        let state = String(decoding: try Files.read(box.folder.place("lobby.json")), as: UTF8.self)
        #expect(state.contains("\"eidCounter\":6528"))
        #expect(state.contains("\"address\""))
    }

    @Test func theServiceManagerIsTold() throws {
        let box = try Box()
        let socket = try Self.notificationSocket(box.folder.place("notify"))
        let service = try RunningProgram(
            [
                "-c",
                "NOTIFY_SOCKET=$1 WATCHDOG_USEC=600000 exec $0 run $2 --adapter virtual --state-dir $3 --runtime-dir $3",
                Program.path, box.folder.place("notify"), box.folder.place("p.json"), box.folder.place(""),
            ], executable: "/bin/sh")
        var told: [String] = []
        func hears(_ text: String) -> Bool {
            eventually {
                while let octets = try? socket.read(upTo: 4096) { told.append(String(decoding: octets, as: UTF8.self)) }
                return told.contains { $0.hasPrefix(text) }
            }
        }
        #expect(hears("READY=1"))
        #expect(hears("STATUS=on the air"))
        told = []
        #expect(hears("WATCHDOG=1"))
        service.signal(SIGHUP)
        #expect(hears("RELOADING=1\nMONOTONIC_USEC="))
        #expect(hears("READY=1"))
        service.signal(SIGTERM)
        #expect(hears("STOPPING=1"))
        #expect(service.end().code == 0)
    }

    private static func notificationSocket(_ path: String) throws -> Descriptor {
        let socket = Descriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            for (index, octet) in path.utf8.prefix(place.count - 1).enumerated() { unsafe place[index] = octet }
        }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError("bind", path, errno: errno) }
        try socket.setNonblocking()
        return socket
    }
}
