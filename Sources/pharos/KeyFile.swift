internal import EddystoneSecurity
internal import LinuxHost

/// An identity key in a file of its own, which nobody else may read.
enum KeyFile {
    /// Far more than any key needs.
    static let sizeLimit = 1 << 20

    static func read(_ path: String) throws -> IdentityKey {
        guard let key = try readIfThere(path) else {
            throw Failure(
                .noInput,
                "\(path): there is no such file; the identity key belongs there, 32 hexadecimal digits that nobody else "
                    + "may read")
        }
        return key
    }

    /// `nil` where there is no such file.
    static func readIfThere(_ path: String) throws -> IdentityKey? {
        guard var octets = try secretIfThere(path, limit: sizeLimit) else { return nil }
        do {
            return try IdentityKey(wiping: &octets)
        } catch {
            throw Failure(.configuration, "\(path): \(error)")
        }
    }

    /// What stands in a file that nobody else may read.
    static func secret(_ path: String, limit: Int = sizeLimit) throws -> [UInt8] {
        guard let octets = try secretIfThere(path, limit: limit) else {
            throw Failure(.noInput, "\(path): there is no such file")
        }
        return octets
    }

    private static func secretIfThere(_ path: String, limit: Int) throws -> [UInt8]? {
        let secret: Files.Secret
        do throws(SystemError) {
            secret = try Files.readSecret(path, limit: limit)
        } catch {
            if error.errno == SystemError.noEntry { return nil }
            throw InputFile.failure(error, path, limit)
        }
        if let weakness = secret.weakness {
            throw Failure(.configuration, weakness.text("identity key", at: path))
        }
        return secret.octets
    }
}
