import BeaconFrames
import BluetoothTypes
import Inventory
import Sightings
import Testing

@Suite struct CountRuleTests {
    /// Rule 4.9: the probability to be found within six rounds, by the share of rounds that receive the beacon.
    @Test(arguments: [(0.9, 0.98), (0.7, 0.74), (0.5, 0.34), (1, 1), (0, 0)])
    func computesTheChanceWithinSixRounds(heard: Double, chance: Double) {
        #expect(abs(CountRule.chance(heard: heard) - chance) < 0.006)
    }

    /// Rule 4.9: an interval of up to 300 ms suffices, a longer one does not.
    @Test(arguments: [(100, true), (200, true), (300, true), (320, false), (1000, false)])
    func intervalsUpTo300MillisecondsAreFastEnough(milliseconds: Int, isFastEnough: Bool) {
        #expect((CountRule.chance(intervalMicroseconds: milliseconds * 1000) >= CountRule.goal) == isFastEnough)
    }

    /// Rule 4.7: 0 ≤ d ≤ 1, both ends included; an unknown distance is not near.
    @Test(
        arguments: [(0, true), (0.5, true), (1.0, true), (1.001, false), (-1, false), (nil, false)] as [(Double?, Bool)]
    )
    func isNearUpToOneMetre(meters: Double?, isNear: Bool) {
        #expect(CountRule().isNear(meters) == isNear)
    }

    /// Rule 4.6: d ≤ 0.5 and RSSI > -75.
    @Test(
        arguments: [
            (0.5, -74.9, true), (0.5, -75, false), (0.501, -60, false), (0, -20, true), (-1, -60, false),
            (nil, -60, false), (0.3, nil, false),
        ] as [(Double?, Double?, Bool)])
    func isAtHandByDistanceAndLevel(meters: Double?, level: Double?, isAtHand: Bool) {
        #expect(CountRule.isAtHand(meters, level: level) == isAtHand)
    }
}

/// Counts with constructed advertisements: one in each round of a second unless stated otherwise.
@Suite struct CountSessionTests {
    /// Rounds in which the beacon is near (n), far (f) or not received (-), and the round in which it is found. The
    /// beacon must be near in more than three of the last six rounds.
    @Test(
        arguments: [
            ("nnn", nil), ("nnnn", 4), ("n-nnn", 5), ("n--nnn", 6), ("n---nnn", nil), ("n---nnnn", 8),
            ("nn-n--n", nil), ("nn-n-n", 6), ("fnnfnn", 6), ("nnn---nnn", nil),
        ] as [(String, Int?)])
    func moreThanThreeOfTheLastSixRounds(rounds: String, found: Int?) {
        var count = World(items: 1)
        for (second, mark) in rounds.enumerated() where mark != "-" {
            count.hear(0, second: Double(second) + 0.5, rssi: mark == "n" ? -55 : -70)
        }
        count.finish(second: Double(rounds.count))
        #expect(count.session.findings[0].map { Int($0.instant.nanoseconds / 1_000_000_000) } == found)
    }

    /// The fourth round counts although the recording ends in the middle of it.
    @Test func aLastRoundThatIsCutShortCounts() {
        var count = World(items: 1)
        for second in 0..<4 { count.hear(0, second: Double(second), rssi: -55) }
        count.finish(second: 3)
        #expect(count.session.findings[0] != nil)
    }

    /// At P = -59 a level of -59 dBm is a distance of one metre: it is near, and a lower level is not.
    @Test(arguments: [(Int8(-59), true), (-60, false), (127, false), (0, false), (-20, true)])
    func isNearDownToTheLevelAtOneMetre(rssi: Int8, isFound: Bool) {
        var count = World(items: 1)
        for second in 0..<6 { count.hear(0, second: Double(second) + 0.1, rssi: rssi) }
        count.finish(second: 6)
        #expect((count.session.findings[0] != nil) == isFound)
        #expect(count.session.observations[0]?.reports == 6)
        #expect(count.session.observations[0]?.bestLevel == (rssi == 127 ? nil : Int(rssi)))
    }

    @Test func usesTheDistanceOfTheRule() {
        for (millimetres, isFound) in [(2000, true), (1900, false)] {
            var rule = CountRule()
            rule.withinMillimetres = millimetres
            var count = World(items: 1, rule: rule)
            // 10^(6/20) = 1.995 m.
            for second in 0..<4 { count.hear(0, second: Double(second) + 0.1, rssi: -65) }
            count.finish(second: 4)
            #expect((count.session.findings[0] != nil) == isFound)
        }
    }

    /// Rule 4.8: with a window for each beacon, all near beacons are found; with a shared queue of 20, none if there
    /// are seven or more.
    @Test(arguments: [(5, 5), (6, 6), (7, 0)])
    func aSharedQueueFailsWithManyBeacons(beacons: Int, found: Int) {
        var rule = CountRule()
        rule.memory = .sharedQueue(capacity: 20)
        var (shared, own) = (World(items: beacons, rule: rule), World(items: beacons))
        for second in 0..<30 {
            for beacon in 0..<beacons {
                shared.hear(beacon, second: Double(second) + 0.1 + Double(beacon) / 100, rssi: -50)
                own.hear(beacon, second: Double(second) + 0.1 + Double(beacon) / 100, rssi: -50)
            }
        }
        shared.finish(second: 30)
        own.finish(second: 30)
        #expect(shared.session.findings.count == found)
        #expect(own.session.findings.count == beacons)
    }

    /// A round without a working receiver counts neither for nor against a beacon.
    @Test func deafRoundsDoNotCount() {
        var count = World(items: 1)
        for second in 0..<3 { count.hear(0, second: Double(second) + 0.5, rssi: -55) }
        count.advance(second: 3)
        count.session.stopListening(at: World.instant(3.2))
        count.advance(second: 60)
        count.session.startListening(at: World.instant(60.5))
        count.hear(0, second: 61.5, rssi: -55)
        count.finish(second: 62)
        #expect(count.session.findings[0] != nil)
        #expect(count.session.deafMicroseconds == 57_300_000)
        #expect(count.session.findings[0]?.afterMicroseconds == 4_700_000)
    }

    @Test func keepsTheBestLevelOfABeaconThatWasNeverNear() {
        var count = World(items: 2)
        for (second, level) in [-80, -77, -90].enumerated() {
            count.hear(1, second: Double(second) + 0.1, rssi: Int8(level))
        }
        count.finish(second: 3)
        #expect(count.session.observations[0] == nil)
        #expect(count.session.observations[1]?.bestLevel == -77 && count.session.observations[1]?.wasNear == false)
    }

    /// Two fixed addresses are two beacons, and so are two addresses that alternate. A changing address is one beacon.
    @Test(
        arguments: [
            ("C0:00:00:00:00:01 C0:00:00:00:00:02", true), ("40:00:00:00:00:01 40:00:00:00:00:02", false),
            ("40:00:00:00:00:01 40:00:00:00:00:02 40:00:00:00:00:01", true), ("C0:00:00:00:00:01", false),
            ("C0:00:00:00:00:01 C0:00:00:00:00:01", false), ("00:00:00:00:00:01 40:00:00:00:00:02", false),
        ])
    func detectsDuplicatesByTheirAddresses(addresses: String, isDuplicate: Bool) throws {
        var count = World(items: 1)
        for (second, text) in addresses.split(separator: " ").enumerated() {
            let address = try #require(DeviceAddress(text))
            count.hear(0, second: Double(second), rssi: -60, from: Sender(address, isRandom: true))
        }
        #expect(count.session.observations[0]?.addresses.isDuplicate == isDuplicate)
    }

    @Test func itemsOfOtherInventoriesAreForeign() {
        let other = World.inventory(items: 3, name: "other")
        var count = World(items: 2, others: [other])
        #expect(count.session.foreigners.map(\.id) == ["item-3"])
        for second in 0..<5 { count.hear(2, second: Double(second), rssi: -50) }
        count.finish(second: 5)
        #expect(count.session.findings.count == 0 && count.session.observations[2]?.wasNear == true)
    }

    /// A clock that jumps by years needs no computing time.
    @Test func yearsOfSilencePassAtOnce() {
        var count = World(items: 1)
        count.hear(0, second: 0.5, rssi: -50)
        count.advance(second: 3e8)
        for second in 0..<4 { count.hear(0, second: 3e8 + Double(second) + 1.5, rssi: -50) }
        count.finish(second: 3e8 + 6)
        #expect(count.session.findings.count == 1)
    }

    /// The requirement of section 8: 98 % within 6 s, in a room of 5 m by 5 m in which one round in ten is lost.
    @Test(arguments: [100, 200, 300])
    func nearlyAllItemsAreFoundWithinSixSeconds(milliseconds: Int) {
        var chance = SplitMix64(seed: UInt64(milliseconds))
        let trials = 150
        let items = 25
        var found = 0
        for _ in 0..<trials {
            // A person who walks through the room stands within half a metre of one item after the other; all other
            // items are farther.
            var count = World(items: items)
            let (item, start) = (Int(chance.next() % UInt64(items)), Double(chance.next() % 1000) / 1e6)
            var lost: Set<Int> = []
            for round in 0..<6 where chance.next() % 10 == 0 { lost.insert(round) }
            var reports: [(second: Double, beacon: Int, rssi: Int8)] = []
            for beacon in 0..<items {
                var second = start + Double(chance.next() % UInt64(milliseconds)) / 1000
                while second < 6 {
                    // 0.5 m is -53 dBm at P = -59, 2.5 m -67; levels vary by 4 dB.
                    let level = (beacon == item ? -53 : -67) + Int(chance.next() % 9) - 4
                    if !lost.contains(Int(second)) { reports.append((second, beacon, Int8(level))) }
                    second += Double(milliseconds) / 1000 + Double(chance.next() % 10_000) / 1e6
                }
            }
            for report in reports.sorted(by: { $0.second < $1.second }) {
                count.hear(report.beacon, second: report.second, rssi: report.rssi)
            }
            count.finish(second: 6)
            #expect(count.session.findings.keys.allSatisfy { $0 == item })
            found += count.session.findings[item] != nil ? 1 : 0
        }
        // The expected share is 98.4 %; three standard deviations of this many trials are 3 %.
        #expect(Double(found) / Double(trials) >= 0.953, "\(found) of \(trials)")
    }

    /// A measured power of -3 dBm gives no distance, so the item cannot be found, and one warning says why.
    @Test func warnsOnceOfABeaconWithoutADistance() {
        var count = World(items: 2)
        for second in 0..<10 {
            count.hear(0, second: Double(second), rssi: -53, power: 0xFD)
            count.hear(1, second: Double(second) + 0.1, rssi: -53)
        }
        count.finish(second: 10)
        #expect(count.session.findings.count == 1)
        #expect(count.session.takeWarnings().map { $0.prefix(31) } == ["item-1: its distance is unknown"])
        #expect(count.session.takeWarnings() == [])
    }

    /// The exact share: all patterns of six rounds, weighted by their probability, through the session itself.
    @Test func theShareFoundWithinSixRoundsIsAtLeast98Percent() {
        var share = 0.0
        for pattern in 0..<64 {
            var count = World(items: 1)
            for round in 0..<6 where pattern & 1 << round != 0 {
                for part in 0..<3 { count.hear(0, second: Double(round) + Double(part) * 0.3, rssi: -53) }
            }
            count.finish(second: 6)
            let heard = Double(pattern.nonzeroBitCount)
            var weight = 1.0
            for index in 0..<6 { weight *= Double(index) < heard ? 0.9 : 0.1 }
            if count.session.findings.count == 1 { share += weight }
        }
        #expect(share >= 0.98 && share < 0.99)
    }
}

/// A session with items whose iBeacons have P = -59. The minor is the item's number.
struct World {
    var session: CountSession

    init(items: Int, others: [Inventory] = [], rule: CountRule? = nil) {
        session = CountSession(Self.inventory(items: items), others: others, rule: rule)
        session.begin(at: Self.instant(0))
    }

    static let uuid = FixedOctets<16>((0..<16).map { UInt8($0) }) ?? FixedOctets()

    static func identity(_ number: Int) -> BeaconIdentity {
        .iBeacon(uuid: uuid, major: 1, minor: UInt16(number))
    }

    static func inventory(items: Int, name: String = "tools") -> Inventory {
        var inventory = Inventory(name: name)
        inventory.items = (0..<items).map {
            Inventory.Item(id: "item-\($0 + 1)", name: "Thing \($0 + 1)", beacon: identity($0))
        }
        return inventory
    }

    static func instant(_ second: Double) -> HeardInstant { HeardInstant(nanoseconds: UInt64(second * 1e9)) }

    static func data(_ number: Int, power: UInt8 = 0xC5) -> [UInt8] {
        [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + uuid.octets
            + [0, 1, UInt8(number >> 8), UInt8(number & 0xFF), power]
    }

    mutating func advance(second: Double) { _ = session.advance(to: Self.instant(second)) }

    mutating func hear(
        _ number: Int, second: Double, rssi: Int8, from sender: Sender? = nil, power: UInt8 = 0xC5
    ) {
        advance(second: second)
        let octets = Self.data(number, power: power)
        let address = DeviceAddress.staticRandom(
            from: FixedOctets<6>([0xC0, 0, 0, 0, 1, UInt8(number & 0xFF)]) ?? FixedOctets())
        let sighting = Sighting(
            at: Self.instant(second), from: sender ?? Sender(address, isRandom: true), rssi: rssi)
        session.receive(sighting, octets.span, octets.indices)
    }

    mutating func finish(second: Double) { _ = session.finish(at: Self.instant(second)) }
}
