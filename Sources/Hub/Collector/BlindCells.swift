/// Counts the blind cells: cells in which a beacon of usual power would be received only by dead receivers.
struct BlindCells: Sendable {
    private let plan: RoomPlan
    /// The number of receivers that are alive and cover the cell, for each cell.
    private var living: [UInt16]
    /// The number of dead receivers that cover the cell, for each cell.
    private var dead: [UInt16]
    /// The number of cells that are covered by dead receivers, and by no receiver that is alive.
    private var blind: Int
    /// The number of dead receivers without a position. It is not known which cells they cover.
    private var unknown: Int

    /// Creates the counts for a site of which all receivers are dead.
    init(_ plan: RoomPlan) {
        self.plan = plan
        living = [UInt16](repeating: 0, count: plan.cellCount)
        dead = living
        unknown = plan.levels.rows.count { $0 == nil }
        for row in plan.levels.rows.compactMap(\.self) {
            for cell in dead.indices where plan.isUsuallyHeard(row, cell) { dead[cell] += 1 }
        }
        blind = dead.count { $0 > 0 }
    }

    /// True if there are, or may be, blind cells.
    var exist: Bool { unknown > 0 || blind > 0 }

    /// Notes that a receiver has become alive, or dead.
    mutating func change(_ receiver: Int, isAlive: Bool) {
        guard let row = plan.levels.rows[receiver] else {
            unknown += isAlive ? -1 : 1
            return
        }
        for cell in dead.indices where plan.isUsuallyHeard(row, cell) {
            let wasBlind = dead[cell] > 0 && living[cell] == 0
            if isAlive {
                (living[cell], dead[cell]) = (living[cell] + 1, dead[cell] - 1)
            } else {
                (living[cell], dead[cell]) = (living[cell] - 1, dead[cell] + 1)
            }
            let isBlind = dead[cell] > 0 && living[cell] == 0
            if wasBlind != isBlind { blind += isBlind ? 1 : -1 }
        }
    }
}
