import Advertiser
import BeaconFrames
import BeaconService
import BluetoothTypes
import LinuxHost
import TestSupport
import Testing

/// The identities of a crowd, the facts that are stated before it runs, and its adapters.
@Suite struct CrowdTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func options(_ count: Int, adapter: AdapterName = .virtual) -> CrowdRun.Options {
        var options = CrowdRun.Options(adapter: adapter, identities: GeneratedCrowd(count: count).identities)
        options.runtimeDirectory = folder.place("pharos")
        return options
    }

    @Test(arguments: CrowdFormat.allCases)
    func generatedIdentitiesDependOnlyOnTheSeed(_ format: CrowdFormat) throws {
        var crowd = GeneratedCrowd(count: 500)
        crowd.format = format
        let identities = crowd.identities
        #expect(identities == crowd.identities)
        #expect(Set(identities.map(\.address)).count == identities.count)
        #expect(identities.allSatisfy { $0.address.isValidStaticRandom })
        #expect(Set(try identities.map { try $0.payload(nil).octets }).count == identities.count)
        #expect(identities[0].name == "crowd-001" && identities[499].name == "crowd-500")
        // A smaller crowd consists of the first identities of a larger one.
        crowd.count = 3
        #expect(crowd.identities.map(\.address) == Array(identities.prefix(3)).map(\.address))
        crowd.seed = "other"
        #expect(Set(crowd.identities.map(\.address)).isDisjoint(with: identities.map(\.address)))
    }

    @Test func majorIncreasesAfterTheLastMinor() throws {
        var crowd = GeneratedCrowd(count: 65_537)
        crowd.uuid = FixedOctets(repeating: 0xAB)
        let found = crowd.identities.map(\.advertisement.content)
        for (index, major, minor) in [(0, 1, 1), (65_534, 1, 65_535), (65_535, 2, 1), (65_536, 2, 2)] {
            #expect(
                found[index]
                    == .iBeacon(
                        uuid: FixedOctets(repeating: 0xAB), major: UInt16(major), minor: UInt16(minor), flags: .beacon))
        }
    }

    @Test func constantAdvertisementsOfFilesBecomeIdentities() throws {
        func advertisement(_ content: Advertisement.Content, _ address: Advertisement.AddressRule) -> Advertisement {
            Advertisement(
                content: content, interval: AdvertisingInterval(rawValue: 160),
                measuredPower: .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)), address: address)
        }
        let uid = Advertisement.Content.eddystoneUID(namespace: FixedOctets(), instance: FixedOctets())
        let iBeacon = Advertisement.Content.iBeacon(uuid: FixedOctets(), major: 1, minor: 2, flags: .beacon)
        let telemetry = Advertisement.Content.eddystoneTLM(
            .init(battery: .unknown, temperature: .unknown), encryption: nil)
        let own = try #require(DeviceAddress("C0:00:00:00:00:07"))
        var crowd = DescribedCrowd(seed: "x")
        crowd.add("door", [advertisement(iBeacon, .staticRandom(own)), advertisement(telemetry, .staticRandom(own))])
        crowd.add("hall", [advertisement(iBeacon, .public), advertisement(uid, .public), advertisement(uid, .public)])
        #expect(
            crowd.identities.map(\.name) == [
                "door", "hall (ibeacon)", "hall (eddystone-uid 2)", "hall (eddystone-uid 3)",
            ])
        #expect(crowd.changingCount == 1 && crowd.identities[0].address == own)
        let others = Set(crowd.identities.dropFirst().map(\.address))
        #expect(others.count == 1 && others.allSatisfy { $0.isValidStaticRandom && $0 != own })
    }

    @Test func expectedRateIsStatedBeforeTheRun() throws {
        var options = options(300)
        options.interval = AdvertisingInterval(rawValue: 160)
        let facts = try CrowdRun(options).facts
        #expect(facts.sets == 1 && facts.timing.dwellMicroseconds == 110_000)
        let round = try #require(facts.expectedRoundMicroseconds)
        #expect(round >= 33_000_000 && round == facts.expectedTurnMicroseconds * 300)
        #expect(
            facts.lines[1]
                == "one after the other, each for 110 ms: at least 1 advertising event at an interval of 100 ms")
        // A turn takes as long as its dwell, and the time that this machine needs for the commands.
        #expect(facts.lines[2].hasPrefix("expected: 1") && facts.lines[2].hasSuffix(" s"))
        let phone = facts.reception(window: 512_000, scanInterval: 5_120_000)
        // 0.9^28 is more than 5 %, 0.9^29 is less.
        #expect(phone.likelyMicroseconds == 29 * round && abs(phone.share - 0.1) < 0.001)
        #expect(
            phone.sentence.contains("only about 10 % of the turns")
                && phone.sentence.contains("--dwell-ms 5280 or more"))
        #expect(facts.reception(window: 100, scanInterval: 1000).sentence.contains("receives nothing"))
    }

    @Test func aDurationOfLessThanARoundIsRefused() throws {
        var options = options(300)
        options.interval = AdvertisingInterval(rawValue: 160)
        options.durationMicroseconds = 20_000_000
        #expect {
            _ = try CrowdRun(options)
        } throws: { error in
            "\(error)".hasPrefix("--duration-s 20: one round of 300 identities takes at least 33.0 s, so 118 or")
                && "\(error)".contains("would never be sent")
        }
    }

    @Test func endsAfterTheDurationAndReports() throws {
        var options = options(4)
        options.durationMicroseconds = 1_000_000
        var reports: [CrowdReport] = []
        let last = try CrowdRun(options).run(every: 200_000) { reports.append($0) }
        #expect(!reports.isEmpty && last.rotation.turns >= (reports.last?.rotation.turns ?? .max))
        #expect(last.elapsedMicroseconds >= 900_000 && last.rotation.rounds >= 1)
        let round = try #require(last.rotation.roundMicroseconds)
        #expect(round >= 4 * 30_000)
        #expect(last.lines[1].hasPrefix("4 identities, each sent for "))
        #expect(last.lines[1].contains("; the controller needs "))
        #expect(last.lines[2].hasPrefix("longest time between two turns: ") && last.lines[2].contains(" for crowd-"))
    }

    @Test(arguments: [AdapterName.managed(index: 0), .virtualTour])
    func adaptersThatCannotSendACrowdAreRefused(_ adapter: AdapterName) throws {
        #expect { _ = try CrowdRun(options(3, adapter: adapter)) } throws: { error in
            guard case .refused(.request, _) = error as? BeaconServiceError else { return false }
            return "\(error)".contains("\(adapter): ")
        }
    }
}
