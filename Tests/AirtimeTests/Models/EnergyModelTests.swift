import Airtime
import Testing

@Suite struct EnergyModelTests {
    private static func model(
        _ interval: Double, chip: String = "nrf52832", battery: String = "cr2477", payload: Int = 31
    ) throws -> EnergyModel {
        try EnergyModel(
            chip: #require(BeaconChip.named(chip)), battery: #require(BeaconBattery.named(battery)),
            intervalMicroseconds: interval, payloadOctets: payload)
    }

    @Test(arguments: [(100_000.0, 268.0), (500_000, 1220)])
    func batteryLifeMatchesTheReference(interval: Double, days: Double) throws {
        #expect(try Self.model(interval).lifeDays.rounded() == days)
    }

    @Test func energyPerReceivedPacketIncludesLostPackets() throws {
        let model = try Self.model(100_000)
        let clear = try model.microjoulesPerReceived(probability: 1)
        #expect(isWithin(1e-9, clear, of: (13.65 + 2 * 0.105) * 3))
        #expect(isWithin(1e-9, try model.microjoulesPerReceived(probability: 0.5), of: 2 * clear))
        // Power times mean period is the energy of one event.
        #expect(isWithin(1e-9, model.meanCurrentMicroamperes * 0.105 * 3, of: clear))
    }

    @Test func chargeGrowsWithThePayload() throws {
        let chip = try #require(BeaconChip.named("nRF52832"))
        #expect(try chip.eventMicrocoulombs(payloadOctets: 0) == 7.03)
        #expect(isWithin(1e-12, try chip.eventMicrocoulombs(payloadOctets: 31), of: 13.65))
        #expect(throws: AirtimeError.payload(32)) { try chip.eventMicrocoulombs(payloadOctets: 32) }
        #expect(try Self.model(100_000, payload: 0).lifeDays > Self.model(100_000).lifeDays)
    }

    @Test func chipsAndBatteriesHaveSourcesAndAreFoundByName() {
        for chip in BeaconChip.all { #expect(!chip.source.isEmpty && BeaconChip.named(chip.name) == chip) }
        for battery in BeaconBattery.all {
            #expect(!battery.source.isEmpty && BeaconBattery.named(battery.name) == battery)
        }
        #expect(BeaconChip.named("abacus") == nil)
        #expect(BeaconBattery.named("potato") == nil)
    }

    @Test func refusesImpossibleFigures() throws {
        for bad in [0, -1, Double.nan, .infinity] {
            #expect(throws: AirtimeError.self) { try Self.model(bad) }
            #expect(throws: AirtimeError.self) {
                try BeaconBattery(name: "x", capacityMilliampereHours: bad, nominalVolts: 3, source: "")
            }
            #expect(throws: AirtimeError.self) {
                try BeaconChip(
                    name: "x", emptyEventMicrocoulombs: bad, fullEventMicrocoulombs: 1, sleepMicroamperes: 1, source: ""
                )
            }
            #expect(throws: AirtimeError.self) { try Self.model(100_000).microjoulesPerReceived(probability: bad) }
        }
        #expect(throws: AirtimeError.self) { try Self.model(100_000).microjoulesPerReceived(probability: 1.1) }
    }
}
