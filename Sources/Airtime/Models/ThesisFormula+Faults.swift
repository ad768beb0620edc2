extension ThesisFormula {
    /// What the formula gets wrong, each as a sentence for the reader of a report.
    public enum Fault: CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// 1 - q·i asks only what came before the i-th packet.
        case chargesOnlyTheLaterPacket
        /// Σ q in place of Π (1 - q).
        case addsLosses
        /// 526 µs in place of tau_i + tau_j.
        case mistakesTheWindow
        /// What arrives on one channel, taken three times.
        case multipliesByThreeChannels

        public var description: String {
            switch self {
            case .chargesOnlyTheLaterPacket:
                "It counts only the later packet of a colliding pair as lost; both are lost."
            case .addsLosses:
                "It adds the chances of a collision; independent chances to survive are multiplied, so that the share "
                    + "never falls below zero."
            case .mistakesTheWindow:
                "It takes 526 µs as the vulnerable time, with 150 µs of silence in which nothing is on the air; a packet "
                    + "is hurt by whatever starts within one airtime before or after its own start, 752 µs in all."
            case .multipliesByThreeChannels:
                "It allows three times as much for three channels; a scanner with one radio listens on one channel at a "
                    + "time, and equal firmware sends its three copies at the same spacing, so they collide together."
            }
        }
    }

    /// All of them.
    public static let faults = Fault.allCases
}
