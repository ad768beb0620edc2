/// From one advertising event to the next, on the grid: T later, spread by advDelay ~ U(0, J).
///
/// A mass that is uniform within its step arrives uniform over J around the same place, that is a trapezoid. A T
/// between two steps is shared between them, which keeps its mean; the variance of advDelay grows by 1.2 % at most.
struct PeriodKernel: Sendable {
    /// T in whole steps.
    let steps: Int
    /// J in steps; 0 without advDelay.
    let jitterSteps: Int
    /// What one step gives to itself, the next and the one after it, before the J-wide box.
    let taps: (Double, Double, Double)
    /// The weights of the steps from `steps` on; they sum to one.
    let weights: [Double]

    init(intervalSteps: Double, jitterSteps: Int) {
        steps = Int(intervalSteps)
        self.jitterSteps = jitterSteps
        let part = intervalSteps - Double(steps)
        if jitterSteps > 0 {
            let half = 0.5 / Double(jitterSteps)
            taps = ((1 - part) * half, half, part * half)
        } else {
            taps = (1 - part, part, 0)
        }
        let box = max(1, jitterSteps)
        var weights = Array(repeating: 0.0, count: box + 2)
        for index in 0..<box {
            weights[index] += taps.0
            weights[index + 1] += taps.1
            weights[index + 2] += taps.2
        }
        self.weights = weights
    }

    /// How many steps one step spreads over.
    var width: Int { weights.count }
}
