/// The phase in the scanner's cycle at which a beacon's next advertising event starts, given that no event was received
/// yet.
///
/// An event is covered if one of its copies is inside a scan window on its channel (``ScannerCycle``). A covered event
/// is lost only by a collision or a disturbance. The cycle has equal cells. For each cell and each number of covered
/// events that were lost so far, the distribution stores the probability that the next event starts in the cell.
/// ``receive()`` removes the events that are received; ``advance()`` moves the remaining probabilities by T and spreads
/// them over advDelay.
struct PhaseDistribution: Sendable {
    /// The probability that the scanner receives an event that falls into one of its windows.
    struct Reception: Hashable, Sendable {
        /// The probability if the previous event was covered and lost.
        let rightAfterLoss: Double
        /// The probability if the previous event was not covered.
        let afterUncovered: Double
    }

    /// By the number of lost events, and by cell: the probabilities of beacons whose previous event was not covered, or
    /// of all beacons if ``distinguishesRightAfterLoss`` is false. The inner list is empty for numbers of losses that
    /// have not occurred yet.
    private var masses: [[Double]]
    /// By the number of lost events, and by cell: the probabilities of beacons whose previous event was covered and
    /// lost.
    private var massesRightAfterLoss: [[Double]]
    /// The covered share of each cell.
    private let coveredShares: [Double]
    /// The cells of which any part is covered.
    private let coveredCells: [Int]
    /// The probability that a covered event is received, by the number of covered events that were lost before. The
    /// last value is used for all larger numbers.
    private let reception: [Reception]
    /// True if ``reception`` depends on whether the previous event was covered.
    private let distinguishesRightAfterLoss: Bool
    /// `weights[k]`: the share of a cell's probability that moves by `shift + k` cells from one event to the next.
    private let weights: [Double]
    private let shift: Int

    /// The width of the narrowest cell in µs.
    private static let narrowestCell = 625.0
    /// The width of the widest cell in µs. Cells may be twice as wide if each window contains two or more events,
    /// because the phase hardly matters then.
    private static let widestCell = 2500.0
    /// The smallest number of cells in a window. A window that is too short for so many cells has fewer.
    private static let cellsPerWindow = 24.0
    /// If at least this share of the scanner's cycle is covered, the phase does not matter, and one cell is enough.
    private static let evenShare = 0.999
    /// Beacons with one more loss are counted separately as soon as their probability reaches this value.
    private static let smallestMass = 1e-4

    /// - Parameters:
    ///   - interval: T in µs.
    ///   - delay: J in µs.
    ///   - reception: The probability that a covered event is received, by the number of covered events lost before.
    init(cycle: ScannerCycle, windowMicroseconds: Int, interval: Double, delay: Double, reception: [Reception]) {
        var count = 1
        if cycle.share < Self.evenShare {
            let wanted = Double(windowMicroseconds) / Self.cellsPerWindow
            let isDense = Double(windowMicroseconds) > 2 * (interval + delay / 2)
            let width = max(Self.narrowestCell, min(wanted, isDense ? 2 * Self.widestCell : Self.widestCell))
            count = max(2, Int((cycle.length / width).rounded()))
        }
        let shares = cycle.shares(ofCells: count)
        coveredShares = shares
        coveredCells = shares.indices.filter { shares[$0] > 0 }
        // A scanner without pauses covers every event, so the previous event was always covered.
        self.reception =
            count > 1
            ? reception
            : reception.map {
                Reception(rightAfterLoss: $0.rightAfterLoss, afterUncovered: $0.rightAfterLoss)
            }
        distinguishesRightAfterLoss = self.reception.contains { $0.rightAfterLoss != $0.afterUncovered }
        massesRightAfterLoss = Array(repeating: [], count: reception.count)
        masses = Array(repeating: [], count: reception.count)
        masses[0] = Array(repeating: 1 / Double(count), count: count)
        let cell = cycle.length / Double(count)
        (shift, weights) = Self.weights(from: interval / cell, width: max(delay / cell, 1e-3))
    }

    /// True if the phase of the scanner makes no difference.
    var isEven: Bool { coveredShares.count == 1 }

    /// The number of additions that one event takes.
    var work: Int { masses.reduce(0) { $0 + $1.count } + massesRightAfterLoss.reduce(0) { $0 + $1.count } }

    /// Removes the probability that the next event is received, and returns it.
    mutating func receive() -> Double {
        // The loop goes from many losses to few, so that a loss is not counted twice.
        masses.indices.reversed().reduce(0) { $0 + (masses[$1].isEmpty ? 0 : receive($1)) }
    }

    /// Removes and returns the probability that a beacon has `losses` losses and its next event is received. If a
    /// covered event is not received, its probability moves to the list for one more loss.
    private mutating func receive(_ losses: Int) -> Double {
        // The lists are taken out of the arrays, so that they are changed in place and not copied.
        var allMasses = masses[losses]
        let rightAfterLoss = massesRightAfterLoss[losses]
        masses[losses] = []
        massesRightAfterLoss[losses] = []
        if !rightAfterLoss.isEmpty {
            for cell in allMasses.indices { allMasses[cell] += rightAfterLoss[cell] }
        }
        var (received, lost) = (0.0, 0.0)
        var lostByCell: [Double] = []
        lostByCell.reserveCapacity(coveredCells.count)
        for cell in coveredCells {
            let coveredMass = allMasses[cell] * coveredShares[cell]
            let coveredRightAfterLoss = rightAfterLoss.isEmpty ? 0 : rightAfterLoss[cell] * coveredShares[cell]
            let receivedMass =
                (coveredMass - coveredRightAfterLoss) * reception[losses].afterUncovered
                + coveredRightAfterLoss * reception[losses].rightAfterLoss
            allMasses[cell] -= coveredMass
            received += receivedMass
            lost += coveredMass - receivedMass
            lostByCell.append(coveredMass - receivedMass)
        }
        masses[losses] = allMasses
        // For a very small probability, the additional loss is not counted.
        let isCounted =
            losses + 1 < masses.count && (!masses[losses + 1].isEmpty || lost >= Self.smallestMass)
        let target = isCounted ? losses + 1 : losses
        if masses[target].isEmpty { masses[target] = Array(repeating: 0, count: allMasses.count) }
        if distinguishesRightAfterLoss {
            if massesRightAfterLoss[target].isEmpty {
                massesRightAfterLoss[target] = Array(repeating: 0, count: allMasses.count)
            }
            for (cell, mass) in zip(coveredCells, lostByCell) { massesRightAfterLoss[target][cell] += mass }
        } else {
            for (cell, mass) in zip(coveredCells, lostByCell) { masses[target][cell] += mass }
        }
        return received
    }

    /// Advances all beacons to their next event.
    mutating func advance() {
        guard !isEven else { return }
        for losses in masses.indices where !masses[losses].isEmpty { masses[losses] = moved(masses[losses]) }
        for losses in massesRightAfterLoss.indices where !massesRightAfterLoss[losses].isEmpty {
            massesRightAfterLoss[losses] = moved(massesRightAfterLoss[losses])
        }
    }

    private func moved(_ masses: [Double]) -> [Double] {
        // The cells are copied into the order in which they reach cell 0, 1, 2 and so on, so that no index has to wrap
        // around.
        let count = masses.count
        let lastWeight = weights.count - 1
        let first = (shift + lastWeight) % count
        var source = Array(masses[(count - first)...])
        while source.count < count + lastWeight { source += masses.prefix(count + lastWeight - source.count) }
        var result = Array(repeating: 0.0, count: count)
        unsafe source.withUnsafeBufferPointer { source in
            unsafe result.withUnsafeMutableBufferPointer { result in
                // Each pass applies two weights, because reading and writing the results takes most of the time.
                for index in stride(from: 0, to: weights.count - 1, by: 2) {
                    let (first, second) = (weights[index], weights[index + 1])
                    let offset = lastWeight - index - 1
                    for cell in 0..<count {
                        unsafe result[cell] += first * source[cell &+ offset &+ 1] + second * source[cell &+ offset]
                    }
                }
                if weights.count % 2 == 1 {
                    let last = weights[weights.count - 1]
                    for cell in 0..<count { unsafe result[cell] += last * source[cell] }
                }
            }
        }
        return result
    }

    /// Returns how the probability of one cell is spread over later cells. The movement is uniform over `from...from +
    /// width`, in cells.
    private static func weights(from: Double, width: Double) -> (shift: Int, weights: [Double]) {
        // The integral over x of the share of a cell that is below x.
        func integral(_ x: Double) -> Double { x <= 0 ? 0 : x < 1 ? x * x / 2 : x - 0.5 }
        let shift = Int(from)
        let start = from - Double(shift)
        func below(_ x: Double) -> Double { (integral(x - start) - integral(x - start - width)) / width }
        let count = Int((start + width).rounded(.up)) + 1
        return (shift, (0..<count).map { below(Double($0) + 1) - below(Double($0)) })
    }
}
