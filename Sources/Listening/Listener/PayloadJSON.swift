public import BeaconFrames
public import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// Advertising data and its frames as JSON. Scripts rely on these keys.
public enum PayloadJSON {
    /// Returns one object for the whole payload.
    ///
    /// - Parameter opener: Decrypts encrypted frames; `nil` without a key.
    public static func describe(_ data: AdvertisingData, opener: TelemetryOpener? = nil) -> JSONValue {
        .record(members(data, opener: opener))
    }

    /// Returns the members of the object: octets, structures, frames and problems.
    ///
    /// - Parameter opener: Decrypts encrypted frames; `nil` without a key.
    public static func members(_ data: AdvertisingData, opener: TelemetryOpener? = nil) -> [(String, JSONValue)] {
        let decoded = DecodedAdvertisingData(data)
        return members(decoded, of: data, problems: decoded.problems, opener: opener)
    }

    static func members(
        _ decoded: DecodedAdvertisingData, of data: AdvertisingData, problems: [LintProblem], opener: TelemetryOpener?
    ) -> [(String, JSONValue)] {
        [
            ("octets", .hex(data.octets)),
            ("structures", .array(decoded.structures.map(structure))),
            ("frames", .array(decoded.frames.map { frame($0, opener) })),
            ("problems", .array(problems.map(problem))),
        ]
    }

    private static func frame(_ frame: BeaconFrame, _ opener: TelemetryOpener?) -> JSONValue {
        guard let opener, opener.fits(frame) else { return FrameJSON.value(frame) }
        let decrypted: JSONValue =
            switch opener.open(frame) {
            case .eddystoneTLM(let telemetry): .record(FrameJSON.telemetry(telemetry))
            case .btHome(let packet): .record([("objects", FrameJSON.objects(packet))])
            // The key, address, time or exponent does not fit the frame.
            default: .null
            }
        return FrameJSON.value(frame, decrypted: decrypted)
    }

    private static func structure(_ structure: ADStructure) -> JSONValue {
        .record(
            [
                ("type", .integer(Int(structure.type.rawValue))),
                ("name", .optional(structure.type.key, JSONValue.string)),
                ("data", .hex(structure.data)),
            ] + (structure.localName.map { [("text", .string($0))] } ?? []))
    }

    private static func problem(_ problem: LintProblem) -> JSONValue {
        .record([
            ("offset", .integer(problem.offset)), ("rule", .string(problem.rule.rawValue)),
            ("message", .string(problem.message)), ("source", .string(problem.source)),
        ])
    }
}

/// Decrypts frames: telemetry with a key, a time and an exponent, BTHome packets with a key and an address.
public struct TelemetryOpener: Sendable {
    private let key: IdentityKey
    private let format: Format

    private enum Format {
        case telemetry(RotationExponent, time: UInt32)
        case btHome(DeviceAddress?)
    }

    /// Creates an opener of encrypted telemetry.
    ///
    /// - Parameters:
    ///   - exponent: The rotation exponent K. The beacon's key changes every 2^K seconds.
    ///   - time: The beacon's clock when the frame was sent, in seconds.
    public init(key: IdentityKey, exponent: RotationExponent, time: UInt32) {
        self.key = key
        format = .telemetry(exponent, time: time)
    }

    /// Creates an opener of BTHome packets.
    ///
    /// - Parameter address: The address of the sender; `nil` if it differs between packets: see ``from(_:)``.
    public init(btHomeKey key: IdentityKey, address: DeviceAddress?) {
        self.key = key
        format = .btHome(address)
    }

    /// Returns an opener for packets from `sender`. An opener that already has an address returns itself.
    public func from(_ sender: DeviceAddress) -> TelemetryOpener {
        if case .btHome(nil) = format { TelemetryOpener(btHomeKey: key, address: sender) } else { self }
    }

    /// Returns whether the key is for frames of this kind.
    func fits(_ frame: BeaconFrame) -> Bool {
        switch (frame, format) {
        case (.eddystoneEncryptedTLM, .telemetry): true
        case (.btHome(let packet), .btHome): packet.isEncrypted
        default: false
        }
    }

    /// Returns the decrypted telemetry; `nil` if the message integrity check fails.
    public func open(_ frame: EddystoneEncryptedTLM) -> EddystoneTLM? {
        guard case .telemetry(let exponent, let time) = format else { return nil }
        return (try? key.open(frame, at: time, exponent: exponent)) ?? nil
    }

    /// Returns the decrypted frame; `nil` if the message integrity check fails.
    public func open(_ frame: BeaconFrame) -> BeaconFrame? {
        switch (frame, format) {
        case (.eddystoneEncryptedTLM(let frame), .telemetry): open(frame).map { .eddystoneTLM($0) }
        case (.btHome(let packet), .btHome(let address?)):
            ((try? key.open(packet, from: address)) ?? nil).map { .btHome($0) }
        default: nil
        }
    }
}

/// Beacon frames as JSON. Scripts rely on these keys.
public enum FrameJSON {
    /// Returns a frame with its `type` and its fields.
    ///
    /// - Parameter decrypted: The decrypted content; `nil` to leave the member out.
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

    /// Returns the fields of telemetry, without the type.
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

    /// Returns the objects of a BTHome packet in the order of transmission.
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
