import Glibc
import LinuxHost

/// mosquitto on its own port, and a subscriber (MQTT 3.1.1, QoS 0) that reads the zone events of a listener.
final class BrokerReader {
    /// The connection, which is polled for reading.
    let stream: Descriptor
    /// The broker's address.
    let url: String
    private let broker: ChildProcess
    private var octets: [UInt8] = []

    private static let program = "/usr/sbin/mosquitto"

    /// True if mosquitto is installed.
    static var isThere: Bool { Files.exists(program) }

    init(in folder: String) throws {
        // Any free port is good enough.
        let port = UInt16(20_000 + Int(getpid()) % 20_000)
        url = "mqtt://127.0.0.1:\(port)"
        let file = "\(folder)/mosquitto.conf"
        let lines = [
            "listener \(port) 127.0.0.1", "persistence false", "allow_anonymous true", "log_dest none", "user root",
        ]
        try Files.replace(file, with: Array((lines.joined(separator: "\n") + "\n").utf8))
        broker = try ChildProcess([Self.program, "-c", file], output: try Descriptor.open("/dev/null", .replace))
        var connected: Descriptor?
        for _ in 0..<100 where connected == nil {
            connected = try? StreamSocket.connect(host: "127.0.0.1", port: port)
            if connected == nil { usleep(50_000) }
        }
        guard let connected else { throw BenchmarkError("mosquitto does not accept connections") }
        stream = connected
        // CONNECT: protocol level 4, a clean session, no keep-alive, the client "judge".
        try stream.writeAll(Self.packet(0x10, Self.text("MQTT") + [4, 2, 0, 0] + Self.text("judge")))
        // SUBSCRIBE: packet 1, one filter, QoS 0.
        try stream.writeAll(Self.packet(0x82, [0, 1] + Self.text("pharos/+/zones/+/events") + [0]))
    }

    private static func text(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF)] + text.utf8
    }

    private static func packet(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] { [kind, UInt8(body.count)] + body }

    /// Returns the payloads that have arrived.
    func read() throws -> [String] {
        octets += try stream.read(upTo: 1 << 16)
        var found: [String] = []
        while let packet = next() {
            // PUBLISH: the length of the topic, the topic, the payload.
            guard packet.kind & 0xF0 == 0x30, packet.body.count > 2 else { continue }
            let length = Int(packet.body[0]) << 8 | Int(packet.body[1])
            found.append(String(decoding: packet.body.dropFirst(2 + length), as: UTF8.self))
        }
        return found
    }

    private func next() -> (kind: UInt8, body: [UInt8])? {
        guard let kind = octets.first else { return nil }
        var (length, shift, place) = (0, 0, 1)
        while true {
            guard place < octets.count else { return nil }
            length |= Int(octets[place] & 0x7F) << shift
            shift += 7
            place += 1
            if octets[place - 1] & 0x80 == 0 { break }
        }
        guard octets.count >= place + length else { return nil }
        defer { octets.removeFirst(place + length) }
        return (kind, Array(octets[place..<place + length]))
    }

    /// Stops the broker.
    func stop() throws { try broker.stop() }
}
