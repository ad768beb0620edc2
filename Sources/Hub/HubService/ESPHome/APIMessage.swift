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
