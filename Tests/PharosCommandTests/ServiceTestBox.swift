import Glibc
import LinuxHost
import TestSupport
import Testing

/// A machine for one service: its directories, its profile, and a controller that can be plugged in and removed.
final class ServiceTestBox {
    let folder: TemporaryFolder
    /// The socket at which a controller can be plugged in.
    let socket: String
    private(set) var service: RunningProgram?
    private var controller: RunningProgram?

    init(_ profile: String = ServiceTestBox.profile()) throws {
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

    /// Returns a profile with one advertisement of this type with these further members.
    static func profile(_ type: String, _ members: String) -> String {
        #"{"version": 1, "name": "lobby", "advertisements": [{"type": "\#(type)", \#(members)}]}"#
    }

    static let ephemeral = profile(
        "eddystone-eid",
        #""rotationExponent": 3, "identityKeyFile": "eid.key", "intervalMs": 100, "measuredPowerDbm": -20"#)

    /// Writes the key file of ``ephemeral``.
    func writeKey(_ text: String = String(repeating: "ab", count: 16), mode: mode_t = 0o600) throws {
        _ = unsafe chmod(try folder.file("eid.key", text: text), mode)
    }

    func write(_ profile: String) throws { try folder.file("profile", text: profile) }

    @discardableResult
    func start(
        adapter: String? = "virtual", state: String? = nil, runtime: String? = nil, _ more: [String] = []
    ) throws -> RunningProgram {
        let program = try RunningProgram(
            ["run", folder.place("profile")] + (adapter.map { ["--adapter", $0] } ?? []) + [
                "--state-dir", state ?? folder.path, "--runtime-dir", runtime ?? folder.path,
            ] + more)
        service = program
        return program
    }

    /// Starts the service from a shell script, in which `$0` is the program and `$@` its arguments.
    @discardableResult
    func start(
        shell script: String, adapter: String = "virtual", state: String? = nil
    ) throws -> RunningProgram {
        let program = try RunningProgram(
            [
                "-c", script, Program.path, "run", folder.place("profile"), "--adapter", adapter, "--state-dir",
                state ?? folder.path, "--runtime-dir", folder.path,
            ], executable: "/bin/sh")
        service = program
        return program
    }

    func reload(_ profile: String) throws {
        try write(profile)
        service?.signal(SIGHUP)
    }

    func stop() -> Program.Result? {
        service?.signal(SIGTERM)
        return service?.end()
    }

    func plug() throws {
        let program = try RunningProgram(["controller", "--listen", "unix:\(socket)", "--like", "raspberry-pi"])
        controller = program
        #expect(program.prints("listening"))
    }

    /// Lets the controller stop answering while its connection stays open.
    func silence() { controller?.signal(SIGSTOP) }

    func unplug() {
        controller?.signal(SIGCONT)
        controller?.signal(SIGTERM)
        _ = controller?.end()
        controller = nil
    }

    /// Waits until the service's log contains `text`.
    func says(_ text: String) -> Bool {
        guard let service else { return false }
        return eventually { service.errors.contains(text) }
    }

    /// Returns the number of times that the log contains `text`.
    func count(_ text: String) -> Int {
        service?.errors.split(separator: "\n").filter { $0.contains(text) }.count ?? 0
    }

    /// The files in the machine's directory.
    var files: [String] { Files.names(in: folder.path) }

    func text(_ name: String) -> String {
        String(decoding: (try? Files.read(folder.place(name))) ?? [], as: UTF8.self)
    }

    func status() throws -> String { try Program.run("status", "--json", "--runtime-dir", folder.path).output }
}
