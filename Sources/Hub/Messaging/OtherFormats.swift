internal import BluetoothTypes
public import Configuration
internal import Sightings

/// Messages about iBeacons in the format of OpenMQTTGateway and Theengs Gateway.
public struct Theengs: Hashable, Sendable {
    private let receiver: TopicLevel

    /// - Parameter receiver: The listener's name, which is used as the name of the gateway.
    public init(receiver: String) { self.receiver = TopicLevel(receiver) }

    /// Returns the message with the measurements of a device; `nil` if the device is no iBeacon. The iBeacon is the
    /// only beacon format that both Pharos and Theengs support.
    public func device(_ reading: BeaconReading) -> Publication? {
        guard case .iBeacon(let uuid, let major, let minor) = reading.identity,
            let digits = reading.addressDigits(isUppercase: true), let address = reading.address
        else { return nil }
        return Publication(
            "home/\(receiver)/BTtoMQTT/\(digits)",
            .record([
                ("id", .string(address.description)),
                ("rssi", .optional(reading.lastLevel, JSONValue.integer)),
                ("brand", "GENERIC"), ("model", "iBeacon"), ("model_id", "IBEACON"), ("type", "BCON"),
                ("mfid", "4c00"), ("uuid", .hex(uuid.octets)), ("major", .integer(major)), ("minor", .integer(minor)),
                ("txpower", .optional(reading.powerAtOneMeter, JSONValue.integer)),
            ]), isAssured: false)
    }
}

/// Messages in reelyActive's format raddec ("radio decoding"), one for each device.
public struct Raddec: Hashable, Sendable {
    /// The types of identifiers in a raddec.
    private enum IdentifierType: Int {
        case eui48 = 2
        case random48 = 3
    }

    private let receiverID: String
    private let topic: String

    /// Creates the messages of a receiver. The receiver's identifier has 48 bits: it is computed from the name, and
    /// marked as a random address.
    public init(receiver name: String) {
        topic = "raddec/\(TopicLevel(name))"
        receiverID = String(StableHash.of(name) & 0xFFFF_FFFF_FFFF | 0xC000_0000_0000, radix: 16)
    }

    /// Returns the raddec of a device; `nil` if the device's address or level is not known.
    ///
    /// - Parameter unixMilliseconds: The time of reception, in milliseconds since 1970.
    public func json(_ reading: BeaconReading, unixMilliseconds: Int) -> JSONValue? {
        guard let digits = reading.addressDigits(isUppercase: false), let level = reading.meanLevel else { return nil }
        let type: IdentifierType = reading.isRandomAddress ? .random48 : .eui48
        return .record([
            ("transmitterId", .string(digits)), ("transmitterIdType", .integer(type.rawValue)),
            (
                "rssiSignature",
                [
                    .record([
                        ("receiverId", .string(receiverID)),
                        ("receiverIdType", .integer(IdentifierType.random48.rawValue)),
                        ("rssi", .integer(Int(level.rounded()))), ("numberOfDecodings", .integer(reading.reports)),
                    ])
                ]
            ),
            ("packets", []), ("timestamp", .integer(unixMilliseconds)),
        ])
    }

    /// Returns the raddec (radio decoding) of a device as a message to the topic `raddec/RECEIVER`. The payload names the
    /// device.
    public func device(_ reading: BeaconReading, unixMilliseconds: Int) -> Publication? {
        json(reading, unixMilliseconds: unixMilliseconds).map { Publication(topic, $0, isAssured: false) }
    }
}
