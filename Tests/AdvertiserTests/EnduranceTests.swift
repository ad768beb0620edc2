import Advertiser
import EnduranceWorld
import Testing
import VirtualController

/// 200 fault sequences and one day of incidents; the endurance program runs ten thousand sequences and a year.
struct EnduranceTests {
    @Test(arguments: 0..<20)
    func faultSequencesEndOnTheAirWithRightCounts(_ block: Int) {
        for number in block * 10..<block * 10 + 10 {
            let sequence = FaultSequence(seed: UInt64(number), overlapping: number % 2 == 1)
            #expect(sequence.complaints.isEmpty, "seed \(number): \(sequence.incidents): \(sequence.complaints)")
        }
    }

    /// If the controller refuses the parameters at the first start, the beacon ends. Later, it keeps trying.
    @Test(arguments: [VirtualControllerModel.raspberryPi, .zephyr])
    func refusedParametersEndTheFirstStartOnly(_ model: VirtualControllerModel) throws {
        let first = EnduranceWorld(model, seed: 1, intervalUnits: 160)
        first.refuseParameters()
        first.begin()
        #expect(first.hasEnded)
        let error = try #require(first.supervisor?.lastError)
        #expect(
            error.hasSuffix("this controller does not support an interval of 100 ms with ADV_NONCONN_IND"), "\(error)")
        let later = EnduranceWorld(model, seed: 1, intervalUnits: 160)
        later.begin()
        later.begin(.poweredDown, for: 0)
        later.refuseParameters()
        later.run(microseconds: 30_000_000)
        #expect(!later.hasEnded && later.supervisor?.state != .onAir)
    }

    @Test func aDayWithIncidentsEndsOnTheAir() {
        let day = LongLife(days: 1, seed: 7)
        #expect(day.complaints.isEmpty, "\(day.complaints)")
        #expect(day.incidents > 0)
    }
}
