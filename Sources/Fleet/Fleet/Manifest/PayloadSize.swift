internal import BeaconFrames

extension FleetManifest.Advertisement {
    /// The length of the advertising data in bytes. 31, the maximum, when the manifest does not determine it.
    public var payloadOctetCount: Int {
        let maximum = FleetManifest.payloadRange.upperBound
        if let payloadOctets { return payloadOctets }
        if case .eddystoneURL(let text) = identity {
            // Frame type, measured power and scheme precede the encoded URL.
            return (try? CompressedURL(text)).map { Self.eddystoneHeader + 3 + $0.encoded.count } ?? maximum
        }
        return Self.usualPayloadSize(type, isRotating: identityKeyFile != nil) ?? maximum
    }

    /// The length of the advertising data in bytes; `nil` for types whose length varies.
    ///
    /// - Parameter isRotating: Whether there is an identity key. Telemetry is then encrypted and 4 bytes longer.
    static func usualPayloadSize(_ type: String, isRotating: Bool) -> Int? {
        switch type {
        case "ibeacon": flags + 27
        case "altbeacon": flags + 28
        case "eddystone-uid": eddystoneHeader + 20
        case "eddystone-tlm": eddystoneHeader + (isRotating ? 18 : 14)
        case "eddystone-eid": eddystoneHeader + 10
        default: nil
        }
    }

    private static let flags = 3
    /// Flags, the list of UUIDs, and the header of the service data.
    private static let eddystoneHeader = flags + 4 + 4
}
