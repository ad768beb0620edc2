import Airtime
import Testing

@Suite struct ThesisFormulaTests {
    @Test(arguments: [(250, 7.608, 3.804), (130, 14.631, 7.316)])
    func reproducesTheNumbersOfTheThesis(beacons: Int, offered: Double, arriving: Double) throws {
        let thesis = try ThesisFormula(beacons: beacons)
        #expect(isWithin(0.0001, thesis.offeredPerSecondPerBeacon, of: offered))
        #expect(isWithin(0.0001, thesis.arrivingPerSecondPerBeacon, of: arriving))
    }

    @Test func arrivalsAreLargestAt1902OfferedPackets() {
        #expect(isWithin(0.00001, ThesisFormula.arrivingPerSecond(ofOffered: 1902), of: 951.07))
        for other in [1901.0, 1903] {
            #expect(
                ThesisFormula.arrivingPerSecond(ofOffered: other) < ThesisFormula.arrivingPerSecond(ofOffered: 1902))
        }
        var sum = 0.0
        for packet in 0..<1902 { sum += 1 - 526e-6 * Double(packet) }
        #expect(isWithin(1e-9, ThesisFormula.arrivingPerSecond(ofOffered: 1902), of: sum))
    }

    @Test func exactValueIsHalfOfTheThesisValue() throws {
        let answer = try ThesisFormula(beacons: 250).truth
        let truth = try #require(answer)
        #expect(isWithin(0.002, truth.collisionFreeProbability, of: 0.240))
        #expect(isWithin(0.003, truth.arrivingPerSecondPerBeacon, of: 1.82))
        #expect(isWithin(0.001, truth.bestOfferedPerSecondPerBeacon, of: 1_000_000 / 188_000))
        #expect(truth.bestArrivingPerSecondPerBeacon > truth.arrivingPerSecondPerBeacon)
    }

    @Test func ratesBeyondControllersHaveNoExactValue() throws {
        #expect(try ThesisFormula(beacons: 47).truth == nil)
        #expect(try ThesisFormula(beacons: 48).truth != nil)
        #expect(throws: AirtimeError.count(0)) { try ThesisFormula(beacons: 0) }
    }

    @Test func listsFourFaultsAsSentences() {
        #expect(ThesisFormula.faults.count == 4)
        #expect(ThesisFormula.faults.allSatisfy { $0.hasSuffix(".") })
    }
}
