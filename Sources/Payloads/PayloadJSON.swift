public import BeaconFrames
public import BluetoothTypes
public import Configuration
public import EddystoneSecurity

/// Advertising data and its frames as JSON: the keys that scripts rely on.
public enum PayloadJSON {
    /// One object for the whole payload.
    ///
    /// - Parameter opener: Decrypts encrypted telemetry, where a key was given.
    public static func describe(_ data: AdvertisingData, opener: TelemetryOpener? = nil) -> JSONValue {
        .record(members(data, opener: opener))
    }

    /// The members of that object, for whoever adds some of their own: octets, structures, frames and problems.
    ///
    /// - Parameter opener: Decrypts encrypted telemetry, where a key was given.
    public static func members(_ data: AdvertisingData, opener: TelemetryOpener? = nil) -> [(String, JSONValue)] {
        members(DecodedAdvertisingData(data), of: data, opener: opener)
    }

    static func members(
        _ decoded: DecodedAdvertisingData, of data: AdvertisingData, opener: TelemetryOpener?
    ) -> [(String, JSONValue)] {
        [
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
public struct TelemetryOpener: Sendable {
    private let key: IdentityKey
    private let exponent: RotationExponent
    private let time: UInt32

    /// - Parameters:
    ///   - exponent: K: the beacon's key changes every 2^K seconds.
    ///   - time: The beacon's clock when the frame was sent, in seconds.
    public init(key: IdentityKey, exponent: RotationExponent, time: UInt32) {
        self.key = key
        self.exponent = exponent
        self.time = time
    }

    /// The telemetry in an encrypted frame; `nil` where the message integrity check does not hold.
    public func open(_ frame: EddystoneEncryptedTLM) -> EddystoneTLM? {
        (try? key.open(frame, at: time, exponent: exponent)) ?? nil
    }
}
