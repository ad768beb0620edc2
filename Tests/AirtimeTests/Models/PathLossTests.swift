import Airtime
import BluetoothTypes
import Testing

@Suite struct PathLossTests {
    @Test(arguments: [(0.0, 32.0), (1, 45.7248), (10, 77.8185), (19.999, 85.476), (20, 85), (1000, 85)])
    func thesisLossMatchesItsFormula(distance: Double, loss: Double) throws {
        #expect(isWithin(0.0001, try PathLoss.thesis.decibels(atMeters: distance), of: loss))
    }

    @Test func thesisLossIsInvertedExactly() throws {
        for meters in stride(from: 0.5, through: 18, by: 0.5) {
            let loss = try PathLoss.thesis.decibels(atMeters: meters)
            #expect(isWithin(1e-9, try PathLoss.thesis.meters(atDecibels: loss), of: meters))
        }
        #expect(try PathLoss.thesis.meters(atDecibels: 31.9) == 0)
        #expect(try PathLoss.thesis.meters(atDecibels: 85) == .infinity)
    }

    @Test func logarithmicLossesMatchTheirFormulas() throws {
        #expect(isWithin(1e-12, try PathLoss.heydon.decibels(atMeters: 10), of: 65))
        let measured = try PathLoss.logDistance(lossAtOneMeterDecibels: 65, exponent: 2.03)
        #expect(isWithin(1e-12, try measured.decibels(atMeters: 100), of: 105.6))
        let office = try PathLoss.indoor(frequencyMegahertz: 2440)
        #expect(isWithin(1e-5, try office.decibels(atMeters: 10), of: 69.7478))
        let above = try PathLoss.indoor(frequencyMegahertz: 2440, coefficient: 28, floorLossDecibels: 4)
        #expect(isWithin(1e-5, try above.decibels(atMeters: 10), of: 71.7478))
    }

    @Test func invertingALossReturnsTheDistance() throws {
        let losses = try [
            PathLoss.heydon, .logDistance(lossAtOneMeterDecibels: 60, exponent: 3.5), .indoor(floorLossDecibels: 15),
        ]
        for loss in losses {
            for meters in [1.0, 2.5, 40, 900] {
                #expect(isWithin(1e-9, try loss.meters(atDecibels: loss.decibels(atMeters: meters)), of: meters))
            }
            #expect(try loss.meters(atDecibels: -200) == 0)
            // Very near, the loss is constant.
            #expect(try loss.decibels(atMeters: 0) == loss.decibels(atMeters: 0.05))
        }
    }

    @Test func rangesFollowFromTheLinkBudget() throws {
        let link = try RadioLink(radioPowerDBm: 0, sensitivityDBm: -90, pathLoss: .heydon)
        #expect(isWithin(1e-9, try link.rangeMeters(), of: 100))
        #expect(try link.audibleProbability(atMeters: 99) == 1)
        #expect(try link.audibleProbability(atMeters: 101) == 0)
        #expect(isWithin(1e-9, try link.meanLevelDBm(atMeters: 10, extraLossDecibels: 7), of: -72))
        let thesis = try RadioLink(radioPowerDBm: 0, sensitivityDBm: -90, pathLoss: .thesis)
        #expect(try thesis.rangeMeters() == .infinity)
    }

    @Test func rangeWithShadowingMatchesTheProbability() throws {
        let link = try RadioLink(radioPowerDBm: 0, sensitivityDBm: -90, pathLoss: .heydon, shadowingDecibels: 5)
        #expect(isWithin(1e-9, try link.rangeMeters(), of: 100))
        for probability in [0.001, 0.1, 0.5, 0.9, 0.999] {
            let range = try link.rangeMeters(probability: probability)
            #expect(isWithin(1e-6, try link.audibleProbability(atMeters: range), of: probability))
        }
        // The mean level is one standard deviation above the sensitivity: Φ(1).
        #expect(isWithin(1e-6, try link.audibleProbability(atMeters: 63.0957344), of: 0.8413447))
    }

    @Test func refusesImpossibleLosses() throws {
        for bad in [-1, Double.nan, .infinity, 1e9] {
            #expect(throws: AirtimeError.self) { try PathLoss.heydon.decibels(atMeters: bad) }
            #expect(throws: AirtimeError.self) { try PathLoss.logDistance(lossAtOneMeterDecibels: 40, exponent: bad) }
            #expect(throws: AirtimeError.self) { try PathLoss.indoor(frequencyMegahertz: bad) }
            #expect(throws: AirtimeError.self) {
                try RadioLink(radioPowerDBm: 0, sensitivityDBm: -90, pathLoss: .heydon, shadowingDecibels: bad)
            }
        }
        #expect(throws: AirtimeError.self) { try PathLoss.heydon.meters(atDecibels: .nan) }
        let link = try RadioLink(radioPowerDBm: 0, sensitivityDBm: -90, pathLoss: .heydon)
        for share in [0, 1, Double.nan] {
            #expect(throws: AirtimeError.self) { try link.rangeMeters(probability: share) }
        }
    }
}
