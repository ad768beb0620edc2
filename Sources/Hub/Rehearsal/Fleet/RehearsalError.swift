/// The reason why a rehearsal cannot run.
public struct RehearsalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, which decides the exit code.
    public enum Kind: Hashable, Sendable {
        /// A file does not exist or cannot be read.
        case missing
        /// A file does not follow the grammar of its format.
        case malformed
        /// The files are well formed, but cannot be rehearsed together.
        case invalid
        /// The options request something that does not exist or is too large.
        case request
        /// The system refused a call.
        case system
    }

    public let kind: Kind
    /// One sentence for each problem, with its location and advice; at least one sentence.
    public let messages: [String]

    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// An error with one sentence.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }

    public var description: String { messages.joined(separator: "\n") }
}
