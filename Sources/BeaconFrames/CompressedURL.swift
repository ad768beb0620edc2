internal import BluetoothTypes

/// A URL as Eddystone-URL sends it: a scheme octet and 1...17 octets of text and expansion codes, stored in place.
public struct CompressedURL: Hashable, Sendable {
    /// 0...3.
    public let scheme: UInt8
    private let storage: FixedOctets<17>
    /// Octets after the scheme, 0...17 (0 only when received).
    public let count: Int

    /// Octets as received; `nil` when `range` is over 17 octets.
    public init?(scheme: UInt8, encoded span: Span<UInt8>, range: Range<Int>) {
        guard range.count <= 17 else { return nil }
        var storage = FixedOctets<17>()
        for (position, index) in range.enumerated() { storage[position] = span[index] }
        self.scheme = scheme
        self.storage = storage
        count = range.count
    }

    /// The octets after the scheme.
    public var encoded: ArraySlice<UInt8> { storage.octets.prefix(count) }
}
