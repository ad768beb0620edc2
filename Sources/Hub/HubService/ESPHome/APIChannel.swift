internal import BluetoothTypes

/// The reason why the proxy ends a connection with a client.
public enum ChannelFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client wants encryption, and this proxy has no key.
    case encrypted
    /// The client uses plain text, and this proxy has a key.
    case plain
    /// The client has a different key.
    case otherKey
    /// The client sends bytes that are no frames of ESPHome's native API.
    case noFrame
    /// A message is longer than ``APIChannel/longest``.
    case tooLong

    public var description: String {
        switch self {
        case .encrypted:
            "the client wants encryption, but this proxy has no key: leave the client's encryption key empty"
        case .plain: "the client wants no encryption, but this proxy has a key: give the client that key"
        case .otherKey: "the client has a different encryption key"
        case .noFrame: "the client does not use ESPHome's native API"
        case .tooLong: "a message of the client is longer than \(APIChannel.longest) bytes"
        }
    }
}

/// The framing of one connection: converts bytes to messages and back, in plain text or encrypted with a shared key.
public struct APIChannel: Sendable {
    /// The maximum length of a client's message, in bytes. Clients of a Bluetooth proxy send a few dozen bytes.
    public static let longest = 4096

    private enum State {
        case plain
        /// Nothing has been received yet: the client's first frame is expected.
        case hello
        /// The client's handshake message is expected.
        case handshake
        /// The handshake is complete, and messages are encrypted.
        case ready(receive: NoiseCipher, send: NoiseCipher)
    }

    private let key: ProxyKey?
    private let identity: ProxyIdentity
    private var state: State
    /// The received bytes that are not read yet.
    private var octets: [UInt8] = []
    /// The bytes of the handshake that must be sent to the client.
    private var answers: [UInt8] = []

    /// Creates the channel of a new connection.
    ///
    /// - Parameters:
    ///   - identity: The proxy's identity, which is sent to the client before the encryption starts.
    ///   - key: The key that clients must have; `nil` for plain text.
    public init(_ identity: ProxyIdentity, key: ProxyKey?) {
        self.identity = identity
        self.key = key
        state = key == nil ? .plain : .hello
    }

    /// Adds received bytes.
    public mutating func push(_ more: some Collection<UInt8>) { octets += more }

    /// Returns the new bytes of the handshake that must be sent to the client. The next call does not return them
    /// again.
    public mutating func takeAnswers() -> [UInt8] {
        defer { answers = [] }
        return answers
    }

    /// Returns the next message; `nil` until more bytes are received.
    public mutating func next() throws(ChannelFault) -> APIMessage? {
        guard let first = octets.first else { return nil }
        if case .plain = state {
            guard first == 0 else { throw first == 1 ? .encrypted : .noFrame }
            return try nextPlain()
        }
        while let frame = try takeFrame() {
            if let message = try take(frame) { return message }
        }
        return nil
    }

    /// Returns the bytes of a message to the client; empty before the handshake is complete.
    public mutating func frame(_ message: APIMessage) -> [UInt8] {
        switch state {
        case .plain: return message.plainFrame
        case .hello, .handshake: return []
        case .ready(let receive, var send):
            let header = [
                UInt8(truncatingIfNeeded: message.type >> 8), UInt8(truncatingIfNeeded: message.type),
                UInt8(truncatingIfNeeded: message.payload.count >> 8), UInt8(truncatingIfNeeded: message.payload.count),
            ]
            guard let sealed = try? send.encrypt(header + message.payload) else { return [] }
            state = .ready(receive: receive, send: send)
            return Self.framed(sealed)
        }
    }

    // MARK: Plain text

    private mutating func nextPlain() throws(ChannelFault) -> APIMessage? {
        var remainder = octets.dropFirst()
        guard let length = remainder.takeVarint(), let type = remainder.takeVarint() else {
            // The indicator byte and two numbers have at most 21 bytes, so more bytes cannot be an incomplete header.
            if octets.count > 21 { throw .noFrame }
            return nil
        }
        guard length <= Self.longest else { throw .tooLong }
        guard remainder.count >= Int(length) else { return nil }
        octets = Array(remainder.dropFirst(Int(length)))
        return APIMessage(type: type, payload: Array(remainder.prefix(Int(length))))
    }

    // MARK: Encrypted

    /// Returns an encrypted frame: the byte 1, the length of the content (two bytes, most significant first), and the
    /// content.
    private static func framed(_ content: [UInt8]) -> [UInt8] {
        [1, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
    }

    private mutating func takeFrame() throws(ChannelFault) -> [UInt8]? {
        guard let first = octets.first else { return nil }
        guard first == 1 else {
            // Clients without encryption recognize from the first byte, 1, that the proxy requires encryption.
            answers += Self.framed([1] + "Bad indicator byte".utf8)
            throw first == 0 ? .plain : .noFrame
        }
        guard octets.count >= 3 else { return nil }
        let length = Int(octets[1]) << 8 | Int(octets[2])
        guard length <= Self.longest else { throw .tooLong }
        guard octets.count >= 3 + length else { return nil }
        defer { octets.removeFirst(3 + length) }
        return Array(octets[3..<3 + length])
    }

    private mutating func take(_ frame: [UInt8]) throws(ChannelFault) -> APIMessage? {
        switch state {
        case .plain: return nil
        case .hello:
            // The answer has three parts: the byte 1 (the number of the only protocol), the name and a zero byte, the
            // address and a zero byte.
            let address = Hexadecimal.text(identity.address.octets.octets)
            answers += Self.framed([1] + identity.name.utf8 + [0] + address.utf8 + [0])
            state = .handshake
            return nil
        case .handshake:
            guard let key, frame.first == 0 else { throw .noFrame }
            var handshake = NoiseHandshake(key, prologue: Array("NoiseAPIInit\0\0".utf8))
            do {
                let (message, receive, send) = try handshake.answer(Array(frame.dropFirst()))
                answers += Self.framed([0] + message)
                state = .ready(receive: receive, send: send)
            } catch {
                // Clients recognize a wrong key by exactly this text.
                answers += Self.framed([1] + "Handshake MAC failure".utf8)
                throw .otherKey
            }
            return nil
        case .ready(var receive, let send):
            guard let message = try? receive.decrypt(frame) else { throw .otherKey }
            guard message.count >= 4 else { throw .noFrame }
            state = .ready(receive: receive, send: send)
            return APIMessage(
                type: UInt64(message[0]) << 8 | UInt64(message[1]), payload: Array(message.dropFirst(4)))
        }
    }
}
