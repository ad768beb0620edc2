/// Which colour a value on a floor plan has: strong red for what is bad, visible green for what is good. With a target
/// the colours change there, else they lie evenly between the least and the greatest value.
struct FloorPlanShades {
    /// The first half is for what is good.
    static let count = 8

    /// Where one shade ends and the next begins, from the best value to the worst.
    private let bounds: [Double]
    private let isHigherBetter: Bool
    private let unit: String
    private let isEmpty: Bool

    init(_ plan: PlanPageContent.FloorPlan) {
        let values = plan.spots.compactMap(\.value).filter(\.isFinite).map { max(-1e12, min(1e12, $0)) }
        isHigherBetter = plan.isHigherBetter
        unit = plan.unit
        isEmpty = values.isEmpty
        let (low, high) = (values.min() ?? 0, values.max() ?? 1)
        let (best, worst) = plan.isHigherBetter ? (high, low) : (low, high)
        if let target = plan.target, target.isFinite {
            // Good enough is what reaches the target, whatever was found.
            let most = plan.isHigherBetter ? max(best, target) : min(best, target)
            let least = plan.isHigherBetter ? min(worst, target, 0) : max(worst, 2 * target)
            bounds = Self.steps(from: most, to: target) + Self.steps(from: target, to: least) + [least]
        } else {
            let middle = (best + worst) / 2
            bounds = Self.steps(from: best, to: middle) + Self.steps(from: middle, to: worst) + [worst]
        }
    }

    /// Half of the shades, without the end.
    private static func steps(from first: Double, to last: Double) -> [Double] {
        let half = count / 2
        return (0..<half).map { first + (last - first) * Double($0) / Double(half) }
    }

    /// 0 for the best, `count - 1` for the worst.
    func shade(_ value: Double) -> Int {
        let worse = bounds.dropFirst().dropLast().prefix { isHigherBetter ? value < $0 : value > $0 }
        return worse.count
    }

    /// Each shade with the values that it stands for.
    ///
    /// - Parameter isMoving: Whether a script changes the shades, and may show those that are hidden now.
    func legend(isMoving: Bool) -> [HTML.LegendEntry] {
        guard !isEmpty || isMoving else { return [] }
        return (0..<Self.count).compactMap { index in
            let isNothing = bounds[index] == bounds[index + 1]
            guard !isNothing || isMoving else { return nil }
            let ends = [bounds[index], bounds[index + 1]].sorted().map { NumberText.significant($0) }
            return .init(
                "f\(index)", "\(ends[0]) to \(ends[1]) \(unit)", id: isMoving ? "legendShade\(index)" : "",
                isHidden: isNothing)
        }
    }
}
