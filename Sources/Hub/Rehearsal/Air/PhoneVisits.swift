internal import Airtime
internal import BluetoothTypes
internal import Positioning
internal import Sites

/// A place where phones stand, with the expectations of the planner.
struct PlannedPlace {
    let name: String
    let position: FloorPosition
    /// The levels of the beacons at the place.
    let links: LinkTable.Row
    /// The index of the best beacon; -1 if no beacon is received at the place.
    let bestBeacon: Int
    /// The expected share of visits in which the detection target is reached in time, 0...1.
    let detectedShare: Double
    /// By scanner: the 95th percentile of the time to detect the best beacon, in s; nil if it is too long, or without a
    /// best beacon.
    let detectionSeconds95: [Double?]
    /// The length in µs of the cycle in which the best beacon sends: the mean time between two events, or all parts of
    /// its pattern; 0 without a best beacon.
    let cycleMicroseconds: Double
}

/// A path on which phones walk, with the expectations of the planner.
struct PlannedPath {
    let name: String
    let walk: SiteWalk
    /// The expected share of walks in which a beacon is detected, 0...1.
    let detectedShare: Double
    /// The expected number of beacons that are detected in a walk.
    let detectedBeacons: Double
}

/// The places and paths of a rehearsal with the planner's answers.
struct VisitPlan {
    let places: [PlannedPlace]
    let paths: [PlannedPath]
    let scanners: ScannerMix
    let target: SiteCoverage.Target
    /// The rectangle in which phones wander; nil if there are paths, or no floor.
    let wanderBounds: FloorBounds?
    let outline: FloorOutline?

    /// The approximate number of visits of each place. With so many visits, the share of detections is known to a few
    /// percent.
    private static let visitsOfPlace = 60.0
    /// The smallest and the largest number of places.
    private static let placeRange = 4...60
    /// The longest 95th percentile of the time to detection that is compared with the plan, in s.
    static let longestSeconds95 = 300.0

    /// - Parameter visits: The approximate number of visits of all places together.
    init(
        _ fleet: RehearsedFleet, scanners: ScannerMix, visits: Double, _ links: LinkTable
    ) throws(AirtimeError) {
        self.scanners = scanners
        target = fleet.site?.target ?? .usual
        var coverage = SiteCoverage(model: fleet.model, scanners: scanners, target: target)
        var single = scanners.parts.map {
            DetectionTimes(
                scanners: ScannerMix($0.scanner), background: fleet.model.background,
                horizonSeconds: Self.longestSeconds95)
        }
        let wanted = min(max(Int(visits / Self.visitsOfPlace), Self.placeRange.lowerBound), Self.placeRange.upperBound)
        outline = fleet.site?.outline
        var places: [PlannedPlace] = []
        func add(
            _ name: String, at position: FloorPosition, beacon: Int, clear: Double, detectedShare: Double
        ) throws(AirtimeError) {
            var detectionSeconds95: [Double?] = []
            for index in single.indices {
                detectionSeconds95.append(
                    beacon < 0 ? nil : try single[index].time(fleet.model.beacons[beacon], clear: clear, share: 0.95))
            }
            places.append(
                PlannedPlace(
                    name: name, position: position, links: links.exactRow(at: position), bestBeacon: beacon,
                    detectedShare: detectedShare, detectionSeconds95: detectionSeconds95,
                    cycleMicroseconds: beacon < 0 ? 0 : Self.cycle(of: fleet.beacons[beacon])))
        }
        if let site = fleet.site {
            for position in Self.positions(on: site, limit: wanted) {
                let point = try coverage.point(at: position)
                let beacon = point.reception.best?.beacon ?? -1
                let x = NumberFormat.significant((position.x * 10).rounded() / 10, 5)
                let y = NumberFormat.significant((position.y * 10).rounded() / 10, 5)
                let near = beacon < 0 ? "" : ", near \(fleet.beacons[beacon].name)"
                try add(
                    "(\(x), \(y))\(near)", at: position, beacon: beacon,
                    clear: point.reception.collisionFreeProbability, detectedShare: point.detectedShare)
            }
        } else {
            // Without a floor, all beacons are equally far away. The phones look for beacons that are spread evenly over
            // the list.
            let position = FloorPosition(x: 0, y: 0)
            let beacons = fleet.model.beacons
            let audible = beacons.indices.filter {
                links.level(of: $0, at: position) >= fleet.model.radio.sensitivity
            }
            let count = min(audible.count, wanted)
            if count == 0 { try add("3 m from all beacons", at: position, beacon: -1, clear: 1, detectedShare: 0) }
            for beacon in (0..<count).map({ audible[$0 * audible.count / count] }) {
                let group = beacons[beacon].group
                let clear = audible.reduce(1.0) {
                    $1 == beacon ? $0 : $0 * fleet.model.clearShare(ofEventsOf: group, with: $1)
                }
                var detectedShare = 0.0
                for (index, part) in scanners.parts.enumerated() {
                    detectedShare +=
                        part.share * (try single[index].received(beacons[beacon], clear: clear, within: target.seconds))
                }
                try add(
                    "3 m from \(fleet.beacons[beacon].name)", at: position, beacon: beacon, clear: clear,
                    detectedShare: detectedShare)
            }
        }
        self.places = places
        var paths: [PlannedPath] = []
        for path in fleet.site?.paths ?? [] {
            let result = try path.walk.result(in: &coverage)
            paths.append(
                PlannedPath(
                    name: path.name, walk: path.walk, detectedShare: result.seenAnyProbability,
                    detectedBeacons: result.seen))
        }
        self.paths = paths
        wanderBounds = paths.isEmpty ? fleet.site?.bounds : nil
    }

    /// Returns the length in µs of the cycle in which a beacon sends its most frequent advertisement. For a pattern
    /// longer than ``longestPause``, returns the mean time between two events.
    private static func cycle(of beacon: RehearsedBeacon) -> Double {
        let sent = beacon.sent[beacon.fastest]
        return sent.cycleMicroseconds <= longestPause ? sent.cycleMicroseconds : sent.periodMicroseconds
    }

    /// The longest pause between two visits, in µs.
    private static let longestPause = 60e6

    /// Returns the places of a grid over a floor, at most `limit` of them. If the floor has no extent, returns only (0,
    /// 0).
    private static func positions(on site: Site, limit: Int) -> [FloorPosition] {
        guard let bounds = site.bounds else { return [FloorPosition(x: 0, y: 0)] }
        let positions = SiteCoverage.grid(over: bounds, outline: site.outline, limit: limit).positions
        guard positions.isEmpty else { return positions }
        return [FloorPosition(x: (bounds.low.x + bounds.high.x) / 2, y: (bounds.low.y + bounds.high.y) / 2)]
    }
}

extension SiteModel {
    /// The probability that no packet of beacon `number` overlaps with a packet that a listener needs from an event of
    /// `target`.
    func clearShare(ofEventsOf target: AdvertiserGroup, with number: Int) -> Double {
        exp(
            ([beacons[number].group] + beacons[number].companions).reduce(0) {
                $0 + $1.logClearProbability(ofEventOf: target)
            })
    }
}

/// The visit of one phone: it stands at a place, walks along a path, or wanders.
struct PhoneVisit {
    enum Kind {
        case stand(place: Int)
        case walk(path: Int)
        case wander
    }

    let kind: Kind
    /// The index of the scanner in the mix.
    let scanner: Int
    /// The beginning of the visit, in µs from the beginning of the rehearsal.
    let begin: Int
    /// The end of the visit, in µs from the beginning of the rehearsal.
    var end: Int
    /// The corners of the phone's path; a single position for a phone that stands.
    let corners: [FloorPosition]
    /// The walking speed in m/s; 0 for a phone that stands.
    let speed: Double
    /// The index of the best beacon of the place; -1 if there is none.
    var bestBeacon = -1
    /// The 95th percentile of the time to detect the best beacon, by the plan, in s.
    var detectionSeconds95: Double?
    /// True if a copy of the best beacon was counted (see ``RehearsalTallies/Copies``). Only the first copy of a visit
    /// is counted. A visit ends with the first copy without a collision, so it has further copies only if the first one
    /// collided. After a collision, the next copy is more likely to collide than others, so counting it would overstate
    /// the collisions.
    var isCounted = false
    /// True if the best beacon was detected.
    var isDetected = false
    /// True if the best beacon was detected by a packet with which no other packet overlapped.
    var isDetectedClear = false
    /// The indices of the beacons that were detected.
    var found: Set<Int32> = []
    /// For each advertisement of the best beacon, the probability in millionths that no other packet overlaps with its
    /// packet.
    var clearShares: [Int] = []

    /// The position of the phone after some µs of the visit.
    func position(after microseconds: Int) -> FloorPosition {
        corners.position(after: speed * Double(microseconds) / 1e6)
    }
}

/// Makes the visits of a phone, one after the other. They depend only on the plan, the seed and the number of the
/// phone.
struct PhoneVisits {
    private let plan: VisitPlan
    private var random: SplitMix64

    /// The shortest visit at a place, as a multiple of the 95th percentile of the time to detection.
    static let leastRatio = 1.5
    /// The shortest range from which the length of a pause between two visits is drawn, in µs.
    private static let pauseRange = 4e6
    /// The length of a visit in which a phone wanders, in s.
    private static let wanderSeconds = 120.0
    /// The speed of a phone that wanders, in m/s.
    private static let wanderSpeed = 1.0

    init(_ plan: VisitPlan, phone: Int, seed: UInt64) {
        self.plan = plan
        random = SplitMix64(seed: RehearsalSeed.mix(seed, 4, phone))
    }

    /// Returns the next visit, a generator of random numbers for its levels, and the phase of its scan in µs. The visit
    /// begins at a random time after `time` in µs.
    mutating func next(after time: Int) -> (visit: PhoneVisit, random: SplitMix64, phase: Int) {
        var place = random.nextUnit()
        var scanner = 0
        for (index, part) in plan.scanners.parts.enumerated() {
            scanner = index
            if place < part.share { break }
            place -= part.share
        }
        let moves = !plan.paths.isEmpty || plan.wanderBounds != nil
        let stands = !moves || random.nextUnit() < 0.5
        var visit: PhoneVisit
        if stands {
            let index = random.next(upTo: UInt32(plan.places.count - 1))
            let place = plan.places[index]
            let begin = begin(after: time, cycle: place.cycleMicroseconds)
            let seconds95 = place.detectionSeconds95[scanner]
            let seconds = max(plan.target.seconds, Self.leastRatio * (seconds95 ?? 0)) + 0.5
            visit = PhoneVisit(
                kind: .stand(place: index), scanner: scanner, begin: begin, end: begin + Int(seconds * 1e6),
                corners: [place.position], speed: 0)
            visit.bestBeacon = place.bestBeacon
            visit.detectionSeconds95 = seconds95
        } else if !plan.paths.isEmpty {
            let index = random.next(upTo: UInt32(plan.paths.count - 1))
            let walk = plan.paths[index].walk
            let begin = begin(after: time)
            visit = PhoneVisit(
                kind: .walk(path: index), scanner: scanner, begin: begin,
                end: begin + Int(walk.length / walk.speed * 1e6), corners: walk.corners, speed: walk.speed)
        } else {
            var corners = [somewhere()]
            var length = 0.0
            while length < Self.wanderSpeed * Self.wanderSeconds {
                let next = somewhere()
                length += max(0.1, corners[corners.count - 1].distance(to: next))
                corners.append(next)
            }
            let begin = begin(after: time)
            visit = PhoneVisit(
                kind: .wander, scanner: scanner, begin: begin,
                end: begin + Int(Self.wanderSeconds * 1e6), corners: corners, speed: Self.wanderSpeed)
        }
        let cycle = Scan.cycle(plan.scanners.parts[scanner].scanner)
        let phase = visit.begin - Int(random.nextUnit() * Double(cycle))
        return (visit, SplitMix64(seed: random.next()), phase)
    }

    /// Returns a random time after `time`, in µs.
    ///
    /// - Parameter cycle: The length of the cycle in which the best beacon sends, in µs. The previous visit may have
    ///   ended with an event of this beacon. The time is drawn from a range of whole cycles, so the next visit still
    ///   begins at a random phase.
    private mutating func begin(after time: Int, cycle: Double = 0) -> Int {
        let range = cycle > 0 ? (Self.pauseRange / cycle).rounded(.up) * cycle : Self.pauseRange
        return time + 1 + Int(random.nextUnit() * range)
    }

    private typealias Scan = AirReception.Scan

    private mutating func somewhere() -> FloorPosition {
        guard let bounds = plan.wanderBounds else { return FloorPosition(x: 0, y: 0) }
        // Tries random positions of the rectangle until one is inside the outline, which fills at least a small part of
        // the rectangle.
        for _ in 0..<200 {
            let position = FloorPosition(
                x: bounds.low.x + random.nextUnit() * bounds.width, y: bounds.low.y + random.nextUnit() * bounds.height)
            if plan.outline?.contains(position) ?? true { return position }
        }
        return bounds.low
    }
}

extension AirReception.Scan {
    /// The length of the whole cycle of a scanner in µs.
    static func cycle(_ preset: ScannerPreset) -> Int {
        preset.pattern.intervalMicroseconds * preset.pattern.channelCount
    }
}
