import Airtime
import Testing

@testable import Positioning

@Suite struct SeedRuleTests {
    /// Returns a survey with one stay per place. `places` has the vectors of each place, with levels by beacon number.
    static func survey(_ places: [[[Int: Double]]], spacing: Double = 2) -> Survey {
        var survey = Survey()
        for beacon in 0..<10 { _ = BeaconKey("b\(beacon)").flatMap { survey.number(of: $0) } }
        for (place, vectors) in places.enumerated() {
            survey.begin(
                Survey.Stay(
                    number: place + 1, place: "P\(place)", position: FloorPosition(x: Double(place) * spacing, y: 0),
                    session: "one"))
            for (second, vector) in vectors.enumerated() { survey.append(Self.vector(vector, second)) }
        }
        return survey
    }

    static func vector(_ levels: [Int: Double], _ second: Int = 0) -> SignalVector {
        SignalVector(seconds: Double(second), readings: levels.map { .init(beacon: $0.key, level: $0.value) })
    }

    static func answer(
        _ places: [[[Int: Double]]], _ run: [[Int: Double]], _ algorithm: PositioningAlgorithm,
        _ change: (inout LocatorSettings) -> Void = { _ in }
    ) throws -> LocatorAnswer {
        var settings = LocatorSettings(algorithm)
        change(&settings)
        var locator = try Locator(SignalMap(survey(places)), settings: settings)
        locator.wantsScores = true
        var answer: LocatorAnswer?
        for (second, vector) in run.enumerated() { answer = locator.locate(Self.vector(vector, second)) }
        return try #require(answer)
    }

    private static func close(_ found: [Double?], _ expected: [Double?]) -> Bool {
        found.count == expected.count
            && zip(found, expected).allSatisfy { found, expected in
                guard let found, let expected else { return found == nil && expected == nil }
                return found == expected || abs(found - expected) <= 1e-12 * abs(expected)
            }
    }

    // MARK: Listing 5

    static let listing: [(Int, Int)] = [
        (-73, 1), (-71, 3), (-60, 4), (-65, 4), (-74, 2), (-63, 1), (-68, 2), (-83, 1), (-66, 4), (-61, 1), (-72, 2),
        (-69, 2), (-64, 2), (-70, 1), (-75, 1), (-78, 1), (-67, 6), (-62, 2),
    ]

    /// Compares the distribution of the thesis' Listing 5 with the last five values.
    @Test func overlapOfListing5() throws {
        let survey = Self.listing.flatMap { level, count in [Double](repeating: Double(level), count: count) }
        #expect(survey.count == 40)
        let places = [survey.map { [0: $0] }]
        let run = [-67.0, -67, -67, -66, -60].map { [0: $0] }
        let score = try #require(try Self.answer(places, run, .bhattacharyya).scores[0])
        // -ln B: B = √.09 + √.02 + √.02.
        let overlap = 0.3 + 2 * 0.02.squareRoot()
        #expect(abs(overlap - 0.582843) < 5e-7)
        #expect(abs(exp(-score) - overlap) < 1e-12)
    }

    // MARK: Faults of the seeds

    /// In Listing 4 of the thesis, vectors of different length have the distance -1, and the smallest distance wins.
    @Test func vectorsOfDifferentLengthAreNotNearest() throws {
        let places: [[[Int: Double]]] = [[[0: -60, 1: -70]], [[0: -90]]]
        let answer = try Self.answer(places, [[0: -61, 1: -70]], .nn)
        #expect(answer.place == 0)
        let distance = 1741.0.squareRoot()  // 29² + 30²
        #expect(Self.close(answer.scores, [1, distance]))
    }

    /// A fingerprint that shares a single beacon with the sample does not beat all others.
    @Test func sharedBeaconsAloneDoNotWin() throws {
        let places: [[[Int: Double]]] = [[[0: -60, 1: -70, 2: -75]], [[2: -72, 3: -50]]]
        let answer = try Self.answer(places, [[0: -63, 1: -66, 2: -72]], .nn)
        #expect(answer.place == 0)
    }

    /// (4.6) is -∞ for an empty sum. Here it is +∞, and such a place is never an answer.
    @Test func emptySumIsImpossible() throws {
        let places: [[[Int: Double]]] = [[[0: -60]], [[0: -80]]]
        let one = try Self.answer(places, [[0: -80]], .bhattacharyya)
        #expect(one.scores == [.infinity, 0] && one.place == 1)
        let none = try Self.answer(places, [[0: -70]], .bhattacharyya)
        #expect(none.scores == [.infinity, .infinity] && none.state == .none && none.reason == .noCandidate)
        #expect(none.position == nil && none.place == nil)
    }

    /// If a rule needs a number, a beacon that is not received counts as -100 dBm and never as 0 dBm.
    @Test func absenceIsFarNotNear() throws {
        let places: [[[Int: Double]]] = [[[0: -95, 1: -70]], [[0: -40, 1: -70]]]
        let answer = try Self.answer(places, [[1: -70]], .nnMean)
        #expect(answer.place == 0)
        #expect(Self.close(answer.scores, [5, 60]))
    }

    /// A place is a candidate if its five strongest beacons are received, or all of them if it has fewer.
    @Test func candidatesNeedAllTheirStrongestBeacons() throws {
        let six = Dictionary(uniqueKeysWithValues: (0..<6).map { ($0, -60.0 - Double($0)) })
        let places: [[[Int: Double]]] = [[six], [[0: -60]]]
        let without = try Self.answer(places, [six.filter { $0.key != 4 }], .bhattacharyya)
        #expect(without.scores[0] == nil && without.place == 1)
        // The sixth strongest beacon is not needed.
        let sixth = try Self.answer(places, [six.filter { $0.key != 5 }], .bhattacharyya)
        #expect(sixth.scores == [0, 0] && sixth.place == 0)
    }

    @Test func equallyStrongBeaconsAreOrderedByKey() throws {
        let same = Dictionary(uniqueKeysWithValues: (0..<6).map { ($0, -60.0) })
        let answer = try Self.answer([[same]], [same.filter { $0.key != 5 }], .bhattacharyya)
        #expect(answer.scores == [0])
    }

    // MARK: The rules

    @Test func firstPlaceWinsIfScoresAreEqual() throws {
        let places: [[[Int: Double]]] = [[[0: -50]], [[0: -70]], [[0: -80], [0: -60]]]
        #expect(try Self.answer(places, [[0: -65]], .nn).place == 1)
    }

    @Test func meanAndMedianUseOnlyVectorsWithTheBeacon() throws {
        let places: [[[Int: Double]]] = [[[0: -60], [0: -61, 1: -90], [0: -74], [:]]]
        let run = [[0: -65.0]]
        let ten = 10.0 * 10
        #expect(Self.close(try Self.answer(places, run, .nnMean).scores, [ten.squareRoot()]))
        #expect(Self.close(try Self.answer(places, run, .nnMedian).scores, [(ten + 16).squareRoot()]))
    }

    @Test func windowIsTheMeanOfItsReceivedLevels() throws {
        let places: [[[Int: Double]]] = [[[0: -60, 1: -80]]]
        let run: [[Int: Double]] = [[0: -90], [0: -62], [:], [0: -64, 1: -80]]
        #expect(Self.close(try Self.answer(places, run, .nn) { $0.window = 3 }.scores, [3]))
        #expect(Self.close(try Self.answer(places, run, .nn).scores, [4]))
    }

    @Test func relativeReadings() throws {
        let places: [[[Int: Double]]] = [[[0: -60, 1: -80]], [[0: -60, 2: -80]]]
        let run: [[Int: Double]] = [[0: -50, 1: -90]]
        func scores(_ reading: RelativeReading) throws -> [Double?] {
            try Self.answer(places, run, .relative) {
                $0.reading = reading
                $0.fingerprints = .vectors
            }.scores
        }
        #expect(Self.close(try scores(.db), [0.3, 1]))
        #expect(Self.close(try scores(.amplitude), [0.1 - 0.01, 0.5]))
        #expect(Self.close(try scores(.power), [0.01 - 0.0001, 1]))
        let nothing = try Self.answer(places, [[5: -50]], .relative)
        #expect(nothing.state == .none)
    }

    @Test func fingerprintsAreUpToEightSlicesOfAStay() throws {
        let stay = (0..<20).map { [0: -50.0 - Double($0)] }
        let map = try SignalMap(Self.survey([stay]))
        let slices = PlaceFingerprint.slices(of: map, 8)
        // 20 = 4·3 + 4·2.
        #expect(slices.map { $0.readings[0].level } == [-51, -54, -57, -60, -62.5, -64.5, -66.5, -68.5])
    }

    @Test(arguments: PositioningAlgorithm.allCases)
    func reportsNoPlaceIfNoBeaconIsInCommon(algorithm: PositioningAlgorithm) throws {
        let map = try SignalMap(Self.survey([[[0: -60, 1: -70]], [[0: -70, 1: -60]]]))
        var locator = try Locator(map, settings: LocatorSettings(algorithm))
        let empty = locator.locate(SignalVector(seconds: 0, readings: []))
        #expect(empty.state == .none && empty.reason == .nothingHeard)
        let foreign = locator.locate(SignalVector(seconds: 1, readings: []), unknownBeacons: 4)
        #expect(foreign.state == .none && foreign.reason == .nothingInCommon && foreign.heard == 4)
        #expect(foreign.position == nil && foreign.place == nil && foreign.region95 == nil)
    }
}
