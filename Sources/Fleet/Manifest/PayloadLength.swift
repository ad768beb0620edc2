/// How many octets of advertising data the frames take.
enum PayloadLength {
    static let range = 0...31

    /// The frame's AD structures and flags, in octets; `nil` for types whose every advertisement has a length of its own.
    ///
    /// - Parameter isRotating: Whether there is an identity key: telemetry is then encrypted, and four octets longer.
    static func usual(_ type: String, isRotating: Bool) -> Int? {
        switch type {
        case "ibeacon": flags + 27
        case "altbeacon": flags + 28
        case "eddystone-uid": eddystone + 20
        case "eddystone-tlm": eddystone + (isRotating ? 18 : 14)
        case "eddystone-eid": eddystone + 10
        default: nil
        }
    }

    /// The length of an Eddystone-URL; `nil` for a URL that cannot be sent.
    static func url(_ text: String) -> Int? {
        let octets = Array(text.utf8)
        return URLLength.encoded(octets, 0..<octets.count).map { eddystone + 3 + Int($0) }
    }

    private static let flags = 3
    /// Flags, the list of UUIDs, and what stands before the frame in its service data.
    private static let eddystone = flags + 4 + 4
}

extension FleetManifest.Advertisement {
    /// How many octets of advertising data it sends; 31, the most there are, for what no reader could tell.
    public var payloadOctetCount: Int {
        if let payloadOctets { return payloadOctets }
        if case .eddystoneURL(let text) = identity { return PayloadLength.url(text) ?? PayloadLength.range.upperBound }
        return PayloadLength.usual(type, isRotating: identityKeyFile != nil) ?? PayloadLength.range.upperBound
    }
}
