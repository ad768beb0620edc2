internal import Glibc

/// What stat(2) tells about a file.
struct FileStatus: Hashable, Sendable {
    enum Kind: Sendable {
        case regular
        case directory
        case symbolicLink
        case pipe
        case socket
        case device
    }

    /// Tells one file from every other that exists at the same time.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    let kind: Kind
    let owner: UInt32
    let group: UInt32
    /// The permission bits with set-user-id, set-group-id and sticky: 0...0o7777.
    let mode: UInt32
    /// In octets.
    let size: Int
    let identity: Identity
    /// How many names it has.
    let links: Int

    /// The status of an open file.
    init(_ file: Descriptor, _ subject: String = "") throws(SystemError) {
        var status = stat()
        _ = try retryingInterrupts("fstat", subject) { unsafe fstat(file.number, &status) }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            default: .device
            }
        owner = status.st_uid
        group = status.st_gid
        mode = UInt32(status.st_mode) & 0o7777
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Whether the file belongs to the user of this process, or to root, whom nothing can be kept from.
    var isOursOrRoots: Bool { owner == geteuid() || owner == 0 }

    /// Whether the file's owner alone may read or write it.
    var isPrivate: Bool { mode & 0o077 == 0 }

    /// Of a directory: whether another user can remove or replace the files of this one in it. The sticky bit keeps
    /// them from that, but not from adding files.
    var othersMayReplaceFiles: Bool { !isOursOrRoots || (mode & 0o022 != 0 && mode & 0o1000 == 0) }

    /// The error for a file that should be a regular one; `nil` for a regular one.
    func refusalOfOtherKinds(_ call: String, _ path: String) -> SystemError? {
        switch kind {
        case .regular: nil
        case .directory: SystemError(call, path, errno: EISDIR)
        case .symbolicLink: SystemError(call, path, errno: ELOOP, reason: "this is a symbolic link, not a file")
        case .pipe: SystemError(call, path, errno: EINVAL, reason: "this is a named pipe, not a regular file")
        case .socket: SystemError(call, path, errno: EINVAL, reason: "this is a socket, not a regular file")
        case .device: SystemError(call, path, errno: EINVAL, reason: "this is a device, not a regular file")
        }
    }
}
