/// One check for all physical quantities that the models take.
enum Quantity {
    /// Refuses NaN and what lies outside `range`, with a name that tells the range.
    static func check(
        _ value: Double, in range: ClosedRange<Double>, _ name: String
    ) throws(AirtimeError) {
        guard range.contains(value) else { throw .quantity(name: name, value: value) }
    }
}
