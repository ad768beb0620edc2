/// How likely a covered event is to be received, by what happened just before it, as states to walk through.
///
/// A path begins right after a received event. As long as its events stay in reach of the scanner and are lost, it
/// moves from state to state; an event outside the windows lets it start anew in `fresh`.
struct LossChain: Sendable {
    /// The probability of being received, by state.
    let hazards: [Double]
    /// The state after a loss within reach, by state.
    let successors: [Int]
    /// The state after an event out of the scanner's reach.
    let fresh = 0
    /// The state after a received event.
    let afterReceived: Int
    /// The share of all covered events that are received.
    let received: Double

    /// Losses that know nothing of each other.
    init(independent probability: Double) {
        hazards = [probability]
        successors = [0]
        afterReceived = 0
        received = probability
    }

    /// Losses in runs: hazards 1 - Q_{k+1}/Q_k after k losses, and the same counted from a received event.
    init(runs: RunsModel, limit: Int) {
        let fresh = (0...limit).map { runs.clearAfterLosses($0) }
        let after = (0...limit).map { runs.clearAfterReceivedAndLosses($0) }
        hazards = fresh + after
        successors = (0...limit).map { min($0 + 1, limit) } + (0...limit).map { limit + 1 + min($0 + 1, limit) }
        afterReceived = limit + 1
        received = runs.collisionFreeProbability
    }
}
