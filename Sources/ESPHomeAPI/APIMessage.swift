/// The messages of ESPHome's native API that a Bluetooth proxy takes part in, by their numbers (ESPHome, api.proto).
public enum APIMessageType: UInt64, Sendable {
    case helloRequest = 1
    case helloResponse = 2
    case authenticationRequest = 3
    case authenticationResponse = 4
    case disconnectRequest = 5
    case disconnectResponse = 6
    case pingRequest = 7
    case pingResponse = 8
    case deviceInfoRequest = 9
    case deviceInfoResponse = 10
    case listEntitiesRequest = 11
    case listEntitiesDoneResponse = 19
    case subscribeStatesRequest = 20
    case subscribeAdvertisementsRequest = 66
    case subscribeConnectionsFreeRequest = 80
    case connectionsFreeResponse = 81
    case unsubscribeAdvertisementsRequest = 87
    case rawAdvertisementsResponse = 93
    case scannerStateResponse = 126
    case scannerSetModeRequest = 127
    case deviceCapabilitiesRequest = 149
    case deviceCapabilitiesResponse = 150
}

/// One message with its number.
public struct APIMessage: Hashable, Sendable {
    /// Its number: one of ``APIMessageType``, or another of those that ESPHome has.
    public let type: UInt64
    /// Its fields, in Protocol Buffers' encoding.
    public let payload: [UInt8]

    /// A message with the fields that `write` adds.
    public init(_ type: APIMessageType, _ write: (inout ProtocolBufferWriter) -> Void = { _ in }) {
        var writer = ProtocolBufferWriter()
        write(&writer)
        self.init(type: type.rawValue, payload: writer.octets)
    }

    /// A message as it was received.
    public init(type: UInt64, payload: [UInt8]) {
        self.type = type
        self.payload = payload
    }

    /// As it is sent in plain text: 0, the payload's length, the number, the payload.
    public var plainFrame: [UInt8] {
        var octets: [UInt8] = [0]
        octets.append(varint: UInt64(payload.count))
        octets.append(varint: type)
        return octets + payload
    }
}

/// Cuts what a client sends in plain text into messages.
public struct PlainFrameReader: Sendable {
    /// What ends a connection.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The client wants encryption: its frames begin with 1.
        case encrypted
        /// The first octet of a frame is neither 0 nor 1.
        case noFrame
        /// A message is longer than ``PlainFrameReader/longest``.
        case tooLong

        public var description: String {
            switch self {
            case .encrypted: "it wants encryption, which is not configured here; leave its encryption key empty"
            case .noFrame: "it does not speak ESPHome's native API"
            case .tooLong: "its message is longer than \(PlainFrameReader.longest) octets"
            }
        }
    }

    /// The most octets of a message that is taken. What clients send to a Bluetooth proxy has a few dozen.
    public static let longest = 4096

    private var octets: [UInt8] = []

    /// A reader of a new connection.
    public init() {}

    /// Takes what was received.
    public mutating func push(_ more: some Collection<UInt8>) { octets += more }

    /// The next message; `nil` until more is received.
    public mutating func next() throws(Fault) -> APIMessage? {
        var rest = octets[...]
        guard let first = rest.popFirst() else { return nil }
        guard first == 0 else { throw first == 1 ? .encrypted : .noFrame }
        guard let length = rest.takeVarint(), let type = rest.takeVarint() else {
            // Two numbers have at most 20 octets.
            if octets.count > 21 { throw .noFrame }
            return nil
        }
        guard length <= Self.longest else { throw .tooLong }
        guard rest.count >= Int(length) else { return nil }
        let message = APIMessage(type: type, payload: Array(rest.prefix(Int(length))))
        octets = Array(rest.dropFirst(Int(length)))
        return message
    }
}
