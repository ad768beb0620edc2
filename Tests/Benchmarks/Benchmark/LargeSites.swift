import Airtime
import BluetoothTypes
import Glibc
import Positioning

/// What `map fit` and `map check` cost for a hall and for a mall with several floors, surveyed on two days.
struct LargeSites {
    private let name: String
    private let floors: Int
    /// Of each floor, in metres.
    private let width: Double
    private let depth: Double
    /// On all floors together.
    private let beacons: Int
    private let places: Int
    private let seconds: Int

    static let sites = [
        LargeSites(name: "a hall", floors: 1, width: 320, depth: 230, beacons: 130, places: 320, seconds: 2400),
        LargeSites(name: "a mall", floors: 5, width: 150, depth: 100, beacons: 300, places: 500, seconds: 4000),
    ]

    static func run(_ report: Report) throws {
        for site in sites {
            report.section(
                "Positioning: \(site.name) of \(site.floors) × \(site.width.text(0)) m × \(site.depth.text(0)) m, "
                    + "\(site.beacons) beacons, \(site.places) places, \(site.seconds) s")
            let survey = site.survey()
            let clock = ContinuousClock()
            var choice: AlgorithmChoice?
            let fit = try clock.measure { choice = try AlgorithmChoice(survey) }
            report.target("map fit", fit.milliseconds / 1000, "s", atMost: 60)
            if let choice { report.line("Took \(choice.map.settings.algorithm.rawValue).") }
            var findings = 0
            let check = clock.measure { findings = SurveyCheck(survey).findings.count }
            report.target("map check", check.milliseconds / 1000, "s", atMost: 60)
            report.target("lines of map check", Double(findings), "", atMost: 200)
        }
    }

    /// Places on a regular grid, beacons anywhere; a floor takes 15 dB.
    private func survey() -> Survey {
        var random = SplitMix64(seed: 5)
        func share() -> Double { Double(random.next() >> 11) / 0x1p53 }
        func noise() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + share() } }
        var survey = Survey()
        let numbers = (0..<beacons).map { number in
            BeaconKey("beacon-\(1000 + number)").flatMap { survey.number(of: $0) } ?? 0
        }
        let hung = (0..<beacons).map {
            (floor: $0 % floors, position: FloorPosition(x: share() * width, y: share() * depth))
        }
        let perFloor = places / floors
        let columns = Int((Double(perFloor) * width / depth).squareRoot().rounded(.up))
        let rows = (perFloor + columns - 1) / columns
        for place in 0..<places {
            let (floor, number) = (place / perFloor, place % perFloor)
            let position = FloorPosition(
                x: (Double(number % columns) + 0.5) * width / Double(columns),
                y: (Double(number / columns) + 0.5) * depth / Double(rows))
            for day in 0..<2 {
                survey.begin(
                    Survey.Stay(
                        number: place * 2 + day + 1, place: "P\(place)", position: position,
                        floor: floors > 1 ? "floor-\(floor)" : nil, session: "day-\(day)"))
                for second in 0..<max(1, seconds / places / 2) {
                    var readings: [SignalVector.Reading] = []
                    for (number, beacon) in hung.enumerated() {
                        let loss = 26 * Glibc.log10(max(1, position.distance(to: beacon.position)))
                        let level = -59 - loss - 15 * Double(abs(beacon.floor - floor)) + 5 * noise()
                        if level > -95 { readings.append(.init(beacon: numbers[number], level: level.rounded())) }
                    }
                    survey.append(SignalVector(seconds: Double(second), readings: readings))
                }
            }
        }
        return survey
    }
}
