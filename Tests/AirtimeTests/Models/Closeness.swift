/// Whether two numbers agree to within a share of the second.
func isWithin(_ share: Double, _ value: Double, of expected: Double) -> Bool {
    (value - expected).magnitude <= share * expected.magnitude
}
