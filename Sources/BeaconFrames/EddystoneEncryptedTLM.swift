public import BluetoothTypes

/// Eddystone-TLM, encrypted: `20 01 | ciphertext[12] | salt[2] | MIC[2]`. Made and opened by EddystoneSecurity.
public struct EddystoneEncryptedTLM: Hashable, Sendable {
    public var encrypted: FixedOctets<12>
    public var salt: UInt16
    /// Message integrity check: the first two octets of the EAX tag.
    public var mic: UInt16

    public init(encrypted: FixedOctets<12>, salt: UInt16, mic: UInt16) {
        self.encrypted = encrypted
        self.salt = salt
        self.mic = mic
    }
}
