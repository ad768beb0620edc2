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
