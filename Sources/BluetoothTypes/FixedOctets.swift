/// Exactly `count` octets, stored in place.
///
/// Identities (a UUID, an Eddystone namespace, a beacon id) have a fixed size by specification; keeping the size in
/// the type means that no length can be wrong later, and that decoding a frame allocates nothing.
public struct FixedOctets<let count: Int>: Sendable {
    @usableFromInline internal var storage: InlineArray<count, UInt8>

    /// `count` octets of the same value.
    @inlinable
    public init(repeating octet: UInt8 = 0) {
        storage = InlineArray(repeating: octet)
    }

    /// Takes over `octets`, or is `nil` when there are not exactly `count` of them.
    public init?(_ octets: some Collection<UInt8>) {
        guard octets.count == count else { return nil }
        self.init()
        for (index, octet) in zip(0..., octets) { storage[index] = octet }
    }

    /// Copies `count` octets of `span` from `offset` on, or is `nil` when fewer are there.
    ///
    /// One bounds check and one copy, because every received frame passes here.
    @inlinable
    public init?(_ span: Span<UInt8>, at offset: Int) {
        guard offset >= 0, span.count - offset >= count else { return nil }
        // Any octets are a valid value of this type, and the guard above keeps the load inside the span.
        unsafe storage = span.bytes.unsafeLoadUnaligned(
            fromByteOffset: offset, as: InlineArray<count, UInt8>.self)
    }

    /// Reads hexadecimal text (see ``Hexadecimal``) of exactly `count` octets.
    public init(hexadecimal text: some StringProtocol) throws(HexadecimalError) {
        let octets = try Hexadecimal.octets(text)
        guard let value = Self(octets) else {
            throw HexadecimalError(.wrongLength(expected: count, found: octets.count), at: 0)
        }
        self = value
    }

    /// The octet at `index`, 0..<`count`.
    @inlinable
    public subscript(index: Int) -> UInt8 {
        get { storage[index] }
        set { storage[index] = newValue }
    }

    /// The octets in an array, first one first.
    public var octets: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for index in 0..<count { result.append(storage[index]) }
        return result
    }

    /// The octets in the opposite order, for fields that travel least significant octet first.
    public var reversed: Self {
        var result = Self()
        for index in 0..<count { result[index] = storage[count - 1 - index] }
        return result
    }
}

extension FixedOctets: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        for index in 0..<count where left.storage[index] != right.storage[index] { return false }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        for index in 0..<count { hasher.combine(storage[index]) }
    }
}

extension FixedOctets: Comparable {
    /// Compares octet by octet, as numbers written most significant octet first.
    public static func < (left: Self, right: Self) -> Bool {
        for index in 0..<count where left.storage[index] != right.storage[index] {
            return left.storage[index] < right.storage[index]
        }
        return false
    }
}

extension FixedOctets: CustomStringConvertible {
    /// Lower-case hexadecimal digits without separators.
    public var description: String { Hexadecimal.text(octets) }
}
