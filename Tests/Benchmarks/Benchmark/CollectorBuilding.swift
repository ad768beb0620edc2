import Glibc

/// A thousand receivers in a thousand rooms on ten floors, and four thousand beacons, a tenth of which move.
struct CollectorBuilding {
    /// The collector's files.
    private(set) var files: [(name: String, text: String)] = []
    private var beacons: [Beacon] = []
    private var random = Random()

    private struct Beacon {
        let floor: Int
        var x: Double
        let y: Double
        /// The speed in m/s.
        var speed: Double
    }

    static let floors = 10
    private static let (columns, rows) = (10, 10)
    /// The size of a room in metres.
    private static let room = (width: 4.0, depth: 2.5)
    /// The length of the walls on the west and south sides of each room, in metres, and their loss. The rest is a door.
    private static let wall = (west: 1.6, south: 3.0, decibels: 4.0)
    private static let count = 4000
    private static let deviation = 4.0
    /// The lowest level in dBm that is received: about twenty beacons for each receiver.
    private static let sensitivity = -80.0

    /// - Parameter knowsPowers: True if the collector file contains the beacons' power.
    init(knowsPowers: Bool) {
        let width = Double(Self.columns) * Self.room.width, depth = Double(Self.rows) * Self.room.depth
        for number in 0..<Self.count {
            beacons.append(
                Beacon(
                    floor: random.below(Self.floors), x: random.share() * width, y: random.share() * depth,
                    speed: number % 10 == 0 ? 1 : 0))
        }
        files.append(("site.json", Self.collector(knowsPowers)))
        files.append(("floor.json", Self.floor(width, depth)))
    }

    private static func collector(_ knowsPowers: Bool) -> String {
        let floors = (0..<Self.floors).map { floor in
            let rooms = (0..<columns * rows).map { number -> String in
                let (west, south) = (Double(number % columns) * room.width, Double(number / columns) * room.depth)
                let (east, north) = (west + room.width, south + room.depth)
                return #"{"name":"room-\#(number)","outline":[[\#(west),\#(south)],[\#(east),\#(south)],"#
                    + #"[\#(east),\#(north)],[\#(west),\#(north)]]}"#
            }
            return #"{"name":"floor-\#(floor)","site":"floor.json","rooms":[\#(rooms.joined(separator: ","))]}"#
        }
        let receivers = (0..<Self.floors * columns * rows).map { number -> String in
            let (x, y) = middle(number % (columns * rows))
            return #"{"name":"r-\#(number)","floor":"floor-\#(number / 100)","position":[\#(x),\#(y)]}"#
        }
        let beacons = (0..<count).map { number in
            #"{"name":"b-\#(number)","identity":"ibeacon:FB0B57A2-8228-44CD-913A-94A122BA1206-1-\#(number)","#
                + #""measuredPowerAt1mDbm":-59}"#
        }
        return #"{"version":1,"name":"site","floors":[\#(floors.joined(separator: ","))],"#
            + #""receivers":[\#(receivers.joined(separator: ","))],"#
            + #""beacons":[\#(knowsPowers ? beacons.joined(separator: ",") : "")]}"#
    }

    private static func floor(_ width: Double, _ depth: Double) -> String {
        var walls: [String] = []
        for column in 0..<columns {
            for row in 0..<rows {
                let (west, south) = (Double(column) * room.width, Double(row) * room.depth)
                func add(_ x: Double, _ y: Double) {
                    walls.append(
                        #"{"from":[\#(west),\#(south)],"to":[\#(x.text(1)),\#(y.text(1))],"attenuationDb":4}"#)
                }
                if column > 0 { add(west, south + wall.west) }
                if row > 0 { add(west + wall.south, south) }
            }
        }
        return #"{"version":1,"name":"floor","outline":[[0,0],[\#(width),0],[\#(width),\#(depth)],[0,\#(depth)]],"#
            + #""beacons":[{"name":"b","position":[1,1]}],"walls":[\#(walls.joined(separator: ","))],"#
            + #""pathLoss":{"model":"log-distance","lossAt1mDb":59,"exponent":3,"shadowingDb":4},"#
            + #""receiverSensitivityDbm":\#(Self.sensitivity),"target":{"detectWithinS":10,"probability":0.9}}"#
    }

    /// Returns the beacons' numbers and levels that each receiver reports in the next second.
    mutating func second() -> [[(beacon: Int, level: Double)]] {
        var result = [[(beacon: Int, level: Double)]](
            repeating: [], count: Self.floors * Self.columns * Self.rows)
        for number in beacons.indices {
            let west = beacons[number].x + beacons[number].speed
            let width = Double(Self.columns) * Self.room.width
            if !(0...width).contains(west) { beacons[number].speed *= -1 }
            beacons[number].x += beacons[number].speed
            let beacon = beacons[number]
            for floor in max(0, beacon.floor - 1)...min(Self.floors - 1, beacon.floor + 1) {
                for place in 0..<Self.columns * Self.rows {
                    guard let expected = Self.level(beacon, floor, place) else { continue }
                    let level = expected + Self.deviation * random.normal()
                    if level >= Self.sensitivity { result[floor * 100 + place].append((number, level)) }
                }
            }
        }
        return result
    }

    private static func middle(_ place: Int) -> (x: Double, y: Double) {
        ((Double(place % columns) + 0.5) * room.width, (Double(place / columns) + 0.5) * room.depth)
    }

    /// Returns the level of a beacon at the receiver in the middle of a room; `nil` if it is far below the sensitivity.
    private static func level(_ beacon: Beacon, _ floor: Int, _ place: Int) -> Double? {
        let (x, y) = middle(place)
        let (dx, dy, storeys) = (x - beacon.x, y - beacon.y, Double(abs(floor - beacon.floor)))
        let distance = max(0.1, (dx * dx + dy * dy + 9 * storeys * storeys).squareRoot())
        var level = -59 - 30 * log10(distance) - 15 * storeys
        guard level > sensitivity - 4 * deviation else { return nil }
        guard storeys == 0 else { return level }
        for column in 1..<columns {
            let share = (Double(column) * room.width - beacon.x) / dx
            guard share > 0, share < 1 else { continue }
            if (beacon.y + share * dy).truncatingRemainder(dividingBy: room.depth) < wall.west {
                level -= wall.decibels
            }
        }
        for row in 1..<rows {
            let share = (Double(row) * room.depth - beacon.y) / dy
            guard share > 0, share < 1 else { continue }
            if (beacon.x + share * dx).truncatingRemainder(dividingBy: room.width) < wall.south {
                level -= wall.decibels
            }
        }
        return level
    }

    /// A generator with the same numbers in each run.
    struct Random {
        private var state: UInt64 = 1

        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }

        mutating func share() -> Double { Double(below(1 << 30)) / Double(1 << 30) }
        mutating func normal() -> Double { (-2 * log(1 - share())).squareRoot() * cos(2 * .pi * share()) }
    }
}
