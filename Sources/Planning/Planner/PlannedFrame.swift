internal import Airtime
public import BeaconFrames
public import BluetoothTypes

/// One advertisement that boxes send: its interval and its length.
public struct PlannedFrame: Hashable, Sendable {
    /// As in profiles, such as `ibeacon`.
    public let name: String
    public let interval: AdvertisingInterval
    /// Octets of advertising data, 0...31.
    public let payloadOctets: Int
    /// tau in µs.
    public let airtimeMicroseconds: Double

    /// - Parameter payloadOctets: Octets of advertising data; other than 0...31 is refused.
    public init(
        _ name: String = "advertisement", interval: AdvertisingInterval, payloadOctets: Int
    ) throws(PlanError) {
        self.name = name
        self.interval = interval
        self.payloadOctets = payloadOctets
        airtimeMicroseconds = try PlanError.asking { () throws(AirtimeError) in
            try PacketTiming.airtimeMicroseconds(payloadOctets: payloadOctets)
        }
    }

    /// An advertisement of a profile.
    ///
    /// - Parameter interval: What its interval is taken to be; `nil` for its own.
    public init(_ advertisement: Advertisement, interval: AdvertisingInterval? = nil) throws(PlanError) {
        let octets: Int
        do throws(PayloadError) {
            octets = try advertisement.payloadOctetCount()
        } catch {
            throw PlanError(.configuration, "\(error)")
        }
        try self.init(
            advertisement.content.typeName, interval: interval ?? advertisement.interval, payloadOctets: octets)
    }

    /// So many boxes with this frame.
    func group(_ count: Int) throws(AirtimeError) -> AdvertiserGroup {
        try AdvertiserGroup(
            count: count, interval: interval,
            airtimeMicroseconds: airtimeMicroseconds)
    }

    /// What tells frames apart on the air, and orders them: how often, how long, and of which type.
    struct Pace: Hashable, Comparable {
        let interval: AdvertisingInterval
        let octets: Int
        let name: String

        static func < (left: Self, right: Self) -> Bool {
            (left.interval, left.octets, left.name) < (right.interval, right.octets, right.name)
        }
    }

    var pace: Pace { Pace(interval: interval, octets: payloadOctets, name: name) }

    /// T in ms.
    var milliseconds: Double { Double(interval.microseconds) / 1000 }

    /// For programs; `more` stands behind.
    func quantity(_ more: [(String, PlanQuantity)] = []) -> PlanQuantity {
        .record(
            [
                ("type", .word(name)), ("intervalMs", .milliseconds(milliseconds)),
                ("payloadOctets", .count(payloadOctets)), ("airtimeMicroseconds", .number(airtimeMicroseconds)),
            ] + more)
    }
}
