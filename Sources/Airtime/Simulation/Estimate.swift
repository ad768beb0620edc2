/// A simulated value and how far it may be off.
public struct Estimate: Hashable, Sendable {
    public let value: Double
    /// Of the value, from the scatter of independent batches.
    public let standardError: Double
    /// The independent batches behind it, at least 2.
    public let batches: Int

    public init(value: Double, standardError: Double, batches: Int) {
        self.value = value
        self.standardError = standardError
        self.batches = max(2, batches)
    }

    /// Half the width of the 95 % confidence interval: standard errors times Student's t.
    public var halfWidth95: Double { standardError * Self.student95(degrees: batches - 1) }

    /// The 95 % confidence interval; it may reach beyond what is possible, such as below zero.
    public var confidence95: ClosedRange<Double> { value - halfWidth95...value + halfWidth95 }

    /// The two-sided 95 % point of Student's t: few batches know their own scatter badly.
    static func student95(degrees: Int) -> Double {
        let few = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306]
        guard degrees > few.count else { return few[max(degrees, 1) - 1] }
        // Cornish and Fisher's expansion around the normal distribution.
        let (normal, inverse) = (1.959964, 1 / Double(degrees))
        return normal + inverse * (2.372271 + inverse * (2.822500 + inverse * 2.555850))
    }
}
