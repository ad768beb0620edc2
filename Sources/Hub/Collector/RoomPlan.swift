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
    private(set) var levels: LevelTable
    /// By floor.
    private(set) var hearing: [HearingTable] = []
    /// By floor, in 128ths of a dBm.
    private(set) var sensitivities: [Int] = []
    /// By receiver: its floor and place; `nil` for one without.
    private(set) var spots: [(floor: Int, position: FloorPosition)?] = []
    /// By a receiver's floor, then a cell's, then by whole dB below 1 m: within how many metres it is louder.
    private var reaches: [[[Double]]] = []
    /// By cell: the rooms that it is part of, with their shares of it.
    private var shares: [[(room: Int, share: Double)]] = []
    /// By room: its part of all cells.
    private var roomShares: [Double] = []
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
        var ranges = [Range<Int>](repeating: 0..<0, count: floorCount)
        for (cell, floor) in floors.enumerated() {
            ranges[floor] = (ranges[floor].isEmpty ? cell : ranges[floor].lowerBound)..<cell + 1
        }
        levels = LevelTable(floors: ranges)
        for site in sites {
            hearing.append(HearingTable(spread: max(1, site.radio.shadowing)))
            sensitivities.append(LevelTable.units(site.radio.sensitivity))
        }
        spots = file.receivers.map { receiver in
            guard let position = receiver.position, let floor = file.floor(receiver.floor), floor < floorCount else {
                return nil
            }
            return (floor, position)
        }
        for spot in spots {
            let new = spot.map { levels(at: $0.position, on: $0.floor, sites) }
            levels.add(new)
        }
        reaches = (0..<floorCount).map { from in (0..<floorCount).map { Self.reaches(from, $0, sites[from]) } }
        roomOfReceiver = file.receivers.map { receiver in
            receiver.room.map {
                number(of: Room(name: $0, floor: file.floor(receiver.floor).map { file.floors[$0].name }))
            }
        }
        shares = positions.indices.map { _ in [] }
        for floor in 0..<floorCount { divide(floor, file, sites[floor].outline, step: grid.step) }
        roomShares = [Double](repeating: 0, count: rooms.count)
        for (room, share) in shares.joined() { roomShares[room] += share / Double(positions.count) }
    }

    /// By whole dB below 1 m, how far on another floor a receiver's level is above it, walls left out.
    private static func reaches(_ from: Int, _ to: Int, _ site: Site) -> [Double] {
        let (loss, storeys) = (site.radio.pathLoss, Double(abs(from - to)))
        let (atOneMeter, height) = ((try? loss.decibels(atMeters: 1)) ?? 0, storeys * storey.height)
        return (0..<150).map { below in
            let far = (try? loss.meters(atDecibels: atOneMeter + Double(below) - storeys * storey.loss)) ?? 1e6
            return far < height ? -1 : (far * far - height * height).squareRoot()
        }
    }

    /// Within how many metres on its floor a cell can be this loud for a receiver; negative where none is.
    ///
    /// - Parameter level: Less that at 1 m, in 128ths of a dB.
    func reach(from: Int, to: Int, level: Int) -> Double {
        let below = max(0, (-level + Int(LevelTable.unit) - 1) / Int(LevelTable.unit))
        let table = reaches[from][to]
        return below < table.count ? table[below] : .infinity
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
                (outline: $0, bounds: FloorBounds(room.corners), number: number(of: Room(name: room.name, floor: name)))
            }
        }
        let heard = file.receivers.indices.filter { spots[$0]?.floor == floor && roomOfReceiver[$0] != nil }
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
                        guard
                            let room = drawn.first(where: {
                                $0.bounds?.distance(to: place) ?? 0 < 1e-6 && $0.outline.contains(place)
                            })
                        else { continue }
                        counts[room.number, default: 0] += 1
                    }
                }
                shares[cell] = counts.sorted { $0.key < $1.key }
                    .map { ($0.key, Double($0.value) / Double(max(1, inside))) }
                continue
            }
            func level(_ receiver: Int) -> Int16 { levels.levels[(levels.rows[receiver] ?? 0) + cell] }
            guard let best = heard.max(by: { level($0) < level($1) }), let room = roomOfReceiver[best] else { continue }
            shares[cell] = [(room, 1)]
        }
    }

    /// Of a cell's side, for its share in rooms.
    private static let parts = 10

    // MARK: Answers

    /// How likely each room is; what is missing from 1 lies in no room.
    func roomProbabilities(_ filter: CellFilter) -> [Double] {
        let anywhere = filter.anywhere.reduce(0, +)
        var result = roomShares.map { $0 * anywhere }
        for (index, state) in filter.states.enumerated() {
            for (room, share) in shares[Int(state) % cellCount] { result[room] += filter.weights[index] * share }
        }
        return result
    }

    /// The mean place on the likeliest floor, and how far from it 95 % of that floor's weight lies at most.
    func place(_ filter: CellFilter) -> (floor: Int, position: FloorPosition, radius: Double)? {
        var byFloor = [Double](repeating: 0, count: levels.floors.count)
        let cells = filter.states.map { Int($0) % cellCount }
        for (index, cell) in cells.enumerated() { byFloor[floors[cell]] += filter.weights[index] }
        guard let floor = byFloor.indices.max(by: { (byFloor[$0], $1) < (byFloor[$1], $0) }), byFloor[floor] > 0 else {
            return nil
        }
        let total = byFloor[floor]
        var (x, y) = (0.0, 0.0)
        for (index, cell) in cells.enumerated() where floors[cell] == floor {
            x += filter.weights[index] * positions[cell].x
            y += filter.weights[index] * positions[cell].y
        }
        let position = FloorPosition(x: x / total, y: y / total)
        // By rings of a tenth of a metre, up to a kilometre.
        var rings: [Double] = []
        for (index, cell) in cells.enumerated() where floors[cell] == floor {
            let ring = Int(min(10_000, positions[cell].distance(to: position) * 10).rounded(.up))
            if ring >= rings.count { rings += [Double](repeating: 0, count: ring + 1 - rings.count) }
            rings[ring] += filter.weights[index]
        }
        var sum = 0.0
        for (ring, weight) in rings.enumerated() {
            sum += weight
            if sum >= 0.95 * total { return (floor, position, Double(ring) / 10) }
        }
        return (floor, position, 1000)
    }

    /// Whether a receiver hears a usual beacon in a cell more often than not.
    func isUsuallyHeard(_ row: Int, _ cell: Int) -> Bool {
        LevelTable.units(Self.usualPower) + Int(levels.levels[row + cell]) >= sensitivities[floors[cell]]
    }
}
