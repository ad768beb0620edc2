public import BluetoothTypes

/// The auxiliary packets of an extended advertiser: AUX_ADV_IND and its AUX_CHAIN_INDs, sent one after the other after
/// the packets on the primary channels (Core Specification 5.4, Vol 6 Part B 2.3.1, 4.4.2.2).
///
/// Assumptions: each packet is on one of the 37 secondary channels, drawn with equal probabilities and independently of
/// all other packets, as the specification recommends. All advertisers use the three primary channels with the same
/// copy spacing. Connections of other devices on the secondary channels count as background. A scanner continues to
/// receive on the primary channels while auxiliary packets arrive; the packets that a real scanner misses in this time
/// can be modelled as the scanner's dead time.
public struct ExtendedTraffic: Hashable, Sendable {
    public let phy: ExtendedPHY
    /// The bytes of advertising data.
    public let payloadOctets: Int
    public let event: ExtendedEvent
    /// c in µs: the time from the start of one ADV_EXT_IND to the start of the next.
    public let copySpacingMicroseconds: Double
    /// The time from the start of the event to the start of each auxiliary packet, in µs.
    let offsets: [Double]

    /// Throws for more than 1650 bytes.
    ///
    /// - Parameter copySpacingMicroseconds: The time from the start of one ADV_EXT_IND to the start of the next, in µs.
    ///   A value below the airtime of an ADV_EXT_IND is raised to this airtime.
    public init(
        _ phy: ExtendedPHY, payloadOctets: Int, copySpacingMicroseconds: Double = 1000
    ) throws(AirtimeError) {
        guard (0...AdvertisingData.extendedLimit).contains(payloadOctets) else { throw .payload(payloadOctets) }
        self.phy = phy
        self.payloadOctets = payloadOctets
        event = ExtendedEvent(phy, octets: payloadOctets)
        let primary = Double(event.primaryMicroseconds)
        let gap = Double(ExtendedEvent.gapMicroseconds)
        self.copySpacingMicroseconds = max(primary, copySpacingMicroseconds)
        var start = 2 * self.copySpacingMicroseconds + primary + gap
        var offsets: [Double] = []
        for packet in event.auxiliaryMicroseconds {
            offsets.append(start)
            start += Double(packet) + gap
        }
        self.offsets = offsets
    }

    /// The sum of the auxiliary packets' airtimes in µs.
    public var auxiliaryMicroseconds: Double { Double(event.auxiliaryMicroseconds.reduce(0, +)) }

    /// The airtime of all packets of an event, on the three primary channels and on the secondary channels, in µs.
    public var eventMicroseconds: Double { 3 * Double(event.primaryMicroseconds) + auxiliaryMicroseconds }

    /// Returns the mean length, in µs, of the window of start times at which an event of `other` destroys an event of
    /// this advertiser. An event is destroyed if its ADV_EXT_IND on one primary channel or one of its auxiliary packets
    /// is hit.
    func meanWindowMicroseconds(against other: ExtendedTraffic) -> Double {
        CollisionWindow(eventOf: self, against: other).microseconds
    }

    /// Returns an upper bound, in µs, of the time between the starts of two events whose auxiliary packets can overlap.
    func spanMicroseconds(against other: ExtendedTraffic) -> Double {
        Double(event.auxiliarySpanMicroseconds + other.event.auxiliarySpanMicroseconds)
            + abs(offsets[0] - other.offsets[0])
    }
}

extension AdvertiserGroup {
    /// Creates a group of advertisers of extended PDUs. ``airtimeMicroseconds`` is the airtime of the ADV_EXT_IND on
    /// one primary channel.
    ///
    /// Throws for a negative count, and an interval that does not exceed the airtime.
    public init(count: Int, interval: AdvertisingInterval, extended: ExtendedTraffic) throws(AirtimeError) {
        try self.init(
            count: count, intervalMicroseconds: Double(interval.microseconds),
            airtimeMicroseconds: Double(extended.event.primaryMicroseconds), extended: extended)
    }

    /// ln of the probability that one of these advertisers hits none of the packets that a receiver needs from an event
    /// of `target`: the packet on one primary channel, and for extended PDUs all auxiliary packets.
    package func logClearProbability(ofEventOf target: AdvertiserGroup) -> Double {
        let hitProbability = meanWindowMicroseconds(ofEventOf: target) / meanPeriodMicroseconds
        return hitProbability < 1 ? log1p(-hitProbability) : -.infinity
    }

    /// Returns the mean length, in µs, of the window of start times at which an event of one of these advertisers hits
    /// one of the packets that a receiver needs from an event of `target`. Divided by
    /// ``meanPeriodMicroseconds``, it is the probability of a hit.
    package func meanWindowMicroseconds(ofEventOf target: AdvertiserGroup) -> Double {
        guard let targetExtended = target.extended, let extended else {
            return target.airtimeMicroseconds + airtimeMicroseconds
        }
        return targetExtended.meanWindowMicroseconds(against: extended)
    }

    /// Returns the length, in µs, of the window of start times at which an event of one advertiser can destroy an event
    /// of the other; for extended PDUs, an upper bound.
    func windowMicroseconds(against other: AdvertiserGroup) -> Double {
        let primary = airtimeMicroseconds + other.airtimeMicroseconds
        guard let extended, let otherExtended = other.extended else { return primary }
        return max(primary, extended.spanMicroseconds(against: otherExtended))
    }

    /// The probability that the auxiliary packets of an event do not collide among the equal advertisers of this group,
    /// given that its packet on the primary channel does not collide; 1 for legacy PDUs.
    public var auxiliaryClearProbability: Double {
        guard extended != nil, count > 1 else { return 1 }
        let logAuxiliaryClear =
            logClearProbability(ofEventOf: self) - logClearProbability(forPacketOf: airtimeMicroseconds)
        return logAuxiliaryClear.isFinite ? exp(Double(count - 1) * logAuxiliaryClear) : 0
    }
}
