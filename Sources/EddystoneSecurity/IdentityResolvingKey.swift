public import BluetoothTypes
internal import CryptoExtras

/// The key with which somebody's telephone or watch makes its resolvable private addresses (IRK): who has it, knows the
/// device again after each change of address.
///
/// Like an ``IdentityKey`` it never shows itself, and is overwritten when its last copy goes.
public struct IdentityResolvingKey: Sendable {
    /// Trying a key costs little more than its one block.
    private let block: AESBlock

    /// The 16 octets as 32 hexadecimal digits, most significant first, were read as an ``IdentityKey``.
    public init(_ key: IdentityKey) {
        block = AESBlock(key: key.symmetricKey)
    }

    /// Whether `address` was made with this key: its lower half is `ah` of its upper half (Core Specification 5.4, Vol 6
    /// Part B 1.3.2.3 and Vol 3 Part H 2.2.2). One address in 16,777,216 that was not made with it passes too.
    public func resolves(_ address: DeviceAddress) -> Bool {
        guard address.randomKind == .resolvablePrivate else { return false }
        var part = FixedOctets<16>()
        for index in 0..<3 { part[13 + index] = address.octets[index] }
        guard let hash = try? block.encrypt(part) else { return false }
        return (0..<3).allSatisfy { hash[13 + $0] == address.octets[3 + $0] }
    }
}
