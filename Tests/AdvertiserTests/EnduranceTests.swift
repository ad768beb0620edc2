import EnduranceWorld
import Testing

/// A few hundred of the sequences that the endurance program lives through by the ten thousand.
struct EnduranceTests {
    @Test(arguments: 0..<20)
    func everySequenceOfFaultsEndsOnTheAirWithTrueCounts(_ block: Int) {
        for number in block * 10..<block * 10 + 10 {
            let sequence = FaultSequence(seed: UInt64(number), overlapping: number % 2 == 1)
            #expect(sequence.complaints.isEmpty, "seed \(number): \(sequence.incidents): \(sequence.complaints)")
        }
    }

    @Test func aDayWithIncidentsEndsOnTheAir() {
        let day = LongLife(days: 1, seed: 7)
        #expect(day.complaints.isEmpty, "\(day.complaints)")
        #expect(day.incidents > 0)
    }
}
