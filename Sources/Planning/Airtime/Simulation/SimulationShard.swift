/// One of several parts of a simulation, which may run on different machines.
///
/// A part runs every `count`-th block of batches. Merging the batches of all parts in the order of their numbers gives
/// the result of a single run.
public struct SimulationShard: Hashable, Sendable {
    /// The number of the part, 1...count.
    public let index: Int
    public let count: Int
    /// The number of consecutive batches of one part: as many as there are groups in a ``LatencyTally``.
    public static let block = LatencyTally.groupCount
    /// The largest number of parts.
    public static let countLimit = 100_000

    /// Throws for a number of parts outside 1...100,000, and for a part outside 1...count.
    public init(_ index: Int, of count: Int) throws(AirtimeError) {
        guard (1...Self.countLimit).contains(count) else {
            throw .quantity(name: "a number of parts of a simulation", value: Double(count))
        }
        guard (1...count).contains(index) else {
            throw .quantity(name: "a part of a simulation (1...\(count))", value: Double(index))
        }
        self.index = index
        self.count = count
    }

    /// Returns the number of this part's batch at `position`, where 0 is the part's first batch.
    public func batch(at position: Int) -> Int {
        (position / Self.block * count + index - 1) * Self.block + position % Self.block
    }

    /// Returns the number of the part that runs a batch (from 1), and the position of the batch in this part (from 0).
    public static func owner(ofBatch batch: Int, among count: Int) -> (index: Int, position: Int) {
        let (block, positionInBlock) = batch.quotientAndRemainder(dividingBy: Self.block)
        return (block % count + 1, block / count * Self.block + positionInBlock)
    }
}
