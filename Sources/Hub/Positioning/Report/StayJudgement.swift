internal import Airtime
public import Configuration

/// Assesses stays that were just recorded, and compares them with the other stays of the survey.
public struct StayJudgement: Sendable {
    private let stays: [Int]
    private let place: String
    private let position: FloorPosition?
    private let floor: String?
    /// The total duration of the assessed stays, in seconds.
    private let seconds: Int
    /// The number of beacons received in the assessed stays.
    private let beacons: Int
    /// The number of beacons that were received in less than half of the seconds.
    private let rareBeacons: Int
    /// The number of packets per second, averaged over the beacons; `nil` if no beacon was received.
    private let packetsPerSecond: Double?
    /// The standard deviation of a beacon's levels in dB, averaged over the beacons.
    private let spread: Double?
    /// The other place whose levels are most similar, and the overlap, 0...1.
    private let alike: (place: String, share: Double)?

    /// Assesses some stays of a survey.
    ///
    /// - Parameter numbers: The numbers of the stays.
    public init(_ survey: Survey, stays numbers: [Int]) {
        let recorded = survey.stays.filter { numbers.contains($0.number) && !$0.isCancelled }
        stays = numbers
        position = recorded.first?.position
        floor = recorded.first?.floor
        place = recorded.first.map(Self.name) ?? ""
        var levels: [Int: [Double]] = [:]
        var heard: [Int: Int] = [:]
        var seconds = 0
        for stay in recorded {
            seconds += stay.vectors.count
            for vector in stay.vectors {
                for (reading, packets) in zip(survey.vector(vector).readings, survey.packets(vector)) {
                    levels[reading.beacon, default: []] += packets
                    heard[reading.beacon, default: 0] += 1
                }
            }
        }
        self.seconds = seconds
        beacons = heard.count
        rareBeacons = heard.values.count { 2 * $0 < seconds }
        let packets = levels.values.reduce(0) { $0 + $1.count }
        packetsPerSecond =
            heard.isEmpty || seconds == 0 ? nil : Double(packets) / Double(seconds * heard.count)
        let deviations = levels.compactMap { PlaceStatistics(beacon: $0, levels: $1)?.standardDeviation }
        spread = Percentiles(deviations).mean
        alike = recorded.first.flatMap { Self.alike(survey, $0) }
    }

    private static func name(_ stay: Survey.Stay) -> String {
        stay.place ?? stay.position.map { "\(MapText.metres($0.x)), \(MapText.metres($0.y))" } ?? ""
    }

    private static func alike(_ survey: Survey, _ stay: Survey.Stay) -> (place: String, share: Double)? {
        guard let map = try? SignalMap(survey) else { return nil }
        let placeOfStay = map.places.firstIndex { place in
            guard place.floor == stay.floor else { return false }
            guard let stayPosition = stay.position, let placePosition = place.position else {
                return place.name == stay.place
            }
            return stayPosition.distance(to: placePosition) <= 0.5
        }
        guard let placeOfStay, let nearest = PlaceOverlap(map).nearest(to: placeOfStay) else { return nil }
        return (map.places[nearest.place].name, nearest.share)
    }

    /// Warnings, one sentence each.
    public var warnings: [String] {
        guard beacons > 0 else { return ["nothing was received: is this receiver near any beacon?"] }
        return beacons < MapAdvice.fewestBeacons
            ? ["\(MapText.count(beacons, "beacon")): with fewer than four, positions are unreliable; ten are good"]
            : []
    }

    /// The assessment as one line.
    public var text: String {
        var text = "\(MapText.count(beacons, "beacon")) in \(seconds) s"
        if rareBeacons > 0 { text += ", \(rareBeacons) of them in less than half of the seconds" }
        if let alike, alike.share >= 0.005 {
            text +=
                "; \(MapText.line(place)) looks like \(MapText.line(alike.place)): \(MapText.percent(alike.share)) % overlap"
        }
        return text + "\n"
    }

    /// The assessment as one JSON object.
    public var json: JSONValue {
        .record([
            ("stays", .array(stays.map { .integer($0) })), ("place", .text(place.isEmpty ? nil : place)),
            ("position", .roundedPosition(position)), ("floor", .text(floor)), ("seconds", .integer(seconds)),
            ("beacons", .integer(beacons)), ("rareBeacons", .integer(rareBeacons)),
            ("packetsPerSecond", JSONValue.rounded(packetsPerSecond)), ("spreadDb", JSONValue.rounded(spread)),
            (
                "alike",
                .optional(alike) {
                    .record([("place", .string($0.place)), ("overlap", JSONValue.rounded($0.share))])
                }
            ),
            ("warnings", .array(warnings.map(JSONValue.string))),
        ])
    }
}
