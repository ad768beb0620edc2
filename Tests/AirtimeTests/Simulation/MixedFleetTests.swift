import Airtime
import BluetoothTypes
import Testing

/// The exact model and the simulation share no formula. They must agree for random mixed fleets.
@Suite struct MixedFleetTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func modelAndSimulationAgree(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var groups: [AdvertiserGroup] = []
        for _ in 0...random.next(upTo: 3) {
            let interval = Double(20 + random.next(upTo: 400)) * 1000
            let airtime = Double(8 * (16 + random.next(upTo: 31)))
            groups.append(
                try AdvertiserGroup(
                    count: 1 + random.next(upTo: 20), intervalMicroseconds: interval, airtimeMicroseconds: airtime))
        }
        let busy = seed % 3 == 0 ? 0.2 : 0
        let background = try BackgroundLoad(share: busy, airtimeMicroseconds: 200)
        let model = try CollisionModel(groups: groups, background: background)

        var conditions = AirConditions()
        conditions.simulatesAllChannels = false
        conditions.durationMicroseconds = 4_000_000
        if busy > 0 { conditions.otherDevices = .init(busyShare: busy, airtimeMicroseconds: 200) }
        for (counted, probability) in model.collisionFreeProbabilities.enumerated() {
            let advertisers = groups.enumerated().flatMap { index, group in
                AirAdvertiser.fleet(group).map { advertiser in
                    var advertiser = advertiser
                    advertiser.isCounted = index == counted
                    return advertiser
                }
            }
            let simulation = try AirSimulation(advertisers: advertisers, conditions: conditions, seed: seed)
            let tally = (0..<12).reduce(into: AirTally()) { $0.merge(simulation.batch($1)) }
            let estimate = try #require(tally.clear.estimate)
            // Four standard errors, but at least 0.012.
            let tolerance = max(0.012, 4 * estimate.standardError)
            #expect(
                abs(estimate.value - probability) < tolerance, "\(groups[counted]): \(estimate.value), \(probability)")
        }
    }
}
