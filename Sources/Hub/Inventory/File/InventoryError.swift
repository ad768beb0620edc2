/// Why something cannot be done with an inventory, as sentences: what, where, what next.
public struct InventoryError: Error, Hashable, Sendable {
    /// What the error means for whoever asked.
    public enum Kind: Hashable, Sendable {
        /// A file is not there.
        case missing
        /// A file is no JSON.
        case malformed
        /// What a file says cannot be.
        case invalid
        /// What was asked for cannot be.
        case request
        /// Somebody else is at it.
        case busy
        /// A program that is needed is not there.
        case unavailable
        /// A program failed.
        case failed
    }

    public let kind: Kind
    public let messages: [String]

    /// - Parameter messages: One sentence a problem.
    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// One sentence.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }
}

extension InventoryError: CustomStringConvertible {
    /// All sentences where there is room for one line only.
    public var description: String { messages.joined(separator: "; ") }
}
