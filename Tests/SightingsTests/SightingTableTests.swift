import BeaconFrames
import BluetoothTypes
import Testing

@testable import Sightings

@Suite struct SightingTableTests {
    private static let known = KnownBeacon(name: "desk", identity: Air.identity(1, 7))

    @Test func recognisesAKnownBeaconByItsIdentity() throws {
        var table = SightingTable(known: [Self.known])
        #expect(table.receive(Air.iBeacon(1, 7, power: -61), from: Air.sender(1), rssi: -70) == 0)
        let track = table.tracks[0]
        #expect(track.known?.name == "desk")
        #expect(track.lastLevel == -70)
        #expect(track.claimedPowerAtOneMeter == -61)
        #expect(track.sender == Air.sender(1))
        #expect(table.heardInRound == [0])
        #expect(table.counts.strangers == 0)
    }

    @Test func assignsTelemetryAndNamesByTheirSender() throws {
        var table = SightingTable(known: [Self.known])
        // The sender is not known yet, so its address is the identity.
        #expect(table.receive(Air.telemetry(millivolts: 2900), from: Air.sender(1)) == 1)
        #expect(table.tracks[1].identity?.kind == "address")
        table.receive(Air.iBeacon(1, 7), from: Air.sender(1), atMilliseconds: 100)
        #expect(table.receive(Air.telemetry(millivolts: 3000), from: Air.sender(1), atMilliseconds: 200) == 0)
        #expect(table.receive(Air.name(Array("Pia".utf8)), from: Air.sender(1), isScanResponse: true) == 0)
        #expect(table.tracks[0].telemetry?.batteryMillivolts == 3000)
        #expect(table.tracks[0].nameOctets == Array("Pia".utf8))
        #expect(table.tracks[0].reports == 3)
        // A public address with the same octets is another sender.
        #expect(table.receive(Air.telemetry(millivolts: 1), from: Air.sender(1, isRandom: false)) != 0)
        #expect(table.tracks[0].telemetry?.batteryMillivolts == 3000)
    }

    /// A phone that changes its address every 15 minutes.
    @Test func aDeviceWithChangingAddressesIsOneDevice() throws {
        func sender(_ first: UInt8, isRandom: Bool = true) -> Sender {
            var octets = FixedOctets<6>(repeating: 1)
            octets[0] = first
            return Sender(DeviceAddress(octets), isRandom: isRandom)
        }
        var table = SightingTable(
            known: [Self.known, KnownBeacon(name: "ana", identity: nil)],
            addressResolver: { address, _ in address.octets[0] < 0x44 ? 1 : nil })
        #expect(table.receive([], from: sender(0x41)) == 1)
        #expect(table.receive([], from: sender(0x42), atMilliseconds: 900_000) == 1)
        #expect(table.tracks[1].reports == 2)
        #expect(table.tracks[1].identity == .address(sender(0x42).address))
        // The address of another device, an address that no key can make, and a public address with the same octets.
        for other in [sender(0x45), sender(0xC1), sender(0x41, isRandom: false)] {
            #expect(table.receive([], from: other) != 1)
        }
        #expect(table.tracks[1].reports == 2)
    }

    @Test func telemetryFollowsABeaconToItsNextAddress() {
        var table = SightingTable(known: [Self.known])
        table.receive(Air.iBeacon(1, 7), from: Air.sender(1))
        table.receive(Air.iBeacon(1, 7), from: Air.sender(2))
        #expect(table.receive(Air.telemetry(millivolts: 3000), from: Air.sender(2)) == 0)
        #expect(table.receive(Air.telemetry(millivolts: 1), from: Air.sender(1)) != 0)
    }

    @Test func everyFrameOfAnAdvertisementCounts() {
        var table = SightingTable(known: [Self.known])
        let both = Air.iBeacon(1, 8) + Air.iBeacon(1, 7, flags: nil)
        #expect(table.receive(both, from: Air.sender(1)) == 1)
        #expect(table.tracks[0].reports == 1)
        #expect(table.tracks[1].identity == Air.identity(1, 8))
    }

    @Test func assignsAllReportsOfAKnownAddressToItsBeacon() {
        let address = BeaconIdentity.address(Air.sender(5).address)
        var table = SightingTable(known: [KnownBeacon(name: "door", identity: address)])
        #expect(table.receive(Air.iBeacon(4, 4), from: Air.sender(5)) == 0)
        #expect(table.receive(Air.telemetry(millivolts: 3100), from: Air.sender(5), atMilliseconds: 50) == 0)
        #expect(table.tracks[0].reports == 2)
        #expect(table.tracks[0].telemetry?.batteryMillivolts == 3100)
    }

    @Test func resolvesEphemeralIds() {
        let known = KnownBeacon(name: "key", identity: nil)
        var table = SightingTable(known: [known]) { id, instant in
            id[0] == 9 && instant < Air.at(milliseconds: 1000) ? 0 : id[0] == 8 ? 77 : nil
        }
        #expect(table.receive(Air.eid(9), from: Air.sender(1)) == 0)
        #expect(table.tracks[0].identity?.description == "eid:0900000000000000")
        #expect(table.receive(Air.telemetry(millivolts: 3000), from: Air.sender(1)) == 0)
        // An id that is replayed after its rotation period, and an id that the resolver assigns to a beacon that does
        // not exist.
        #expect(table.receive(Air.eid(9), from: Air.sender(2), atMilliseconds: 2000) == 1)
        #expect(table.receive(Air.eid(8), from: Air.sender(3)) == 2)
        var alone = SightingTable(known: [known])
        #expect(alone.receive(Air.eid(9), from: Air.sender(1)) == 1)
    }

    @Test func copiesOfOneEventAreOneEvent() {
        var table = SightingTable(known: [Self.known])
        for time in [0, 1, 2, 105, 107, 210] {
            table.receive(Air.iBeacon(1, 7), from: Air.sender(1), atMilliseconds: time)
        }
        #expect(table.tracks[0].reports == 6)
        #expect(table.tracks[0].events == 3)
    }

    @Test func learnsNoIntervalFromScanResponsesOrAcrossPauses() {
        var table = SightingTable(known: [Self.known])
        for event in 0..<40 {
            let time = event * 105
            table.receive(Air.iBeacon(1, 7), from: Air.sender(1), atMilliseconds: time)
            table.receive(Air.name([0x41]), from: Air.sender(1), atMilliseconds: time + 30, isScanResponse: true)
        }
        #expect(table.tracks[0].interval.intervalMicroseconds == 100_000)
        var broken = SightingTable(known: [Self.known])
        for event in 0..<40 {
            broken.receive(Air.iBeacon(1, 7), from: Air.sender(1), atMilliseconds: event * 105)
            broken.stopListening(at: Air.at(milliseconds: event * 105 + 1))
            broken.startListening(at: Air.at(milliseconds: event * 105 + 2))
        }
        #expect(broken.tracks[0].interval.intervalMicroseconds == nil)
    }

    @Test func impossibleLevelsAreCountedAndLeftOut() {
        var table = SightingTable(known: [Self.known])
        for rssi: Int8? in [127, nil, -128, 21, 0, -60] {
            table.receive(Air.iBeacon(1, 7), from: Air.sender(1), rssi: rssi)
        }
        #expect(table.counts.impossibleLevels == 2)
        #expect(table.tracks[0].round.count == 2)
        #expect(table.tracks[0].reports == 6)
        #expect(table.tracks[0].lastLevel == -60)
    }

    @Test func countsWrongLengthsAndKeepsTheDataBeforeThem() {
        var table = SightingTable(known: [Self.known])
        #expect(table.receive(Air.iBeacon(1, 7) + [30, 0xFF, 1], from: Air.sender(1)) == 0)
        #expect(table.counts.malformed == 1)
        #expect(table.receive([], from: nil) == nil)
        #expect(table.counts.anonymous == 1)
        let sighting = Sighting(at: Air.at(milliseconds: 0), from: Air.sender(1), rssi: -60)
        table.receive(sighting, [1, 2].span, 0..<400)
        table.receive(sighting, [1, 2].span, 7..<9)
    }

    @Test func anyOctetsAreSurvived() {
        var random = SplitMix64(seed: 3)
        var table = SightingTable(known: [Self.known], strangers: .kept(16))
        for _ in 0..<50_000 {
            var octets = (0..<random.next(upTo: 60)).map { _ in UInt8(random.next(upTo: 255)) }
            if random.next(upTo: 1) == 0 { octets = Air.iBeacon(1, 7).prefix(random.next(upTo: 30)) + octets }
            table.receive(
                octets, from: random.next(upTo: 9) == 0 ? nil : Air.sender(UInt32(random.next(upTo: 99))),
                rssi: Int8(truncatingIfNeeded: random.next(upTo: 255)))
        }
        #expect(table.tracks.count == 17)
        #expect(table.counts.reports == 50_000)
    }

    @Test func aFloodOfStrangersDoesNotAffectKnownBeacons() {
        let known = (0..<20).map { KnownBeacon(name: "b\($0)", identity: Air.identity(1, UInt16($0))) }
        func run(flood: Int) -> SightingTable {
            var table = SightingTable(known: known)
            var fresh: UInt32 = 1000
            for event in 0..<100 {
                for beacon in 0..<20 {
                    table.receive(
                        Air.iBeacon(1, UInt16(beacon)), from: Air.sender(UInt32(beacon)),
                        atMilliseconds: event * 100 + beacon, rssi: Int8(-40 - beacon))
                }
                for _ in 0..<flood {
                    fresh += 1
                    table.receive(
                        Air.iBeacon(UInt16(fresh >> 16) + 2, UInt16(fresh & 0xFFFF)), from: Air.sender(fresh),
                        atMilliseconds: event * 100 + 50)
                }
            }
            return table
        }
        let quiet = run(flood: 0)
        let flooded = run(flood: 500)
        for beacon in 0..<20 {
            #expect(quiet.tracks[beacon].events == flooded.tracks[beacon].events)
            #expect(quiet.tracks[beacon].round.trimmedMean == flooded.tracks[beacon].round.trimmedMean)
            #expect(quiet.tracks[beacon].interval.periodMicroseconds != nil)
        }
        #expect(flooded.tracks.count == 20 + SightingTable.defaultStrangers)
        #expect(flooded.counts.evicted == 50_000 - SightingTable.defaultStrangers)
        #expect(flooded.heardInRound.count <= flooded.tracks.count)
        #expect(Set(flooded.heardInRound).count == flooded.heardInRound.count)
        #expect(abs(flooded.strangerSendersInRound - 50_000) < 2000)
    }

    @Test func countedStrangersHaveNoTracks() {
        var table = SightingTable(known: [Self.known], strangers: .counted)
        for sender in 0..<5000 {
            table.receive(Air.iBeacon(2, UInt16(sender)), from: Air.sender(UInt32(sender)))
            table.receive(Air.telemetry(millivolts: 1), from: Air.sender(UInt32(sender)))
        }
        #expect(table.tracks.count == 1)
        #expect(table.strangersInRound == 10_000)
        #expect(abs(table.strangerSendersInRound - 5000) < 150)
        table.beginRound()
        #expect(table.strangerSendersInRound == 0)
    }

    @Test func limitsTheLengthOfNames() {
        var table = SightingTable()
        table.receive(Air.name([UInt8](repeating: 0x1B, count: 253)), from: Air.sender(1))
        #expect(table.tracks[0].nameOctets.count == BeaconTrack.nameLimit)
    }

    @Test func aNewRoundIsEmpty() {
        var table = SightingTable(known: [Self.known])
        table.receive(Air.iBeacon(1, 7), from: Air.sender(1))
        table.beginRound()
        #expect(table.heardInRound.isEmpty)
        #expect(table.tracks[0].round.count == 0)
        #expect(table.tracks[0].reports == 1)
    }
}
