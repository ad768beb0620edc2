internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import ListenerService

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

    private static func frame(_ frame: BeaconFrame, _ opener: TelemetryOpener?) -> JSONValue {
        guard let opener, case .eddystoneEncryptedTLM(let encrypted) = frame else { return FrameJSON.value(frame) }
        return FrameJSON.value(frame, decrypted: decrypted(encrypted, opener))
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

    /// `null` where key, time or exponent do not fit the frame.
    private static func decrypted(_ frame: EddystoneEncryptedTLM, _ opener: TelemetryOpener) -> JSONValue {
        .optional(opener.open(frame)) { .record(FrameJSON.telemetry($0)) }
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
