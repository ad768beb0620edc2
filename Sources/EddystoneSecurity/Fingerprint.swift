internal import BluetoothTypes
internal import Crypto

/// A short name for octets, the same wherever they are the same.
public enum Fingerprint {
    /// The first eight octets of their SHA-256 in hexadecimal: enough to tell the versions of a file apart.
    public static func text(of octets: [UInt8]) -> String {
        Hexadecimal.text(SHA256.hash(data: octets).prefix(8))
    }
}
