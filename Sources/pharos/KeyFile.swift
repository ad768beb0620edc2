internal import EddystoneSecurity
internal import LinuxHost

/// An identity key in a file of its own, which nobody else may read.
enum KeyFile {
    static func read(_ path: String) throws -> IdentityKey {
        let octets = try Files.read(path, limit: 4096)
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
