/// How much of everything a page holds at most. A page that comes out too large is made again with less.
struct PageLimits: Hashable {
    /// Bytes that no page may reach.
    static let bytes = 500_000
    /// 1 for an ordinary page, 2, 4, 8 … for less of everything.
    let divisor: Int

    static let all = [1, 2, 4, 8, 16].map { PageLimits(divisor: $0) }

    /// Characters of a text, of a note, and of a name.
    var text: Int { 2000 / divisor }
    var note: Int { 800 / divisor }
    var name: Int { 160 / divisor }
    var figures: Int { 60 / divisor }
    var notes: Int { 40 / divisor }
    var curves: Int { max(1, 8 / divisor) }
    /// Points of a line.
    var points: Int { 240 / divisor }
    var tableRows: Int { max(6, 24 / divisor) }
    /// Rows of a list that is there to be read.
    var listRows: Int { max(20, 1000 / divisor) }
    var scanners: Int { max(8, 40 / divisor) }
    var strips: Int { max(4, 12 / divisor) }
    var heatRows: Int { max(8, 64 / divisor) }
    var heatColumns: Int { max(4, 16 / divisor) }
    var spots: Int { 6000 / divisor }
    var beacons: Int { 3000 / divisor }
    var walls: Int { 3000 / divisor }
    var weakSpots: Int { 24 / divisor }

    func shortened(_ raw: String) -> String { HTMLEscaping.shortened(raw, to: name) }
}
