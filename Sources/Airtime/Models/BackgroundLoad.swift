internal import Glibc

/// Packets of strangers on the same advertising channel: a stationary Poisson stream of equal packets.
///
/// Symbols: O the share of time that strangers, not the fleet itself, keep the channel busy; tau_b the airtime of one of
/// their packets; λ_b = -ln(1 - O) / tau_b the rate at which their packets start. A packet of airtime tau misses them
/// all with probability exp(-λ_b·(tau + tau_b)).
///
/// Published counts find the primary channels up to 25 % busy in subways and malls.
public struct BackgroundLoad: Hashable, Sendable {
    /// O, 0 up to, but without, 1.
    public let share: Double
    /// tau_b in µs; `nil` when strangers' packets are as long as the one that is asked about.
    public let airtimeMicroseconds: Double?

    /// Refuses a share outside 0..<1 (a channel that is always busy lets nothing through) and an airtime that is no
    /// positive number.
    public init(share: Double, airtimeMicroseconds: Double? = nil) throws(AirtimeError) {
        guard share >= 0, share < 1 else {
            throw .quantity(name: "a background load (0 up to, but without, 1)", value: share)
        }
        if let airtimeMicroseconds, !(airtimeMicroseconds > 0 && airtimeMicroseconds.isFinite) {
            throw .airtime(airtimeMicroseconds)
        }
        self.share = share
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    private init() {
        share = 0
        airtimeMicroseconds = nil
    }

    /// Nobody else on the channel.
    public static let none = BackgroundLoad()

    /// λ_b in packets a µs; `airtime` in µs stands in where strangers' packets are as long as ours.
    public func arrivalsPerMicrosecond(forPacketOf airtime: Double) -> Double {
        -log1p(-share) / (airtimeMicroseconds ?? airtime)
    }

    /// The natural logarithm of the probability that a packet of `airtime` µs meets no stranger's packet.
    public func logClearProbability(forPacketOf airtime: Double) -> Double {
        log1p(-share) * (1 + airtime / (airtimeMicroseconds ?? airtime))
    }

    /// The probability that no stranger hits a packet of `airtime` µs, and that none is on the air when it starts.
    public func clearProbability(forPacketOf airtime: Double) -> Double {
        exp(logClearProbability(forPacketOf: airtime))
    }
}
