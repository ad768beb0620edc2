internal import EddystoneSecurity
internal import LinuxHost

/// An identity key in a file of its own, which nobody else may read.
enum KeyFile {
    /// Far more than any key needs.
    private static let sizeLimit = 1 << 20

    static func read(_ path: String) throws -> IdentityKey {
        let octets = try InputFile.read(path, limit: sizeLimit)
        guard Files.isPrivate(path) else {
            throw Failure(
                .configuration,
                "\(path): others may read this identity key; `chmod 600 \(path)` keeps it secret")
        }
        do {
            return try IdentityKey(hexadecimal: String(decoding: octets, as: UTF8.self))
        } catch {
            throw Failure(.configuration, "\(path): \(error)")
        }
    }
}
