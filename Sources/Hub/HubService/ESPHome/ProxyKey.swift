internal import BeaconService
internal import LinuxHost
public import Listener

/// The secret that a proxy and its clients share: 32 bytes, written in Base64.
public struct ProxyKey: Sendable {
    let octets: [UInt8]

    /// Reads a key from a file that only its owner can read.
    public init(file: String) throws(ListenerServiceError) {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(file, limit: 4096)
        } catch {
            throw .service(BeaconServiceError(error, reading: file, limit: 4096))
        }
        if let weakness = secret.weakness { throw .refused(.invalid, weakness.text("encryption key", at: file)) }
        guard let key = ProxyKey(base64: secret.octets) else {
            throw .refused(
                .malformed, "\(file): use 32 bytes in Base64, as `head -c 32 /dev/urandom | base64` makes them")
        }
        self = key
    }

    /// Decodes a key in Base64 (RFC 4648, section 4): 44 characters. White space before and after them is ignored.
    ///
    /// - Returns: `nil` for any other text.
    public init?(base64 text: [UInt8]) {
        let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0D).contains(octet) }
        let digits = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard digits.count == 44, digits.last == UInt8(ascii: "=") else { return nil }
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var bits: UInt32 = 0
        var bitCount = 0
        var octets: [UInt8] = []
        for digit in digits.dropLast() {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        // 43 Base64 digits have two bits more than 32 bytes. These bits must be 0.
        guard bits & 3 == 0 else { return nil }
        self.octets = octets
    }
}
