import BluetoothTypes
import Sightings
import Testing

@testable import Zones

@Suite("Zones") struct ZoneEngineTests {
    private static func zone(_ change: (inout ZoneRule) -> Void = { _ in }) -> ZoneRule {
        var rule = ZoneRule(name: "desk", members: .beacons(["a"]), scope: .beacon)
        change(&rule)
        return rule
    }

    @Test("two reports within the window and the bound enter a zone, and fewer do not")
    func enter() {
        var stage = ZoneStage([Self.zone()])
        #expect(stage.hear("a", 1, -55) == [])
        #expect(stage.hear("a", 2, -55) == ["2 enter desk a"])
        #expect(stage.hear("a", 3, -55) == [])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout ZoneRule) -> Void
        let levels: [Int8?]
        let isInside: Bool
    }

    @Test(
        "levels and bounds decide whether four reports at one per second enter",
        arguments: [
            Case(testDescription: "1 m is inside", change: { _ in }, levels: [-59, -59, -59, -59], isInside: true),
            Case(testDescription: "1.1 m is outside", change: { _ in }, levels: [-60, -60, -60, -60], isInside: false),
            Case(
                testDescription: "the median counts", change: { $0.reports = 3 }, levels: [-80, -50, -50, -50],
                isInside: true),
            Case(
                testDescription: "one strong report among weak ones", change: { $0.reports = 3 },
                levels: [-80, -80, -40, -80],
                isInside: false),
            Case(testDescription: "no level", change: { _ in }, levels: [nil, nil, nil, nil], isInside: false),
            Case(testDescription: "127 is no level", change: { _ in }, levels: [127, 127, 127, 127], isInside: false),
            Case(
                testDescription: "a level bound", change: { $0.bound = .above(-65) }, levels: [-66, -65, -65, -65],
                isInside: true),
            Case(
                testDescription: "a narrow window", change: { $0.window = 900_000 }, levels: [-50, -50, -50, -50],
                isInside: false),
            Case(
                testDescription: "more reports than come", change: { $0.reports = 5 }, levels: [-50, -50, -50, -50],
                isInside: false),
            Case(
                testDescription: "another zone's beacon", change: { $0.members = .beacons(["c"]) },
                levels: [-50, -50, -50, -50], isInside: false),
        ])
    func inside(_ trial: Case) {
        var stage = ZoneStage([Self.zone(trial.change)])
        for (number, level) in trial.levels.enumerated() { _ = stage.hear("a", Double(number + 1), level) }
        #expect((stage.engine.insideCount(0) == 1) == trial.isInside)
    }

    @Test("a beacon between the bounds stays, and leaves after 5 s beyond the leaving bound")
    func hysteresis() {
        var stage = ZoneStage([Self.zone()])
        #expect(stage.hear("a", from: 1, to: 5, -55) == ["2 enter desk a"])
        // 1.41 m: outside the entering bound, inside the leaving bound.
        #expect(stage.hear("a", from: 5, to: 30, -62) == [])
        #expect(stage.hear("a", from: 30, to: 34, -75) == [])
        // The median is outside from the second of four weak reports on.
        #expect(stage.hear("a", from: 34, to: 40, -75) == ["36 exit desk a level"])
    }

    @Test("a beacon that returns within 5 s does not leave")
    func shortAbsence() {
        var stage = ZoneStage([Self.zone()])
        _ = stage.hear("a", from: 1, to: 10, -55)
        #expect(stage.hear("a", from: 10, to: 13, -75) == [])
        #expect(stage.hear("a", from: 13, to: 30, -55) == [])
        #expect(stage.hear("a", from: 30, to: 40, -75) == ["36 exit desk a level"])
    }

    @Test("a silence too long for packet loss is an exit at the moment it became too long")
    func silence() throws {
        var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
        _ = stage.hear("a", from: 1, to: 61, -55)
        let silence = try #require(stage.engine.silenceMicroseconds(of: "a"))
        #expect(silence == 10_000_000)
        #expect(stage.lines(withOthersUntil: 69.9) == [])
        #expect(stage.lines(withOthersUntil: 500) == ["70 exit desk a silence"])
    }

    @Test("a silence given in the file replaces the computed one")
    func ownSilence() {
        var stage = ZoneStage([Self.zone { $0.silentAfter = 3_000_000 }])
        _ = stage.hear("a", from: 1, to: 5, -55)
        #expect(stage.lines(withOthersUntil: 60) == ["7 exit desk a silence"])
    }

    @Test("zones of a failed receiver are unknown, and no beacon leaves until reports arrive")
    func deafness() {
        var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
        _ = stage.hear("a", from: 1, to: 61, -55)
        #expect(stage.lines(withOthersUntil: 65) == [])
        #expect(stage.becomeDeaf(65) == [])
        #expect(stage.lines(until: 69) == [])
        #expect(stage.engine.nextWakeUp == ZoneStage.at(70))
        #expect(stage.lines(until: 3600) == ["70 unknown desk"])
        #expect(!stage.engine.isKnown && stage.engine.inside(0) == ["a"])
        // The scan is on again. Only reports prove that the receiver works.
        #expect(stage.becomeHearing(3600) == ["3600 known desk"])
        #expect(stage.hearOther(3600.5) == [])
        // 5 s of the silence had passed.
        #expect(stage.lines(withOthersUntil: 3605.4) == [])
        #expect(stage.lines(withOthersUntil: 4000) == ["3605.5 exit desk a silence"])
    }

    @Test("zones become unknown again if a restarted receiver receives nothing")
    func deafnessAfterRestart() {
        var stage = ZoneStage([Self.zone()])
        _ = stage.hear("a", each: 0.1, from: 1, to: 61, -55)
        #expect(stage.becomeDeaf(62) + stage.lines(until: 3600) == ["65.9 unknown desk"])
        #expect(stage.becomeHearing(3600) == ["3600 known desk"])
        #expect(stage.lines(until: 7200) == ["3605 unknown desk"])
    }

    @Test("a short receiver failure is not reported, but stops the clock")
    func shortDeafness() {
        var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
        _ = stage.hear("a", from: 1, to: 61, -55)
        #expect(stage.becomeDeaf(61) + stage.lines(until: 64) + stage.becomeHearing(64) == [])
        #expect(stage.lines(withOthersUntil: 100) == ["74.5 exit desk a silence"])
    }

    @Test("four beacons that stop at once look like a deaf receiver: unknown after 5 s, no exit")
    func allBeaconsAreSilentTogether() {
        var stage = ZoneStage([ZoneRule(name: "desks", members: .tag("desk"))])
        var lines: [String] = []
        for step in 10..<610 {
            for name in ["a", "b", "c"] { lines += stage.hear(name, Double(step) / 10, -55) }
        }
        #expect(lines == ["1.1 enter desks a", "1.1 enter desks b"])
        #expect(stage.engine.nextWakeUp == ZoneStage.at(65.9))
        #expect(stage.lines(until: 100_000) == ["65.9 unknown desks"])
        #expect(stage.engine.nextWakeUp == nil)
        // One report proves that the receiver works now, but not that it worked before.
        #expect(stage.hear("c", 100_000, -55) == ["100000 known desks"])
        #expect(stage.hear("c", each: 0.5, from: 100_000.5, to: 100_009.5, -55) == [])
        #expect(
            stage.hear("c", each: 0.5, from: 100_009.5, to: 100_030, -55).sorted()
                == ["100010 exit desks a silence", "100010 exit desks b silence"])
    }

    @Test("the only beacon in range becomes unknown, not gone, if it goes silent")
    func loneBeacon() {
        var stage = ZoneStage([Self.zone { $0.dwellSeconds = [70] }], intervals: [1_000_000, nil, nil])
        _ = stage.hear("a", from: 1, to: 61, -55)
        // A pause of 14.8 s between independent reports, one a second, occurs once in 30 days.
        let lines = stage.lines(until: 1_000_000)
        #expect(lines == ["74.767 unknown desk"])
        #expect(stage.hear("a", from: 1_000_000, to: 1_000_020, -55) == ["1000000 known desk", "1000012 dwell desk a"])
    }

    @Test("a pause of all reports that is too short to report also delays exits")
    func pauseOfAllReports() {
        var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
        _ = stage.hear("a", from: 1, to: 61, -55)
        // The receiver was deaf for 12 s. The first report after that is of an unknown device.
        #expect(stage.hearOther(72) == [])
        #expect(stage.hear("a", 72.1, -55) == [])
        #expect(stage.lines(withOthersUntil: 90) == ["82.1 exit desk a silence"])
    }

    @Test("unknown zones remain unknown after a reload until a report arrives")
    func continuesUnknown() {
        var stage = ZoneStage([Self.zone()])
        stage.continueUnknown(since: 1)
        #expect(stage.lines(until: 60) == [])
        #expect(!stage.engine.isKnown)
        #expect(stage.hearOther(61) == ["61 known desk"])
    }

    @Test("events of a zone that several beacons share are not those of a beacon")
    func sharedZones() {
        func isShared(_ members: [String], _ scope: ZoneRule.Scope) -> [Bool] {
            var stage = ZoneStage([ZoneRule(name: "desk", members: .beacons(members), scope: scope)])
            _ = stage.receive("a", 1, -55)
            return stage.receive("a", 2, -55).map(\.isOfSharedZone)
        }
        #expect(isShared(["a", "b"], .zone) == [true])
        #expect(isShared(["a", "b"], .beacon) == [false])
        #expect(isShared(["a"], .zone) == [false])
    }

    @Test("zones are not known before the first report of any device")
    func notKnownBeforeTheFirstReport() {
        var stage = ZoneStage([Self.zone()])
        #expect(!stage.engine.isKnown)
        #expect(stage.becomeHearing(1) == [])
        #expect(stage.lines(until: 60) == [])
        #expect(!stage.engine.isKnown)
        #expect(stage.hearOther(61) == [])
        #expect(stage.engine.isKnown)
        #expect(stage.lines(until: 70) == ["66 unknown desk"])
    }

    @Test("known zones become unknown after a reload without reports")
    func silenceAfterReload() {
        var stage = ZoneStage([Self.zone()])
        #expect(stage.becomeHearing(1) == [])
        stage.continueKnown()
        #expect(stage.engine.isKnown)
        #expect(stage.lines(until: 60) == ["6 unknown desk"])
        #expect(!stage.engine.isKnown)
    }

    @Test("devices that rarely send also prove that the receiver works")
    func sparseTraffic() {
        var stage = ZoneStage([Self.zone()])
        var lines: [String] = []
        for step in 0..<40 { lines += stage.hearOther(Double(step) * 20) }
        lines += stage.hear("a", from: 800, to: 860, -55)
        #expect(lines.filter { $0.contains("desk a") } == ["801 enter desk a"])
        lines = []
        for step in 0..<40 { lines += stage.hearOther(860 + Double(step) * 20) }
        #expect(lines.filter { $0.contains(" a ") }.count == 1)
        #expect(stage.engine.isKnown)
        #expect(lines.count <= 5, "unknown only until the traffic is learned: \(lines)")
    }

    @Test("an exit states what proved that the receiver works")
    func proofOfTheReceiver() {
        func proofs(restart: Bool) -> [ListeningClock.Proof?] {
            var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
            _ = stage.hear("a", from: 1, to: 61, -55)
            if restart { _ = stage.becomeDeaf(62) + stage.becomeHearing(63) }
            var proofs: [ListeningClock.Proof?] = []
            for second in 64..<90 {
                for event in stage.receive("c", Double(second), -55) { proofs.append(event.receiverProof) }
            }
            return proofs
        }
        #expect(proofs(restart: false) == [.report])
        #expect(proofs(restart: true) == [.restart])
    }

    @Test("reports before a reported receiver failure do not count towards an enter")
    func windowAfterDeafness() {
        var stage = ZoneStage([Self.zone()])
        #expect(stage.hear("a", 1, -55) == [])
        #expect(stage.becomeDeaf(1.1) == [])
        #expect(stage.becomeHearing(20) == ["6 unknown desk", "20 known desk"])
        #expect(stage.hear("a", 20.5, -55) == [])
        #expect(stage.hear("a", 21, -55) == ["21 enter desk a"])
    }

    @Test("dwell events come in order, and start again after another enter")
    func dwell() {
        var stage = ZoneStage([Self.zone { $0.dwellSeconds = [5, 20] }])
        #expect(
            stage.hear("a", from: 1, to: 40, -55) == ["2 enter desk a", "7 dwell desk a", "22 dwell desk a"])
        #expect(stage.hear("a", from: 40, to: 50, -80) == ["46 exit desk a level"])
        #expect(stage.hear("a", from: 50, to: 60, -55) == ["52 enter desk a", "57 dwell desk a"])
    }

    @Test("a tag gives each beacon its own zone")
    func tag() {
        var stage = ZoneStage([ZoneRule(name: "desks", members: .tag("desk"))])
        #expect(stage.hear("a", from: 1, to: 3, -55) == ["2 enter desks a"])
        #expect(stage.hear("b", from: 3, to: 5, -55) == ["4 enter desks b"])
        #expect(stage.hear("c", from: 5, to: 9, -55) == [])
        #expect(stage.engine.inside(0) == ["a", "b"])
    }

    @Test("a shared zone is entered with the first beacon and left with the last")
    func shared() {
        var stage = ZoneStage([ZoneRule(name: "room", members: .beacons(["a", "b"]))])
        #expect(stage.hear("a", from: 1, to: 3, -55) == ["2 enter room a"])
        #expect(stage.hear("b", from: 3, to: 5, -55) == [])
        #expect(stage.engine.inside(0) == ["a", "b"])
        #expect(stage.hear("a", from: 5, to: 15, -80) == [])
        #expect(stage.engine.inside(0) == ["b"])
        #expect(stage.hear("b", from: 15, to: 30, -80) == ["20 exit room b level"])
    }

    @Test("only the nearest beacon of an exclusive group is inside")
    func exclusive() {
        var stage = ZoneStage([
            Self.zone {
                $0.members = .tag("desk"); $0.exclusive = "desks"
            }
        ])
        #expect(stage.hear("a", from: 1, to: 3, -57) == ["2 enter desk a"])
        // Nearer, but not by more than chance.
        #expect(stage.hear("b", from: 3, to: 5, -55) == [])
        #expect(stage.hear("a", 5, -57) == [])
        // With few reports a difference of 8 dB may be chance; with more it is not.
        #expect(stage.hear("b", each: 0.5, from: 5.5, to: 6.5, -49) == [])
        #expect(
            stage.hear("b", each: 0.5, from: 6.5, to: 12, -49).map { String($0.drop { $0 != " " }) }
                == [" exit desk a exclusive", " enter desk b"])
        #expect(stage.engine.inside(0) == ["b"])
    }

    /// Side by side, two beacons of one exclusive group differ only by noise.
    @Test("two beacons at equal distance do not alternate", arguments: [2.0, 4, 6], [100, 300, 1000])
    func equalBeacons(deviation: Double, milliseconds: Int) {
        var enters = 0
        for seed in 0..<10 {
            var stage = ZoneStage([
                Self.zone {
                    $0.members = .tag("desk"); $0.exclusive = "desks"; $0.bound = .above(-80)
                }
            ])
            var randomness = SplitMix64(seed: UInt64(seed))
            func level() -> Int8 {
                // The sum of twelve uniform values is nearly normal, with a standard deviation of 1.
                let sum = (0..<12).reduce(0.0) { sum, _ in sum + Double(randomness.next() >> 11) * 0x1p-53 }
                return Int8(-60 + (deviation * (sum - 6)).rounded())
            }
            for step in 1..<(120_000 / milliseconds) {
                let time = Double(step * milliseconds) / 1000
                for (place, name) in ["a", "b"].enumerated() {
                    let lines = stage.hear(name, time + Double(place) / 50, level())
                    enters += lines.count { $0.contains("enter") }
                }
            }
        }
        // Ten runs of 2 min. Each has at least one enter.
        #expect(enters <= 15, "\(enters) enters in 10 runs")
    }

    @Test("a beacon that is clearly nearer takes over within seconds", arguments: [100, 300, 1000])
    func nearerBeacon(milliseconds: Int) {
        var stage = ZoneStage([
            Self.zone {
                $0.members = .tag("desk"); $0.exclusive = "desks"; $0.bound = .above(-90)
            }
        ])
        var randomness = SplitMix64(seed: 1)
        var taken: Double?
        for step in 1..<(120_000 / milliseconds) {
            let time = Double(step * milliseconds) / 1000
            for (place, name) in ["a", "b"].enumerated() {
                let level = (name == "a" ? -64 : time > 60 ? -52 : -74) + Int(randomness.next() % 11) - 5
                let lines = stage.hear(name, time + Double(place) / 50, Int8(level))
                if time > 60, lines.contains(where: { $0.contains("enter desk b") }) { taken = taken ?? time - 60 }
            }
        }
        #expect((taken ?? 100) < 10, "\(taken ?? -1)")
    }

    /// The beacon `b` is received 8 dB stronger than `a`, which is inside.
    @Test(
        "the zone's margin decides how much nearer a beacon must be to take over",
        arguments: [(0, true), (3, true), (7, true), (9, false), (40, false)])
    func exclusiveMargin(decibels: Int, takesOver: Bool) {
        var stage = ZoneStage([
            Self.zone {
                $0.members = .tag("desk"); $0.exclusive = "desks"; $0.bound = .above(-80)
                $0.exclusiveDecibels = decibels
            }
        ])
        for step in 1..<120 {
            _ = stage.hear("a", Double(step), -64)
            if step > 5 { _ = stage.hear("b", Double(step) + 0.1, -56) }
        }
        #expect(stage.engine.inside(0) == [takesOver ? "b" : "a"])
    }

    /// The levels differ by less than their scatter, so the difference may be chance.
    @Test("without a margin, a difference within the scatter does not cause a change")
    func noExclusiveMargin() {
        var stage = ZoneStage([
            Self.zone {
                $0.members = .tag("desk"); $0.exclusive = "desks"; $0.bound = .above(-80); $0.exclusiveDecibels = 0
            }
        ])
        for step in 1..<120 {
            let noise = Int8(step % 2 == 0 ? 5 : -5)
            _ = stage.hear("a", Double(step), -60 + noise)
            _ = stage.hear("b", Double(step) + 0.1, -59 + noise)
        }
        #expect(stage.engine.count(.exit, of: 0) == 0)
    }

    // MARK: Groups of devices

    @Test("a group is inside if its nearest device is, whatever the other devices send")
    func group() {
        var stage = ZoneStage.withGroup([ZoneRule(name: "room", members: .beacons(["g"]))])
        // a is far away, and sends more often than b.
        #expect(stage.hear("a", each: 0.1, from: 1, to: 6, -90) == [])
        var lines: [String] = []
        for second in 6..<20 {
            lines += stage.hear("b", Double(second), -50)
            lines += stage.hear("a", each: 0.1, from: Double(second) + 0.1, to: Double(second) + 0.9, -90)
        }
        #expect(lines == ["7 enter room g"])
        // b is silent now, and a is too far away.
        #expect(
            stage.hear("a", each: 0.1, from: 20, to: 40, -90).map { String($0.drop { $0 != " " }) } == [
                " exit room g level"
            ])
    }

    @Test("a group leaves when none of its devices is received anymore")
    func silenceOfAGroup() {
        var stage = ZoneStage.withGroup([ZoneRule(name: "room", members: .beacons(["g"]))])
        #expect(stage.hear("a", from: 1, to: 20, -50) == ["2 enter room g"])
        #expect(stage.hear("c", from: 20, to: 40, -50) == [])
        // The interval of a group is not learned, so the silence is 30 s, and a little longer with one report a second.
        #expect(stage.lines(withOthersUntil: 70.9) == [])
        #expect(stage.lines(withOthersUntil: 80) == ["71 exit room g silence"])
    }

    @Test("a beacon can be inside its own zone and inside its group's zone")
    func beaconOfAGroup() {
        var stage = ZoneStage.withGroup([
            ZoneRule(name: "desk", members: .beacons(["a"])), ZoneRule(name: "any", members: .beacons(["g"])),
        ])
        #expect(stage.hear("a", from: 1, to: 3, -50) == ["2 enter desk a", "2 enter any g"])
    }

    @Test("more devices than a group can track do not disturb the nearest one")
    func manyDevicesOfAGroup() {
        var stage = ZoneStage.withGroup([ZoneRule(name: "room", members: .beacons(["g"]))])
        var events: [ZoneEvent] = []
        for step in 0..<400 {
            events += stage.receive("b", Double(step) / 4, -90, from: UInt8(step % 40))
            if step % 8 == 0, step >= 40 { events += stage.receive("a", Double(step) / 4 + 0.01, -50) }
        }
        #expect(events.map(\.kind) == [.enter])
    }

    // MARK: Clones and wrong powers

    @Test("an event says whether two devices send the beacon's identity")
    func clone() {
        var stage = ZoneStage([Self.zone { $0.dwellSeconds = [10] }])
        var events: [ZoneEvent] = []
        for step in 1..<60 {
            events += stage.events(until: Double(step) / 2)
            events += stage.receive("a", Double(step) / 2, -50, from: step < 5 || step % 2 == 0 ? 1 : 2)
        }
        #expect(events.map(\.kind) == [.enter, .dwell])
        #expect(events.map(\.isCloned) == [false, true])
    }

    @Test("an implausible measured power gives no distance, so the beacon does not enter")
    func implausiblePower() {
        for (power, isInside) in [(UInt8(0xFD), false), (0xC5, true)] {
            var stage = ZoneStage([
                Self.zone(),
                Self.zone {
                    $0.name = "loud"; $0.bound = .above(-80)
                },
            ])
            var events: [ZoneEvent] = []
            for second in 1..<10 { events += stage.receive("a", Double(second), -2, power: power) }
            #expect(events.map(\.zone) == (isInside ? ["desk", "loud"] : ["loud"]))
            #expect(events.allSatisfy { ($0.distance != nil) == isInside })
        }
    }

    @Test("entering one zone of an exclusive group leaves the other")
    func exclusiveZones() {
        var stage = ZoneStage(
            ["a", "b"].map { name in
                var rule = ZoneRule(name: "desk-\(name)", members: .beacons([name]))
                rule.exclusive = "desks"
                return rule
            })
        #expect(stage.hear("a", from: 1, to: 3, -55) == ["2 enter desk-a a"])
        #expect(stage.hear("b", from: 10, to: 12, -55) == ["11 exit desk-a a exclusive", "11 enter desk-b b"])
    }

    @Test("with a required proof only ephemeral ids of the key count")
    func proof() {
        var stage = ZoneStage([
            Self.zone {
                $0.proof = .eid; $0.bound = .above(-65)
            }
        ])
        #expect(stage.hear("a", from: 1, to: 10, -55) == [])
        #expect(stage.hearID(10, -55) == [])
        #expect(stage.hearID(11, -55) == ["11 enter desk a"])
        // A copied identity does not keep the beacon inside.
        #expect(stage.hear("a", from: 12, to: 60, -55) == ["43 exit desk a silence"])
    }

    @Test("an ephemeral id sent alternately by two senders is not a proof")
    func replayedID() {
        var stage = ZoneStage([
            Self.zone {
                $0.proof = .eid; $0.bound = .above(-65)
            }
        ])
        #expect(stage.hearID(10, -90) == [])
        // A device nearby repeats ids that it has received from a distant beacon.
        var told: [String] = []
        for second in 11...40 {
            told += stage.hearID(Double(second) + 0.1, -50, from: 33)
            told += stage.hearID(Double(second) + 0.6, -90)
        }
        #expect(told + stage.lines(withOthersUntil: 49.9) == [])
        // The device does not have the next id, and the beacon has come nearer, with another address.
        #expect(stage.hearID(50, -50, id: 1, from: 10) == [])
        #expect(stage.hearID(51, -50, id: 1, from: 10) == ["51 enter desk a"])
        // A single change of the address is normal.
        #expect(stage.hearID(52, -50, id: 1, from: 11) + stage.hearID(53, -50, id: 1, from: 11) == [])
        #expect(stage.engine.inside(0) == ["a"])
    }

    @Test("an ephemeral id with a new address for each report is not a proof")
    func repeatedID() {
        var stage = ZoneStage([
            Self.zone {
                $0.proof = .eid; $0.bound = .above(-65)
            }
        ])
        #expect(stage.hearID(10, -92) == [])
        var told: [String] = []
        for report in 0..<300 {
            let time = 11 + Double(report) / 10
            // The beacon itself is received once a second.
            if report % 10 == 5 { told += stage.hearID(time, -92) }
            told += stage.hearID(time + 0.01, -35, from: UInt8(10 + report % 50))
        }
        #expect(told == [])
        #expect(stage.engine.inside(0) == [])
    }

    @Test("an ephemeral id whose levels cannot come from one place is not a proof")
    func copiedAddress() {
        var stage = ZoneStage([
            Self.zone {
                $0.proof = .eid; $0.bound = .above(-65)
            }
        ])
        // Another device repeats the id and the address of the beacon.
        var told = stage.hearID(10, -92)
        for report in 0..<300 {
            let time = 11 + Double(report) / 10
            told += report % 40 == 5 ? stage.hearID(time, -92) : stage.hearID(time, -35)
        }
        #expect(told == [])
        // A beacon that is carried into the zone enters: its levels rise slowly.
        for step in 0..<120 { told += stage.hearID(80 + Double(step) / 2, -90 + Int8(step / 4), id: 1, from: 10) }
        for step in 0..<20 { told += stage.hearID(140 + Double(step) / 2, -55, id: 1, from: 10) }
        let enters = told.filter { $0.contains(" enter ") }
        #expect(enters.count == 1 && enters[0].hasSuffix("enter desk a"), "\(told)")
    }

    @Test("an old ephemeral id from a new sender is not a proof; a beacon may send two ids")
    func olderID() {
        var proof = EphemeralIDProof()
        func sender(_ number: UInt8) -> Sender { Sender(DeviceAddress(FixedOctets(repeating: number)), isRandom: true) }
        func accepts(_ id: UInt8, _ number: UInt8, _ second: Int) -> Bool {
            proof.accepts(
                .eddystoneEID(FixedOctets(repeating: id)), from: sender(number), level: -60, at: second * 1_000_000)
        }
        #expect(accepts(1, 1, 0) && accepts(2, 2, 1) && accepts(1, 1, 2) && accepts(2, 2, 3))
        // The first id has changed. Another device still repeats the former one.
        #expect(accepts(3, 3, 20) && !accepts(1, 9, 21) && accepts(3, 3, 22) && !accepts(1, 9, 40))
        #expect(accepts(2, 2, 41))
        // The address may change once within an id.
        #expect(!accepts(3, 4, 60) && accepts(3, 4, 66) && !accepts(3, 5, 90) && !accepts(3, 4, 200))
        let isProof = proof.accepts(nil, from: nil, level: nil, at: 0)
        #expect(!isProof)
    }

    @Test("a text is filled with attachments, and a missing attachment becomes empty")
    func content() throws {
        let content = ZoneRule.Content(title: "You are in ${owner}'s Desk", body: "${post}, $5 ${")
        let filled = content.filled(ZoneStage.notes[0].attachments)
        #expect(filled == ZoneRule.Content(title: "You are in Peter's Desk", body: ", $5 ${"))
        #expect(content.keys == ["owner", "post"])
    }

    @Test("presences continue after a restart, and no event is repeated")
    func restart() {
        var stage = ZoneStage([Self.zone { $0.dwellSeconds = [60] }], intervals: [1_000_000, nil, nil])
        stage.resume(
            [
                .init(zone: "desk", beacon: "a", since: 1_000_000_000, dwells: 0),
                .init(zone: "attic", beacon: "a", since: 1, dwells: 0),
            ], now: 1_050_000_000)
        #expect(stage.engine.nextWakeUp == nil && stage.engine.inside(0) == ["a"])
        #expect(stage.becomeHearing(100) == [])
        #expect(stage.hear("a", from: 101, to: 112, -55) == ["111 dwell desk a"])
        #expect(stage.hear("a", from: 112, to: 130, -80) == ["118 exit desk a level"])
    }

    @Test("a beacon not received after a restart leaves after enough listening time")
    func restartWithoutTheBeacon() {
        var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
        stage.resume([.init(zone: "desk", beacon: "a", since: 5, dwells: 0)], now: 0)
        #expect(stage.lines(until: 1000) == [])
        #expect(stage.becomeHearing(1000) == [])
        #expect(stage.lines(withOthersUntil: 2000) == ["1032.66 exit desk a silence"])
    }

    @Test("if nothing is received after a restart, presence is unknown")
    func restartWithoutReports() {
        var stage = ZoneStage([Self.zone()], intervals: [1_000_000, nil, nil])
        stage.resume([.init(zone: "desk", beacon: "a", since: 5, dwells: 0)], now: 0)
        #expect(stage.becomeHearing(1000) == [])
        #expect(stage.lines(until: 5000) == ["1005 unknown desk"])
        #expect(stage.hearOther(5000) == ["5000 known desk"])
    }

    @Test("a dwell event after a restart waits until the beacon is received again")
    func restartWithDwell() {
        func stage() -> ZoneStage {
            var stage = ZoneStage([Self.zone { $0.dwellSeconds = [60, 600] }], intervals: [1_000_000, nil, nil])
            stage.resume([.init(zone: "desk", beacon: "a", since: 0, dwells: 0)], now: 90_000_000)
            return stage
        }
        var left = stage()
        #expect(left.becomeHearing(100) == [])
        #expect(left.lines(withOthersUntil: 1000) == ["132.66 exit desk a silence"])
        var stayed = stage()
        #expect(stayed.becomeHearing(100) == [])
        #expect(stayed.hear("a", from: 104, to: 105, -55).first == "104 dwell desk a")
    }

    /// A machine without a battery-backed clock starts in the past, and NTP sets its clock later.
    @Test("a presence that began after the present time of a clock that is behind continues")
    func restartWithAClockThatIsBehind() throws {
        let since: Int64 = 1_700_000_000_000_000
        var stage = ZoneStage([Self.zone { $0.dwellSeconds = [60] }], intervals: [1_000_000, nil, nil])
        let presence = ZoneEngine.Presence(zone: "desk", beacon: "a", since: since, dwells: 0)
        stage.resume([presence], now: 1_000_000)
        #expect(stage.engine.inside(0) == ["a"])
        #expect(stage.engine.presences { if case .unix(let time) = $0 { time } else { nil } } == [presence])
        #expect(stage.becomeHearing(100) == [])
        // The time inside is counted from the first report after the restart.
        #expect(stage.hear("a", from: 101, to: 170, -55) == ["161 dwell desk a"])
        var exit: ZoneEvent?
        for second in 170..<190 {
            exit = exit ?? stage.receive("a", Double(second), -80).first { $0.kind == .exit }
        }
        let event = try #require(exit)
        #expect(event.since == .unix(since))
        func lasted(untilUnix now: Int64) -> Int? {
            event.lastedMicroseconds(.init(receiver: "hall", boot: "b", clock: "synchronized") { _ in now })
        }
        #expect(lasted(untilUnix: since + 200_000_000) == 200_000_000)
        #expect(lasted(untilUnix: 180_000_000) == 0)
    }

    @Test("the same sightings give the same events at any speed")
    func replay() {
        func run(_ looks: Double) -> [String] {
            var stage = ZoneStage([
                Self.zone {
                    $0.members = .tag("desk"); $0.exclusive = "x"; $0.dwellSeconds = [3]
                },
                Self.zone {
                    $0.name = "room"; $0.members = .beacons(["a", "b", "c"]); $0.scope = .zone
                },
            ])
            var randomness = SplitMix64(seed: 5)
            var lines: [String] = []
            var time = 1.0
            while time < 900 {
                time += Double(randomness.next() % 400) / 100
                if looks > 0 {
                    var look = time - 4
                    while look < time {
                        lines += stage.lines(until: max(0, look))
                        look += looks
                    }
                }
                let name = ["a", "b", "c"][Int(randomness.next() % 3)]
                lines += stage.hear(name, (time * 1000).rounded() / 1000, Int8(-50 - Int(randomness.next() % 20)))
            }
            return lines + stage.lines(until: 2000)
        }
        let once = run(0)
        #expect(once.count > 50)
        #expect(once == run(0.05))
    }
}
