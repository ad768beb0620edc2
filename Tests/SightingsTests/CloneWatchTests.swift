import BluetoothTypes
import Testing

@testable import Sightings

/// Two devices that send one identity.
@Suite struct CloneWatchTests {
    /// Returns the finding for reports that arrive every 100 ms. Each has the number of its sender, and its level.
    private static func finding(_ reports: [(sender: UInt32, level: Int8?)]) -> CloneWatch.Finding? {
        var watch = CloneWatch()
        for (step, report) in reports.enumerated() {
            watch.add(
                Sighting(at: Air.at(milliseconds: 100 * step), from: Air.sender(report.sender), rssi: report.level))
        }
        return watch.finding
    }

    @Test func findsNoCloneForOneDevice() {
        #expect(Self.finding((0..<200).map { (1, Int8(-60 + $0 % 7)) }) == nil)
    }

    @Test func findsTwoDevicesByAlternatingAddresses() {
        #expect(Self.finding((0..<7).map { ($0 % 2, -60) }) == .addresses(Air.sender(1), Air.sender(0)))
        #expect(Self.finding((0..<6).map { ($0 % 2, -60) }) == nil)
    }

    /// A device that changes its address does not return to the previous address.
    @Test func findsNoCloneForADeviceWithNewAddresses() {
        #expect(Self.finding((0..<200).map { ($0 / 10, -60) }) == nil)
    }

    @Test func findsTwoDevicesByAlternatingLevels() {
        #expect(Self.finding((0..<20).map { (1, $0 % 2 == 0 ? -40 : -75) }) == .levels)
        #expect(Self.finding((0..<20).map { (1, $0 % 2 == 0 ? -40 : -65) }) == nil)
        #expect(Self.finding((0..<20).map { (1, $0 % 2 == 0 ? nil : -65) }) == nil)
        // A level that grows in steps does not jump back.
        #expect(Self.finding((0..<3).map { (1, Int8(-110 + 40 * $0)) }) == nil)
    }

    /// A deep fade of one packet in 40 is chance. It must not become a finding when the program listens for long.
    @Test func ignoresRareFades() {
        #expect(Self.finding((0..<10_000).map { (1, $0 % 40 == 0 ? -95 : -60) }) == nil)
    }

    @Test func aFindingIsWithdrawnWhenTheSecondDeviceIsGone() {
        let both: [(sender: UInt32, level: Int8?)] = (0..<20).map { ($0 % 2, -60) }
        #expect(Self.finding(both + (0..<500).map { _ in (1, -60) }) != nil)
        #expect(Self.finding(both + (0..<2000).map { _ in (1, -60) }) == nil)
        let levels: [(sender: UInt32, level: Int8?)] = (0..<20).map { (1, $0 % 2 == 0 ? -40 : -75) }
        #expect(Self.finding(levels + (0..<64).map { _ in (1, -60) }) == nil)
    }
}

/// Warnings about known beacons.
@Suite struct BeaconWarningsTests {
    private static let desk = KnownBeacon(name: "desk", identity: Air.identity(1, 7))

    /// Returns the warnings for reports of the desk from these senders.
    private static func warnings(
        _ table: inout SightingTable, _ senders: [UInt32], power: Int8 = -59
    ) -> [String] {
        var warnings = BeaconWarnings()
        return senders.enumerated().flatMap { step, sender in
            let place = table.receive(
                Air.iBeacon(1, 7, power: power), from: Air.sender(sender), atMilliseconds: 100 * step)
            return warnings.take(place, in: table)
        }
    }

    @Test func warnsOfACloneOnce() {
        var table = SightingTable(known: [Self.desk])
        #expect(
            Self.warnings(&table, (0..<100).map { $0 % 2 }) == [
                "desk: two devices send its identity ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7, from "
                    + "C0:00:00:00:00:01 and C0:00:00:00:00:00"
            ])
        #expect(table.tracks[0].clones.finding != nil)
    }

    @Test(arguments: [(Int8(-3), true), (-101, true), (-20, false), (-100, false)])
    func warnsOfAnImplausiblePowerOnce(power: Int8, isWarned: Bool) {
        var table = SightingTable(known: [Self.desk])
        let sentence =
            "desk: its distance is unknown, because its measured power of \(power) dBm is outside -100 to -20 dBm; correct "
            + "it in the beacon, or use levels instead of distances"
        #expect(Self.warnings(&table, [1, 1, 1], power: power) == (isWarned ? [sentence] : []))
        #expect(table.tracks[0].implausiblePower == (isWarned ? Int(power) : nil))
    }

    /// Two known beacons with one identity, a group of beacons, and a phone with several addresses.
    @Test func findsNoCloneForIdentitiesThatSeveralDevicesMaySend() {
        var shared = SightingTable(known: [Self.desk, KnownBeacon(name: "door", identity: Air.identity(1, 7))])
        #expect(Self.warnings(&shared, (0..<100).map { $0 % 2 }) == [])
        var group = SightingTable(
            known: [KnownBeacon(name: "all", .iBeacon(uuid: Air.uuid, major: nil, minor: nil))], strangers: .counted)
        #expect(Self.warnings(&group, (0..<100).map { $0 % 2 }) == [])
        #expect(group.tracks[0].clones.finding == nil && group.tracks[0].reports == 100)
        var phone = SightingTable(
            known: [KnownBeacon(name: "ana", identity: nil)], addressResolver: { _, _ in 0 })
        for step in 0..<100 {
            let octets = FixedOctets<6>([0x41, 0, 0, 0, 0, UInt8(step % 2)]) ?? FixedOctets()
            phone.receive([2, 1, 6], from: Sender(DeviceAddress(octets), isRandom: true), atMilliseconds: 100 * step)
        }
        #expect(phone.tracks[0].reports == 100 && phone.tracks[0].clones.finding == nil)
    }
}
