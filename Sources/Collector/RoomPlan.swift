internal import Airtime
internal import Positioning
public import Sites

/// The floors of a site as cells: which room each belongs to, and how loud each receiver hears a beacon in it.
///
/// Floors lie beside each other in the filter's plane, so that walls of one cut nothing on another.
public struct RoomPlan: Sendable {
    /// A room of one floor.
    public struct Room: Hashable, Sendable {
        public let name: String
        /// `nil` where nobody has drawn the site.
        public let floor: String?
    }

    public private(set) var rooms: [Room] = []
    /// That has heard nothing.
    let filter: CellFilter
    /// Each cell's place on its own floor.
    private(set) var positions: [FloorPosition] = []
    /// Each cell's floor, by its number.
    private(set) var floors: [Int] = []
    /// By receiver, then by cell: the level less that at 1 m, in dB; empty for a receiver without a place.
    private(set) var levels: [[Double]] = []
    /// By floor.
    let spreads: [Double]
    let sensitivities: [Double]
    /// By cell: the rooms that it is part of, with their shares of it.
    private var shares: [[(room: Int, share: Double)]] = []
    /// By receiver: the room that it is in.
    private(set) var roomOfReceiver: [Int?] = []

    /// The part of a way between floors that is straight up, in metres, and what a ceiling costs, in dB.
    static let storey = (height: 3.0, loss: 15.0)
    /// Receivers hear no better from nearer than this, in metres.
    static let nearest = 0.1
    /// Floors without an outline go so far beyond what stands on them.
    static let margin = 1.0
    /// Of a beacon that says nothing of itself, in dBm at 1 m.
    static let usualPower = -59.0

    public var cellCount: Int { positions.count }

    /// - Parameter sites: One for each floor of the file, in their order.
    public init(_ file: CollectorFile, sites: [Site]) {
        let floorCount = min(file.floors.count, sites.count)
        spreads = sites.map { max(1, $0.radio.shadowing) }
        sensitivities = sites.map(\.radio.sensitivity)
        var areas: [CellGrid.Area] = []
        var shifts: [Double] = []
        var walls: [Wall] = []
        var east = 0.0
        for floor in 0..<floorCount {
            let standing = file.receivers.filter { file.floor($0.floor) == floor }.compactMap(\.position)
            let site = sites[floor]
            let corners = site.bounds.map { [$0.low, $0.high] } ?? []
            guard let bounds = FloorBounds(corners + (site.outline == nil ? standing : [])) else {
                shifts.append(0)
                continue
            }
            let margin = site.outline == nil ? Self.margin : 0
            let shift = east - bounds.low.x + margin
            shifts.append(shift)
            func moved(_ place: FloorPosition, _ dx: Double, _ dy: Double) -> FloorPosition {
                FloorPosition(x: place.x + shift + dx, y: place.y + dy)
            }
            areas.append(
                CellGrid.Area(
                    floor: "\(floor)", low: moved(bounds.low, -margin, -margin),
                    high: moved(bounds.high, margin, margin)))
            walls += site.walls.map {
                Wall(from: moved($0.from, 0, 0), to: moved($0.to, 0, 0), attenuation: $0.attenuation)
            }
            east = bounds.high.x + shift + margin + 100
        }
        let grid = CellGrid(areas, step: file.cellMeters) { cell in
            guard let floor = cell.floor.flatMap({ Int($0) }), let outline = sites[floor].outline else { return true }
            return outline.contains(FloorPosition(x: cell.position.x - shifts[floor], y: cell.position.y))
        }
        filter = CellFilter(grid, fastest: file.fastest, walls: walls)
        for cell in grid.cells {
            let floor = cell.floor.flatMap { Int($0) } ?? 0
            floors.append(floor)
            positions.append(FloorPosition(x: cell.position.x - shifts[floor], y: cell.position.y))
        }
        levels = file.receivers.map { receiver in
            guard let position = receiver.position, let floor = file.floor(receiver.floor), floor < floorCount else {
                return []
            }
            return levels(at: position, on: floor, sites)
        }
        roomOfReceiver = file.receivers.map { receiver in
            receiver.room.map {
                number(of: Room(name: $0, floor: file.floor(receiver.floor).map { file.floors[$0].name }))
            }
        }
        shares = positions.indices.map { _ in [] }
        for floor in 0..<floorCount { divide(floor, file, sites[floor].outline, step: grid.step) }
    }

    private mutating func number(of room: Room) -> Int {
        if let number = rooms.firstIndex(of: room) { return number }
        rooms.append(room)
        return rooms.count - 1
    }

    private func levels(at position: FloorPosition, on floor: Int, _ sites: [Site]) -> [Double] {
        let site = sites[floor]
        let loss = site.radio.pathLoss
        // The walls between are what a link costs beyond its path; the limits of a radio would leave some out.
        let power = 20.0
        let radio = try? SiteRadio(pathLoss: loss, shadowing: site.radio.shadowing, sensitivity: -130)
        let beacon = try? SiteBeacon(
            name: "", position: position, intervalMicroseconds: 1_000_000, airtimeMicroseconds: 376, radioPower: power)
        let model = SiteModel(beacons: [beacon].compactMap(\.self), walls: site.walls, radio: radio ?? site.radio)
        let atOneMeter = (try? loss.decibels(atMeters: 1)) ?? 0
        return positions.indices.map { cell in
            let away = position.distance(to: positions[cell])
            let storeys = Double(abs(floors[cell] - floor))
            let height = storeys * Self.storey.height
            let straight = max(Self.nearest, (away * away + height * height).squareRoot())
            var level = atOneMeter - ((try? loss.decibels(atMeters: straight)) ?? 200)
            if storeys > 0 {
                level -= storeys * Self.storey.loss
            } else if away > 1e-6, let free = try? loss.decibels(atMeters: away), model.beacons.count == 1 {
                let between = power - free - model.link(0, at: positions[cell]).power
                if between.isFinite { level -= max(0, between) }
            }
            return max(level, -150)
        }
    }

    /// Gives the cells of a floor to its rooms.
    private mutating func divide(_ floor: Int, _ file: CollectorFile, _ outline: FloorOutline?, step: Double) {
        let name = file.floors[floor].name
        let drawn = file.floors[floor].rooms.compactMap { room in
            (try? FloorOutline(corners: room.corners)).map {
                (outline: $0, number: number(of: Room(name: room.name, floor: name)))
            }
        }
        let heard = file.receivers.indices.filter {
            !levels[$0].isEmpty && file.floor(file.receivers[$0].floor) == floor && roomOfReceiver[$0] != nil
        }
        for cell in positions.indices where floors[cell] == floor {
            guard drawn.isEmpty else {
                // A cell on the border belongs to both sides, as much as lies there; what is outside belongs to nobody.
                var counts: [Int: Int] = [:]
                var inside = 0
                for column in 0..<Self.parts {
                    for row in 0..<Self.parts {
                        let place = FloorPosition(
                            x: positions[cell].x + ((Double(column) + 0.5) / Double(Self.parts) - 0.5) * step,
                            y: positions[cell].y + ((Double(row) + 0.5) / Double(Self.parts) - 0.5) * step)
                        guard outline?.contains(place) ?? true else { continue }
                        inside += 1
                        guard let room = drawn.first(where: { $0.outline.contains(place) }) else { continue }
                        counts[room.number, default: 0] += 1
                    }
                }
                shares[cell] = counts.sorted { $0.key < $1.key }
                    .map { ($0.key, Double($0.value) / Double(max(1, inside))) }
                continue
            }
            guard let best = heard.max(by: { levels[$0][cell] < levels[$1][cell] }), let room = roomOfReceiver[best]
            else { continue }
            shares[cell] = [(room, 1)]
        }
    }

    /// Of a cell's side, for its share in rooms.
    private static let parts = 10

    // MARK: Answers

    /// How likely each room is; what is missing from 1 lies in no room.
    func roomProbabilities(_ cells: [Double]) -> [Double] {
        var result = [Double](repeating: 0, count: rooms.count)
        for (cell, weight) in cells.enumerated() where weight > 0 {
            for (room, share) in shares[cell] { result[room] += weight * share }
        }
        return result
    }

    /// The mean place on the likeliest floor, and how far from it 95 % of that floor's weight lies at most.
    func place(_ cells: [Double]) -> (floor: Int, position: FloorPosition, radius: Double)? {
        var byFloor: [Int: Double] = [:]
        for (cell, weight) in cells.enumerated() { byFloor[floors[cell], default: 0] += weight }
        guard let (floor, total) = byFloor.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), total > 0 else {
            return nil
        }
        var (x, y) = (0.0, 0.0)
        for (cell, weight) in cells.enumerated() where floors[cell] == floor {
            x += weight * positions[cell].x
            y += weight * positions[cell].y
        }
        let position = FloorPosition(x: x / total, y: y / total)
        // By rings of a tenth of a metre, up to a kilometre.
        var rings: [Int: Double] = [:]
        for (cell, weight) in cells.enumerated() where floors[cell] == floor && weight > 1e-9 {
            rings[Int(min(10_000, positions[cell].distance(to: position) * 10).rounded(.up)), default: 0] += weight
        }
        var sum = 0.0
        for (ring, weight) in rings.sorted(by: { $0.key < $1.key }) {
            sum += weight
            if sum >= 0.95 * total { return (floor, position, Double(ring) / 10) }
        }
        return (floor, position, 1000)
    }

    /// The chance that a packet from a cell is above a receiver's sensitivity.
    ///
    /// - Parameter power: At 1 m, in dBm.
    func audible(_ receiver: Int, _ cell: Int, power: Double) -> Double {
        let floor = floors[cell]
        let margin = power + levels[receiver][cell] - sensitivities[floor]
        return 0.5 * erfc(-margin / spreads[floor] / 2.0.squareRoot())
    }
}
