public import BluetoothTypes

/// Eddystone-URL: `10 | power at 0 m | scheme | encoded URL of 1...17 octets`.
public struct EddystoneURL: Hashable, Sendable {
    /// The URL in Eddystone's compressed form.
    public var url: CompressedURL
    public var measuredPower: MeasuredPowerAtZeroMeters

    public init(url: CompressedURL, measuredPower: MeasuredPowerAtZeroMeters) {
        self.url = url
        self.measuredPower = measuredPower
    }
}

extension EddystoneURL {
    /// Type, power and scheme, which stand before the encoded URL.
    static let headerLength = 3

    /// From a frame, its type octet included. Reserved schemes and codes, and an empty URL, are kept.
    @inline(__always)
    init?(frame: Span<UInt8>) {
        guard frame.count >= Self.headerLength,
            let url = CompressedURL(
                scheme: frame[2], encoded: frame.extracting(Self.headerLength..<frame.count))
        else { return nil }
        self.init(url: url, measuredPower: MeasuredPowerAtZeroMeters(octet: frame[1]))
    }

    /// The list of service UUIDs and the service data, without Flags, whatever the power and the URL.
    public var adStructures: [ADStructure] {
        Eddystone.structures([0x10, measuredPower.octet, url.scheme] + url.encoded)
    }

    /// The payload, 15...31 octets with Flags.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -100...20 dBm, and for a received URL that is empty
    ///   or holds a reserved scheme or code.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        do throws(URLEncodingError) { try url.validate() } catch { throw .url(error) }
        return try .checked(adStructures, power: measuredPower, flags: flags)
    }
}
