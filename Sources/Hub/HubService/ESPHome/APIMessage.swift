/// The types of messages of ESPHome's native API that a Bluetooth proxy uses, with their numbers (ESPHome, api.proto).
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

/// One message of ESPHome's native API.
public struct APIMessage: Hashable, Sendable {
    /// The number of the message's type: one of ``APIMessageType``, or another type of ESPHome.
    public let type: UInt64
    /// The fields of the message in the encoding of Protocol Buffers.
    public let payload: [UInt8]

    /// Creates a message with the fields that `write` adds.
    public init(_ type: APIMessageType, _ write: (inout ProtocolBufferWriter) -> Void = { _ in }) {
        var writer = ProtocolBufferWriter()
        write(&writer)
        self.init(type: type.rawValue, payload: writer.octets)
    }

    /// Creates a received message.
    public init(type: UInt64, payload: [UInt8]) {
        self.type = type
        self.payload = payload
    }

    /// The bytes of the message without encryption: 0, the length of the payload, the number of the type, and the
    /// payload.
    public var plainFrame: [UInt8] {
        var octets: [UInt8] = [0]
        octets.append(varint: UInt64(payload.count))
        octets.append(varint: type)
        return octets + payload
    }
}
