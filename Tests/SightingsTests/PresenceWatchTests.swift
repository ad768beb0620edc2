import BeaconFrames
import Testing

@testable import Sightings

/// Presence in listened time.
@Suite struct PresenceWatchTests {
    private static func at(_ seconds: Double) -> HeardInstant { HeardInstant(nanoseconds: UInt64(seconds * 1e9)) }

    private static func known(_ name: String, _ minor: UInt16) -> KnownBeacon {
        KnownBeacon(
            name: name, identity: .iBeacon(uuid: Air.uuid, major: 1, minor: minor), intervalMicroseconds: 100_000)
    }

    private var table = SightingTable(known: [Self.known("desk", 1), Self.known("desk", 2), Self.known("door", 3)])
    private var watch = PresenceWatch(names: ["desk", "desk", "door"])

    private mutating func hear(_ minor: UInt16, at seconds: Double) {
        let data = Air.iBeacon(1, minor)
        let sighting = Sighting(at: Self.at(seconds), from: Air.sender(UInt32(minor)), rssi: -60)
        if let place = table.hear(sighting, data.span, data.indices) { watch.hear(place, at: Self.at(seconds)) }
    }

    private mutating func endRound() {
        watch.endRound(table)
        table.beginRound()
    }

    private func presence(_ group: Int, _ seconds: Double) -> PresenceWatch.Presence? {
        watch.presence(of: group, at: Self.at(seconds))
    }

    @Test mutating func aBeaconIsGoneAfterItsSilenceAndNoSooner() {
        #expect(watch.groups == [0, 0, 1] && watch.count == 2)
        #expect(presence(0, 0) == nil)
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        // The shortest silence is 10 s.
        #expect(presence(0, 11.9) == .present)
        #expect(presence(0, 12.1) == .gone)
        #expect(presence(1, 12.1) == nil)
        hear(1, at: 20)
        endRound()
        #expect(presence(0, 20) == .present)
    }

    /// A beacon is present if one of its identities is received.
    @Test mutating func identitiesOfOneNameAreOneBeacon() {
        hear(1, at: 0)
        endRound()
        hear(2, at: 60)
        endRound()
        #expect(presence(0, 61) == .present)
        #expect(watch.count == 2)
    }

    /// The limit is 30 s while the interval is not known, and shorter afterwards.
    @Test mutating func whatIsLearnedOfTheIntervalCounts() {
        table = SightingTable(known: [KnownBeacon(name: "desk", identity: Self.known("desk", 1).identity)])
        watch = PresenceWatch(names: ["desk"])
        hear(1, at: 0)
        endRound()
        #expect(presence(0, 29) == .present && presence(0, 31) == .gone)
        for step in 1..<40 { hear(1, at: Double(step) * 0.105) }
        endRound()
        #expect(presence(0, 14) == .present && presence(0, 14.2) == .gone)
    }

    @Test mutating func nobodyLeavesWhileNothingCanBeHeard() {
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        watch.becomeDeaf(at: Self.at(3))
        watch.becomeDeaf(at: Self.at(4))
        #expect(watch.deafSince == Self.at(3))
        #expect(presence(0, 7.9) == .present)
        #expect(presence(0, 8) == .unknown)
        #expect(presence(0, 5000) == .unknown)
        watch.becomeHearing(at: Self.at(5000))
        // One second of the silence was before, and nine more follow.
        #expect(presence(0, 5008) == .present)
        #expect(presence(0, 5010) == .gone)
        #expect(watch.deafSince == nil)
    }

    /// The kernel reports a beacon to its advertisement monitors only once.
    @Test mutating func whereRepeatsAreNotToldSilenceSaysNothing() {
        watch = PresenceWatch(names: ["desk", "desk", "door"], hearsRepeats: false)
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        #expect(presence(0, 11.9) == .present && presence(0, 12.1) == .unknown)
        #expect(presence(0, 5000) == .unknown && presence(1, 5000) == nil)
    }

    @Test mutating func whatIsHeardBetweenTwoTimesOfDeafnessCounts() {
        hear(3, at: 0)
        endRound()
        for start in stride(from: 10.0, to: 100, by: 10) {
            watch.becomeDeaf(at: Self.at(start))
            watch.becomeHearing(at: Self.at(start + 9))
            hear(3, at: start + 9.5)
            endRound()
            #expect(presence(1, start + 9.9) == .present)
        }
    }
}
