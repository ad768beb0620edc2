internal import EddystoneSecurity
internal import LinuxHost

/// An identity key in a file of its own, which nobody else may read.
enum KeyFile {
    /// Far more than any key needs.
    private static let sizeLimit = 1 << 20

    static func read(_ path: String) throws -> IdentityKey {
        guard Files.exists(path) else {
            throw Failure(
                .noInput,
                "\(path): there is no such file; the identity key belongs there, 32 hexadecimal digits that nobody else "
                    + "may read")
        }
        let octets = try secret(path)
        do {
            return try IdentityKey(hexadecimal: String(decoding: octets, as: UTF8.self))
        } catch {
            throw Failure(.configuration, "\(path): \(error)")
        }
    }

    /// What stands in a file that nobody else may read.
    static func secret(_ path: String) throws -> [UInt8] {
        let octets = try InputFile.read(path, limit: sizeLimit)
        guard Files.isPrivate(path) else {
            throw Failure(
                .configuration,
                "\(path): others may read this identity key; `chmod 600 \(path)` keeps it secret")
        }
        return octets
    }
}
