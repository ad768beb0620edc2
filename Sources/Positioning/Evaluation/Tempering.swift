internal import Airtime

/// Fits the temper: what log-likelihoods must be divided by so that regions cover what they say.
public enum Tempering {
    /// The tempers that are looked at.
    public static let steps = [1.0, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16]
    /// What the 95 % region is to cover of the instants left out.
    static let aim = 0.95

    /// The temper at which the 95 % regions hold so many of the truths, between two steps by the logarithm; `nil` without
    /// any instant that has a region.
    public static func fit(_ instants: [EvaluatedInstant]) -> Double? {
        let masses = instants.map(\.temperedMasses).filter { $0.count == steps.count }
        guard !masses.isEmpty else { return nil }
        let coverages = steps.indices.map { step in
            Double(masses.count { $0[step] < 0.95 }) / Double(masses.count)
        }
        guard let reached = coverages.firstIndex(where: { $0 >= aim }) else { return steps[steps.count - 1] }
        guard reached > 0 else { return steps[0] }
        let (below, above) = (coverages[reached - 1], coverages[reached])
        let share = above > below ? (aim - below) / (above - below) : 1
        return exp(log(steps[reached - 1]) + share * (log(steps[reached]) - log(steps[reached - 1])))
    }
}
