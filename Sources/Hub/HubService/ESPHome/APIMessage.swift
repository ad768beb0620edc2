/// The messages of ESPHome's native API that a Bluetooth proxy uses, by their numbers (ESPHome, api.proto).
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

/// One message with its number.
public struct APIMessage: Hashable, Sendable {
    /// The number: one of ``APIMessageType``, or another message number of ESPHome.
    public let type: UInt64
    /// The fields, in Protocol Buffers' encoding.
    public let payload: [UInt8]

    /// A message with the fields that `write` adds.
    public init(_ type: APIMessageType, _ write: (inout ProtocolBufferWriter) -> Void = { _ in }) {
        var writer = ProtocolBufferWriter()
        write(&writer)
        self.init(type: type.rawValue, payload: writer.octets)
    }

    /// A received message.
    public init(type: UInt64, payload: [UInt8]) {
        self.type = type
        self.payload = payload
    }

    /// The bytes of the message in plain text: 0, the payload's length, the number, the payload.
    public var plainFrame: [UInt8] {
        var octets: [UInt8] = [0]
        octets.append(varint: UInt64(payload.count))
        octets.append(varint: type)
        return octets + payload
    }
}
