import Airtime
import BluetoothTypes
import Configuration
import Fleet
import Planner
import Testing

@Suite("Fleets and options as input of the planner")
struct PlannedSourceTests {
    /// Returns the traffic of a fleet with one beacon for each element of `sites`.
    private static func traffic(_ sites: [String]) -> FleetTraffic {
        var traffic = FleetTraffic()
        for (index, site) in sites.enumerated() {
            let beacon = FleetManifest.Beacon(
                name: "b\(index)", group: site.isEmpty ? [] : [site], profileHash: "0",
                advertisements: [
                    .init(
                        type: "ibeacon", identity: .iBeacon(uuid: .init(repeating: 1), major: 1, minor: 2),
                        intervalMicroseconds: 500_000)
                ])
            _ = traffic.add(beacon)
        }
        return traffic
    }

    @Test("all sites of a fleet or the named site are selected")
    func choosesSites() throws {
        let traffic = Self.traffic(["m", "n", "n"])
        let all = try PlannedAir.sites(of: traffic, fleet: "f")
        #expect(all.map(\.beacons) == [1, 2] && all.map { $0.origin?.site } == ["m", "n"])
        let one = try PlannedAir.sites(
            of: traffic, fleet: "f", site: "n", interval: AdvertisingInterval(rawValue: 160), payloadOctets: 12)
        let frame = try #require(one.first?.machines.first?.frames.first)
        #expect(one.count == 1 && frame.interval.rawValue == 160 && frame.payloadOctets == 12)
        #expect(try PlannedAir.only(of: one)?.beacons == 2)
        #expect(try PlannedAir.only(of: []) == nil)
    }

    @Test("an unknown site and an ambiguous choice are refused with the available sites")
    func refusesSites() throws {
        let traffic = Self.traffic(["museum", "", "shop"])
        let near = PlanError(.question, "--site: the fleet f has no site \"musem\"; did you mean museum?")
        #expect(throws: near) { try PlannedAir.sites(of: traffic, fleet: "f", site: "musem") }
        let far = PlanError(
            .question,
            "--site: the fleet f has no site \"zzzzzzz\"; choose it with --site museum, --site \"\" or --site shop")
        #expect(throws: far) { try PlannedAir.sites(of: traffic, fleet: "f", site: "zzzzzzz") }
        let several = PlanError(
            .question,
            "--from-fleet: this fleet has 3 sites, and the answer is for one; choose it with --site museum, "
                + "--site \"\" or --site shop")
        #expect(throws: several) { try PlannedAir.only(of: PlannedAir.sites(of: traffic, fleet: "f")) }
        let empty = PlanError(.configuration, "f.json: the fleet f has no beacons to plan for")
        #expect(throws: empty) { try PlannedAir.sites(of: FleetTraffic(), fleet: "f", file: "f.json") }
        let many = Self.traffic((1...20).map { "s\($0)" })
        let error = #expect(throws: PlanError.self) { try PlannedAir.only(of: PlannedAir.sites(of: many, fleet: "f")) }
        #expect(error?.message.hasSuffix("--site s12 or one of 8 more") == true, "\(error?.message ?? "")")
    }

    @Test(
        "a valid path loss is read",
        arguments: [
            ("log-distance", try? PathLoss.logDistance(lossAtOneMeterDecibels: 65, exponent: 2.03)),
            ("log-distance:60,2", try? PathLoss.logDistance(lossAtOneMeterDecibels: 60, exponent: 2)),
            ("itu", try? PathLoss.indoor(coefficient: 30)),
            ("itu:22,6", try? PathLoss.indoor(coefficient: 22, floorLossDecibels: 6)), ("heydon", PathLoss.heydon),
            ("thesis", PathLoss.thesis),
        ])
    func readsPathLoss(_ text: String, _ model: PathLoss?) throws {
        let named = try NamedPathLoss(text)
        #expect(named.name == text && named.model == model)
        #expect(NamedPathLoss.usual.model == (try NamedPathLoss("log-distance")).model)
    }

    @Test(
        "an invalid path loss is refused",
        arguments: [
            "", "itu:30", "itu:x,3", "log-distance:60,0", "log-distance:60,2,1", "heydon:1,2", "thesis:", "nope",
        ])
    func refusesPathLoss(_ text: String) {
        #expect(throws: PlanError.self) { try NamedPathLoss(text) }
    }

    @Test("an infinite range is refused with the name of the path loss model")
    func refusesEndlessRange() throws {
        let error = #expect(throws: PlanError.self) {
            try PlannedRange(radioPower: 20, sensitivity: -90, pathLoss: NamedPathLoss("thesis"), shadowing: 0)
        }
        #expect(error?.message.hasPrefix("--path-loss thesis: this model's loss never exceeds") == true)
        let range = try PlannedRange(radioPower: 0, sensitivity: -90, pathLoss: .usual, shadowing: 4)
        #expect(range.meters > 10 && range.meters < 30)
    }

    @Test("numbers replace the chip's and battery's values, and are refused if out of range")
    func replacesChip() throws {
        let air = try PlannedAir(
            beacons: 1, frames: [PlannedFrame(interval: AdvertisingInterval(rawValue: 800), payloadOctets: 31)])
        let (chip, battery) = (BeaconChip.all[0], BeaconBattery.all[0])
        let own = try EnergyQuestion(air: air, chip: chip, battery: battery)
        #expect(own.chip == chip && own.battery == battery)
        let other = try EnergyQuestion(
            air: air, chip: chip, battery: battery, eventMicrocoulombs: 10, capacityMilliampereHours: 200)
        #expect(other.chip.emptyEventMicrocoulombs == 10 && other.chip.fullEventMicrocoulombs == 10)
        #expect(other.chip.source == "as given" && other.battery.capacityMilliampereHours == 200)
        #expect(throws: PlanError.self) {
            try EnergyQuestion(air: air, chip: chip, battery: battery, eventMicrocoulombs: 0)
        }
    }

    @Test("a custom scanner is named by its window and interval")
    func namesScanner() throws {
        let scanner = try ScannerPreset(windowMicroseconds: 30_000, intervalMicroseconds: 62_500)
        #expect(scanner.name == "30/62.5 ms" && scanner.pattern.windowMicroseconds == 30_000)
        #expect(throws: AirtimeError.self) {
            try ScannerPreset(windowMicroseconds: 2, intervalMicroseconds: 1)
        }
        #expect(try BackgroundLoad(ChannelLoads(0.2), payloadOctets: nil).airtimeMicroseconds == nil)
        #expect(throws: AirtimeError.self) { try BackgroundLoad(ChannelLoads(0.2), payloadOctets: 32) }
    }
}
