internal import Airtime
internal import Sites

/// The mean levels of all beacons at the places of a rehearsal, computed from the path loss and the walls of the floor.
struct LinkTable {
    /// The beacons that may be received at a place, by their indices.
    struct Row {
        var beacons: [Int32] = []
        /// The mean level in dBm of each element of ``beacons``.
        var levels: [Float] = []
    }

    private let model: SiteModel
    private let distance: Double?
    private var rows: [Cell: Row] = [:]

    /// A point of a grid with a spacing of half a metre.
    private struct Cell: Hashable {
        let x: Int
        let y: Int
    }

    /// A beacon is left out at a place if its mean level is below the sensitivity by more than this, in dB, plus four
    /// standard deviations of the shadowing. Such a beacon is not received there, and does not destroy other packets.
    private static let reserve = 12.0
    /// The spacing of the places for which levels are computed, in m.
    private static let spacing = 0.5
    /// The largest number of stored rows.
    private static let limit = 20_000

    /// - Parameter distance: The distance to all beacons in m if there is no floor; `nil` with a floor.
    init(_ model: SiteModel, distance: Double?) {
        self.model = model
        self.distance = distance
    }

    /// The mean level of a beacon at a place in dBm.
    func level(of beacon: Int, at position: FloorPosition) -> Double {
        if let distance {
            let loss = (try? model.radio.pathLoss.decibels(atMeters: distance)) ?? 0
            return model.beacons[beacon].radioPower - loss
        }
        return model.link(beacon, at: position).power
    }

    /// The levels at exactly this place.
    func exactRow(at position: FloorPosition) -> Row {
        let lowestLevel = model.radio.sensitivity - Self.reserve - 4 * model.radio.shadowing
        var row = Row()
        for beacon in model.beacons.indices {
            let level = level(of: beacon, at: position)
            guard level >= lowestLevel else { continue }
            row.beacons.append(Int32(beacon))
            row.levels.append(Float(level))
        }
        return row
    }

    /// The levels at the nearest place of the grid.
    mutating func row(near position: FloorPosition) -> Row {
        let cell = Cell(
            x: Int((position.x / Self.spacing).rounded()), y: Int((position.y / Self.spacing).rounded()))
        if let stored = rows[cell] { return stored }
        let row = exactRow(
            at: FloorPosition(x: Double(cell.x) * Self.spacing, y: Double(cell.y) * Self.spacing))
        if rows.count >= Self.limit { rows.removeAll() }
        rows[cell] = row
        return row
    }
}
