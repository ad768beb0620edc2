import Advertiser
import BluetoothTypes
import Glibc
import HCITransports
import LinuxHost
import TestSupport

@testable import BeaconService

/// A service in this process: its directories, its profile, its log, and signals that nobody else gets.
final class TestService {
    let folder: TemporaryFolder
    /// Where the profile lies in it.
    private let place: String
    private(set) var log: [String] = []
    /// What the machine's clock shows, in seconds since 1970, and whether somebody says that it is right.
    var wall = (unixSeconds: 0, isTrusted: false)
    private var environment: ServiceEnvironment?
    private var service: Service?

    init(_ profile: String = TestService.profile(), at place: String = "etc/lobby.json") throws {
        self.place = place
        folder = try TemporaryFolder()
        try write(profile)
    }

    static func profile(name: String = "lobby", minor: Int = 2) -> String {
        """
        {"version": 1, "name": "\(name)", "advertisements": [
        {"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": \(minor),
        "intervalMs": 100, "measuredPowerDbm": -59}]}
        """
    }

    /// One advertisement with these members beside its type.
    static func profile(_ type: String, _ members: String) -> String {
        #"{"version": 1, "name": "lobby", "advertisements": [{"type": "\#(type)", \#(members)}]}"#
    }

    /// - Parameter epoch: When the clock of ephemeral identifiers was 65280, as the profile has it.
    static func ephemeral(epoch: String? = nil) -> String {
        #"{"version": 1, "name": "lobby", \#(epoch.map { #""eidEpoch": "\#($0)", "# } ?? "")"advertisements": ["#
            + #"{"type": "eddystone-eid", "rotationExponent": 3, "identityKeyFile": "eid.key", "intervalMs": 100, "#
            + #""measuredPowerDbm": -20}]}"#
    }

    func write(_ profile: String) throws { try folder.file(place, text: profile) }

    /// Puts the key of ``ephemeral(epoch:)`` in its place.
    func writeKey(_ text: String = String(repeating: "ab", count: 16), mode: mode_t = 0o600) throws {
        _ = unsafe chmod(try folder.file("etc/eid.key", text: text), mode)
    }

    /// Starts it on the adapter; `start` returns after the first attempt.
    func start(adapter: AdapterName? = .virtual) throws {
        // What an earlier test has left for this thread.
        let left = try SignalDescriptor([SIGUSR1, SIGUSR2])
        while left.take() != nil {}
        let signals = try ServiceSignals(stop: [SIGUSR1], reload: [SIGUSR2])
        let notifier = try ServiceNotifier { _ in nil }
        let job = try ServiceJob(path: folder.place(place), adapter: adapter)
        let directories = ServiceDirectories(state: folder.path, runtime: folder.path)
        let environment = ServiceEnvironment(
            job, directories, notifier: notifier, signals: signals,
            log: { [unowned self] _, text in log.append(text) },
            wallClock: { [unowned self] in (wall.unixSeconds * 1_000_000, wall.isTrusted) })
        try environment.begin()
        let service = Service(
            environment, notifier: notifier, signals: signals, view: ServiceReport(directories))
        (self.environment, self.service) = (environment, service)
        service.begin()
    }

    /// The operator wants the profile to be read anew, and it is.
    func reload(_ profile: String) throws {
        try write(profile)
        // To this thread alone, which is the one that reads it.
        raise(SIGUSR2)
        try service?.turn()
    }

    /// The machine's clock was set, or a minute has gone.
    func lookAtTheClock() throws { environment?.compareClocks() }

    /// One thing that is due.
    func turn() throws { try service?.turn() }

    /// Ends it as the operator does.
    func stop() throws {
        if service?.isOver == false { raise(SIGUSR1) }
        while let service, !service.isOver { try service.turn() }
        try service?.finish()
    }

    /// Whether the log has `text`.
    func says(_ text: String) -> Bool { log.contains { $0.contains(text) } }

    func text(_ name: String) -> String {
        String(decoding: (try? Files.read(folder.place(name))) ?? [], as: UTF8.self)
    }

    var status: String { text("lobby.status.json") }
}
