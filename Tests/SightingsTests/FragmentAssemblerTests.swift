import BluetoothTypes
import Testing

@testable import Sightings

@Suite struct FragmentAssemblerTests {
    private func key(_ sender: UInt32, _ set: UInt8? = 0) -> FragmentAssembler.Key {
        FragmentAssembler.Key(sender: Air.sender(sender), isScanResponse: false, setIdentifier: set)
    }

    private func take(
        _ assembler: inout FragmentAssembler, _ key: FragmentAssembler.Key, _ status: FragmentAssembler.Status,
        _ octets: [UInt8], at time: Int = 0
    ) -> FragmentAssembler.Outcome {
        assembler.take(key, status, octets.span, octets.indices, at: Air.at(milliseconds: time))
    }

    @Test func assemblesInterleavedPiecesOfTwoSenders() {
        var assembler = FragmentAssembler()
        #expect(take(&assembler, key(1), .incomplete, [1, 2]) == .pending)
        #expect(take(&assembler, key(2), .incomplete, [7]) == .pending)
        #expect(take(&assembler, key(1, 3), .complete, [9]) == .whole)
        #expect(take(&assembler, key(1), .incomplete, [3]) == .pending)
        #expect(take(&assembler, key(2), .complete, [8]) == .assembled)
        #expect(assembler.assembled == [7, 8])
        #expect(take(&assembler, key(1), .complete, [4]) == .assembled)
        #expect(assembler.assembled == [1, 2, 3, 4])
        #expect(assembler.openCount == 0)
        #expect(assembler.incomplete == 0)
    }

    @Test func keepsTruncatedDataAndCountsIt() {
        var assembler = FragmentAssembler()
        #expect(take(&assembler, key(1), .truncated, [1]) == .whole)
        #expect(take(&assembler, key(1), .incomplete, [1]) == .pending)
        #expect(take(&assembler, key(1), .truncated, [2]) == .assembled)
        #expect(assembler.assembled == [1, 2])
        #expect(assembler.incomplete == 2)
    }

    @Test func dropsFragmentsThatNeverEnd() {
        var assembler = FragmentAssembler()
        let piece = [UInt8](repeating: 0xAA, count: 229)
        for _ in 0..<10_000 { _ = take(&assembler, key(1), .incomplete, piece) }
        #expect(assembler.openCount <= 1)
        #expect(assembler.incomplete > 1000)
    }

    @Test func assemblesTheLargestData() {
        var assembler = FragmentAssembler()
        let piece = [UInt8](repeating: 1, count: 165)
        for _ in 0..<9 { #expect(take(&assembler, key(1), .incomplete, piece) == .pending) }
        #expect(take(&assembler, key(1), .complete, piece) == .assembled)
        #expect(assembler.assembled.count == 1650)
        for _ in 0..<10 { _ = take(&assembler, key(1), .incomplete, piece) }
        #expect(take(&assembler, key(1), .complete, [1]) == .pending)
        #expect(assembler.incomplete == 1)
    }

    @Test func limitsOpenFragmentsInNumberAndAge() {
        var assembler = FragmentAssembler()
        for sender in 0..<255 { _ = take(&assembler, key(UInt32(sender)), .incomplete, [1], at: sender) }
        #expect(assembler.openCount == FragmentAssembler.openLimit)
        #expect(assembler.incomplete == 255 - FragmentAssembler.openLimit)
        // After a second the pieces are dropped.
        #expect(take(&assembler, key(254), .complete, [2], at: 1255) == .whole)
        #expect(assembler.openCount == 0)
    }
}
