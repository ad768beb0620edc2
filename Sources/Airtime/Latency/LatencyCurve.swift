/// P(L ≤ t) on the times of the recursion: the integral of P(wait > s), over the mean wait.
struct LatencyCurve: Sendable {
    /// In steps, from 0 on, ascending.
    private(set) var times: [Double] = [0]
    /// The share received until then.
    private(set) var received: [Double] = [0]

    init(receivedPerStep: Double) {
        self.receivedPerStep = receivedPerStep
    }

    private let receivedPerStep: Double

    init(receivedPerStep: Double, recursion: GapRecursion) {
        self.init(receivedPerStep: receivedPerStep)
        let complete = Double(recursion.completeSteps)
        let masses = recursion.histogram.masses
        var waiting = 1.0
        var sum = 0.0
        var time = 0.0
        var bin = 0
        while time < complete {
            // A mass at step i stands for i - 1/2 to i + 1/2.
            let mass = bin < masses.count ? masses[bin] : 0
            let end = min(complete, Double(GapHistogram.firstStep(of: bin + 1)) - 0.5)
            let width = end - time
            sum += receivedPerStep * width * (waiting - mass / 2)
            waiting = max(0, waiting - mass)
            time = end
            times.append(time)
            received.append(min(1, sum))
            bin += 1
        }
    }
}
