internal import Airtime
internal import BeaconFrames
internal import BluetoothTypes
internal import Profiles

/// One frame that every box of the fleet sends: its interval and its length.
struct PlannedFrame {
    let name: String
    let interval: AdvertisingInterval
    let payloadOctets: Int
    /// tau in µs.
    let airtime: Double

    /// The frame of the options, or those of a profile, which may have its own intervals.
    static func frames(
        profile: String?, interval: AdvertisingInterval?, packet: PlanPacketOptions
    ) throws -> [PlannedFrame] {
        guard let profile else {
            guard let interval else { return [] }
            return [
                PlannedFrame(
                    name: "advertisement", interval: interval, payloadOctets: packet.payloadOctets ?? 31,
                    airtime: try packet.airtime)
            ]
        }
        return try LoadedProfile(path: profile).advertisements.map { advertisement in
            do {
                let octets = try advertisement.payloadOctetCount()
                return PlannedFrame(
                    name: advertisement.content.typeName, interval: interval ?? advertisement.interval,
                    payloadOctets: octets,
                    airtime: try PlanValue.answer { () throws(AirtimeError) in
                        try PacketTiming.airtimeMicroseconds(payloadOctets: octets)
                    })
            } catch let error as PayloadError {
                throw Failure(.configuration, "\(profile): \(error)")
            }
        }
    }

    /// So many boxes with this frame.
    func group(_ count: Int) throws(AirtimeError) -> AdvertiserGroup {
        try AdvertiserGroup(
            count: count, intervalMicroseconds: Double(interval.microseconds), airtimeMicroseconds: airtime)
    }
}
