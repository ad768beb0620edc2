internal import Airtime
public import BeaconFrames
public import BluetoothTypes

/// One advertisement that beacons send: its interval and its length.
public struct PlannedFrame: Sendable {
    /// The type as in profiles, such as `ibeacon`.
    public let name: String
    /// The advertising interval. With a pattern, the constant interval with the same mean number of events per second.
    public let interval: AdvertisingInterval
    /// The pattern of intervals; nil for a constant interval.
    public let pattern: AdvertisingPattern?
    /// The bytes of advertising data, 0...31, or 0...1650 in extended PDUs.
    public let payloadOctets: Int
    /// tau in µs; with extended PDUs, the airtime of the packet on one primary channel.
    public let airtimeMicroseconds: Double
    /// The auxiliary packets of extended PDUs; nil for legacy PDUs.
    let extended: ExtendedTraffic?

    /// Throws if `payloadOctets`, the bytes of advertising data, is outside 0...31 (0...1650 if a PHY is given), and if
    /// an extended event is longer than the interval.
    public init(
        _ name: String = "advertisement", interval: AdvertisingInterval, pattern: AdvertisingPattern? = nil,
        phy: ExtendedPHY? = nil, payloadOctets: Int
    ) throws(PlanError) {
        self.name = name
        self.interval = pattern?.meanInterval ?? interval
        self.pattern = pattern
        self.payloadOctets = payloadOctets
        let shortest = pattern?.shortestInterval ?? interval
        let extended = try PlanError.asking { () throws(AirtimeError) -> ExtendedTraffic? in
            guard let phy else { return nil }
            let extended = try ExtendedTraffic(phy, payloadOctets: payloadOctets)
            let length = extended.event.shortestMicroseconds()
            guard length <= shortest.microseconds else {
                throw .unsupported(
                    "\(payloadOctets) bytes on \(phy.name) take \(DecimalText.thousandths(length)) ms, longer than the "
                        + "interval \(shortest): choose a longer interval, less data or a faster PHY")
            }
            return extended
        }
        self.extended = extended
        airtimeMicroseconds = try PlanError.asking { () throws(AirtimeError) -> Double in
            if let extended { return Double(extended.event.primaryMicroseconds) }
            return try PacketTiming.airtimeMicroseconds(payloadOctets: payloadOctets)
        }
    }

    /// Creates a frame from an advertisement of a profile.
    ///
    /// - Parameter interval: The interval that replaces the interval of the advertisement; nil to keep it.
    public init(_ advertisement: Advertisement, interval: AdvertisingInterval? = nil) throws(PlanError) {
        let octets: Int
        do throws(PayloadError) {
            octets = try advertisement.payloadOctetCount()
        } catch {
            throw PlanError(.configuration, "\(error)")
        }
        try self.init(
            advertisement.content.typeName, interval: interval ?? advertisement.interval,
            pattern: interval == nil ? advertisement.pattern : nil, phy: advertisement.phy, payloadOctets: octets)
    }

    /// Returns a group of `count` beacons that send this frame.
    func group(_ count: Int) throws(AirtimeError) -> AdvertiserGroup {
        if let extended { return try AdvertiserGroup(count: count, interval: interval, extended: extended) }
        return try AdvertiserGroup(count: count, interval: interval, airtimeMicroseconds: airtimeMicroseconds)
    }

    /// The properties that distinguish frames and that determine their order: interval, length, type, pattern and PHY.
    struct SortKey: Hashable, Comparable {
        let interval: AdvertisingInterval
        let octets: Int
        let name: String
        let pattern: AdvertisingPattern?
        let phy: ExtendedPHY?

        static func < (left: Self, right: Self) -> Bool {
            left.order < right.order
        }

        private var order: (AdvertisingInterval, Int, String, String, String) {
            (interval, octets, name, pattern?.description ?? "", phy?.rawValue ?? "")
        }
    }

    var sortKey: SortKey {
        SortKey(interval: interval, octets: payloadOctets, name: name, pattern: pattern, phy: extended?.phy)
    }

    /// The interval, or the pattern, for a sentence: `100 ms`, `100 ms for 2 s, 1000 ms for 8 s`.
    var intervalText: String { pattern?.description ?? interval.description }

    /// T, the advertising interval in ms.
    var milliseconds: Double { Double(interval.microseconds) / 1000 }

    /// The frame in JSON.
    var quantity: PlanQuantity { .object(members) }

    /// The keys and values of the frame in JSON.
    var members: [(PlanKey, PlanQuantity)] {
        var members: [(PlanKey, PlanQuantity)] = [
            (.frameType, .word(name)), (.interval, .milliseconds(milliseconds)), (.framePayload, .count(payloadOctets)),
            (.frameAirtime, .number(airtimeMicroseconds)),
        ]
        if let extended {
            members += [
                (.framePHY, .word(extended.phy.rawValue)), (.frameAuxiliary, .number(extended.auxiliaryMicroseconds)),
            ]
        }
        return members
    }
}
