public import Airtime
internal import BluetoothTypes
internal import Configuration
public import Sites

/// Simulates surveys of a site and walks through it. Levels are computed from path loss and walls. Shadowing is
/// constant over time, fading is random, and one packet in ten is lost.
///
/// Equal seeds give equal floors, surveys and walks.
public struct SimulatedSite: Sendable {
    private let site: Site
    private let model: SiteModel
    /// The key of each beacon of the site; `nil` for beacons that are left out.
    private let keys: [BeaconKey?]
    private let floor: String?
    private let seed: UInt64
    /// The waves of each beacon's shadowing.
    private let shadows: [[Wave]]

    /// One of the waves whose sum is a beacon's shadowing. `east` and `north` are in radians per metre, `phase` is in
    /// radians.
    private struct Wave: Sendable {
        let east: Double
        let north: Double
        let phase: Double
    }

    /// The state of the simulated receiver.
    private struct Receiver {
        var random: SplitMix64
        /// The time of each beacon's next packet, in seconds.
        var due: [Double]
        var now = 0.0

        /// Returns a random number with an approximate normal distribution of mean 0 and standard deviation 1.
        mutating func noise() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + random.nextUnit() } }
    }

    /// The number of waves of a beacon's shadowing.
    private static let wavesOfABeacon = 4
    /// The wavelengths of the shadowing, in metres.
    private static let wavelengths = 6.0...20.0
    /// The standard deviation of the fading of each packet, in dB.
    private static let fading = 3.0
    /// The share of packets that are lost.
    private static let loss = 0.1
    /// The largest random delay that is added to each advertising interval, in seconds.
    private static let longestDelay = 0.01
    /// The largest number of places of a survey.
    public static let placeLimit = 2000
    /// The start of the first simulated day, in seconds since 1970: 2026-01-01 09:00 UTC.
    private static let firstDay = 1_767_258_000

    /// Creates a simulation of a site.
    ///
    /// - Parameters:
    ///   - keys: The keys of beacons by their names. The key of a beacon that is missing here is its name. If the name
    ///     cannot be a key, the beacon is left out.
    ///   - floor: The floor's name; `nil` on sites with one floor.
    /// - Throws: ``PositioningError/noBeacons`` if the site has no beacons.
    public init(
        _ site: Site, keys: [String: BeaconKey] = [:], floor: String? = nil, seed: UInt64
    ) throws(PositioningError) {
        guard !site.beacons.isEmpty else { throw .noBeacons }
        self.site = site
        self.floor = floor
        self.seed = seed
        self.keys = site.beacons.map { keys[$0.name] ?? BeaconKey($0.name) }
        model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio)
        var random = SplitMix64(seed: seed)
        func nextUnit() -> Double { random.nextUnit() }
        shadows = site.beacons.map { _ in
            (0..<Self.wavesOfABeacon).map { _ in
                let length =
                    Self.wavelengths.lowerBound
                    + nextUnit() * (Self.wavelengths.upperBound - Self.wavelengths.lowerBound)
                let (direction, waveNumber) = (2 * Double.pi * nextUnit(), 2 * Double.pi / length)
                return Wave(
                    east: waveNumber * cos(direction), north: waveNumber * cos(direction - .pi / 2),
                    phase: 2 * Double.pi * nextUnit())
            }
        }
    }

    // MARK: Packets

    private func receiver(_ number: UInt64) -> Receiver {
        var receiver = Receiver(random: SplitMix64(seed: seed &+ 1 &+ number), due: [])
        receiver.due = site.beacons.map { receiver.random.nextUnit() * $0.intervalMicroseconds / 1e6 }
        return receiver
    }

    private func shadow(_ beacon: Int, at position: FloorPosition) -> Double {
        let sum = shadows[beacon].reduce(0) { $0 + cos($1.east * position.x + $1.north * position.y + $1.phase) }
        return site.radio.shadowing * sum * (2 / Double(Self.wavesOfABeacon)).squareRoot()
    }

    /// Returns the packets of the next second, by beacon.
    private func second(_ receiver: inout Receiver, at position: FloorPosition) -> [(beacon: Int, levels: [Double])] {
        let end = receiver.now + 1
        var packets: [(beacon: Int, levels: [Double])] = []
        for beacon in site.beacons.indices {
            let mean = model.link(beacon, at: position).power + shadow(beacon, at: position)
            var levels: [Double] = []
            while receiver.due[beacon] < end {
                let interval = site.beacons[beacon].intervalMicroseconds / 1e6
                receiver.due[beacon] += interval + receiver.random.nextUnit() * Self.longestDelay
                let level = (mean + Self.fading * receiver.noise()).rounded()
                let isLost = receiver.random.nextUnit() < Self.loss
                if !isLost, level >= site.radio.sensitivity, level < 0 { levels.append(level) }
            }
            if !levels.isEmpty, keys[beacon] != nil { packets.append((beacon, levels)) }
        }
        receiver.now = end
        return packets
    }

    private func numbers(in survey: inout Survey) -> [Int?] {
        keys.map { key in key.flatMap { survey.number(of: $0) } }
    }

    private static func append(
        _ heard: [(beacon: Int, levels: [Double])], _ second: Int, _ numbers: [Int?], to survey: inout Survey
    ) {
        survey.append(
            seconds: Double(second),
            heard.compactMap { beacon, levels in numbers[beacon].map { (beacon: $0, levels: levels) } }
                .sorted { $0.beacon < $1.beacon })
    }

    private func begin(_ survey: inout Survey, day: Int) -> String {
        let started = RFC3339Time(secondsSince1970: Self.firstDay + day * 86_400)
        survey.begin(Survey.Recording(site: site.name, receiver: "simulated", started: started))
        return String(started.description.prefix(10))
    }

    // MARK: Surveys and walks

    /// Returns the places of a survey: the middles of squares within the outline. They are named by column and row,
    /// such as `B3`.
    ///
    /// - Parameter step: The side of a square in metres.
    public func places(everyMetres step: Double) -> [Place] {
        guard let bounds = site.bounds, step > 0, (bounds.width / step + 1) * (bounds.height / step + 1) < 1e6 else {
            return []
        }
        var places: [Place] = []
        for row in 0...Int(bounds.height / step) {
            for column in 0...Int(bounds.width / step) {
                let position = FloorPosition(
                    x: bounds.low.x + (Double(column) + 0.5) * step, y: bounds.low.y + (Double(row) + 0.5) * step)
                guard position.x <= bounds.low.x + bounds.width, position.y <= bounds.low.y + bounds.height,
                    site.outline?.contains(position) ?? true
                else { continue }
                places.append(Place(name: "\(Self.letters(column))\(row + 1)", position: position, floor: floor))
            }
        }
        return places
    }

    private static func letters(_ number: Int) -> String {
        let last = String(UnicodeScalar(UInt8(65 + number % 26)))
        return number < 26 ? last : letters(number / 26 - 1) + last
    }

    /// Returns a survey with four headings at each place.
    ///
    /// - Parameters:
    ///   - seconds: The time at each place in seconds, at least 4.
    ///   - days: The number of days. Every place is visited on each day.
    public func survey(at places: [Place], seconds: Int, days: Int) -> Survey {
        var survey = Survey()
        let numbers = numbers(in: &survey)
        var stay = 0
        for day in 0..<days {
            var receiver = receiver(UInt64(day))
            let session = begin(&survey, day: day)
            for place in places {
                guard let position = place.position else { continue }
                for heading in 0..<4 {
                    stay += 1
                    survey.begin(
                        Survey.Stay(
                            number: stay, place: place.name, position: position, floor: place.floor,
                            heading: Double(heading) * 90, session: session))
                    for second in 0..<max(1, seconds / 4) {
                        Self.append(self.second(&receiver, at: position), second, numbers, to: &survey)
                    }
                }
            }
        }
        return survey
    }

    /// Returns a walk on a day after the surveys.
    ///
    /// - Returns: The run, and the position of the receiver in the middle of each second.
    public func walk(_ walk: SiteWalk) -> (run: Survey, positions: [FloorPosition]) {
        var run = Survey()
        let numbers = numbers(in: &run)
        var receiver = receiver(1 << 32)
        let session = begin(&run, day: 30)
        run.begin(Survey.Stay(number: 1, session: session))
        var positions: [FloorPosition] = []
        for second in 0..<max(1, Int((walk.length / walk.speed).rounded(.up))) {
            let position = walk.corners.position(after: (Double(second) + 0.5) * walk.speed)
            positions.append(position)
            Self.append(self.second(&receiver, at: position), second, numbers, to: &run)
        }
        return (run, positions)
    }
}

extension [FloorPosition] {
    /// Returns the position after some metres on the path with these corners; the last corner if the path is shorter.
    package func position(after metres: Double) -> FloorPosition {
        var remaining = metres
        for (from, to) in zip(self, dropFirst()) {
            let length = from.distance(to: to)
            if remaining < length {
                let share = remaining / length
                return FloorPosition(x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y))
            }
            remaining -= length
        }
        return self[count - 1]
    }
}
