/// Equal advertisers within range of one receiver: how many, how often, how long each packet.
///
/// Symbols as in the models: N advertisers, T the advertising interval, tau the airtime of one packet,
/// E = T + J/2 the mean period between advertising events, where advDelay ~ U(0, J) and J = 10 ms
/// (Core Specification 5.4, Vol 6 Part B 4.4.2.2.1). E, never T, stands in every probability.
public struct AdvertiserGroup: Hashable, Sendable {
    /// N: the advertisers of this group within range of the receiver.
    public let count: Int
    /// T in µs. Not bound to the controllers' units of 0.625 ms: the closed models take any interval.
    public let intervalMicroseconds: Double
    /// tau in µs.
    public let airtimeMicroseconds: Double

    /// Refuses a negative count, an airtime that is no positive number, and an interval that does not exceed the
    /// airtime (a packet would meet its own successor).
    public init(count: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double) throws(AirtimeError) {
        guard count >= 0 else { throw .count(count) }
        guard airtimeMicroseconds > 0, airtimeMicroseconds.isFinite else { throw .airtime(airtimeMicroseconds) }
        guard intervalMicroseconds > airtimeMicroseconds, intervalMicroseconds.isFinite else {
            throw .interval(intervalMicroseconds)
        }
        self.count = count
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    /// E in µs.
    public var meanPeriodMicroseconds: Double {
        intervalMicroseconds + AdvertisingDelay.meanMicroseconds
    }
}

/// advDelay, the random time that the link layer adds to each interval: uniform over 0...10 ms.
/// Core Specification 5.4, Vol 6 Part B 4.4.2.2.1.
public enum AdvertisingDelay {
    /// J in µs.
    public static let maximumMicroseconds = 10_000.0
    /// J/2 in µs: what a mean period E is longer than its interval T.
    public static let meanMicroseconds = maximumMicroseconds / 2
}

/// The time that a legacy advertising packet is on the air on LE 1M.
///
/// One octet takes 8 µs. Around the advertising data stand preamble (1 octet), access address (4), PDU header (2),
/// advertiser's address (6) and CRC (3): 16 octets. Core Specification 5.4, Vol 6 Part B 2.1 and 2.3.1.
public enum PacketTiming {
    /// Octets of advertising data that a legacy packet may carry.
    public static let payloadRange = 0...31

    /// tau in µs: 8·(16 + n), 128 µs for an empty packet, 376 µs for 31 octets.
    public static func airtimeMicroseconds(payloadOctets: Int) throws(AirtimeError) -> Double {
        guard payloadRange.contains(payloadOctets) else { throw .payload(payloadOctets) }
        return Double(8 * (16 + payloadOctets))
    }

    /// n, the octets of advertising data of a packet of that airtime in µs, to the nearest.
    public static func payloadOctets(airtimeMicroseconds: Double) -> Int {
        let octets = (airtimeMicroseconds / 8).rounded() - 16
        return Int(min(max(octets, Double(payloadRange.lowerBound)), Double(payloadRange.upperBound)))
    }

    /// T_IFS, the silence between a packet and its answer, in µs. Core Specification 5.4, Vol 6 Part B 4.1.1.
    public static let interFrameSpaceMicroseconds = 150.0
}
