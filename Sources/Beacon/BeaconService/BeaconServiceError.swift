public import Advertiser
public import Configuration
internal import HCI
public import HCITransports
public import LinuxHost

/// The reason why a beacon cannot be sent, or its files cannot be used.
public enum BeaconServiceError: Error, Sendable {
    /// The kind of a refusal. It decides the exit code.
    public enum Kind: Hashable, Sendable {
        /// A file is missing or cannot be read.
        case missing
        /// A file does not follow the grammar of its format.
        case malformed
        /// The files are well formed, but ask for something impossible.
        case invalid
        /// The options contradict each other.
        case request
        /// The adapter is missing, or cannot be used now.
        case unavailable
        /// This user does not have a necessary permission.
        case notPermitted
        /// A system call failed.
        case system
    }

    /// At least one sentence: what is wrong, where, and what to do.
    case refused(Kind, [String])
    /// The adapter cannot be opened.
    case transport(TransportError)
    /// The advertisements cannot be sent.
    case advertising(SessionError)
    /// Another instance uses the adapter.
    case adapterLock(AdapterLockError)
    /// Another instance with the same name is running.
    case instanceLock(InstanceLockError)
    /// A system call failed.
    case system(SystemError)

    /// Returns a refusal with one sentence.
    public static func refused(_ kind: Kind, _ message: String) -> Self { .refused(kind, [message]) }

    /// Converts any error of this module or of the modules below it.
    public init(_ error: any Error) {
        self =
            switch error {
            case let error as BeaconServiceError: error
            case let error as TransportError: .transport(error)
            case let error as SessionError: .advertising(error)
            case let error as HCICommandError: .advertising(.command(error, remedy: nil))
            case let error as ManagementError: .advertising(.management(error))
            case let error as AdapterLockError: .adapterLock(error)
            case let error as InstanceLockError: .instanceLock(error)
            case let error as SystemError: .system(error)
            case let fault as AdapterFault: .refused(.unavailable, [fault.text])
            default: .refused(.system, ["\(error)"])
            }
    }

    /// Creates a refusal from the errors of a file that cannot be decoded.
    ///
    /// - Parameters:
    ///   - name: The file's name in the messages.
    ///   - more: Further sentences, about other files that this file names.
    public init(_ problems: [FileProblem], of name: String, more: [String] = []) {
        let errors = FileProblem.sorted(problems.filter(\.isError))
        self = .refused(
            errors.refusal == .malformed ? .malformed : .invalid, errors.map { $0.text(file: name) } + more)
    }

    /// Converts an error of reading a file.
    ///
    /// - Parameters:
    ///   - name: The file's name in the message.
    ///   - limit: The largest allowed size, in bytes.
    public init(_ error: SystemError, reading name: String, limit: Int = 0) {
        self = .refused(
            error.errno == SystemError.tooLarge ? .malformed : .missing, "\(name): \(error.readingReason(limit: limit))"
        )
    }
}

extension BeaconServiceError: CustomStringConvertible {
    /// One sentence for each problem.
    public var messages: [String] {
        switch self {
        case .refused(_, let messages): messages
        case .transport(let error): ["\(error)"]
        case .advertising(let error): ["\(error)"]
        case .adapterLock(let error): ["\(error)"]
        case .instanceLock(let error): ["\(error)"]
        case .system(let error): ["\(error)"]
        }
    }

    /// All sentences in one line.
    public var description: String { messages.joined(separator: "; ") }
}
