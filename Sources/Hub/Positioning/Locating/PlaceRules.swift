internal import Airtime

/// A rule that gives each place a score for a sample. A sample consists of the last vectors of a run.
protocol PlaceRule: Sendable {
    /// Returns the score of each place. The smallest score is best. A score is `nil` if the place is not a candidate,
    /// and infinite if the place is impossible.
    func scores(_ sample: SampleWindow) -> [Double?]

    /// Returns the position and the place of the receiver; `nil` if no place is possible.
    func locate(_ sample: SampleWindow, among places: [Place]) -> (position: FloorPosition?, place: Int?)?
}

extension PlaceRule {
    /// Returns the place with the smallest score. If several places have this score, returns the first of them.
    func locate(_ sample: SampleWindow, among places: [Place]) -> (position: FloorPosition?, place: Int?)? {
        let scores = scores(sample)
        guard let least = scores.compactMap({ $0 }).min(), least.isFinite else { return nil }
        // Nearly equal scores count as equal, because rounding may cause the difference.
        let limit = least + 1e-12 * abs(least)
        guard let place = scores.firstIndex(where: { $0.map { $0 <= limit } ?? false }) else { return nil }
        return (places[place].position, place)
    }
}

/// A fingerprint: the readings of a survey at one place, with which a sample is compared.
struct PlaceFingerprint: Sendable {
    /// The place's index in the map.
    let place: Int
    let readings: [SignalVector.Reading]

    /// Returns a fingerprint for each vector of a map.
    static func vectors(of map: SignalMap) -> [PlaceFingerprint] {
        map.fingerprints.map { PlaceFingerprint(place: $0.place, readings: $0.vector.readings) }
    }

    /// Returns up to `count` fingerprints for each stay, which are the means of equal slices of its vectors. Vectors
    /// without readings are left out.
    static func slices(of map: SignalMap, _ count: Int) -> [PlaceFingerprint] {
        var fingerprints: [PlaceFingerprint] = []
        var stay: [SignalMap.Fingerprint] = []
        func addSlices() {
            let sliceCount = min(count, stay.count)
            var remaining = stay[...]
            for slice in 0..<sliceCount {
                // If the slices cannot have equal numbers of vectors, each of the first slices has one vector more.
                let length = stay.count / sliceCount + (slice < stay.count % sliceCount ? 1 : 0)
                let mean = SignalVector(seconds: 0, readings: remaining.prefix(length).flatMap(\.vector.readings))
                fingerprints.append(PlaceFingerprint(place: stay[0].place, readings: mean.readings))
                remaining = remaining.dropFirst(length)
            }
            stay = []
        }
        for fingerprint in map.fingerprints where !fingerprint.vector.readings.isEmpty {
            if let last = stay.last, last.stay != fingerprint.stay { addSlices() }
            stay.append(fingerprint)
        }
        addSlices()
        return fingerprints
    }

    /// Returns the squared distance to a sample over all beacons of the map. If a level is missing in the fingerprint
    /// or in the sample, ``ReceivedLevel/notReceived`` is used.
    func squaredDistance(to sample: [SignalVector.Reading]) -> Double {
        var sum = 0.0
        var (index, sampleIndex) = (0, 0)
        while index < readings.count || sampleIndex < sample.count {
            let isInFingerprint =
                sampleIndex == sample.count
                || index < readings.count && readings[index].beacon <= sample[sampleIndex].beacon
            let isInSample =
                index == readings.count
                || sampleIndex < sample.count && sample[sampleIndex].beacon <= readings[index].beacon
            let difference =
                (isInFingerprint ? readings[index].level : ReceivedLevel.notReceived)
                - (isInSample ? sample[sampleIndex].level : ReceivedLevel.notReceived)
            sum += difference * difference
            if isInFingerprint { index += 1 }
            if isInSample { sampleIndex += 1 }
        }
        return sum
    }
}

extension Array where Element == PlaceFingerprint {
    /// Returns, for each place, the smallest distance between a sample and the fingerprints of the place; `nil` for a
    /// place without fingerprints.
    func leastDistances(to sample: [SignalVector.Reading], placeCount: Int) -> [Double?] {
        var best = [Double](repeating: .infinity, count: placeCount)
        for fingerprint in self {
            let distance = fingerprint.squaredDistance(to: sample)
            best[fingerprint.place] = Swift.min(best[fingerprint.place], distance)
        }
        return best.map { $0.isFinite ? $0.squareRoot() : nil }
    }
}

/// The rules `nn`, `nn-mean` and `nn-median`. The score for `nn` is the smallest distance to a vector of the place. The
/// score for the others is the distance to the place's mean or median levels.
struct NearestFingerprintRule: PlaceRule {
    private let fingerprints: [PlaceFingerprint]
    private let placeCount: Int

    /// Compares a sample with every vector of the map.
    init(_ map: SignalMap) {
        fingerprints = PlaceFingerprint.vectors(of: map)
        placeCount = map.places.count
    }

    /// Compares a sample with one level for each place and beacon, such as the mean level.
    init(_ map: SignalMap, _ value: (PlaceStatistics) -> Double) {
        fingerprints = map.statistics.enumerated().map { place, statistics in
            PlaceFingerprint(
                place: place, readings: statistics.map { .init(beacon: $0.beacon, level: value($0)) })
        }
        placeCount = map.places.count
    }

    func scores(_ sample: SampleWindow) -> [Double?] {
        fingerprints.leastDistances(to: sample.means, placeCount: placeCount)
    }
}

/// The rule `bhattacharyya`. For each of a place's five strongest beacons, the histogram of the survey's levels is
/// compared with the histogram of the last received levels. The score of the place is -ln of the mean overlap of these
/// pairs. A place is a candidate only if all of these beacons are received.
struct BhattacharyyaRule: PlaceRule {
    /// The strongest beacons of each place.
    private let strongest: [[PlaceStatistics]]

    /// The number of beacons of a place that are compared.
    private static let comparedBeacons = 5

    init(_ map: SignalMap) {
        strongest = map.statistics.map { place in
            Array(place.sorted { ($0.mean, $1.beacon) > ($1.mean, $0.beacon) }.prefix(Self.comparedBeacons))
        }
    }

    func scores(_ sample: SampleWindow) -> [Double?] {
        let received = sample.history.mapValues { PlaceStatistics.histogram($0.sorted()) }
        return strongest.map { beacons in
            guard !beacons.isEmpty, beacons.allSatisfy({ received[$0.beacon] != nil }) else { return nil }
            let sum = beacons.reduce(0) { $0 + Self.overlap($1, received[$1.beacon] ?? []) }
            return sum > 0 ? -log(sum / Double(beacons.count)) : .infinity
        }
    }

    /// Returns the Bhattacharyya coefficient Σ √(P·Q) of two histograms over levels in whole dBm. P and Q are the
    /// shares of a level among all seconds in which the beacon was received.
    private static func overlap(_ survey: PlaceStatistics, _ sample: [PlaceStatistics.Bin]) -> Double {
        let total = Double(survey.seconds * sample.reduce(0) { $0 + $1.seconds })
        return sample.reduce(0) { sum, bin in
            guard let surveyBin = survey.histogram.first(where: { $0.level == bin.level }) else { return sum }
            return sum + (Double(surveyBin.seconds * bin.seconds) / total).squareRoot()
        }
    }
}

/// The rule `relative`. The levels of the fingerprint and of the sample are relative to their strongest levels. The
/// score is the sum of the differences between these levels, plus a penalty for each beacon that is only in the
/// fingerprint or only in the sample. It is infinite if the fingerprint and the sample have no common beacon.
struct RelativeRule: PlaceRule {
    /// The fingerprints, with relative levels.
    private let fingerprints: [PlaceFingerprint]
    private let placeCount: Int
    private let beaconCount: Int
    private let reading: RelativeReading
    private let penalty: Double

    init(_ map: SignalMap, _ settings: LocatorSettings) {
        let absoluteFingerprints =
            settings.fingerprints == .vectors
            ? PlaceFingerprint.vectors(of: map) : PlaceFingerprint.slices(of: map, 8)
        fingerprints = absoluteFingerprints.map { fingerprint in
            PlaceFingerprint(place: fingerprint.place, readings: Self.relative(fingerprint.readings, settings.reading))
        }
        placeCount = map.places.count
        beaconCount = map.beacons.count
        reading = settings.reading
        penalty = settings.penalty ?? reading.penalty
    }

    /// Returns readings with relative levels, 0...1.
    private static func relative(
        _ readings: [SignalVector.Reading], _ reading: RelativeReading
    ) -> [SignalVector.Reading] {
        let strongest = readings.map(\.level).max() ?? ReceivedLevel.notReceived
        let range = strongest - ReceivedLevel.notReceived
        return readings.map { absolute in
            let share =
                switch reading {
                case .db: range > 0 ? min(max((absolute.level - ReceivedLevel.notReceived) / range, 0), 1) : 0
                case .amplitude: pow(10, (absolute.level - strongest) / 20)
                case .power: pow(10, (absolute.level - strongest) / 10)
                }
            return SignalVector.Reading(beacon: absolute.beacon, level: share)
        }
    }

    func scores(_ sample: SampleWindow) -> [Double?] {
        let sampleReadings = Self.relative(sample.means, reading)
        var shares = [Double?](repeating: nil, count: beaconCount)
        for reading in sampleReadings { shares[reading.beacon] = reading.level }
        var best = [Double?](repeating: nil, count: placeCount)
        for fingerprint in fingerprints {
            var (sum, commonBeacons) = (0.0, 0)
            for reading in fingerprint.readings {
                guard let share = shares[reading.beacon] else { continue }
                sum += abs(reading.level - share)
                commonBeacons += 1
            }
            sum += penalty * Double(fingerprint.readings.count + sampleReadings.count - 2 * commonBeacons)
            let score = commonBeacons > 0 ? sum : .infinity
            if best[fingerprint.place].map({ score < $0 }) ?? true { best[fingerprint.place] = score }
        }
        return best
    }
}

/// The rule `wknn`. The position is the weighted mean of the positions of the k nearest vectors, with the weights
/// 1/(distance + 0.5)². The distance of a vector is computed from the differences between levels, in dB.
struct WeightedNeighbors: PlaceRule {
    private let fingerprints: [PlaceFingerprint]
    private let placeCount: Int
    private let neighbors: Int

    init(_ map: SignalMap) {
        fingerprints = PlaceFingerprint.vectors(of: map)
        placeCount = map.places.count
        neighbors = max(1, map.settings.neighbors)
    }

    /// Returns, for each place, the smallest distance of its vectors to the sample; `nil` for a place without vectors.
    func scores(_ sample: SampleWindow) -> [Double?] {
        fingerprints.leastDistances(to: sample.means, placeCount: placeCount)
    }

    /// Returns the position of the sample, and the place with the largest weight; `nil` if the map has no vectors.
    ///
    /// Only vectors on the floor with the largest weight determine the position.
    func locate(_ sample: SampleWindow, among places: [Place]) -> (position: FloorPosition?, place: Int?)? {
        let nearest = nearest(to: sample.means)
        guard let nearestPlace = nearest.first?.place else { return nil }
        var byFloor: [String?: Double] = [:]
        var byPlace: [Int: Double] = [:]
        for neighbor in nearest {
            byFloor[places[neighbor.place].floor, default: 0] += neighbor.weight
            byPlace[neighbor.place, default: 0] += neighbor.weight
        }
        let nearestFloor = places[nearestPlace].floor
        let floor =
            byFloor.max { ($0.value, $1.key == nearestFloor ? 1 : 0) < ($1.value, 0) }?.key ?? nearestFloor
        var (x, y, total) = (0.0, 0.0, 0.0)
        for neighbor in nearest {
            let weight = neighbor.weight
            guard places[neighbor.place].floor == floor, let position = places[neighbor.place].position else {
                continue
            }
            (x, y, total) = (x + weight * position.x, y + weight * position.y, total + weight)
        }
        let place = byPlace.filter { places[$0.key].floor == floor }.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return (total > 0 ? FloorPosition(x: x / total, y: y / total) : nil, place?.key ?? nearestPlace)
    }

    /// Returns the places of the nearest vectors with their weights, nearest first. Equally near vectors keep their
    /// order.
    private func nearest(to sample: [SignalVector.Reading]) -> [(place: Int, weight: Double)] {
        var nearest: [(square: Double, place: Int)] = []
        for fingerprint in fingerprints {
            let square = fingerprint.squaredDistance(to: sample)
            if nearest.count == neighbors, let last = nearest.last, square >= last.square { continue }
            let index = nearest.firstIndex { square < $0.square } ?? nearest.count
            nearest.insert((square, fingerprint.place), at: index)
            if nearest.count > neighbors { nearest.removeLast() }
        }
        return nearest.map { square, place in
            let distance = square.squareRoot() + 0.5
            return (place, 1 / (distance * distance))
        }
    }
}
