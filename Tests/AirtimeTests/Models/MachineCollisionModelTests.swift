import Airtime
import BluetoothTypes
import Testing

@Suite("Machines that send several advertisements")
struct MachineCollisionModelTests {
    private typealias Sent = (intervalMicroseconds: Double, airtimeMicroseconds: Double)

    private static func machine(_ count: Int, _ sent: Sent...) throws -> AdvertisingMachines {
        try AdvertisingMachines(
            count: count,
            advertisements: sent.map {
                try AdvertiserGroup(
                    count: count, intervalMicroseconds: $0.intervalMicroseconds,
                    airtimeMicroseconds: $0.airtimeMicroseconds)
            })
    }

    /// Returns different kinds of machines, drawn with a seed.
    private static func mixture(_ seed: UInt64) throws -> [AdvertisingMachines] {
        var random = SplitMix64(seed: seed)
        return try (0..<Int.random(in: 1...4, using: &random)).map { _ in
            try AdvertisingMachines(
                count: Int.random(in: 1...40, using: &random),
                advertisements: (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    try AdvertiserGroup(
                        count: 1,
                        intervalMicroseconds: Double(
                            [100, 250, 400, 1000, 10_000].randomElement(using: &random) ?? 100) * 1000,
                        airtimeMicroseconds: Double(Int.random(in: 16...47, using: &random) * 8))
                })
        }
    }

    @Test("machines with one advertisement each match the equal fleet", arguments: [1, 2, 50, 250, 1000])
    func equalFleet(_ count: Int) throws {
        let machines = try MachineCollisionModel(machines: [Self.machine(count, (100_000, 376))])
        let fleet = try CollisionModel(beacons: count, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        #expect(abs(machines.collisionFreeProbability / fleet.collisionFreeProbability - 1) < 1e-12)
        #expect(abs(machines.arrivalsPerSecondPerMachine / fleet.arrivalsPerSecondPerBeacon - 1) < 1e-12)
        #expect(machines.channelLoad == fleet.channelLoad)
    }

    @Test("the advertisements of a single machine do not collide with each other")
    func aLoneMachineDoesNotCollideWithItself() throws {
        let alone = try MachineCollisionModel(machines: [Self.machine(1, (20_000, 376), (20_000, 368), (100_000, 300))])
        #expect(alone.collisionFreeProbability == 1)
        let background = try BackgroundLoad(share: 0.25)
        let busy = try MachineCollisionModel(
            machines: [Self.machine(1, (20_000, 376), (20_000, 376))], background: background)
        #expect(abs(busy.collisionFreeProbability - 0.5625) < 1e-12)
    }

    @Test("the clear probability is a product over all other machines", arguments: 0..<30 as Range<UInt64>)
    func product(_ seed: UInt64) throws {
        let machines = try Self.mixture(seed)
        let model = try MachineCollisionModel(machines: machines)
        var (clear, offered) = (0.0, 0.0)
        for (place, kind) in machines.enumerated() {
            for (index, target) in kind.advertisements.enumerated() {
                var product = 1.0
                for (other, others) in machines.enumerated() {
                    for _ in 0..<others.count - (other == place ? 1 : 0) {
                        for sent in others.advertisements {
                            product *=
                                1
                                - (target.airtimeMicroseconds + sent.airtimeMicroseconds) / sent.meanPeriodMicroseconds
                        }
                    }
                }
                #expect(abs(model.collisionFreeProbabilities[place][index] - product) < 1e-9)
                clear += Double(kind.count) * product / target.meanPeriodMicroseconds
                offered += Double(kind.count) / target.meanPeriodMicroseconds
            }
        }
        #expect(abs(model.collisionFreeProbability - clear / offered) < 1e-9)
    }

    @Test("the model matches the simulation", arguments: [3, 8] as [UInt64])
    func simulation(_ seed: UInt64) throws {
        let machines = try Self.mixture(seed)
        let model = try MachineCollisionModel(machines: machines)
        var advertisers: [AirAdvertiser] = []
        for kind in machines {
            for _ in 0..<kind.count {
                let machine = advertisers.count
                for sent in kind.advertisements {
                    var advertiser = AirAdvertiser(
                        intervalMicroseconds: sent.intervalMicroseconds, airtimeMicroseconds: sent.airtimeMicroseconds)
                    advertiser.machine = machine
                    advertisers.append(advertiser)
                }
            }
        }
        var conditions = AirConditions()
        conditions.simulatesAllChannels = false
        conditions.durationMicroseconds = 4_000_000
        let simulation = try AirSimulation(advertisers: advertisers, conditions: conditions, seed: seed)
        var tally = AirTally()
        for batch in 0..<16 { tally.merge(simulation.batch(batch)) }
        let found = try #require(tally.clear.estimate)
        #expect(
            abs(found.value - model.collisionFreeProbability) < max(0.006, 4 * found.standardError),
            "\(found.value), not \(model.collisionFreeProbability)")
    }

    @Test("each advertisement converts to an equal fleet with the same loss", arguments: 0..<30 as Range<UInt64>)
    func surroundings(_ seed: UInt64) throws {
        let machines = try Self.mixture(seed)
        let model = try MachineCollisionModel(machines: machines)
        for (place, kind) in machines.enumerated() {
            for index in kind.advertisements.indices {
                let (group, otherClear) = try TargetCollisions(kind: place, advertisement: index, in: machines)
                    .fleet(ofMachines: model.machineCount)
                let equal = try CollisionModel(groups: [group]).collisionFreeProbability
                let wanted = model.collisionFreeProbabilities[place][index]
                #expect(abs(equal * otherClear / wanted - 1) < 1e-6)
                #expect(otherClear <= 1 && otherClear > 0)
                #expect(group.intervalMicroseconds == kind.advertisements[index].intervalMicroseconds)
            }
        }
    }

    @Test("equal machines convert to an equal fleet of the same size", arguments: [1, 2, 7, 250, 100_000])
    func equalMachinesGiveAnEqualFleet(_ count: Int) throws {
        let machines = [try Self.machine(count, (100_000, 376))]
        let (group, otherClear) = try TargetCollisions(kind: 0, advertisement: 0, in: machines).fleet(ofMachines: count)
        #expect(group.count == count)
        #expect(otherClear == 1)
    }

    @Test("machines with one advertisement have the largest fleet of equal beacons, with two a smaller one")
    func largestFleet() throws {
        let scanners = ScannerMix(try #require(ScannerPreset(named: "android-low-power")))
        let equal = try LargestFleet(
            within: 10, probability: 0.9, intervalMicroseconds: 250_000, airtimeMicroseconds: 376,
            scanners: scanners)
        let collisions = try TargetCollisions(
            kind: 0, advertisement: 0, in: [Self.machine(3, (250_000, 376))], isAmongMore: true)
        #expect(
            try LargestFleet(within: 10, probability: 0.9, collisions: collisions, scanners: scanners).beacons
                == equal.beacons)
        let more = try TargetCollisions(
            kind: 0, advertisement: 0, in: [Self.machine(3, (250_000, 376), (250_000, 376))], isAmongMore: true)
        let fewer = try LargestFleet(within: 10, probability: 0.9, collisions: more, scanners: scanners).beacons
        #expect(fewer < equal.beacons && fewer > equal.beacons / 3)
    }

    @Test("empty machines, a count of 0 and unknown indices are refused")
    func refusals() throws {
        #expect(throws: AirtimeError.self) { try AdvertisingMachines(count: 1, advertisements: []) }
        #expect(throws: AirtimeError.self) { try MachineCollisionModel(machines: []) }
        #expect(throws: AirtimeError.self) { try MachineCollisionModel(machines: [Self.machine(0, (100_000, 376))]) }
        let machines = [try Self.machine(2, (100_000, 376))]
        #expect(throws: AirtimeError.self) { try TargetCollisions(kind: 1, advertisement: 0, in: machines) }
        #expect(throws: AirtimeError.self) { try TargetCollisions(kind: 0, advertisement: 1, in: machines) }
    }

    @Test("the mean current is the sum over all advertisements, with the sleep current once")
    func energy() throws {
        let chip = try #require(BeaconChip.named("nrf52832"))
        let battery = try #require(BeaconBattery.named("cr2477"))
        func model(_ interval: Double, _ companions: [EnergyModel] = []) throws -> EnergyModel {
            try EnergyModel(
                chip: chip, battery: battery, intervalMicroseconds: interval, payloadOctets: 31, companions: companions)
        }
        let (one, two) = (try model(500_000), try model(1_000_000))
        let both = try model(500_000, [two])
        let sum = one.meanCurrentMicroamperes + two.meanCurrentMicroamperes - chip.sleepMicroamperes
        #expect(abs(both.meanCurrentMicroamperes - sum) < 1e-9)
        // Two equal advertisements share the sleep current. So a packet costs less than a packet of one advertisement
        // alone, and more than half of it.
        let double = try model(500_000, [one])
        let (alone, shared) = (
            try one.microjoulesPerReceived(probability: 1), try double.microjoulesPerReceived(probability: 1)
        )
        #expect(shared < alone && shared > alone / 2)
    }
}
