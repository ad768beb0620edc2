internal import Configuration
internal import LinuxHost

/// Why a fleet's files cannot be read, made or kept.
public struct FleetStoreError: Error, Hashable, Sendable {
    /// What the failure means for whoever asked.
    public enum Kind: Hashable, Sendable {
        /// A file or directory is not there, or cannot be read.
        case missing
        /// A file does not follow the grammar of its format.
        case malformed
        /// The files are well formed, and what was asked for cannot be done with them.
        case invalid
        /// The request itself names something that is not there.
        case request
        /// Another process is changing the same fleet; later it will work.
        case busy
        /// This user may not.
        case notPermitted
        /// A program that is needed is not installed.
        case unavailable
        /// A program that was run did not do its work.
        case failed
        /// The system refused a call.
        case system
    }

    public let kind: Kind
    /// One sentence a problem (what, where, what next); at least one.
    public let messages: [String]

    /// - Parameter messages: At least one; each a sentence of what, where, what next.
    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// One sentence: what, where, what next.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }

    /// The errors of files that cannot be used, in their order, without the warnings.
    ///
    /// - Parameter file: What a file is called in problems that do not say it themselves.
    init(_ problems: [FileProblem], file: String? = nil) {
        let kind: Kind =
            switch problems.refusal {
            case .missing: .missing
            case .malformed: .malformed
            case .invalid, nil: .invalid
            }
        self.init(
            kind,
            problems.filter(\.isError).map { problem in
                problem.file == nil ? file.map { problem.text(file: $0) } ?? problem.description : problem.description
            })
    }

    /// A call that failed on a file or directory of a fleet.
    init(_ error: SystemError, at path: String) { self.init(error.about(path)) }

    /// A call that failed, as the system describes it.
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
    /// All sentences, one a line.
    public var description: String { messages.joined(separator: "\n") }
}
