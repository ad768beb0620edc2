public import Airtime

/// An error of the planner: what is wrong, and what to do.
public struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error. It determines the exit status of the program.
    public enum Kind: Hashable, Sendable {
        /// The numbers of the question are impossible, or contradict each other.
        case question
        /// The site or fleet has no beacons to plan with.
        case configuration
        /// The computation was stopped before there was a result.
        case unfinished
        /// A file does not have the expected content.
        case data
    }

    public let kind: Kind
    /// Sentences without their full stops. A file with several problems gives several sentences.
    public let messages: [String]

    /// - Parameter message: A sentence without its full stop.
    public init(_ kind: Kind, _ message: String) { self.init(kind, [message]) }

    /// - Parameter messages: At least one sentence; each without its full stop.
    public init(_ kind: Kind, _ messages: [String]) {
        self.kind = kind
        self.messages = messages
    }

    /// All sentences, one per line.
    public var message: String { messages.joined(separator: "\n") }

    /// Returns the error with a subject, such as the name of a file, and a colon at the beginning of its message.
    public func about(_ subject: String) -> PlanError { PlanError(kind, "\(subject): \(message)") }

    /// Creates an error from the error of a model.
    public init(_ error: AirtimeError) { self.init(.question, "\(error)") }

    public var description: String { message }

    /// Calls a model, and rethrows its error as an error of the planner.
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
