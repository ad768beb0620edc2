/// Returns warnings about known beacons while a program listens, each warning only once.
public struct BeaconWarnings: Sendable {
    private enum Kind: Hashable {
        case cloned
        case power
    }

    private struct Warning: Hashable {
        let beacon: String
        let kind: Kind
    }

    private var returnedWarnings: Set<Warning> = []

    /// Creates the state before the first warning.
    public init() {}

    /// Returns the new warnings about a beacon after its report, one sentence each.
    ///
    /// - Parameter position: The position of the beacon in the table; `nil` for a stranger that is not kept.
    public mutating func take(_ position: Int?, in table: SightingTable) -> [String] {
        guard let position, position < table.knownCount else { return [] }
        let (finding, power) = (table.tracks[position].clones.finding, table.tracks[position].implausiblePower)
        guard finding != nil || power != nil, let known = table.tracks[position].known else { return [] }
        var sentences: [String] = []
        if let finding, returnedWarnings.insert(Warning(beacon: known.name, kind: .cloned)).inserted {
            sentences.append(Self.sentence(finding, known, table.tracks[position].identity))
        }
        if let power, returnedWarnings.insert(Warning(beacon: known.name, kind: .power)).inserted {
            let range = DistanceEstimate.plausiblePowers
            sentences.append(
                "\(known.name): its distance is unknown, because its measured power of \(power) dBm is outside "
                    + "\(range.lowerBound) to \(range.upperBound) dBm; correct it in the beacon, or use levels instead of "
                    + "distances")
        }
        return sentences
    }

    private static func sentence(
        _ finding: CloneWatch.Finding, _ known: KnownBeacon, _ identity: BeaconIdentity?
    ) -> String {
        let property = known.region == nil ? "its identity \(identity?.description ?? "")" : "its local name"
        switch finding {
        case .addresses(let first, let second):
            return "\(known.name): two devices send \(property), from \(first.address) and \(second.address)"
        case .levels:
            return "\(known.name): two devices send \(property) from one address: its level jumps by more than "
                + "\(LevelJumps.decibels) dB and back"
        }
    }
}
