internal import BluetoothTypes

/// Estimates how many different senders were heard, and keeps none of their addresses: a bit for each value of a hash.
///
/// Whang, Vander-Zanden and Taylor, A Linear-Time Probabilistic Counting Algorithm (1990): exact but for coincidences
/// while they are few, within 2 % up to 100,000, and at most about 340,000.
public struct AddressSketch: Sendable {
    private static let bits = 32_768

    private var words = [UInt64](repeating: 0, count: bits / 64)
    private var taken = 0

    /// Nobody heard.
    public init() {}

    /// Takes a sender, of whom nothing is kept.
    public mutating func add(_ sender: Sender) {
        var mixer = SplitMix64(seed: sender.address.octets.number << 1 | (sender.isRandom ? 1 : 0))
        let bit = Int(mixer.next() % UInt64(Self.bits))
        guard words[bit / 64] & 1 << UInt64(bit % 64) == 0 else { return }
        words[bit / 64] |= 1 << UInt64(bit % 64)
        taken += 1
    }

    /// How many there were.
    public var count: Int {
        guard taken > 0 else { return 0 }
        let free = max(1, Self.bits - taken)
        return Int((Double(Self.bits) * naturalLogarithm(Double(Self.bits) / Double(free))).rounded())
    }

    /// Forgets all.
    public mutating func removeAll() {
        guard taken > 0 else { return }
        for index in words.indices { words[index] = 0 }
        taken = 0
    }
}

extension FixedOctets<6> {
    fileprivate var number: UInt64 { (0..<6).reduce(0) { $0 << 8 | UInt64(self[$1]) } }
}
