internal import BeaconService
internal import LinuxHost

/// An error of an inventory command. Each of its sentences contains the problem, its location and the remedy.
public struct InventoryError: Error, Hashable, Sendable {
    /// The category of the error.
    public enum Kind: Hashable, Sendable {
        /// A file does not exist.
        case missing
        /// A file is not JSON.
        case malformed
        /// A file has wrong contents.
        case invalid
        /// The arguments are wrong.
        case request
        /// Another process has the lock, or a program has not finished in time: try again.
        case busy
        /// A program or a device is missing.
        case unavailable
        /// A program failed.
        case failed
        /// The user lacks a permission.
        case notPermitted
        /// The system refused a call.
        case system
    }

    public let kind: Kind
    /// One sentence for each problem.
    public let messages: [String]

    /// Creates an error with one sentence for each problem.
    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// Creates an error with one sentence.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }

    init(_ error: SystemError) {
        switch error.errno {
        case SystemError.noEntry: self.init(.missing, "\(error)")
        case SystemError.notPermitted, SystemError.accessDenied: self.init(.notPermitted, "\(error)")
        default: self.init(.system, "\(error)")
        }
    }

    /// Creates the error for an input file that cannot be read.
    init(_ error: BeaconServiceError) {
        if case .refused(.malformed, let messages) = error {
            self.init(.malformed, messages)
        } else {
            self.init(.missing, error.messages)
        }
    }
}

extension InventoryError: CustomStringConvertible {
    /// All sentences on one line.
    public var description: String { messages.joined(separator: "; ") }
}
