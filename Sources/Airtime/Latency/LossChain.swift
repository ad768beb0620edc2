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

    private init(hazards: [Double], successors: [Int], afterReceived: Int, received: Double) {
        self.hazards = hazards
        self.successors = successors
        self.afterReceived = afterReceived
        self.received = received
    }

    /// With one more reason to be lost, of its own for each event.
    func scaled(by share: Double) -> LossChain {
        LossChain(
            hazards: hazards.map { $0 * share }, successors: successors, afterReceived: afterReceived,
            received: received * share)
    }

    /// Losses in runs: hazards 1 - Q_{k+1}/Q_k after k losses, and the same counted from a received event.
    ///
    /// After `limit` losses the hazard stays. Runs that began with a received event join the others there: that is
    /// what keeps the mean wait at E/p when the hazard of both stays the same.
    init(runs: RunsModel, limit: Int) {
        hazards =
            (0...limit).map { runs.clearAfterLosses($0) }
            + (0..<limit).map { runs.clearAfterReceivedAndLosses($0) }
        successors = (0...limit).map { min($0 + 1, limit) } + (1..<limit).map { limit + 1 + $0 } + [limit]
        afterReceived = limit + 1
        received = runs.collisionFreeProbability
    }
}
