internal import BluetoothTypes

/// Packets of other devices on the same advertising channel: a stationary Poisson stream of equal packets.
///
/// Symbols: O the share of time that other devices, not the fleet itself, keep the channel busy; tau_b the airtime of
/// one of their packets; λ_b = -ln(1 - O) / tau_b the rate at which their packets start. A packet of airtime tau misses
/// them all with probability exp(-λ_b·(tau + tau_b)).
///
/// In published measurements, the primary channels were up to 25 % busy in subways and malls.
public struct BackgroundLoad: Hashable, Sendable {
    /// O of each channel.
    public let loads: ChannelLoads
    /// The mean O of the primary channels, 0 or more, and less than 1.
    public var share: Double { loads.meanPrimary }
    /// tau_b in µs; nil if other devices' packets are as long as the target packet.
    public let airtimeMicroseconds: Double?

    /// Throws for a share outside 0..<1 (no packet gets through on a channel that is always busy) and an airtime that
    /// is no positive number.
    public init(share: Double, airtimeMicroseconds: Double? = nil) throws(AirtimeError) {
        try self.init(ChannelLoads(share), airtimeMicroseconds: airtimeMicroseconds)
    }

    /// Creates the load from a share for each channel. The probability that a packet is clear is the mean over the
    /// channels.
    ///
    /// Throws for an airtime that is no positive number.
    public init(_ loads: ChannelLoads, airtimeMicroseconds: Double? = nil) throws(AirtimeError) {
        if let airtimeMicroseconds, !(airtimeMicroseconds > 0 && airtimeMicroseconds.isFinite) {
            throw .airtime(airtimeMicroseconds)
        }
        self.loads = loads
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    /// Creates the load with a given length of other devices' packets.
    ///
    /// - Parameter payloadOctets: The bytes of advertising data in each of these packets, 0...31; nil if they are as
    ///   long as the target packet.
    public init(_ loads: ChannelLoads, payloadOctets: Int?) throws(AirtimeError) {
        guard let payloadOctets else {
            try self.init(loads)
            return
        }
        try self.init(
            loads, airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: payloadOctets))
    }

    private init() {
        loads = .none
        airtimeMicroseconds = nil
    }

    /// No other device on the channel.
    public static let none = BackgroundLoad()

    /// The natural logarithm of the probability that no packet of another device hits a packet of `airtime` µs.
    public func logClearProbability(forPacketOf airtime: Double) -> Double {
        if loads.isEven { return log1p(-share) * exponent(airtime) }
        return naturalLogarithm(clearProbabilities(forPacketOf: airtime).reduce(0, +) / 3)
    }

    /// For each primary channel, the probability that no packet of another device hits a packet of `airtime` µs.
    func clearProbabilities(forPacketOf airtime: Double) -> [Double] {
        loads.primary.map { pow(1 - $0, exponent(airtime)) }
    }

    /// The natural logarithm of the probability that no packet of another device hits a packet of `airtime` µs on a
    /// secondary channel: the mean over all secondary channels.
    private func logSecondaryClearProbability(forPacketOf airtime: Double) -> Double {
        if loads.isEven { return log1p(-share) * exponent(airtime) }
        let clear = loads.secondary.reduce(0) { $0 + pow(1 - $1, exponent(airtime)) }
        return naturalLogarithm(clear / Double(loads.secondary.count))
    }

    private func exponent(_ airtime: Double) -> Double { 1 + airtime / (airtimeMicroseconds ?? airtime) }

    /// The natural logarithm of the probability that no packet of another device hits the packets that the reception of
    /// an event needs: the packet on one primary channel, and the auxiliary packets of extended PDUs.
    package func logClearProbability(ofEventOf group: AdvertiserGroup) -> Double {
        logClearProbability(ofPrimary: group.airtimeMicroseconds, auxiliaries: group.extended)
    }

    /// The natural logarithm of the probability that no packet of another device hits the packets of an event.
    ///
    /// - Parameters:
    ///   - airtime: The airtime of the packet on one primary channel, in µs.
    ///   - extended: The auxiliary packets; nil for legacy PDUs.
    func logClearProbability(ofPrimary airtime: Double, auxiliaries extended: ExtendedTraffic?) -> Double {
        let primary = logClearProbability(forPacketOf: airtime)
        guard let extended else { return primary }
        return extended.event.auxiliaryMicroseconds.reduce(primary) { sum, airtime in
            sum + logSecondaryClearProbability(forPacketOf: Double(airtime))
        }
    }

    /// The probability that no packet of another device hits the packets that the reception of an event needs: the
    /// packet on one primary channel, and the auxiliary packets of extended PDUs.
    public func clearProbability(ofEventOf group: AdvertiserGroup) -> Double {
        exp(logClearProbability(ofEventOf: group))
    }

    /// The probability that no packet of another device overlaps with a packet of `airtime` µs.
    public func clearProbability(forPacketOf airtime: Double) -> Double {
        exp(logClearProbability(forPacketOf: airtime))
    }
}
