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
        table.receive(sighting, data.span, data.indices)
    }

    /// Receives an unknown device four times a second, and then ends the round.
    private mutating func hearOthers(from start: Double, to end: Double) {
        for time in stride(from: start, through: end, by: 0.25) {
            table.receive(Sighting(at: Self.at(time), from: Air.sender(99), rssi: -70), [2, 1, 6].span, 0..<3)
        }
        endRound()
    }

    private mutating func endRound() {
        watch.endRound(table)
        table.beginRound()
    }

    private func presence(_ group: Int, _ seconds: Double) -> PresenceWatch.Presence? {
        watch.presence(of: group, at: Self.at(seconds))
    }

    @Test mutating func aBeaconIsGoneOnlyAfterTheSilenceLimit() {
        #expect(watch.groups == [0, 0, 1] && watch.count == 2)
        #expect(presence(0, 0) == nil)
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        // The shortest silence is 10 s.
        hearOthers(from: 2, to: 11.75)
        #expect(presence(0, 11.9) == .present)
        hearOthers(from: 12, to: 12)
        #expect(presence(0, 12.1) == .gone)
        #expect(presence(1, 12.1) == nil)
        hearOthers(from: 12.25, to: 20)
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
    @Test mutating func aLearnedIntervalShortensTheSilenceLimit() {
        table = SightingTable(known: [KnownBeacon(name: "desk", identity: Self.known("desk", 1).identity)])
        watch = PresenceWatch(names: ["desk"])
        hear(1, at: 0)
        endRound()
        hearOthers(from: 0.25, to: 29)
        #expect(presence(0, 29) == .present)
        hearOthers(from: 29.25, to: 31)
        #expect(presence(0, 31) == .gone)
        for step in 0..<40 { hear(1, at: 32 + Double(step) * 0.105) }
        endRound()
        hearOthers(from: 36.25, to: 46)
        #expect(presence(0, 46) == .present)
        hearOthers(from: 46.25, to: 46.25)
        #expect(presence(0, 46.25) == .gone)
    }

    @Test mutating func aBeaconIsUnknownWhileTheReceiverIsDeaf() {
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        table.stopListening(at: Self.at(3))
        table.stopListening(at: Self.at(4))
        endRound()
        #expect(watch.clock.silentSince(at: Self.at(3)) == Self.at(3))
        #expect(presence(0, 6.9) == .present)
        #expect(presence(0, 7) == .unknown)
        #expect(presence(0, 5000) == .unknown)
        table.startListening(at: Self.at(5000))
        endRound()
        #expect(presence(0, 5004.9) == .present && presence(0, 5005) == .unknown)
        hearOthers(from: 5001, to: 5010.75)
        #expect(presence(0, 5010.9) == .present)
        hearOthers(from: 5011, to: 5011)
        #expect(presence(0, 5011) == .gone)
        #expect(watch.clock.silentSince(at: Self.at(5011)) == nil)
    }

    /// A beacon that is alone on the air looks like a deaf receiver when it leaves.
    @Test mutating func aLoneBeaconThatIsSilentIsUnknown() {
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        #expect(presence(0, 6.9) == .present)
        #expect(presence(0, 7) == .unknown && presence(0, 500) == .unknown)
        #expect(watch.clock.silentSince(at: Self.at(500)) == Self.at(1.995))
    }

    /// The kernel reports a beacon to its advertisement monitors only once.
    @Test mutating func aSilentBeaconIsUnknownIfRepeatsAreNotReported() {
        watch = PresenceWatch(names: ["desk", "desk", "door"], hearsRepeats: false)
        for step in 0..<20 { hear(1, at: Double(step) * 0.105) }
        endRound()
        hearOthers(from: 2, to: 11.75)
        #expect(presence(0, 11.9) == .present)
        hearOthers(from: 12, to: 12.25)
        #expect(presence(0, 12.25) == .unknown)
        #expect(presence(0, 5000) == .unknown && presence(1, 5000) == nil)
    }

    @Test mutating func countsReportsBetweenTwoDeafTimes() {
        hear(3, at: 0)
        endRound()
        for start in stride(from: 10.0, to: 100, by: 10) {
            table.stopListening(at: Self.at(start))
            table.startListening(at: Self.at(start + 9))
            hear(3, at: start + 9.5)
            endRound()
            #expect(presence(1, start + 9.9) == .present)
        }
    }
}
