internal import Glibc

extension Files {
    /// Puts `octets` in the place of a file that is there, as ``replace(_:with:mode:isDurable:)`` does; the file keeps its
    /// owner, its group and its mode.
    ///
    /// - Throws: EPERM, and nothing is changed, where the file belongs to somebody else and this process may not give
    ///   files away; ENOENT where there is none; what replacing throws.
    public static func rewrite(_ path: String, with octets: [UInt8]) throws(SystemError) {
        let before = try FileStatus(Descriptor.open(path, .read), path)
        guard geteuid() == 0 || before.owner == geteuid() else {
            throw SystemError("chown", path, errno: EPERM)
        }
        // Nobody but the owner reads it until it is theirs.
        try replace(path, with: octets, mode: before.mode & 0o700)
        if unsafe lchown(path, before.owner, before.group) != 0, geteuid() == 0 {
            throw SystemError("chown", path, errno: errno)
        }
        guard unsafe chmod(path, mode_t(before.mode)) == 0 else { throw SystemError("chmod", path, errno: errno) }
    }
}
