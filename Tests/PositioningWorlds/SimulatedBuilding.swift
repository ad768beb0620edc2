public import Airtime
internal import BluetoothTypes
internal import Glibc
public import Positioning

/// A simulated building of the size in the first thesis: three rooms of 6 m × 6 m in a row with nine places each, 2 m
/// apart, and three beacons in each room. The body that carries the receiver weakens signals from behind.
public struct SimulatedBuilding {
    /// The properties of the simulated world.
    public struct Conditions {
        /// The greatest loss through the body in dB.
        public var body = 10.0
        /// The standard deviation of single readings in dB.
        public var fading = 4.0
        /// The constant deviation of each beacon at each place, from reflections and furniture, in dB.
        public var shadowing = 4.0
        /// The deviation of each beacon at each place from day to day, in dB.
        public var day = 3.0

        public init() {}
    }

    public let places: [FloorPosition]
    public let beacons: [FloorPosition]
    public let survey: Survey
    private let conditions: Conditions
    private let shadows: [[Double]]
    private var random: SplitMix64

    static let fingerprints = 40
    static let sensitivity = -95.0

    public init(seed: UInt64, conditions: Conditions = Conditions()) {
        self.conditions = conditions
        var random = SplitMix64(seed: seed)
        let places = (0..<27).map { number in
            FloorPosition(x: Double(number % 9) * 2 + 1, y: Double(number / 9) * 2 + 1)
        }
        let beacons = (0..<9).map { number in
            FloorPosition(
                x: Double(number / 3) * 6 + 6 * Self.share(&random), y: 6 * Self.share(&random))
        }
        shadows = places.map { _ in beacons.map { _ in conditions.shadowing * Self.normal(&random) } }
        var survey = Survey()
        survey.begin(Survey.Recording(site: "simulated"))
        for (place, position) in places.enumerated() {
            for turn in 0..<4 {
                survey.begin(
                    Survey.Stay(
                        number: place * 4 + turn + 1, place: "P\(place + 1)", position: position,
                        heading: Double(turn) * 90, session: "first"))
                for second in 0..<Self.fingerprints / 4 {
                    let readings = Self.readings(
                        position, heading: Double(turn) * .pi / 2, beacons, shadows[place], conditions, &random)
                    survey.append(second: second, readings)
                }
            }
        }
        self.places = places
        self.beacons = beacons
        self.survey = survey
        self.random = random
    }

    /// Returns the experiment's test on another day: `count` places for 19 instants each, with random headings.
    public mutating func test(places count: Int = 4) -> Survey {
        var test = Survey()
        test.begin(Survey.Recording(site: "simulated"))
        for number in 0..<count {
            let place = random.next(upTo: UInt32(places.count - 1))
            let shadows = shadows[place].map { $0 + conditions.day * Self.normal(&random) }
            let heading = 2 * Double.pi * Self.share(&random)
            test.begin(
                Survey.Stay(
                    number: number + 1, place: "P\(place + 1)", position: places[place], session: "second"))
            for second in 0..<19 {
                let readings = Self.readings(places[place], heading: heading, beacons, shadows, conditions, &random)
                test.append(second: second, readings)
            }
        }
        return test
    }

    private static func readings(
        _ position: FloorPosition, heading: Double, _ beacons: [FloorPosition], _ shadows: [Double],
        _ conditions: Conditions, _ random: inout SplitMix64
    ) -> [(Int, Double)] {
        beacons.enumerated().compactMap { number, beacon in
            let distance = max(0.5, position.distance(to: beacon))
            let walls = abs((position.x / 6).rounded(.down) - (beacon.x / 6).rounded(.down))
            let bearing = Glibc.atan2(beacon.x - position.x, beacon.y - position.y)
            // The full loss for a beacon behind the back, none for one in front.
            let body = conditions.body * (1 - Glibc.cos(bearing - heading)) / 2
            let level =
                -59 - 20 * Glibc.log10(distance) - 6 * walls - body + shadows[number] + conditions.fading
                * normal(&random)
            return level >= sensitivity ? (number, level.rounded()) : nil
        }
    }

    private static func share(_ random: inout SplitMix64) -> Double { Double(random.next() >> 11) / 9007199254740992 }

    private static func normal(_ random: inout SplitMix64) -> Double {
        (-2 * Glibc.log(1 - share(&random))).squareRoot() * Glibc.cos(2 * .pi * share(&random))
    }
}

extension Survey {
    fileprivate mutating func append(second: Int, _ readings: [(Int, Double)]) {
        let numbered = readings.compactMap { number, level -> SignalVector.Reading? in
            BeaconKey("beacon-\(number + 1)").flatMap { self.number(of: $0) }.map { .init(beacon: $0, level: level) }
        }
        append(SignalVector(seconds: Double(second), readings: numbered))
    }
}
