/// When a simulation has seen enough: its confidence interval is narrower than asked, or it has run its most batches.
public struct PrecisionGoal: Hashable, Sendable {
    /// What half the width of the 95 % confidence interval is compared with.
    public enum Width: Hashable, Sendable {
        /// In the unit of the value itself.
        case absolute(Double)
        /// As a share of the value: 0.01 is one per cent.
        case relative(Double)
    }

    public let halfWidth: Width
    /// Fewer batches than this know their own scatter too badly to stop on it.
    public let minimumBatches: Int
    public let maximumBatches: Int

    /// Refuses a width that is no positive number, fewer than two batches, and a maximum below the minimum.
    public init(
        halfWidth: Width, minimumBatches: Int = 20, maximumBatches: Int = 100_000
    ) throws(AirtimeError) {
        let width =
            switch halfWidth {
            case .absolute(let width), .relative(let width): width
            }
        guard width > 0, width.isFinite else { throw .quantity(name: "a confidence interval's width", value: width) }
        guard minimumBatches >= 2, minimumBatches <= maximumBatches else {
            throw .quantity(name: "a number of batches", value: Double(min(minimumBatches, maximumBatches)))
        }
        self.halfWidth = halfWidth
        self.minimumBatches = minimumBatches
        self.maximumBatches = maximumBatches
    }

    /// Whether the interval of this estimate is narrow enough; never for fewer than `minimumBatches`.
    public func isMet(by estimate: Estimate?) -> Bool {
        guard let estimate, estimate.batches >= minimumBatches else { return false }
        return switch halfWidth {
        case .absolute(let width): estimate.halfWidth95 <= width
        case .relative(let width): estimate.halfWidth95 <= width * abs(estimate.value)
        }
    }
}
