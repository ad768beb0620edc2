import CMeasurement
import Glibc
import LinuxHost

/// The cost of `pharos run` for a machine on which it runs for years: memory, wake-ups, CPU time. The controller is
/// another process, so that only the service is measured.
struct ServiceTimes {
    let pharos: String

    private static let window = 30
    /// The number of seconds after the first one in which the service has nothing to do. The first verification comes
    /// 15 s after the start.
    private static let quiet = 12

    /// A profile and its controller.
    private struct Case {
        let name: String
        let what: String
        let model: String
        let advertisements: [String]
    }

    private static let frames = [
        #""type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": 2"#
            + #", "measuredPowerDbm": -59"#,
        #""type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "000000000002""#
            + #", "measuredPower1mDbm": -59"#,
        #""type": "eddystone-url", "url": "https://example.org/n2", "measuredPower1mDbm": -59"#,
        #""type": "altbeacon", "companyId": "0x0118", "id": "fb0b57a2822844cd913a94a122ba120600010002""#
            + #", "measuredPowerDbm": -59"#,
    ]

    private static let cases = [
        Case(
            name: "still", what: "four frames, each with a set of its own", model: "intel",
            advertisements: frames.map { $0 + #", "intervalMs": 200"# }),
        Case(
            name: "telemetry", what: "three frames and TLM each second", model: "intel",
            advertisements: frames.prefix(3).map { $0 + #", "intervalMs": 200"# } + [
                #""type": "eddystone-tlm", "temperature": "auto", "battery": "auto", "intervalMs": 1000"#
            ]),
        // Each advertisement needs an event every 420 ms, so their shared set runs at 100 ms.
        Case(
            name: "rotation", what: "four frames rotated at 100 ms", model: "raspberry-pi",
            advertisements: frames.map { $0 + #", "intervalMs": 415"# }),
    ]

    func run(_ report: Report) throws {
        report.section("pharos run: memory, wake-ups and CPU time")
        let nowhere = try Descriptor.open("/dev/null", .replace)
        let folder = try temporaryFolder()
        defer { remove(folder) }
        let virtual = try service(Self.cases[2], adapter: "virtual", in: folder)
        let memory = try ProcessMemory(of: virtual.id)
        try virtual.stop()
        report.line("four frames on the virtual adapter: peak RSS \(memory.text)")
        report.target("the same: anonymous memory", memory.anonymous / 1024, "MiB", atMost: 1.5)
        report.target("the same: private dirty", memory.privateDirty / 1024, "MiB", atMost: 2.5)

        var controllers: [ChildProcess] = []
        var services: [ChildProcess] = []
        for each in Self.cases {
            let socket = "\(folder)/\(each.name).sock"
            controllers.append(
                try ChildProcess(
                    [pharos, "controller", "--listen", "unix:\(socket)", "--like", each.model], output: nowhere))
            try waitFor("the socket \(socket)") { unsafe access(socket, F_OK) == 0 }
            services.append(try service(each, adapter: "unix:\(socket)", in: folder))
        }
        usleep(1_000_000)
        let before = try services.map { try ProcessWork(of: $0.id) }
        usleep(useconds_t(Self.quiet) * 1_000_000)
        let between = try ProcessWork(of: services[0].id)
        let rest = Self.window - Self.quiet
        let rotating = try ProcessWork(of: services[2].id)
        let bare = try bareRotation("\(folder)/\(Self.cases[2].name).sock", seconds: rest)
        let after = try services.map { try ProcessWork(of: $0.id) }
        let share = (after[2] - rotating).seconds / Double(rest)
        let memories = try services.map { try ProcessMemory(of: $0.id) }
        for process in services + controllers { try process.stop() }

        report.target(
            "a static profile between two verifications: wake-ups in \(Self.quiet) s",
            Double(between.wakeUps - before[0].wakeUps), "", atMost: 0, digits: 0)
        for (index, each) in Self.cases.enumerated() {
            let work = after[index] - before[index]
            let perMinute = Double(work.wakeUps) * 60 / Double(Self.window)
            report.line("\(each.what) (like \(each.model)): \(perMinute.text(0)) wake-ups a minute")
            let hour = work.seconds * 3600 / Double(Self.window)
            if index == 2 {
                report.line("the same: CPU time per hour: \(hour.text(2)) s")
            } else {
                report.target("the same: CPU time per hour", hour, "s", atMost: 1)
            }
            report.line("the same: peak RSS \(memories[index].text)")
            report.target("the same: private dirty", memories[index].privateDirty / 1024, "MiB", atMost: 2.5)
        }
        report.line("the same four system calls per turn in C: CPU time per hour: \((bare * 3600).text(2)) s")
        report.target("four frames in turn compared with that loop", share / bare, "times", atMost: 2.5)
        report.line("From \(Self.window) s each, one of which in two has two verifications of the air; a wake-up is a")
        report.line("voluntary context switch, so a command and its answer count as one or two.")
    }

    /// Returns the share of a second that a C program needs to replace the data every 105 ms, measured for `seconds`.
    private func bareRotation(_ socket: String, seconds: Int) throws -> Double {
        var nanoseconds: Int64 = 0
        let failure = unsafe measurement_rotation(socket, Int32(seconds) * 1000, 105, &nanoseconds)
        guard failure == 0 else { throw SystemError("connect", socket, errno: failure) }
        return Double(nanoseconds) / 1e9 / Double(seconds)
    }

    /// Starts `pharos run` for a case, and waits until it is on the air.
    private func service(_ each: Case, adapter: String, in folder: String) throws -> ChildProcess {
        let list = each.advertisements.map { "{ \($0) }" }.joined(separator: ", ")
        let profile = #"{ "version": 1, "name": "\#(each.name)", "advertisements": [ \#(list) ] }"#
        // The state file is NAME.json, so the profile has another name.
        let path = "\(folder)/\(each.name).profile"
        try Files.replace(path, with: Array(profile.utf8), isDurable: false)
        let nowhere = try Descriptor.open("/dev/null", .replace)
        let process = try ChildProcess(
            [
                pharos, "run", path, "--adapter", adapter, "--state-dir", folder, "--runtime-dir", folder,
            ], output: nowhere)
        try waitFor("\(path) on the air") {
            let status = try? Files.read("\(folder)/\(each.name).status.json", limit: 1 << 16)
            return status.map { String(decoding: $0, as: UTF8.self).contains(#""state":"on-air""#) } ?? false
        }
        return process
    }

    private func waitFor(_ what: String, _ condition: () -> Bool) throws {
        for _ in 0..<500 {
            if condition() { return }
            usleep(10_000)
        }
        throw BenchmarkError("\(what): it did not happen in time")
    }

    /// Returns a directory in memory, where /run is too: the service writes there every few seconds, and the work of a
    /// disk must not be measured.
    private func temporaryFolder() throws -> String {
        let path = "/dev/shm/pharos-service-\(getpid())"
        guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("mkdir", path, errno: errno) }
        return path
    }

    private func remove(_ folder: String) {
        for name in Files.names(in: folder) { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
    }
}

/// The work of a process since its start.
struct ProcessWork {
    /// The number of times that its threads went to sleep, which equals the number of wake-ups.
    let wakeUps: Int
    /// The CPU time in seconds.
    let seconds: Double

    init(of process: pid_t) throws {
        var wakeUps = 0
        var nanoseconds = 0.0
        let tasks = "/proc/\(process)/task"
        for thread in Files.names(in: tasks) {
            let text = String(decoding: try Files.read("\(tasks)/\(thread)/status", limit: 1 << 16), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            let statistics = Files.firstLine("\(tasks)/\(thread)/schedstat")?.split(separator: " ").first
            guard let count = line?.split(separator: "\t").last.flatMap({ Int($0) }),
                let time = statistics.flatMap({ Double($0) })
            else { throw BenchmarkError("the kernel does not report the work of process \(process)") }
            wakeUps += count
            nanoseconds += time
        }
        self.init(wakeUps: wakeUps, seconds: nanoseconds / 1e9)
    }

    private init(wakeUps: Int, seconds: Double) {
        self.wakeUps = wakeUps
        self.seconds = seconds
    }

    static func - (later: ProcessWork, earlier: ProcessWork) -> ProcessWork {
        ProcessWork(wakeUps: later.wakeUps - earlier.wakeUps, seconds: later.seconds - earlier.seconds)
    }
}
