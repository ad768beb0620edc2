internal import Glibc

/// A system call that failed: which one, on what, and errno with its text.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name as in its manual page, such as `connect`.
    public let call: String
    /// What it was about: a path, an address; empty when there is nothing to add.
    public let subject: String
    /// The error number of the call, or the nearest one where the program itself refuses.
    public let errno: Int32
    /// What is wrong, as part of a sentence, where the number alone would mislead.
    public let reason: String?

    /// - Parameters:
    ///   - call: The call's name as in its manual page.
    ///   - subject: What it was about, such as a path.
    ///   - reason: Said in place of the call and the number's meaning.
    public init(_ call: String, _ subject: String = "", errno: Int32, reason: String? = nil) {
        self.call = call
        self.subject = subject
        self.errno = errno
        self.reason = reason
    }

    /// The same about something else, such as the path that the caller knows.
    public func about(_ subject: String) -> SystemError {
        SystemError(call, subject, errno: errno, reason: reason)
    }

    /// The reason, or else the number's meaning in words, such as `Connection refused`.
    public var text: String { reason ?? Self.text(errno) }

    /// The meaning of an error number in words; never empty.
    public static func text(_ number: Int32) -> String {
        guard let message = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: message)
    }

    public var description: String {
        let what = reason ?? "\(call): \(text)"
        return subject.isEmpty ? what : "\(subject): \(what)"
    }
}

/// The numbers that callers distinguish, so that they need not import the C library.
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
