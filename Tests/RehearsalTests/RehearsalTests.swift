import Airtime
import Configuration
import Testing

@testable import Rehearsal

@Suite("Rehearsal")
struct RehearsalTests {
    @Test(
        "a fleet without faults keeps all promises", arguments: [("extended", 1), ("extended", 2), ("raspberry-pi", 2)])
    func holds(controller: String, frames: Int) throws {
        let (report, _) = try RehearsedWorld(controller: controller, frames: frames).rehearse()
        #expect(report.promises.filter { $0.verdict == .broken }.map(\.reason) == [])
        #expect(report.promises.contains { $0.kind == .interval && $0.verdict == .holds })
        #expect(report.promises.contains { $0.kind == .collisions && $0.verdict == .holds })
        #expect(report.promises.contains { $0.kind == .detection && $0.verdict == .holds })
    }

    @Test("results depend on the seed, and not on the number of threads")
    func repeats() throws {
        let world = try RehearsedWorld()
        let first = try world.rehearse(hours: 0.05, threads: 1)
        let second = try world.rehearse(hours: 0.05, threads: 3)
        let other = try world.rehearse(hours: 0.05, seed: 2)
        #expect(first.tallies == second.tallies)
        #expect(first.report.text == second.report.text)
        #expect(first.tallies != other.tallies)
    }

    @Test("the results of two seeds can be added, and are unchanged by JSON")
    func adds() throws {
        let world = try RehearsedWorld()
        let first = try world.rehearse(hours: 0.05)
        let second = try world.rehearse(hours: 0.05, seed: 2)
        var read = try RehearsalTallies(report: Array(first.report.json.line.utf8), file: "a.json")
        #expect(read == first.tallies)
        try read.add(second.tallies)
        #expect(read.seeds == [1, 2])
        let events = { (tallies: RehearsalTallies) in
            tallies.beacons.reduce(0) { $0 + $1.advertisements.reduce(0) { $0 + $1.events.reduce(0, +) } }
        }
        #expect(events(read) == events(first.tallies) + events(second.tallies))
        #expect(throws: RehearsalError.self) { try read.add(first.tallies) }
    }

    @Test("a report with counts in another format is refused with the command that replaces it")
    func refusesOtherFormats() throws {
        func message(_ text: String) -> String? {
            do throws(RehearsalError) {
                _ = try RehearsalTallies(report: Array(text.utf8), file: "a.json")
                return nil
            } catch {
                return error.description
            }
        }
        let report = #"{"version": "1.0", "seeds": [7], "replay": "rehearse b.json --seed 7", "tallies": {}}"#
        #expect(
            message(report)
                == "a.json: the counts in this report of Pharos 1.0 have another format; rehearse again with this "
                + "version: pharos rehearse b.json --seed 7 --json")
        let sum = #"{"version": "1.0", "seeds": [7, 8], "replay": "rehearse b.json --seed 7", "tallies": {}}"#
        #expect(
            message(sum)
                == "a.json: the counts in this report of Pharos 1.0 have another format; rehearse its 2 seeds again "
                + "with this version, and add their reports")
        #expect(
            message("{}")
                == "a.json: this is not a report of a rehearsal: write one with `pharos rehearse --json`")
    }

    @Test("the battery life of several runs is the mean of all runs")
    func averagesBatteryLives() throws {
        let tallies = try RehearsedWorld().rehearse(hours: 0.01).tallies
        func run(seed: Int, life: Int) -> RehearsalTallies {
            var copy = tallies
            copy.seeds = [seed]
            copy.beacons[0].rehearsedLife = life
            return copy
        }
        var sum = run(seed: 1, life: 300_000)
        try sum.add(run(seed: 2, life: 600_000))
        try sum.add(run(seed: 3, life: 900_000))
        #expect(sum.beacons[0].rehearsedLife == 600_000)
    }

    @Test("the battery life of a beacon that is switched on late counts only the time since then")
    func countsBatteryFromTheStart() throws {
        // The telemetry is sent every 5 s, so the machines are switched on during the first 5 s of 36 s.
        let world = try RehearsedWorld(frames: 2, interval: 100)
        var options = Rehearsal.Options()
        options.hours = 0.01
        options.phones = 0
        options.battery = (
            try #require(BeaconChip.named("nrf52832")), try #require(BeaconBattery.named("cr2032"))
        )
        let result = try Rehearsal(try world.fleet(), options).run(version: "test")
        let beacons = try #require(result).tallies.beacons
        #expect(beacons.count == 6)
        for beacon in beacons {
            let ratio = Double(beacon.rehearsedLife) / Double(beacon.plannedLife)
            #expect(abs(ratio - 1) < 0.01, "\(beacon.name): \(ratio)")
        }
    }

    @Test(
        "each injected fault is found and named",
        arguments: [
            RehearsalFault.Kind.stops, .interval, .identity, .clone, .weak, .deaf, .brokerAway,
        ])
    func findsFault(kind: RehearsalFault.Kind) throws {
        let subject = kind == .deaf ? "ear-3" : kind == .brokerAway ? "" : "box-2"
        let fault = RehearsalFault(kind, subject, atS: 300)
        let (report, _) = try RehearsedWorld(frames: 2).rehearse(faults: [fault])
        #expect(!report.holds)
        #expect(report.faults.map(\.isFound) == [true])
        let broken = report.promises.filter { $0.verdict == .broken && $0.fault == nil }
        #expect(broken.map(\.reason) == [])
    }

    @Test("a beacon that becomes too weak for all receivers is reported", arguments: [0, 300])
    func findsLoss(second: Double) throws {
        var fault = RehearsalFault(.weak, "box-2", atS: second)
        fault.byDb = 60
        let (report, tallies) = try RehearsedWorld().rehearse(faults: [fault])
        #expect(tallies.receivers.allSatisfy { $0.links.allSatisfy { $0.beacon != 1 || $0.count.last == 0 } })
        #expect(report.faults.map(\.isFound) == [true])
        let broken = report.promises.filter { $0.verdict == .broken && $0.fault == nil }
        #expect(broken.map(\.reason) == [])
    }

    @Test("a clone does not change the levels of other beacons")
    func cloneChangesNoLevel() throws {
        let world = try RehearsedWorld()
        let levels = { (faults: [RehearsalFault]) in
            try world.rehearse(hours: 0.05, faults: faults).tallies.receivers.map { receiver in
                receiver.links.filter { $0.beacon != 1 }.map { link in
                    link.levelSum.reduce(0, +) / max(1, link.count.reduce(0, +))
                }
            }
        }
        #expect(try levels([RehearsalFault(.clone, "box-2", atS: 0)]) == levels([]))
    }

    @Test("a reason why several promises cannot be judged is stated once")
    func reasonsAreStatedOnce() throws {
        let (report, _) = try RehearsedWorld().rehearse(hours: 0.02, phones: 2)
        let reasons = report.text.split(separator: "\n").filter { $0.hasPrefix("unjudged: ") }
        let places = report.promises.count { $0.kind == .detection && $0.verdict == .unjudged }
        #expect(places > 1)
        #expect(reasons.contains("unjudged: detection (\(places)): fewer than 10 phones stood at this place"))
        #expect(Set(reasons).count == reasons.count)
    }

    @Test("the playback period contains events, phones and changes")
    func plays() throws {
        let world = try RehearsedWorld()
        var options = Rehearsal.Options()
        options.hours = 0.02
        options.phones = 5
        options.playbackRange = 10...20
        options.faults = [RehearsalFault(.stops, "box-1", atS: 15)]
        let result = try #require(try Rehearsal(try world.fleet(), options).run(version: "test"))
        let playback = try #require(result.report.playback)
        #expect(playback.events.count > 100)
        #expect(playback.events.milliseconds.allSatisfy { (9_990...20_000).contains($0) })
        #expect(playback.events.received.contains { $0 > 0 })
        #expect(playback.phones.count == 5)
        #expect(playback.changes.map(\.text) == ["box-1 stops at 15 s"])
    }

    @Test("a rehearsal that needs more memory than the machine has is refused")
    func memory() throws {
        var options = Rehearsal.Options()
        options.phones = 1_000_000_000
        #expect(throws: RehearsalError.self) { try Rehearsal(try RehearsedWorld().fleet(), options) }
    }
}
