public import Airtime

/// Why a question of the planner has no answer: sentences that say what, and what to do.
public struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, from which an exit status follows.
    public enum Kind: Hashable, Sendable {
        /// The numbers that were asked about cannot be, or do not go together.
        case question
        /// The site or fleet that was asked about holds nothing to plan with.
        case configuration
        /// It was ended before there was anything to tell.
        case unfinished
        /// A file that was to be read is not what it was taken for.
        case data
    }

    public let kind: Kind
    /// Whole sentences without their full stops: one, unless a file that was read has several problems.
    public let messages: [String]

    /// A whole sentence without its full stop.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }

    /// - Parameter messages: At least one, each a whole sentence without its full stop.
    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// All sentences, one a line.
    public var message: String { messages.joined(separator: "\n") }

    /// The same with what it is about, such as a file, before the first sentence.
    public func about(_ subject: String) -> PlanError { PlanError(kind, "\(subject): \(message)") }

    /// What a model refuses.
    public init(_ error: AirtimeError) { self.init(.question, "\(error)") }

    public var description: String { message }

    /// Asks a model, whose refusal becomes the question's own.
    public static func asking<Value>(
        _ compute: () throws(AirtimeError) -> Value
    ) throws(PlanError) -> Value {
        do throws(AirtimeError) {
            return try compute()
        } catch {
            throw PlanError(error)
        }
    }
}
