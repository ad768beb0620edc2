internal import Glibc
public import SystemPackage

/// A failed system call: its name, its subject, and the error number.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call as in its manual page, such as `connect`.
    public let call: String
    /// The path or address that was passed to the call; empty if there is none.
    public let subject: String
    /// The error number of the call. If this program itself refuses an operation, this is the number with the most
    /// similar meaning.
    public let errno: Errno
    /// The cause in words, if the error number alone would mislead; otherwise `nil`.
    public let reason: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - call: The name of the call as in its manual page.
    ///   - subject: The path or address that was passed to the call.
    ///   - reason: The cause in words. It is printed instead of the name of the call and the meaning of the error
    ///     number.
    public init(_ call: String, _ subject: String = "", errno: Errno, reason: String? = nil) {
        self.call = call
        self.subject = subject
        self.errno = errno
        self.reason = reason
    }

    /// Creates an error from the C library's `errno`.
    public init(_ call: String, _ subject: String = "", errno number: Int32, reason: String? = nil) {
        self.init(call, subject, errno: Errno(rawValue: number), reason: reason)
    }

    /// Returns this error with another subject, such as the path that was passed to the caller.
    public func about(_ subject: String) -> SystemError {
        SystemError(call, subject, errno: errno, reason: reason)
    }

    /// The reason if there is one, otherwise the meaning of the error number, such as `Connection refused`.
    public var text: String { reason ?? errno.description }

    public var description: String {
        let cause = reason ?? "\(call): \(text)"
        return subject.isEmpty ? cause : "\(subject): \(cause)"
    }
}

/// The error numbers that callers distinguish.
extension SystemError {
    public static let notPermitted = Errno.notPermitted
    public static let noEntry = Errno.noSuchFileOrDirectory
    public static let accessDenied = Errno.permissionDenied
    public static let alreadyThere = Errno.fileExists
    public static let noReader = Errno.noSuchAddressOrDevice
    public static let busy = Errno.resourceBusy
    public static let invalid = Errno.invalidArgument
    public static let wouldBlock = Errno.wouldBlock
    public static let isDirectory = Errno.isDirectory
    public static let notADirectory = Errno.notDirectory
    public static let tooLarge = Errno.fileTooLarge
    public static let noSpace = Errno.noSpace
    public static let readOnlyFileSystem = Errno.readOnlyFileSystem
}

extension SystemError {
    /// Returns the reason why a file cannot be read, as the end of a sentence that begins with the name of the file.
    ///
    /// - Parameter limit: The largest allowed size, in bytes.
    public func readingReason(limit: Int) -> String {
        switch errno {
        case Self.noEntry, Self.notADirectory: "there is no such file"
        case Self.isDirectory: "this is a directory, not a file"
        case Self.accessDenied: "this user may not read it"
        case Self.tooLarge: "it is larger than \(limit >> 20) MiB"
        default: reason ?? "\(call): \(text)"
        }
    }
}

/// Runs an operation of swift-system, and converts its error to a ``SystemError`` with the name of the call and its
/// subject.
func systemCall<Value>(
    _ call: String, _ subject: String = "", _ body: () throws -> Value
) throws(SystemError) -> Value {
    do {
        return try body()
    } catch {
        // Every operation of swift-system throws Errno.
        throw SystemError(call, subject, errno: error as? Errno ?? .ioError)
    }
}

/// Calls a function of the C library, and calls it again if a signal interrupted it. A negative result is thrown as an
/// error.
@discardableResult
func retryingInterrupts<Result: SignedInteger>(
    _ call: String, _ subject: String = "", _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result >= 0 { return result }
        let number = Errno(rawValue: errno)
        if number != .interrupted { throw SystemError(call, subject, errno: number) }
    }
}
