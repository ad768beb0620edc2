import BluetoothTypes
import HCITransports
import LinuxHost
import Listener
import Sightings
import Synchronization
import TestSupport
import Testing

@testable import HubService

/// The server of a Bluetooth proxy and clients that misbehave.
@Suite(.serialized) struct ProxyServerTests {
    private let folder: TemporaryFolder
    private let path: String
    private let server: ProxyServer
    private let log = Log()

    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
    }

    init() throws {
        // The program ignores these signals, too: the client writes after the server has disconnected it.
        SignalDescriptor.ignoreBrokenPipes()
        folder = try TemporaryFolder()
        path = folder.place("proxy")
        let address = try #require(DeviceAddress("C0:01:02:03:04:05"))
        let log = log
        server = try ProxyServer(
            .unix(path: folder.place("proxy")), ProxyIdentity(name: "hall", address: address, version: "1"), key: nil,
            isActive: false
        ) { line in log.lines.withLock { $0.append(line) } }
        try server.start()
    }

    private func end() { server.finish(at: HeardInstant(nanoseconds: 0)) }

    private func answers(_ client: Descriptor, to octets: [UInt8], milliseconds: Int = 60_000) throws -> [UInt8] {
        _ = try client.write(octets)
        guard try Poller.wait([.init(client, .read)], milliseconds: milliseconds) == [true] else { return [] }
        return try client.read(upTo: 4096)
    }

    private let ping = APIMessage(.pingRequest).plainFrame

    @Test func silentConnectionsDoNotBlockNewClients() throws {
        defer { end() }
        let silent = try (0..<60).map { _ in try StreamSocket.connect(path: path) }
        let client = try StreamSocket.connect(path: path)
        #expect(try answers(client, to: ping) == APIMessage(.pingResponse).plainFrame)
        // The server has disconnected the oldest silent client.
        #expect(try silent[0].read(upTo: 9).isEmpty)
    }

    @Test func aClientThatDoesNotReadIsDisconnected() throws {
        defer { end() }
        let client = try StreamSocket.connect(path: path)
        let question = [UInt8](repeating: 0, count: 0) + APIMessage(.deviceInfoRequest).plainFrame
        let many = (0..<1000).flatMap { _ in question }
        let deadline = MonotonicClock.nanoseconds() + 60_000_000_000
        var written = 0
        do {
            while MonotonicClock.nanoseconds() < deadline {
                guard try Poller.wait([.init(client, .write)], milliseconds: 1000) == [true] else { continue }
                written += try client.write(many)
            }
            Issue.record("the client was not disconnected within 60 s")
        } catch {
            #expect(log.lines.withLock { $0 }.contains { $0.contains("does not read the answers") })
        }
        // The limit of waiting answers, and the buffers of the sockets.
        #expect(written < 2_000_000)
    }

    @Test func aConnectionWithoutAMessageEndsAfterTenSeconds() throws {
        defer { end() }
        let silent = try StreamSocket.connect(path: path)
        let client = try StreamSocket.connect(path: path)
        #expect(try !answers(client, to: ping).isEmpty)
        #expect(try Poller.wait([.init(silent, .read)], milliseconds: 60_000) == [true])
        #expect(try silent.read(upTo: 9).isEmpty)
        #expect(try !answers(client, to: ping).isEmpty)
        #expect(log.lines.withLock { $0 }.contains { $0.contains("it sent no message within 10 s") })
    }
}
