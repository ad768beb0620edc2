public import BeaconFrames
public import BluetoothTypes
public import Configuration

/// A new profile with one advertisement and a new identity, which the user can then edit.
public struct FirstProfile: Sendable {
    /// The name of the beacon.
    public let name: String
    /// The path of the identity key's file, as written in the profile; `nil` for frames without a key.
    public let keyFile: String?
    private let interval: RequestedInterval
    private let content: [(String, JSONValue)]
    private let kind: FrameKind
    private let localName: String?

    /// - Parameters:
    ///   - name: A valid name, as ``name(_:)`` returns it.
    ///   - url: The address of an Eddystone-URL, which is required; ignored for other frames.
    ///   - localName: The name in the scan response; `nil` for no scan response. Raw structures have no scan response:
    ///     they contain this name, or `name` if it is `nil`. For an Eddystone-EID the name is ignored, because a
    ///     constant name would identify the beacon.
    ///   - generator: The source of the new identity.
    /// - Returns: `nil` for an Eddystone-URL without its address.
    public init?(
        _ kind: FrameKind, name: String, interval: RequestedInterval, url: String? = nil, localName: String? = nil,
        using generator: inout some RandomNumberGenerator
    ) {
        self.kind = kind
        self.name = name
        self.interval = interval
        keyFile = kind == .eddystoneEID ? name + ".key" : nil
        self.localName = kind == .eddystoneEID || kind == .raw ? nil : localName
        let uuid = FixedOctets<16>.randomUUID(using: &generator)
        switch kind {
        case .iBeacon: content = [("uuid", .string(uuid.uuidText)), ("major", 1), ("minor", 1)]
        case .altBeacon:
            content = [("companyId", "0x0118"), ("id", .string(Hexadecimal.text(uuid.octets) + "00010001"))]
        case .eddystoneUID:
            guard let namespace = try? EddystoneUID.namespace(fromUUID: uuid) else { return nil }
            content = [("namespace", .hex(namespace.octets)), ("instance", "000000000001")]
        case .eddystoneURL:
            guard let url else { return nil }
            content = [("url", .string(url))]
        case .eddystoneTLM, .btHome: content = [("temperature", "auto"), ("battery", "auto")]
        case .eddystoneEID:
            content = [("identityKeyFile", .optional(keyFile) { .string($0) }), ("rotationExponent", 10)]
        case .raw:
            content = [
                (
                    "structures",
                    .array([
                        .record([("type", "flags"), ("flags", "0x06")]),
                        .record([("type", "complete-local-name"), ("name", .string(localName ?? name))]),
                    ])
                )
            ]
        }
    }

    /// The text of the profile's file. If the frame has a measured power, its value in the file is `"typical"`.
    public var text: String {
        var members: [(String, JSONValue)] = [("type", .string(kind.rawValue))] + content
        members.append(("intervalMs", .decimal(interval.milliseconds)))
        if hasMeasuredPower { members.append(("measuredPowerDbm", "typical")) }
        var profile: [(String, JSONValue)] = [
            ("version", 1), ("name", .string(name)), ("advertisements", .array([.record(members)])),
        ]
        if let localName { profile.append(("scanResponse", .record([("localName", .string(localName))]))) }
        return JSONValue.record(profile).pretty
    }

    /// True if the frame has a measured power.
    public var hasMeasuredPower: Bool { MeasuredPowerKeys.of(kind) != nil }

    /// Checks that `text` is a valid name for a profile, and returns it.
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
