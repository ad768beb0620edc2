internal import EddystoneSecurity
internal import LinuxHost

/// A file with a key in it, which nobody but its owner may read.
enum SecretFile {
    /// Far more than any key needs.
    static let sizeLimit = 1 << 20

    /// What stands in it.
    static func read(_ path: String, limit: Int = sizeLimit) throws(FleetStoreError) -> [UInt8] {
        guard let octets = try readIfThere(path, limit: limit) else {
            throw FleetStoreError(.missing, "\(path): there is no such file")
        }
        return octets
    }

    /// The identity key in it; `nil` where there is no such file.
    static func identityKey(_ path: String) throws(FleetStoreError) -> IdentityKey? {
        guard var octets = try readIfThere(path, limit: sizeLimit) else { return nil }
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw FleetStoreError(.invalid, "\(path): \(error)")
        }
    }

    private static func readIfThere(_ path: String, limit: Int) throws(FleetStoreError) -> [UInt8]? {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: limit)
        } catch {
            if error.errno == SystemError.noEntry { return nil }
            throw SourceFile.refusal(error, path, limit)
        }
        if let weakness = secret.weakness {
            throw FleetStoreError(.invalid, weakness.text("identity key", at: path))
        }
        return secret.octets
    }
}
