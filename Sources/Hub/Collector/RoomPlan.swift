internal import Airtime
internal import Positioning
public import Sites

/// The floors of a site, divided into cells, with the rooms of each cell, and the level that each receiver expects from
/// a beacon in each cell.
///
/// In the filter, the floors are drawn next to each other on one plane, so that the walls of one floor do not affect
/// another floor.
public struct RoomPlan: Sendable {
    /// A room of one floor.
    public struct Room: Hashable, Sendable {
        public let name: String
        /// The name of the floor; `nil` if the site has no floor plans.
        public let floor: String?
    }

    public private(set) var rooms: [Room] = []
    /// The filter without any evidence. It is copied for each new beacon.
    let filter: CellFilter
    /// The position of each cell on its own floor.
    private(set) var positions: [FloorPosition] = []
    /// The index of the floor of each cell.
    private(set) var floors: [Int] = []
    private(set) var levels: LevelTable
    /// The log-likelihoods of levels and of missed packets, for each floor.
    private(set) var likelihoods: [LikelihoodTable] = []
    /// The sensitivity on each floor, in 128ths of a dBm.
    private(set) var sensitivities: [Int] = []
    /// The floor and the position of each receiver; `nil` for a receiver without a position.
    private(set) var receiverLocations: [(floor: Int, position: FloorPosition)?] = []
    /// The largest horizontal distance in metres at which a receiver can have a level. Indexed by the receiver's floor,
    /// the cell's floor, and the number of whole dB by which the level is below the level at 1 m.
    private var reaches: [[[Double]]] = []
    /// For each cell, its rooms and the share of the cell's area in each of them.
    private var shares: [[(room: Int, share: Double)]] = []
    /// For each room, its share of the area of all cells.
    private var roomShares: [Double] = []
    /// For each receiver, the index of its room; `nil` if the file gives none.
    private(set) var roomOfReceiver: [Int?] = []

    /// The height of a storey in metres, and the loss of a ceiling in dB.
    static let storey = (height: 3.0, loss: 15.0)
    /// The distance in metres below which the expected level does not increase any more.
    static let nearest = 0.1
    /// The distance by which a floor without an outline extends beyond its objects, in metres.
    static let margin = 1.0
    /// The assumed power of a beacon at 1 m if it is not known, in dBm.
    static let usualPower = -59.0

    public var cellCount: Int { positions.count }

    /// Divides the floors into cells.
    ///
    /// - Parameter sites: The site of each floor of the file, in the order of the floors.
    public init(_ file: CollectorFile, sites: [Site]) {
        let floorCount = min(file.floors.count, sites.count)
        var areas: [CellGrid.Area] = []
        var shifts: [Double] = []
        var walls: [Wall] = []
        var east = 0.0
        for floor in 0..<floorCount {
            let receiverPositions = file.receivers.filter { file.floor($0.floor) == floor }.compactMap(\.position)
            let site = sites[floor]
            let corners = site.bounds.map { [$0.low, $0.high] } ?? []
            guard let bounds = FloorBounds(corners + (site.outline == nil ? receiverPositions : [])) else {
                shifts.append(0)
                continue
            }
            let margin = site.outline == nil ? Self.margin : 0
            let shift = east - bounds.low.x + margin
            shifts.append(shift)
            func shifted(_ position: FloorPosition, _ dx: Double, _ dy: Double) -> FloorPosition {
                FloorPosition(x: position.x + shift + dx, y: position.y + dy)
            }
            areas.append(
                CellGrid.Area(
                    floor: "\(floor)", low: shifted(bounds.low, -margin, -margin),
                    high: shifted(bounds.high, margin, margin)))
            walls += site.walls.map {
                Wall(from: shifted($0.from, 0, 0), to: shifted($0.to, 0, 0), attenuation: $0.attenuation)
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
            likelihoods.append(LikelihoodTable(spread: max(1, site.radio.shadowing)))
            sensitivities.append(LevelTable.units(site.radio.sensitivity))
        }
        receiverLocations = file.receivers.map { receiver in
            guard let position = receiver.position, let floor = file.floor(receiver.floor), floor < floorCount else {
                return nil
            }
            return (floor, position)
        }
        for location in receiverLocations {
            let receiverLevels = location.map { levels(at: $0.position, on: $0.floor, sites) }
            levels.add(receiverLevels)
        }
        reaches = (0..<floorCount).map { from in (0..<floorCount).map { Self.reaches(from, $0, sites[from]) } }
        roomOfReceiver = file.receivers.map { receiver in
            receiver.room.map {
                index(of: Room(name: $0, floor: file.floor(receiver.floor).map { file.floors[$0].name }))
            }
        }
        shares = positions.indices.map { _ in [] }
        for floor in 0..<floorCount { divide(floor, file, sites[floor], step: grid.step) }
        roomShares = [Double](repeating: 0, count: rooms.count)
        for (room, share) in shares.joined() { roomShares[room] += share / Double(positions.count) }
    }

    /// Returns the elements of ``reaches`` for two floors. The computation ignores walls.
    private static func reaches(_ from: Int, _ to: Int, _ site: Site) -> [Double] {
        let (loss, storeys) = (site.radio.pathLoss, Double(abs(from - to)))
        let (atOneMeter, height) = ((try? loss.decibels(atMeters: 1)) ?? 0, storeys * storey.height)
        return (0..<150).map { below in
            let distance = (try? loss.meters(atDecibels: atOneMeter + Double(below) - storeys * storey.loss)) ?? 1e6
            return distance < height ? -1 : (distance * distance - height * height).squareRoot()
        }
    }

    /// Returns the largest horizontal distance in metres between a receiver and a cell with this level; negative if no
    /// cell can have it.
    ///
    /// - Parameter level: The level relative to the level at 1 m, in 128ths of a dB.
    func reach(from: Int, to: Int, level: Int) -> Double {
        let below = max(0, (-level + Int(LevelTable.unit) - 1) / Int(LevelTable.unit))
        let table = reaches[from][to]
        return below < table.count ? table[below] : .infinity
    }

    /// Returns the index of a room in ``rooms``. Adds the room if it is missing.
    private mutating func index(of room: Room) -> Int {
        if let index = rooms.firstIndex(of: room) { return index }
        rooms.append(room)
        return rooms.count - 1
    }

    /// Returns the level that a receiver expects from a beacon in each cell, relative to the level at 1 m, in dB.
    ///
    /// - Parameters:
    ///   - position: The position of the receiver.
    ///   - floor: The floor of the receiver.
    private func levels(at position: FloorPosition, on floor: Int, _ sites: [Site]) -> [Double] {
        let site = sites[floor]
        let loss = site.radio.pathLoss
        // The loss of the walls between two positions is the total loss of the link minus its path loss. The assumed
        // power is so high and the sensitivity so low that the model does not limit the loss.
        let power = 20.0
        let radio = try? SiteRadio(pathLoss: loss, shadowing: site.radio.shadowing, sensitivity: -130)
        let beacon = try? SiteBeacon(
            name: "", position: position, intervalMicroseconds: 1_000_000, airtimeMicroseconds: 376, radioPower: power)
        let model = SiteModel(beacons: [beacon].compactMap(\.self), walls: site.walls, radio: radio ?? site.radio)
        let atOneMeter = (try? loss.decibels(atMeters: 1)) ?? 0
        return positions.indices.map { cell in
            let horizontal = position.distance(to: positions[cell])
            let storeys = Double(abs(floors[cell] - floor))
            let height = storeys * Self.storey.height
            let distance = max(Self.nearest, (horizontal * horizontal + height * height).squareRoot())
            var level = atOneMeter - ((try? loss.decibels(atMeters: distance)) ?? 200)
            if storeys > 0 {
                level -= storeys * Self.storey.loss
            } else if horizontal > 1e-6, let pathLoss = try? loss.decibels(atMeters: horizontal),
                model.beacons.count == 1
            {
                let wallLoss = power - pathLoss - model.link(0, at: positions[cell]).power
                if wallLoss.isFinite { level -= max(0, wallLoss) }
            }
            return max(level, -150)
        }
    }

    /// Assigns the cells of a floor to its rooms.
    ///
    /// If the collector file has no rooms for the floor, the rooms of the site file are used. If the site file has no
    /// rooms either, each cell belongs to the room of the receiver that expects the highest level.
    private mutating func divide(_ floor: Int, _ file: CollectorFile, _ site: Site, step: Double) {
        let (name, outline) = (file.floors[floor].name, site.outline)
        let fileRooms = file.floors[floor].rooms.compactMap { room in
            (try? FloorOutline(corners: room.corners)).map { (name: room.name, outline: $0) }
        }
        let siteRooms = site.rooms.map { (name: $0.name, outline: $0.outline) }
        let outlinedRooms = (fileRooms.isEmpty ? siteRooms : fileRooms).map { room in
            (
                outline: room.outline, bounds: FloorBounds(room.outline.corners),
                index: index(of: Room(name: room.name, floor: name))
            )
        }
        let roomReceivers = file.receivers.indices.filter {
            receiverLocations[$0]?.floor == floor && roomOfReceiver[$0] != nil
        }
        for cell in positions.indices where floors[cell] == floor {
            guard outlinedRooms.isEmpty else {
                // The area of a cell on a border is divided among the rooms. The parts of the cell outside the floor's
                // outline are ignored.
                var counts: [Int: Int] = [:]
                var insideCount = 0
                for column in 0..<Self.partsPerSide {
                    for row in 0..<Self.partsPerSide {
                        let point = FloorPosition(
                            x: positions[cell].x + ((Double(column) + 0.5) / Double(Self.partsPerSide) - 0.5) * step,
                            y: positions[cell].y + ((Double(row) + 0.5) / Double(Self.partsPerSide) - 0.5) * step)
                        guard outline?.contains(point) ?? true else { continue }
                        insideCount += 1
                        guard
                            let room = outlinedRooms.first(where: {
                                $0.bounds?.distance(to: point) ?? 0 < 1e-6 && $0.outline.contains(point)
                            })
                        else { continue }
                        counts[room.index, default: 0] += 1
                    }
                }
                shares[cell] = counts.sorted { $0.key < $1.key }
                    .map { ($0.key, Double($0.value) / Double(max(1, insideCount))) }
                continue
            }
            func level(_ receiver: Int) -> Int16 { levels.levels[(levels.rows[receiver] ?? 0) + cell] }
            guard let best = roomReceivers.max(by: { level($0) < level($1) }), let room = roomOfReceiver[best] else {
                continue
            }
            shares[cell] = [(room, 1)]
        }
    }

    /// The number of parts into which each side of a cell is divided, to compute the shares of rooms.
    private static let partsPerSide = 10

    // MARK: Results

    /// Returns the probability of each room. The rest up to 1 is the probability of being in no room.
    func roomProbabilities(_ filter: CellFilter) -> [Double] {
        let uniform = filter.uniformProbabilities.reduce(0, +)
        var result = roomShares.map { $0 * uniform }
        for (index, state) in filter.states.enumerated() {
            for (room, share) in shares[Int(state) % cellCount] { result[room] += filter.weights[index] * share }
        }
        return result
    }

    /// Returns the mean position on the most likely floor, and the radius in metres of the circle around it that
    /// contains 95 % of that floor's probability; `nil` if all floors have probability 0.
    func location(of filter: CellFilter) -> (floor: Int, position: FloorPosition, radius: Double)? {
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
        // The probability by distance from the position, in rings of 0.1 m up to 1 km.
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

    /// Returns true if a receiver is expected to receive a beacon of usual power in a cell: the expected level reaches
    /// the sensitivity.
    func isUsuallyHeard(_ row: Int, _ cell: Int) -> Bool {
        LevelTable.units(Self.usualPower) + Int(levels.levels[row + cell]) >= sensitivities[floors[cell]]
    }
}
