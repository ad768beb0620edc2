import Airtime
import BluetoothTypes
import Testing

/// The exact model and the simulation share no formula; over random mixed fleets they must agree.
@Suite struct MixedFleetTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
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
        conditions.playsAllChannels = false
        conditions.durationMicroseconds = 4_000_000
        if busy > 0 { conditions.strangers = .init(busyShare: busy, airtimeMicroseconds: 200) }
        let advertisers = groups.flatMap { AirAdvertiser.fleet($0) }
        let simulation = try AirSimulation(
            advertisers: advertisers, receivers: [AirReceiver()], conditions: conditions, seed: seed)
        var tally = AirTally()
        for batch in 0..<24 { tally.merge(simulation.batch(batch)) }

        var first = 0
        for (group, probability) in zip(groups, model.collisionFreeProbabilities) {
            var share = ShareTally()
            for beacon in tally.beacons[first..<first + group.count] { share.merge(beacon.clear) }
            first += group.count
            let estimate = try #require(share.estimate)
            // Four standard errors of a share, which are never known better than to a thousandth here.
            let tolerance = max(0.012, 4 * estimate.standardError)
            #expect(abs(estimate.value - probability) < tolerance, "\(group): \(estimate.value), model \(probability)")
        }
        let all = try #require(tally.all.clear.estimate)
        #expect(abs(all.value - model.collisionFreeProbability) < max(0.012, 4 * all.standardError))
    }
}
