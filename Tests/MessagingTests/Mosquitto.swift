import LinuxHost
import Messaging
import TestSupport

/// A real broker on the loopback interface, which stops when this object is released.
final class Mosquitto {
    let folder: TemporaryFolder
    let port: UInt16
    private let configuration: String
    private var process: ChildProcess?

    /// - Parameter lines: Further lines of its configuration; `FOLDER` is replaced by the folder of its files.
    init(_ lines: [String] = ["allow_anonymous true"], files: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        let (listener, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        self.port = port
        withExtendedLifetime(listener) {}
        for (name, text) in files { try folder.file(name, text: text) }
        let text = (["listener \(port) 127.0.0.1", "persistence false", "user root"] + lines).joined(separator: "\n")
        let place = folder.path
        configuration = try folder.file(
            "mosquitto.conf",
            text: text.split(separator: "FOLDER", omittingEmptySubsequences: false)
                .joined(separator: place) + "\n")
    }

    static var isInstalled: Bool { Files.exists("/usr/sbin/mosquitto") }

    /// Starts the broker and waits until it accepts connections.
    func start() throws {
        process = try ChildProcess(["/usr/sbin/mosquitto", "-c", configuration])
        let deadline = MonotonicClock.nanoseconds() + 10_000_000_000
        while MonotonicClock.nanoseconds() < deadline {
            if (try? StreamSocket.connect(host: "127.0.0.1", port: port)) != nil { return }
            _ = try Poller.wait([], milliseconds: 20)
        }
    }

    func stop() {
        process?.end()
        process = nil
    }

    /// Returns the options of a client of this broker.
    func options(_ name: String) -> BrokerOptions {
        BrokerOptions(host: "127.0.0.1", port: port, isSecure: false, clientName: name)
    }
}

extension BrokerConnection {
    /// Runs the connection until an event is as wanted; returns `nil` if none comes in time.
    func wait(seconds: Int = 10, _ isWanted: (BrokerEvent) -> Bool) throws -> BrokerEvent? {
        let deadline = MonotonicClock.nanoseconds() + UInt64(seconds) * 1_000_000_000
        var now = MonotonicClock.nanoseconds()
        while now < deadline {
            if let event = poll(at: now).first(where: isWanted) { return event }
            _ = try Poller.wait([.init(descriptor, .read)], until: min(deadline, nextWakeUp ?? deadline))
            now = MonotonicClock.nanoseconds()
        }
        return nil
    }

    func isConnectedInTime(seconds: Int = 10) throws -> Bool {
        try isConnected || wait(seconds: seconds) { $0 == .connected } != nil
    }
}
