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
        guard let opener, opener.fits(frame) else { return FrameJSON.value(frame) }
        let decrypted: JSONValue =
            switch opener.open(frame) {
            case .eddystoneTLM(let telemetry): .record(FrameJSON.telemetry(telemetry))
            case .btHome(let packet): .record([("objects", FrameJSON.objects(packet))])
            // Key, address, time or exponent do not fit the frame.
            default: .null
            }
        return FrameJSON.value(frame, decrypted: decrypted)
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
}

/// What opens encrypted frames on the receiving side: for telemetry key, clock and rotation, for BTHome key and address.
public struct TelemetryOpener: Sendable {
    private let key: IdentityKey
    private let way: Way

    private enum Way {
        case telemetry(RotationExponent, time: UInt32)
        case btHome(DeviceAddress?)
    }

    /// - Parameters:
    ///   - exponent: K: the beacon's key changes every 2^K seconds.
    ///   - time: The beacon's clock when the frame was sent, in seconds.
    public init(key: IdentityKey, exponent: RotationExponent, time: UInt32) {
        self.key = key
        way = .telemetry(exponent, time: time)
    }

    /// For packets of BTHome.
    ///
    /// - Parameter address: Of their sender; `nil` where only the packet that they come in tells it.
    public init(btHomeKey key: IdentityKey, address: DeviceAddress?) {
        self.key = key
        way = .btHome(address)
    }

    /// The same for a packet whose sender's address is known; an address that was given goes before it.
    public func from(_ sender: DeviceAddress) -> TelemetryOpener {
        if case .btHome(nil) = way { TelemetryOpener(btHomeKey: key, address: sender) } else { self }
    }

    /// Whether the key is for frames of this kind.
    func fits(_ frame: BeaconFrame) -> Bool {
        switch (frame, way) {
        case (.eddystoneEncryptedTLM, .telemetry): true
        case (.btHome(let packet), .btHome): packet.isEncrypted
        default: false
        }
    }

    /// The telemetry in an encrypted frame; `nil` where the message integrity check does not hold.
    public func open(_ frame: EddystoneEncryptedTLM) -> EddystoneTLM? {
        guard case .telemetry(let exponent, let time) = way else { return nil }
        return (try? key.open(frame, at: time, exponent: exponent)) ?? nil
    }

    /// What is in an encrypted frame; `nil` where the message integrity check does not hold.
    public func open(_ frame: BeaconFrame) -> BeaconFrame? {
        switch (frame, way) {
        case (.eddystoneEncryptedTLM(let frame), .telemetry): open(frame).map { .eddystoneTLM($0) }
        case (.btHome(let packet), .btHome(let address?)):
            ((try? key.open(packet, from: address)) ?? nil).map { .btHome($0) }
        default: nil
        }
    }
}
