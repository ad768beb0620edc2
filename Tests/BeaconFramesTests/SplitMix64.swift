import BluetoothTypes

extension SplitMix64 {
    /// Up to `limit` octets of any value.
    mutating func octets(upTo limit: Int) -> [UInt8] {
        (0..<Int.random(in: 0...limit, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}
