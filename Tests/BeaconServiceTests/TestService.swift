import Advertiser
import BluetoothTypes
import Glibc
import HCITransports
import LinuxHost
import TestSupport

@testable import BeaconService

/// A service in this process: its directories, its profile, its log, and signals that only this thread gets.
final class TestService {
    let folder: TemporaryFolder
    /// The path of the profile in the directory.
    private let place: String
    private(set) var log: [String] = []
    /// The machine's clock in seconds since 1970, and whether it is synchronised.
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

    /// Returns a profile with one advertisement of this type with these further members.
    static func profile(_ type: String, _ members: String) -> String {
        #"{"version": 1, "name": "lobby", "advertisements": [{"type": "\#(type)", \#(members)}]}"#
    }

    /// - Parameter epoch: The instant at which the clock of ephemeral identifiers was 65280, as the profile states it.
    static func ephemeral(epoch: String? = nil) -> String {
        #"{"version": 1, "name": "lobby", \#(epoch.map { #""eidEpoch": "\#($0)", "# } ?? "")"advertisements": ["#
            + #"{"type": "eddystone-eid", "rotationExponent": 3, "identityKeyFile": "eid.key", "intervalMs": 100, "#
            + #""measuredPowerDbm": -20}]}"#
    }

    func write(_ profile: String) throws { try folder.file(place, text: profile) }

    /// Writes the key file of ``ephemeral(epoch:)``.
    func writeKey(_ text: String = String(repeating: "ab", count: 16), mode: mode_t = 0o600) throws {
        _ = unsafe chmod(try folder.file("etc/eid.key", text: text), mode)
    }

    /// Starts the service on the adapter. Returns after the first attempt.
    func start(adapter: AdapterName? = .virtual) throws {
        // Signals of an earlier test that this thread did not read.
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
            environment, notifier: notifier, signals: signals, view: ServiceReport(directories, readingPause: 0))
        (self.environment, self.service) = (environment, service)
        service.begin()
    }

    /// Writes a new profile and reloads it, as the operator does.
    func reload(_ profile: String) throws {
        try write(profile)
        // Only this thread gets the signal, and reads it.
        raise(SIGUSR2)
        try service?.runOnce()
    }

    /// Lets the service compare its clocks, as after a clock change or after a minute.
    func lookAtTheClock() throws { environment?.compareClocks() }

    /// Executes the next action that is due.
    func runOnce() throws { try service?.runOnce() }

    /// Stops the service as the operator does.
    func stop() throws {
        if service?.isOver == false { raise(SIGUSR1) }
        while let service, !service.isOver { try service.runOnce() }
        try service?.finish()
    }

    /// Returns true if the log contains `text`.
    func says(_ text: String) -> Bool { log.contains { $0.contains(text) } }

    func text(_ name: String) -> String {
        String(decoding: (try? Files.read(folder.place(name))) ?? [], as: UTF8.self)
    }

    var status: String { text("lobby.status.json") }
}
