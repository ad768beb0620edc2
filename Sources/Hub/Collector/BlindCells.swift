/// The cells in which a usual beacon would be heard by dead receivers, and by no living one.
struct BlindCells: Sendable {
    private let plan: RoomPlan
    /// By cell: how many receivers would hear it there.
    private var living: [UInt16]
    private var dead: [UInt16]
    private var blind: Int
    /// Receivers without a place that are dead: nobody knows what they would hear.
    private var unknown: Int

    /// All are dead.
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

    /// Whether there are some.
    var areSome: Bool { unknown > 0 || blind > 0 }

    /// A receiver has come to life, or is dead.
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
