internal import Advertiser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports

/// Something to hear on the virtual adapter: a second controller that sends profiles, or an iBeacon.
final class SampleBeacon {
    private let session: BeaconSession

    init(_ air: VirtualAirServer, _ profiles: [LoadedProfile]) throws {
        let host = HCIHost(channel: H4Channel(try air.connect(), name: "sample"))
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        var sources: [PayloadSource] = []
        for profile in profiles {
            for advertisement in profile.advertisements {
                sources.append(PayloadSource(advertisement, identityKey: try profile.identityKey(for: advertisement)))
            }
        }
        if sources.isEmpty { sources = [PayloadSource(Self.sample)] }
        session = BeaconSession(host: host, plan: try SendingPlan(sources, on: capabilities, isExclusive: true))
        try session.start()
    }

    /// When ``wake(at:)`` wants to be called.
    var nextWakeUp: HCIInstant? { session.nextWakeUp }

    /// Lets its advertisements take turns. A sample that cannot go on is as good as one that has stopped.
    func wake(at now: HCIInstant) {
        if let due = nextWakeUp, due <= now { try? session.wake(now) }
    }

    private static let sample = Advertisement(
        content: .iBeacon(
            uuid: FixedOctets<16>([
                0xFB, 0x0B, 0x57, 0xA2, 0x82, 0x28, 0x44, 0xCD, 0x91, 0x3A, 0x94, 0xA1, 0x22, 0xBA, 0x12, 0x06,
            ]) ?? FixedOctets(), major: 1, minor: 2, flags: .beacon),
        interval: AdvertisingInterval(rawValue: 160), measuredPower: .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)),
        address: .staticRandom(StaticAddress.make(name: "sample")))
}
