import BluetoothTypes

extension SplitMix64 {
    /// The generator of one batch: the same for one seed and index, whichever core runs the batch and whenever.
    ///
    /// Neighboring indices give unrelated streams: the index goes through the generator's own mixing first.
    init(seed: UInt64, batch index: Int) {
        var root = SplitMix64(seed: seed)
        var mixed = SplitMix64(seed: root.next() ^ UInt64(truncatingIfNeeded: index))
        self.init(seed: mixed.next())
    }

    /// A number of 0..<1 with 53 bits.
    @inline(__always)
    mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
