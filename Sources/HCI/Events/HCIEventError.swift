/// Why octets are no event: what is wrong, and where.
public struct HCIEventError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, with the numbers that show it.
    public enum Reason: Hashable, Sendable {
        /// The length octet and the number of octets after the header disagree.
        case lengthMismatch(claimed: Int, found: Int)
        /// The field needs more octets than are left.
        case truncated(field: Field, needed: Int, left: Int)
        /// Octets after the last field.
        case trailing(Int)
    }

    /// The part of an event that is cut short.
    public enum Field: String, Hashable, Sendable {
        case header = "event header"
        case commandComplete = "Command Complete"
        case commandStatus = "Command Status"
        case hardwareError = "Hardware Error"
        case subevent = "LE Meta subevent code"
        case reportCount = "number of reports"
        case report = "advertising report"
        case reportData = "advertising report's data"
        case setTerminated = "LE Advertising Set Terminated"
    }

    public let reason: Reason
    /// Where the field starts, in octets from the start of what was read.
    public let offset: Int

    /// An error at `offset` octets from the start of the span that was read.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String {
        switch reason {
        case .lengthMismatch(let claimed, let found):
            "the event at offset \(offset) claims \(claimed) octets of parameters, but has \(found)"
        case .truncated(let field, let needed, let left):
            "the \(field.rawValue) at offset \(offset) needs \(needed) octets, but only \(left) are left"
        case .trailing(let count):
            "\(count) octets too many at offset \(offset), after the event's last field"
        }
    }
}
