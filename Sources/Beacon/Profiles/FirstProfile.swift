internal import BeaconFrames
public import BluetoothTypes
public import Configuration

/// A profile to start from, with one advertisement.
public struct FirstProfile: Sendable {
    /// The frames of a first profile.
    public enum Frame: String, CaseIterable, Sendable {
        /// With a new random UUID, major 1 and minor 1.
        case iBeacon = "ibeacon"
        /// With the namespace of a new random UUID, and instance 1.
        case eddystoneUID = "eddystone-uid"
        /// With the web address of the caller.
        case eddystoneURL = "eddystone-url"
    }

    /// The name of the beacon.
    public let name: String
    private let interval: RequestedInterval
    private let identity: [(String, JSONValue)]
    private let type: Frame

    /// - Parameters:
    ///   - name: As ``name(_:)`` returns it.
    ///   - url: As the function of that name returns it; needed for an Eddystone-URL, and ignored for others.
    ///   - generator: The source of the new identity.
    /// - Returns: `nil` for an Eddystone-URL without its address.
    public init?(
        _ type: Frame, name: String, interval: RequestedInterval, url: String? = nil,
        using generator: inout some RandomNumberGenerator
    ) {
        self.type = type
        self.name = name
        self.interval = interval
        switch type {
        case .iBeacon:
            let uuid = FixedOctets<16>.randomUUID(using: &generator)
            identity = [("uuid", .string(uuid.uuidText)), ("major", 1), ("minor", 1)]
        case .eddystoneUID:
            guard let namespace = try? EddystoneUID.namespace(fromUUID: .randomUUID(using: &generator)) else {
                return nil
            }
            identity = [("namespace", .hex(namespace.octets)), ("instance", "000000000001")]
        case .eddystoneURL:
            guard let url else { return nil }
            identity = [("url", .string(url))]
        }
    }

    /// The profile's file. Its measured power is the typical one.
    public var text: String {
        let members: [(String, JSONValue)] =
            [("type", .string(type.rawValue))] + identity + [
                ("intervalMs", .decimal(interval.milliseconds)), ("measuredPowerDbm", "typical"),
            ]
        return JSONValue.record([
            ("version", 1), ("name", .string(name)), ("advertisements", .array([.record(members)])),
        ]).pretty
    }

    /// A name that profiles may have.
    ///
    /// - Throws: `FileProblem` for any other text.
    public static func name(_ text: String) throws(FileProblem) -> String {
        var decoder = ConfigurationDecoder()
        let start = JSONPosition(line: 1, column: 1)
        guard let name = decoder.name(JSONNode(.string(text), at: start, path: .root)) else {
            throw decoder.problems.first ?? FileProblem("no name", at: start, path: .root)
        }
        return name
    }
}
