public import BeaconFrames
internal import BluetoothTypes
public import Configuration

/// Beacon frames as JSON: the keys that scripts rely on.
public enum FrameJSON {
    /// One frame, by its `type` and its fields.
    ///
    /// - Parameter decrypted: What an encrypted frame says, where there is a key; without it that member is left out.
    public static func value(_ frame: BeaconFrame, decrypted: JSONValue? = nil) -> JSONValue {
        .record([("type", .string(frame.typeName))] + members(frame) + (decrypted.map { [("decrypted", $0)] } ?? []))
    }

    private static func members(_ frame: BeaconFrame) -> [(String, JSONValue)] {
        switch frame {
        case .iBeacon(let frame):
            [
                ("uuid", .string(frame.uuid.description)), ("major", .integer(Int(frame.major))),
                ("minor", .integer(Int(frame.minor))), ("measuredPowerDbm", .integer(Int(frame.measuredPower.dBm))),
            ]
        case .altBeacon(let frame):
            [
                ("companyId", .integer(Int(frame.companyID))), ("id", .hex(frame.beaconID.octets)),
                ("measuredPowerDbm", .integer(Int(frame.measuredPower.dBm))),
                ("reserved", .integer(Int(frame.reserved))),
            ]
        case .eddystoneUID(let frame):
            [
                ("namespace", .hex(frame.namespace.octets)), ("instance", .hex(frame.instance.octets)),
                ("measuredPowerDbm", .integer(Int(frame.measuredPower.dBm))),
            ]
        case .eddystoneURL(let frame):
            [("url", .string(frame.url.text)), ("measuredPowerDbm", .integer(Int(frame.measuredPower.dBm)))]
        case .eddystoneTLM(let frame):
            telemetry(frame)
        case .eddystoneEncryptedTLM(let frame):
            [("encrypted", .hex(frame.encrypted.octets)), ("salt", hex(frame.salt)), ("mic", hex(frame.mic))]
        case .eddystoneEID(let frame):
            [("id", .hex(frame.id.octets)), ("measuredPowerDbm", .integer(Int(frame.measuredPower.dBm)))]
        case .btHome(let packet): members(packet)
        }
    }

    /// What telemetry says, without its type.
    public static func telemetry(_ frame: EddystoneTLM) -> [(String, JSONValue)] {
        [
            ("batteryMv", .optional(frame.batteryMillivolts) { .integer(Int($0)) }),
            ("temperatureC", .optional(frame.temperature) { .decimal("\($0.celsius)") }),
            ("advertisements", .integer(Int(frame.advertisements))),
            ("uptimeS", .decimal(frame.uptimeText)),
        ]
    }

    private static func members(_ packet: BTHome) -> [(String, JSONValue)] {
        let trigger = ("triggerBased", JSONValue.boolean(packet.isTriggerBased))
        guard let sealed = packet.sealed else { return [trigger, ("objects", objects(packet))] }
        return [
            trigger, ("encrypted", .hex(sealed.ciphertext)), ("counter", .integer(Int(sealed.counter))),
            ("mic", .hex(sealed.mic)),
        ]
    }

    /// What a packet of BTHome says, in the order of the air.
    public static func objects(_ packet: BTHome) -> JSONValue {
        .array(
            packet.objects.map { object in
                let kind = object.kind
                let value: JSONValue =
                    kind.isNumber
                    ? .decimal(object.text) : kind.isBinary ? .boolean(object.text == "true") : .string(object.text)
                return .record([
                    ("id", .integer(Int(kind.id))), ("name", .string(kind.name)), ("value", value),
                    ("unit", kind.unit.isEmpty ? .null : .string(kind.unit)),
                ])
            })
    }

    private static func hex(_ number: UInt16) -> JSONValue {
        .hex([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }
}
