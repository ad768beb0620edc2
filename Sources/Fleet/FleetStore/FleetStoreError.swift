internal import Configuration
internal import LinuxHost

/// The reason why the files of a fleet cannot be read or written.
public struct FleetStoreError: Error, Hashable, Sendable {
    /// The kind of failure, which decides the exit code.
    public enum Kind: Hashable, Sendable {
        /// A file or directory does not exist or cannot be read.
        case missing
        /// A file does not follow the grammar of its format.
        case malformed
        /// The files are well formed, but the request cannot be fulfilled with them.
        case invalid
        /// The files are well formed, but beacons would get other identities, which the caller must allow.
        case renumbering
        /// The request is wrong, for example because it names something that does not exist.
        case request
        /// Another process is changing the fleet. A later attempt may succeed.
        case busy
        /// This user has no permission.
        case notPermitted
        /// A program that is needed is not installed.
        case unavailable
        /// Another program failed.
        case failed
        /// The system refused a call.
        case system
    }

    public let kind: Kind
    /// A sentence for each problem, with its place and with advice. There is at least one sentence.
    public let messages: [String]

    /// - Parameter messages: At least one sentence, with the place and advice.
    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// An error with one sentence.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }

    /// The errors of files in their order, without the warnings.
    init(_ problems: [FileProblem]) {
        let kind: Kind =
            switch problems.refusal {
            case .missing: .missing
            case .malformed: .malformed
            case .invalid, nil: .invalid
            }
        self.init(kind, problems.filter(\.isError).map(\.description))
    }

    /// An error of a system call that failed on a file or directory of a fleet.
    init(_ error: SystemError, at path: String) { self.init(error.about(path)) }

    /// An error of a system call that failed, with the system's description of the error.
    init(_ error: SystemError) {
        let kind: Kind =
            switch error.errno {
            case SystemError.noEntry, SystemError.notADirectory: .missing
            case SystemError.notPermitted, SystemError.accessDenied: .notPermitted
            default: .system
            }
        self.init(kind, error.description)
    }
}

extension FleetStoreError: CustomStringConvertible {
    /// All sentences, each on its own line.
    public var description: String { messages.joined(separator: "\n") }
}
