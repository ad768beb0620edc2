internal import Airtime
public import BeaconFrames
public import BluetoothTypes

/// One advertisement that beacons send: its interval and its length.
public struct PlannedFrame: Hashable, Sendable {
    /// The type as in profiles, such as `ibeacon`.
    public let name: String
    /// With a pattern, the interval that has the same number of events.
    public let interval: AdvertisingInterval
    /// The intervals that take turns; nil for a constant interval.
    public let pattern: AdvertisingPattern?
    /// The bytes of advertising data, 0...31.
    public let payloadOctets: Int
    /// tau in µs.
    public let airtimeMicroseconds: Double

    /// Throws if `payloadOctets`, the bytes of advertising data, is outside 0...31.
    public init(
        _ name: String = "advertisement", interval: AdvertisingInterval, pattern: AdvertisingPattern? = nil,
        payloadOctets: Int
    ) throws(PlanError) {
        self.name = name
        self.interval = pattern?.meanInterval ?? interval
        self.pattern = pattern
        self.payloadOctets = payloadOctets
        airtimeMicroseconds = try PlanError.asking { () throws(AirtimeError) in
            try PacketTiming.airtimeMicroseconds(payloadOctets: payloadOctets)
        }
    }

    /// An advertisement of a profile.
    ///
    /// - Parameter interval: Replaces its interval; nil keeps it.
    public init(_ advertisement: Advertisement, interval: AdvertisingInterval? = nil) throws(PlanError) {
        let octets: Int
        do throws(PayloadError) {
            octets = try advertisement.payloadOctetCount()
        } catch {
            throw PlanError(.configuration, "\(error)")
        }
        try self.init(
            advertisement.content.typeName, interval: interval ?? advertisement.interval,
            pattern: interval == nil ? advertisement.pattern : nil, payloadOctets: octets)
    }

    /// A fleet of `count` beacons that send this frame.
    func group(_ count: Int) throws(AirtimeError) -> AdvertiserGroup {
        try AdvertiserGroup(
            count: count, interval: interval,
            airtimeMicroseconds: airtimeMicroseconds)
    }

    /// The interval, length, type and pattern of a frame: they distinguish frames on the air, and order them.
    struct Pace: Hashable, Comparable {
        let interval: AdvertisingInterval
        let octets: Int
        let name: String
        let pattern: AdvertisingPattern?

        static func < (left: Self, right: Self) -> Bool {
            (left.interval, left.octets, left.name, left.pattern?.description ?? "")
                < (right.interval, right.octets, right.name, right.pattern?.description ?? "")
        }
    }

    var pace: Pace { Pace(interval: interval, octets: payloadOctets, name: name, pattern: pattern) }

    /// The interval, or the pattern, for a sentence: `100 ms`, `100 ms for 2 s, 1000 ms for 8 s`.
    var paceText: String { pattern?.description ?? interval.description }

    /// T in ms.
    var milliseconds: Double { Double(interval.microseconds) / 1000 }

    /// The frame in JSON.
    var quantity: PlanQuantity { .object(members) }

    /// Its keys and values in JSON.
    var members: [(PlanKey, PlanQuantity)] {
        [
            (.frameType, .word(name)), (.interval, .milliseconds(milliseconds)), (.framePayload, .count(payloadOctets)),
            (.frameAirtime, .number(airtimeMicroseconds)),
        ]
    }
}
