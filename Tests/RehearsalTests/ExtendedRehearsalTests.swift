import Airtime
import BluetoothTypes
import Planner
import Testing

@testable import Rehearsal

@Suite("Rehearsal of extended advertising")
struct ExtendedRehearsalTests {
    private func world(_ phy: ExtendedPHY, beacons: Int = 6) throws -> RehearsedWorld {
        try RehearsedWorld(
            beacons: beacons, schedule: #""intervalMs": 318.75, "phy": "\#(phy.rawValue)""#)
    }

    @Test("a fleet without faults keeps all promises", arguments: ExtendedPHY.allCases)
    func holds(phy: ExtendedPHY) throws {
        let (report, tallies) = try world(phy).rehearse(scannerPHY: phy.isCoded ? .coded : .le1M)
        #expect(report.promises.filter { $0.verdict == .broken }.map(\.reason) == [])
        #expect(report.promises.contains { $0.kind == .interval && $0.verdict == .holds })
        #expect(report.promises.contains { $0.kind == .collisions && $0.verdict == .holds })
        #expect(report.promises.contains { $0.kind == .detection && $0.verdict == .holds })
        #expect(tallies.places.contains { $0.detected > 0 })
        #expect(tallies.receivers.contains { $0.links.contains { $0.copies.received > 100 } })
    }

    @Test("phones that receive only legacy PDUs are refused with the option that helps")
    func refusesLegacyPhones() throws {
        let fleet = try world(.coded).fleet()
        var options = Rehearsal.Options()
        var message = ""
        do throws(RehearsalError) {
            _ = try Rehearsal(fleet, options)
        } catch {
            message = error.description
        }
        #expect(message.contains("Add --scanner-phy coded"))
        options.phones = 0
        _ = try Rehearsal(fleet, options)
        options.phones = 20
        options.scannerPHY = .coded
        _ = try Rehearsal(fleet, options)
    }

    @Test("a battery life that cannot be computed is refused")
    func refusesUnknownCharge() throws {
        let fleet = try world(.le1M).fleet()
        var options = Rehearsal.Options()
        options.phones = 0
        let battery = try #require(BeaconBattery.named("cr2477"))
        options.battery = (try #require(BeaconChip.named("da14580")), battery)
        #expect(throws: RehearsalError.self) { try Rehearsal(fleet, options) }
        options.battery = (try #require(BeaconChip.named("nrf52832")), battery)
        _ = try Rehearsal(fleet, options)
    }

    @Test(
        "each event has the packets of its PHY in the order of time",
        arguments: [ExtendedPHY.le2M, .codedS2, .codedS8])
    func packets(phy: ExtendedPHY) throws {
        let fleet = try world(phy, beacons: 1).fleet()
        let packets = try sentPackets(fleet)
        let starts = packets.map(\.start)
        #expect(starts == starts.sorted())
        let event = ExtendedEvent(phy, octets: fleet.beacons[0].sent[0].payloadOctets)
        let (primary, auxiliary) = (packets.filter { !$0.isAuxiliary }, packets.filter(\.isAuxiliary))
        #expect(primary.allSatisfy { Int($0.airtime) == event.primaryMicroseconds })
        #expect(auxiliary.allSatisfy { Int($0.airtime) == event.auxiliaryMicroseconds[0] && $0.isLast })
        #expect(packets.allSatisfy { $0.kind == (phy.isCoded ? .coded : .extended) })
        #expect(auxiliary.allSatisfy { (3...39).contains($0.channel) })
        #expect(Set(auxiliary.map(\.channel)).count > 10)
        // The last event may be cut off by the end.
        #expect((primary.count / 3 - 1...primary.count / 3).contains(auxiliary.count))
        let spacing = max(1000, event.primaryMicroseconds)
        let offset = 2 * spacing + event.primaryMicroseconds + ExtendedEvent.gapMicroseconds
        #expect(auxiliary.allSatisfy { Int($0.offset) == offset })
    }

    @Test("the auxiliary packets follow the last packet on the primary channels of the profile")
    func auxiliaryPacketsFollowOnEachChannelMap() throws {
        let schedule = #""intervalMs": 318.75, "phy": "1M", "channels": [37]"#
        let packets = try sentPackets(try RehearsedWorld(beacons: 1, schedule: schedule).fleet())
        let (primary, auxiliary) = (packets.filter { !$0.isAuxiliary }, packets.filter(\.isAuxiliary))
        #expect(primary.count > 50 && primary.allSatisfy { $0.channel == 0 })
        // The last event may be cut off by the end.
        #expect((primary.count - 1...primary.count).contains(auxiliary.count))
    }

    /// Returns the packets that the machines of a fleet send in 20 s.
    private func sentPackets(_ fleet: RehearsedFleet) throws -> [AirPacket] {
        var options = Rehearsal.Options()
        options.phones = 0
        let end = 20_000_000
        let stage = try RehearsalStage(try Rehearsal(fleet, options), end: end, distance: nil)
        let transmitters = try Transmitters(
            fleet, tallies: stage.tallies.beacons, faults: [], seed: 1, end: end, threads: 1)
        defer { transmitters.stop() }
        var packets: [AirPacket] = []
        while let slice = transmitters.next() { packets += slice.packets }
        return packets
    }

    // MARK: Reception

    @Test("scanners receive legacy PDUs, and extended advertising on their PHY")
    func scannersOfEachPHY() throws {
        let preset = try #require(ScannerPreset(named: "android-balanced"))
        func kinds(_ preset: ScannerPreset, _ phy: ScannerPHY?) -> [Bool] {
            let scan = AirReception.Scan(preset, phase: 0, phy: phy)
            return [AirPacket.Kind.legacy, .extended, .coded].map { scan.receives($0) }
        }
        #expect(kinds(preset, nil) == [true, false, false])
        #expect(kinds(preset, .le1M) == [true, true, false])
        #expect(kinds(preset, .coded) == [true, false, true])
        #expect(kinds(.continuous, nil) == [true, true, true])
    }

    @Test(
        "the share of clear events is that of the plan's model",
        arguments: [(ExtendedPHY.codedS8, 100), (.le1M, 600)] as [(ExtendedPHY, Int)])
    func clearShare(phy: ExtendedPHY, octets: Int) throws {
        let (beacons, interval) = (20, 200_000)
        let traffic = try ExtendedTraffic(phy, payloadOctets: octets)
        let group = try AdvertiserGroup(
            count: beacons, interval: try #require(AdvertisingInterval(microseconds: interval)), extended: traffic)
        let machines = try AdvertisingMachines(count: beacons, advertisements: [group])
        let expected = try MachineCollisionModel(machines: [machines]).collisionFreeProbability
        var reception = AirReception(
            emitters: beacons, listeners: 1, sensitivity: -90, captureDecibels: 12, background: .none,
            isExtended: true)
        reception.scans[0] = AirReception.Scan(.continuous, phase: 0)
        for beacon in 0..<beacons { reception.setLevel(-60, of: beacon, at: 0) }
        var random: UInt64 = 1
        var (all, clear, events) = (0, 0, Set<Int>())
        for packet in packets(traffic, beacons: beacons, interval: interval, seconds: 600) {
            if packet.isLast { events.insert(packet.event * beacons + Int(packet.emitter)) }
            reception.add(packet, &random) { _, _, _, outcome in
                all += 1
                if outcome == .clear { clear += 1 }
                return true
            }
        }
        // The scanner stays on one channel, so each event is decided once; the last events are not decided.
        #expect(all <= events.count && all > events.count - 2 * beacons)
        #expect(abs(Double(clear) / Double(all) - expected) < 0.015)
    }

    @Test(
        "an event ends with its last auxiliary packet, and is lost with any of them",
        arguments: [nil, 0, 1] as [Int?])
    func lostAuxiliaryPacket(hit: Int?) throws {
        let traffic = try ExtendedTraffic(.le1M, payloadOctets: 300)
        let event = packets(traffic, beacons: 1, interval: 200_000, seconds: 0.3).prefix(5)
        #expect(event.map(\.isAuxiliary) == [false, false, false, true, true])
        var all = Array(event)
        if let hit {
            var other = event[3 + hit]
            other.emitter = 1
            other.kind = .legacy
            other.isLast = false
            other.start += 1
            all.append(other)
            all.sort { $0.start < $1.start }
        }
        var reception = AirReception(
            emitters: 2, listeners: 1, sensitivity: -90, captureDecibels: 12, background: .none, isExtended: true)
        reception.scans[0] = AirReception.Scan(.continuous, phase: 0)
        for emitter in 0..<2 { reception.setLevel(-60, of: emitter, at: 0) }
        var random: UInt64 = 1
        var outcomes: [AirReception.Outcome] = []
        var end = 0
        func note(_ packet: AirPacket, _ outcome: AirReception.Outcome) -> Bool {
            outcomes.append(outcome)
            end = packet.start + Int(packet.airtime)
            return true
        }
        for packet in all { reception.add(packet, &random) { packet, _, _, outcome in note(packet, outcome) } }
        reception.finish(before: 1_000_000, &random) { packet, _, _, outcome in note(packet, outcome) }
        #expect(outcomes == [hit == nil ? .clear : .collided])
        #expect(end == event[4].start + Int(event[4].airtime))
    }

    /// The packets of equal beacons, made without virtual controllers.
    private func packets(
        _ traffic: ExtendedTraffic, beacons: Int, interval: Int, seconds: Double
    ) -> [AirPacket] {
        var random = SplitMix64(seed: 3)
        var packets: [AirPacket] = []
        let primary = traffic.event.primaryMicroseconds
        let spacing = Int(traffic.copySpacingMicroseconds)
        for beacon in 0..<beacons {
            var at = Double(interval) * random.nextUnit()
            while at < seconds * 1e6 {
                let start = Int(at)
                func add(_ offset: Int, _ airtime: Int, channel: Int, isLast: Bool = false) {
                    packets.append(
                        AirPacket(
                            start: start + offset, airtime: Int32(airtime), offset: Int32(offset),
                            emitter: Int32(beacon), advertisement: 0, payload: 0, channel: UInt8(channel),
                            kind: traffic.phy.isCoded ? .coded : .extended, isLast: isLast, powerOffset: 0))
                }
                for channel in 0..<3 { add(channel * spacing, primary, channel: channel) }
                var offset = 2 * spacing + primary + ExtendedEvent.gapMicroseconds
                for (index, airtime) in traffic.event.auxiliaryMicroseconds.enumerated() {
                    add(
                        offset, airtime, channel: 3 + random.next(upTo: 36),
                        isLast: index == traffic.event.auxiliaryMicroseconds.count - 1)
                    offset += airtime + ExtendedEvent.gapMicroseconds
                }
                at += Double(interval) + 10_000 * random.nextUnit()
            }
        }
        return packets.sorted { $0.start < $1.start }
    }
}
