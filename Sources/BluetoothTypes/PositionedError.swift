/// What can be wrong at a place in octets or in a text.
public protocol PositionedReason: Hashable, Sendable {
    /// The sentence about it: what is wrong, and where.
    ///
    /// - Parameter offset: As in ``PositionedError/offset``.
    func sentence(at offset: Int) -> String
}

/// A reason and the place where it was found: the error of everything that reads octets or text from front to back.
///
/// Each reader has one of its own, such as ``HexadecimalError``, which says what its offset counts.
public struct PositionedError<Fault: PositionedReason>: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons of this error.
    public typealias Reason = Fault

    /// What is wrong.
    public let reason: Reason
    /// What lies before the fault, counted from 0.
    public let offset: Int

    /// An error behind `offset` octets or characters.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason's sentence.
    public var description: String { reason.sentence(at: offset) }
}
