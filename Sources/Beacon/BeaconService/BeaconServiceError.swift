public import Advertiser
internal import HCI
public import HCITransports
public import LinuxHost

/// Why a beacon cannot be sent, or its files not be used.
public enum BeaconServiceError: Error, Sendable {
    /// What a refusal means for whoever asked.
    public enum Kind: Hashable, Sendable {
        /// A file is not there, or cannot be read.
        case missing
        /// A file does not follow the grammar of its format.
        case malformed
        /// The files are well formed, and what they ask for cannot be.
        case invalid
        /// The options ask for what cannot be together.
        case request
        /// There is no adapter.
        case unavailable
        /// This user may not.
        case notPermitted
        /// The system refused a call.
        case system
    }

    /// Sentences of our own: what, where, what next; at least one.
    case refused(Kind, [String])
    /// An adapter cannot be opened.
    case transport(TransportError)
    /// The advertisements cannot be sent, or not any more.
    case advertising(SessionError)
    /// Another instance has the adapter.
    case adapterLock(AdapterLockError)
    /// Another instance has the name.
    case instanceLock(InstanceLockError)
    /// A call failed that has nothing to do with an adapter.
    case system(SystemError)

    /// A refusal of one sentence.
    public static func refused(_ kind: Kind, _ message: String) -> Self { .refused(kind, [message]) }

    /// Whatever the parts of this module throw, and those that it is made of, as this type.
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

    /// A file that cannot be read.
    ///
    /// - Parameters:
    ///   - name: The file as it was named.
    ///   - limit: What it may hold at most, in octets.
    public init(_ error: SystemError, reading name: String, limit: Int = 0) {
        self =
            switch error.errno {
            case SystemError.noEntry, SystemError.notADirectory: .refused(.missing, "\(name): there is no such file")
            case SystemError.isDirectory: .refused(.missing, "\(name): this is a directory, not a file")
            case SystemError.accessDenied: .refused(.missing, "\(name): this user may not read it")
            case _ where error.reason != nil: .refused(.missing, "\(name): \(error.text)")
            case SystemError.tooLarge: .refused(.malformed, "\(name): it is larger than \(limit >> 20) MiB")
            default: .refused(.missing, "\(name): \(error.call): \(error.text)")
            }
    }
}

extension BeaconServiceError: CustomStringConvertible {
    /// One sentence a problem.
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

    /// All sentences where there is room for one line only.
    public var description: String { messages.joined(separator: "; ") }
}
