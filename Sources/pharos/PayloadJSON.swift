internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

/// Advertising data and its frames as JSON: the keys that scripts rely on.
enum PayloadJSON {
    /// - Parameter opener: decrypts encrypted telemetry, where a key was given.
    static func describe(_ data: AdvertisingData, opener: TelemetryOpener? = nil) -> JSONValue {
        .record(members(data, opener: opener))
    }

    static func members(_ data: AdvertisingData, opener: TelemetryOpener? = nil) -> [(String, JSONValue)] {
        let decoded = DecodedAdvertisingData(data)
        return [
            ("octets", .hex(data.octets)),
            ("structures", .array(decoded.structures.map(structure))),
            ("frames", .array(decoded.frames.map { frame($0, opener) })),
            ("problems", .array(decoded.problems.map(problem))),
        ]
    }

    static func frame(_ frame: BeaconFrame, _ opener: TelemetryOpener?) -> JSONValue {
        .record([("type", .string(frame.typeName))] + members(frame, opener))
    }

    private static func structure(_ structure: ADStructure) -> JSONValue {
        .record([
            ("type", .integer(Int(structure.type.rawValue))),
            ("name", .optional(structure.type.key, JSONValue.string)),
            ("data", .hex(structure.data)),
        ])
    }

    private static func problem(_ problem: LintProblem) -> JSONValue {
        .record([
            ("offset", .integer(problem.offset)), ("rule", .string(problem.rule.rawValue)),
            ("message", .string(problem.message)), ("source", .string(problem.source)),
        ])
    }

    private static func members(_ frame: BeaconFrame, _ opener: TelemetryOpener?) -> [(String, JSONValue)] {
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
            [
                ("encrypted", .hex(frame.encrypted.octets)), ("salt", hex(frame.salt)), ("mic", hex(frame.mic)),
            ] + (opener.map { [("decrypted", decrypted(frame, $0))] } ?? [])
        case .eddystoneEID(let frame):
            [("id", .hex(frame.id.octets)), ("measuredPowerDbm", .integer(Int(frame.measuredPower.dBm)))]
        }
    }

    private static func telemetry(_ frame: EddystoneTLM) -> [(String, JSONValue)] {
        [
            ("batteryMv", .optional(frame.batteryMillivolts) { .integer(Int($0)) }),
            ("temperatureC", .optional(frame.temperature) { .decimal("\($0.celsius)") }),
            ("advertisements", .integer(Int(frame.advertisements))),
            ("uptimeS", .decimal(frame.uptimeText)),
        ]
    }

    /// `null` where key, time or exponent do not fit the frame.
    private static func decrypted(_ frame: EddystoneEncryptedTLM, _ opener: TelemetryOpener) -> JSONValue {
        .optional(opener.open(frame)) { .record(telemetry($0)) }
    }

    private static func hex(_ number: UInt16) -> JSONValue {
        .hex([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }
}

/// Key, clock and rotation for encrypted telemetry on the receiving side.
struct TelemetryOpener {
    let key: IdentityKey
    let exponent: RotationExponent
    let time: UInt32

    /// `nil` where the message integrity check does not hold.
    func open(_ frame: EddystoneEncryptedTLM) -> EddystoneTLM? {
        (try? key.open(frame, at: time, exponent: exponent)) ?? nil
    }
}
