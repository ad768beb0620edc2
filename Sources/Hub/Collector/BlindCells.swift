/// Counts the blind cells: cells in which a beacon of usual power would be received only by dead receivers.
struct BlindCells: Sendable {
    private let plan: RoomPlan
    /// For each cell, the number of receivers that are alive and cover the cell.
    private var aliveCounts: [UInt16]
    /// For each cell, the number of dead receivers that cover the cell.
    private var deadCounts: [UInt16]
    /// The number of cells that are covered by at least one dead receiver, and by no receiver that is alive.
    private var blindCount: Int
    /// The number of dead receivers without a position. It is not known which cells they cover.
    private var unplacedDeadCount: Int

    /// Creates the counts for a site whose receivers are all dead.
    init(_ plan: RoomPlan) {
        self.plan = plan
        aliveCounts = [UInt16](repeating: 0, count: plan.cellCount)
        deadCounts = aliveCounts
        unplacedDeadCount = plan.levels.rows.count { $0 == nil }
        for row in plan.levels.rows.compactMap(\.self) {
            for cell in deadCounts.indices where plan.isUsuallyHeard(row, cell) { deadCounts[cell] += 1 }
        }
        blindCount = deadCounts.count { $0 > 0 }
    }

    /// True if there may be blind cells.
    var mayExist: Bool { unplacedDeadCount > 0 || blindCount > 0 }

    /// Changes the counts after a receiver has become alive or dead.
    mutating func change(_ receiver: Int, isAlive: Bool) {
        guard let row = plan.levels.rows[receiver] else {
            unplacedDeadCount += isAlive ? -1 : 1
            return
        }
        for cell in deadCounts.indices where plan.isUsuallyHeard(row, cell) {
            let wasBlind = deadCounts[cell] > 0 && aliveCounts[cell] == 0
            if isAlive {
                (aliveCounts[cell], deadCounts[cell]) = (aliveCounts[cell] + 1, deadCounts[cell] - 1)
            } else {
                (aliveCounts[cell], deadCounts[cell]) = (aliveCounts[cell] - 1, deadCounts[cell] + 1)
            }
            let isBlind = deadCounts[cell] > 0 && aliveCounts[cell] == 0
            if wasBlind != isBlind { blindCount += isBlind ? 1 : -1 }
        }
    }
}
