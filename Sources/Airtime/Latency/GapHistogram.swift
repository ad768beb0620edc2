/// How long the wait from one received event to the next is: masses over time, counted in steps of the recursion.
///
/// The first bins hold one step each; later ones grow with time, so that a bin is never wider than 1/4096 of its time
/// and hours fit into a few thousand numbers. A mass at step i stands for waits from i - 1/2 to i + 1/2.
struct GapHistogram: Sendable {
    private static let half = 4096
    private(set) var masses: [Double] = []

    mutating func add(_ mass: Double, at step: Int) {
        let bin = Self.bin(of: step)
        if bin >= masses.count { grow(to: bin) }
        masses[bin] += mass
    }

    /// Adds `values` times `factor` to consecutive steps from `first` on.
    mutating func add(_ values: [Double], times factor: Double, at first: Int) {
        guard !values.isEmpty else { return }
        let lastBin = Self.bin(of: first + values.count - 1)
        if lastBin >= masses.count { grow(to: lastBin) }
        var index = 0
        while index < values.count {
            // All steps up to the next zone share the width of their bins.
            let step = max(0, first + index)
            let zone = step < 2 * Self.half ? 0 : Int.bitWidth - 1 - (step / Self.half).leadingZeroBitCount
            let end = min(values.count, (2 * Self.half << zone) - first)
            Self.add(values, index..<end, times: factor, to: &masses, step: first, zone: zone)
            index = end
        }
    }

    private static func add(
        _ values: [Double], _ part: Range<Int>, times factor: Double, to masses: inout [Double], step: Int, zone: Int
    ) {
        for index in part { masses[half * zone + max(0, step + index) >> zone] += values[index] * factor }
    }

    private mutating func grow(to bin: Int) {
        masses.append(contentsOf: repeatElement(0, count: max(Self.half, bin + 1 - masses.count)))
    }

    /// Bins 0..<8192 are steps; from there on each zone of 4096 bins covers twice the time of the one before.
    static func bin(of step: Int) -> Int {
        guard step >= 2 * half else { return max(0, step) }
        let zone = Int.bitWidth - 1 - (step / half).leadingZeroBitCount
        return half * zone + step >> zone
    }

    /// The first step of a bin: the inverse of `bin(of:)`.
    static func firstStep(of bin: Int) -> Int {
        guard bin >= 2 * half else { return bin }
        let zone = bin / half - 1
        return (bin - zone * half) << zone
    }
}

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
