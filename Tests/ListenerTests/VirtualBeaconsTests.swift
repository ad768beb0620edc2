import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import LinuxHost
import Sightings
import TestSupport
import Testing
import VirtualController

@testable import Listener

/// The beacons that a virtual adapter receives, as described in files.
@Suite struct VirtualBeaconsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"

    /// A profile with every type that needs no key.
    private static let profile = """
        {"version": 1, "name": "all", "radioPowerDbm": 4, "advertisements": [
          {"type": "ibeacon", "uuid": "\(uuid)", "major": 1, "minor": 2, "intervalMs": 200, "measuredPowerDbm": -59},
          {"type": "altbeacon", "companyId": "0x0118", "id": "\(String(repeating: "0a", count: 20))", "intervalMs": 400,
           "measuredPowerDbm": -59},
          {"type": "eddystone-uid", "namespace": "8b0ca750095477cb3e77", "instance": "000000000007", "intervalMs": 500,
           "measuredPower1mDbm": -59},
          {"type": "eddystone-url", "url": "https://example.org", "intervalMs": 1000, "measuredPower1mDbm": -59},
          {"type": "eddystone-tlm", "battery": "auto", "temperature": "auto", "intervalMs": 2000},
          {"type": "bthome", "temperature": "auto", "intervalMs": 1000},
          {"type": "raw", "structures": [{"type": "flags", "flags": "0x06"}], "intervalMs": 1000}
        ]}
        """

    /// Returns the first packet of each advertising event in 20 s, and the level at a receiver.
    private func sent(
        _ beacons: VirtualBeacons, _ path: VirtualPath = .still, seconds: Int = 20
    ) throws -> [(pdu: AirPDU, rssi: Int?)] {
        let air = VirtualAir()
        let hosts = try VirtualBeaconHosts(beacons.beacons(), on: air, path)
        let receiver = VirtualChannel(.intel, on: air)
        var sent: [(AirPDU, Int?)] = []
        air.observer = { pdu in
            guard pdu.channel == 37 else { return }
            sent.append((pdu, air.pathLoss?(pdu, receiver.controller.id).map { Int(pdu.power.dBm) - $0 }))
        }
        let end = air.now.advanced(byMicroseconds: seconds * 1_000_000)
        while air.now < end {
            air.advance(to: min(end, hosts.nextWakeUp ?? end))
            hosts.wake(at: air.now)
        }
        return sent
    }

    @Test("every profile type is sent at its own interval and with its level near the receiver")
    func everyType() throws {
        let known = try KnownBeacons([folder.file("all.json", Array(Self.profile.utf8))])
        let sent = try sent(known.virtualBeacons)
        // The time between two events is up to 10 ms longer than the interval.
        let counts = Dictionary(grouping: sent) { $0.pdu.data.count > 3 ? Array($0.pdu.data.prefix(8)) : [] }
            .values.map(\.count).sorted()
        #expect(counts.count == 7)
        for (count, interval) in zip(counts, [2000, 1000, 1000, 1000, 500, 400, 200]) {
            #expect(20_000 / (interval + 10)...20_000 / interval + 1 ~= count, "\(interval) ms")
        }
        // The receiver is 0.3 m from each beacon, so the level is 10.5 dB above the measured power of -59 dBm at 1 m.
        #expect(sent.allSatisfy { (-50 ... -47).contains($0.rssi ?? 0) })
    }

    @Test("each beacon of a listener file is sent once with all its identities")
    func listenerFile() throws {
        _ = try folder.file("all.json", Array(Self.profile.utf8))
        try Files.replaceSecret(folder.place("anna.irk"), with: Array("ec0234a357c8ad05341010a60a397d9b\n".utf8))
        let file = try folder.file(
            "hall.json",
            Array(
                """
                {"version": 1, "name": "hall", "known": [
                  {"name": "key-peter", "ibeacon": {"uuid": "\(Self.uuid)", "major": 1, "minor": 7},
                   "uid": {"namespace": "8b0ca750095477cb3e77", "instance": "000000000009"}},
                  {"name": "all", "ibeacon": {"uuid": "\(Self.uuid)", "major": 1, "minor": 2}},
                  {"profile": "all.json"}
                ], "irks": [{"name": "anna", "file": "anna.irk"}]}
                """.utf8))
        let known = try KnownBeacons([file])
        let beacons = try known.virtualBeacons.beacons()
        #expect(beacons.map(\.name) == ["all", "key-peter", "anna"])
        #expect(beacons.map(\.sources.count) == [7, 2, 1])
        let phone = try #require(beacons.last?.sources.first?.advertisement.address)
        guard case .random(let address) = phone else {
            Issue.record("\(phone)")
            return
        }
        var table = known.table(HearingClock(), strangers: .counted)
        let sighting = Sighting(at: HeardInstant(nanoseconds: 0), from: Sender(address, isRandom: true), rssi: -60)
        let data: [UInt8] = [2, 1, 6]
        let place = table.receive(sighting, data.span, data.indices)
        let track = try #require(place)
        #expect(table.tracks[track].known?.name == "anna")
    }

    @Test("phones and devices with any address type are sent together with the other beacons")
    func anyAddress() throws {
        try Files.replaceSecret(folder.place("anna.irk"), with: Array("ec0234a357c8ad05341010a60a397d9b\n".utf8))
        let file = try folder.file(
            "hall.json",
            Array(
                """
                {"version": 1, "name": "hall", "known": [
                  {"name": "key-peter", "ibeacon": {"uuid": "\(Self.uuid)", "major": 1, "minor": 7}},
                  {"name": "tag", "address": "AC:23:3F:01:02:03"}
                ], "irks": [{"name": "anna", "file": "anna.irk"}]}
                """.utf8))
        let known = try KnownBeacons([file])
        var table = known.table(HearingClock(), strangers: .counted)
        var names: Set<String> = []
        for pdu in try sent(known.virtualBeacons, seconds: 1).map(\.pdu) {
            let sighting = Sighting(
                at: HeardInstant(nanoseconds: 0), from: Sender(pdu.address, isRandom: pdu.addressType == .random),
                rssi: -60)
            let place = table.receive(sighting, pdu.data.span, pdu.data.indices)
            names.formUnion([place.flatMap { table.tracks[$0].known?.name }].compactMap(\.self))
        }
        #expect(names == ["key-peter", "tag", "anna"])
    }

    @Test("without a file one iBeacon is sent")
    func sample() throws {
        #expect(try VirtualBeacons().beacons().map(\.name) == ["sample"])
        #expect(try sent(VirtualBeacons()).count > 150)
    }

    @Test("on a tour one beacon after another is near, and far away in between")
    func tour() throws {
        var beacons = VirtualBeacons()
        for minor in UInt16(1)...2 {
            let identity = BeaconIdentity.iBeacon(uuid: FixedOctets(repeating: 7), major: 1, minor: minor)
            beacons.add([KnownBeacon(name: "b\(minor)", identity: identity)], name: "b\(minor)")
        }
        let sent = try sent(beacons, .tour, seconds: 110)
        // The tour stops in front of the first beacon, at each beacon and behind the last one, and returns. A stop and
        // the way to the next stop take 17 s.
        func level(_ minor: UInt8, at seconds: Double) -> Int? {
            sent.last { $0.pdu.data.suffix(2).first == minor && Double($0.pdu.start.nanoseconds) / 1e9 < seconds }?.rssi
        }
        for (seconds, first, second) in [
            (5.0, -79, -85), (22, -49, -79), (39, -79, -49), (56, -85, -79), (73, -79, -49), (90, -49, -79),
            (107, -79, -85),
        ] {
            #expect(level(1, at: seconds) == first, "\(seconds) s")
            #expect(level(2, at: seconds) == second, "\(seconds) s")
        }
        #expect(VirtualPath.tour.loss(59, meters: 500, power: RadioPower(octet: 0)) == nil)
    }
}
