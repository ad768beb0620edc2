internal import Advertiser
internal import BluetoothTypes
internal import HCI
internal import VirtualController

/// A beacon that runs for a long time with an incident now and then.
public struct LongLife: Sendable {
    /// The errors; empty if there are none.
    public private(set) var complaints: [String] = []
    public private(set) var incidents = 0
    /// The number of times that the beacon came back on the air.
    public private(set) var returns = 0

    /// The mean number of days between two incidents.
    private static let daysBetween = 0.25

    public init(days: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // The longest interval of legacy advertising, 10.24 s, which saves time: the packets between incidents are not
        // tested here.
        let world = EnduranceWorld(.raspberryPi, seed: seed, intervalUnits: 0x4000)
        world.begin()
        world.run(microseconds: 1_000_000)
        let end = world.now.advanced(byMicroseconds: days * 86_400_000_000)
        let step = UInt32(2 * Self.daysBetween * 86_400)
        while world.now < end {
            world.run(until: min(end, world.now.advanced(byMicroseconds: random.next(upTo: step) * 1_000_000)))
            if world.supervisor?.state != .onAir || !world.isHeard {
                complaints.append(
                    "after \(incidents) incidents it is \(world.supervisor.map { "\($0.state)" } ?? "off")")
                return
            }
            let all = Incident.allCases
            world.begin(all[random.next(upTo: UInt32(all.count - 1))], for: random.next(upTo: 600) * 1_000_000)
            incidents += 1
            world.run(microseconds: 700_000_000)
        }
        let counted = world.supervisor?.rearms.values.reduce(0, +) ?? 0
        returns = world.returns
        if counted != returns { complaints.append("\(counted) outages counted, \(returns) returns logged") }
        if world.readies != 1 + world.reloads { complaints.append("ready was told \(world.readies) times") }
        complaints += world.complaints
    }
}
