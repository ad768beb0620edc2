/// The cells in which a usual beacon would be received only by dead receivers.
struct BlindCells: Sendable {
    private let plan: RoomPlan
    /// The numbers of living and of dead receivers that cover each cell.
    private var living: [UInt16]
    private var dead: [UInt16]
    /// The number of cells that dead receivers cover and living ones do not.
    private var blind: Int
    /// The number of dead receivers without a position. It is not known what they cover.
    private var unknown: Int

    /// All receivers are dead.
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

    /// True if there are such cells.
    var exist: Bool { unknown > 0 || blind > 0 }

    /// Notes that a receiver lives, or is dead.
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
