/// A number that a field cannot hold, with the range that it can.
public struct ValueOutOfRange: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name as the user knows it, such as `major`.
    public let field: String
    public let value: Int
    public let range: ClosedRange<Int>
    /// The unit of value and range, such as `dBm`; empty for plain numbers.
    public let unit: String

    public init(_ field: String, _ value: Int, range: ClosedRange<Int>, unit: String = "") {
        self.field = field
        self.value = value
        self.range = range
        self.unit = unit
    }

    public var description: String {
        let unit = unit.isEmpty ? "" : " " + unit
        return "\(field): \(value) is out of range \(range.lowerBound)...\(range.upperBound)\(unit)"
    }
}
