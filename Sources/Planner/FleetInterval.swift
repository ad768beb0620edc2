internal import Airtime

/// A site of a fleet as `plan interval` takes it: the interval that is looked for is that of each beacon's most frequent
/// advertisement, and what the beacons send beside it stays as it is.
public struct FleetInterval: Sendable {
    public let air: PlannedAir
    /// Of the longest of these advertisements.
    public let payloadOctets: Int
    /// What an average beacon sends beside it, as `IntervalAdvice` takes it.
    let logSparingOther: Double

    /// Takes each box by its most frequent advertisement. Refuses what the models refuse of the others.
    public init(_ air: PlannedAir) throws(PlanError) {
        self.air = air
        let fastest = air.boxes.compactMap { $0.frames.min { $0.pace < $1.pace } }
        let octets = fastest.map(\.payloadOctets).max() ?? 31
        payloadOctets = octets
        logSparingOther = try PlanError.asking { () throws(AirtimeError) in
            try BoxSurroundings.logSparingCompanions(
                in: air.kinds(), packetOf: PacketTiming.airtimeMicroseconds(payloadOctets: octets))
        }
    }

    var note: String {
        "For the most frequent advertisement of each beacon of \(air.origin?.name ?? "the fleet"), now every \(today); as if "
            + "all were as long as the longest, \(payloadOctets) octets of data."
            + (logSparingOther == 0 ? "" : " The beacons' other advertisements stay as they are.")
    }

    /// The intervals that are set.
    private var today: String {
        let intervals = air.boxes.compactMap { $0.frames.map(\.interval).min() }
        guard let low = intervals.min(), let high = intervals.max() else { return "–" }
        return low == high ? "\(low)" : "\(low) to \(high)"
    }
}
