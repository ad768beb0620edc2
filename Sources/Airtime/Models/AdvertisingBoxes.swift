internal import Glibc

/// Equal boxes, each of which sends one or several advertisements from its one radio.
///
/// An advertisement is owed one advertising event per T + advDelay whether it has an advertising set of its own or
/// takes turns with others in one, so each counts with its own period.
public struct AdvertisingBoxes: Hashable, Sendable {
    /// How many boxes of this kind are within range.
    public let count: Int
    /// What each of them sends; ``AdvertiserGroup/count`` is that of the boxes.
    public let advertisements: [AdvertiserGroup]

    /// T and tau of each advertisement in µs.
    ///
    /// Refuses a negative count, boxes that send nothing, and what ``AdvertiserGroup`` refuses.
    public init(
        count: Int, advertisements: [(intervalMicroseconds: Double, airtimeMicroseconds: Double)]
    ) throws(AirtimeError) {
        guard !advertisements.isEmpty else {
            throw .quantity(name: "a number of advertisements of a box", value: 0)
        }
        self.count = count
        self.advertisements = try advertisements.map { own throws(AirtimeError) in
            try AdvertiserGroup(
                count: count, intervalMicroseconds: own.intervalMicroseconds,
                airtimeMicroseconds: own.airtimeMicroseconds)
        }
    }

    /// The advertisement that is sent most often; of equally frequent ones the shortest. Its place in
    /// ``advertisements``.
    public var fastest: Int {
        advertisements.indices.min { key(advertisements[$0]) < key(advertisements[$1]) } ?? 0
    }

    private func key(_ group: AdvertiserGroup) -> (Double, Double) {
        (group.intervalMicroseconds, group.airtimeMicroseconds)
    }

    /// Σ ln(1 - (tau + tau_k)/E_k) over one box's advertisements: ln of the probability that it spares a packet of
    /// `airtime` µs.
    func logSparing(packetOf airtime: Double, where isAsked: (AdvertiserGroup) -> Bool = { _ in true }) -> Double {
        advertisements.reduce(0) { isAsked($1) ? $0 + $1.logSparing(packetOf: airtime) : $0 }
    }
}

extension AdvertiserGroup {
    /// ln(1 - (tau + tau_k)/E_k): ln of the probability that one of these advertisers spares a packet of `airtime` µs.
    func logSparing(packetOf airtime: Double) -> Double {
        let hit = (airtime + airtimeMicroseconds) / meanPeriodMicroseconds
        return hit < 1 ? log1p(-hit) : -.infinity
    }
}
