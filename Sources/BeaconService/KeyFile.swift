public import EddystoneSecurity
internal import LinuxHost

/// An identity key in a file of its own, which nobody else may read: 32 hexadecimal digits.
public enum KeyFile {
    /// Far more than any key needs, in octets.
    private static let sizeLimit = 1 << 20

    /// The key in the file at `path`. What was read is overwritten in memory.
    ///
    /// - Throws: `refused`: `missing` where there is no such file, `invalid` where it holds no key, or where others may
    ///   read or replace it.
    public static func read(_ path: String) throws(BeaconServiceError) -> IdentityKey {
        // The only copy there is, so that wiping it leaves none.
        var octets = try octets(path)
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw .refused(.invalid, "\(path): \(error)")
        }
    }

    private static func octets(_ path: String) throws(BeaconServiceError) -> [UInt8] {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: sizeLimit)
        } catch {
            guard error.errno != SystemError.noEntry else {
                throw .refused(
                    .missing,
                    "\(path): there is no such file; the identity key belongs there, 32 hexadecimal digits that nobody "
                        + "else may read")
            }
            throw BeaconServiceError(error, reading: path, limit: sizeLimit)
        }
        if let weakness = secret.weakness { throw .refused(.invalid, weakness.text("identity key", at: path)) }
        return secret.octets
    }
}
