internal import Glibc

/// A system call that failed: which one, on what, and errno with its text.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name as in its manual page, such as `connect`.
    public let call: String
    /// What it was about: a path, an address; empty when there is nothing to add.
    public let subject: String
    public let errno: Int32

    public init(_ call: String, _ subject: String = "", errno: Int32) {
        self.call = call
        self.subject = subject
        self.errno = errno
    }

    /// The number's meaning in words, such as `Connection refused`.
    public var text: String { Self.text(errno) }

    public static func text(_ number: Int32) -> String {
        guard let message = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: message)
    }

    public var description: String {
        subject.isEmpty ? "\(call): \(text)" : "\(subject): \(call): \(text)"
    }
}

/// The numbers that callers tell apart, so that they need not import the C library.
extension SystemError {
    public static let notPermitted = EPERM
    public static let noEntry = ENOENT
    public static let accessDenied = EACCES
    public static let busy = EBUSY
    public static let noDevice = ENODEV
    public static let noDeviceOrAddress = ENXIO
    public static let alreadyInUse = EUSERS
    public static let networkDown = ENETDOWN
    public static let rfkilled: Int32 = 132
    public static let already = EALREADY
    public static let noBluetooth = EAFNOSUPPORT
    public static let brokenPipe = EPIPE
    public static let connectionReset = ECONNRESET
    public static let badState: Int32 = 77
    public static let ioError = EIO
    public static let timedOut = ETIMEDOUT
    public static let invalid = EINVAL
    public static let wouldBlock = EAGAIN
    public static let notATerminal = ENOTTY
    public static let isDirectory = EISDIR
    public static let notADirectory = ENOTDIR
    public static let tooLarge = EFBIG
    public static let noSpace = ENOSPC
    public static let readOnlyFileSystem = EROFS
}
