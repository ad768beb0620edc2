import Airtime
import Testing

@testable import Rehearsal

/// The comparison of the times to detection with the plan. There is no shadowing, so the plan's assumptions hold.
@Suite("95th percentile of detection")
struct DetectionPercentileTests {
    private func percentile(_ report: RehearsalReport) throws -> RehearsalPromise {
        try #require(report.promises.first { $0.kind == .percentile })
    }

    /// Expects that the measured percentile is that of the plan, within four standard errors of at most `limit` %.
    private func expectPlan(_ promise: RehearsalPromise, error limit: Double) throws {
        let measured = try #require(promise.measured)
        let error = try #require(promise.standardError)
        #expect(error < limit)
        #expect(abs(measured - 100) < 4 * error, "\(promise.measuredText) of \(promise.count)")
        #expect(promise.verdict == .holds)
    }

    @Test("it is that of the plan in a run of minutes, because no phone comes before the beacons are on the air")
    func shortRun() throws {
        let world = try RehearsedWorld(beacons: 1, shadowing: 0, scanner: "continuous")
        let (report, tallies) = try world.rehearse(hours: 0.1, phones: 300)
        try expectPlan(try percentile(report), error: 1)
        #expect(tallies.ratios.counts.last == 0)
    }

    @Test("it is that of the plan for intervals longer than the pauses between two visits")
    func longInterval() throws {
        let world = try RehearsedWorld(beacons: 1, interval: 10_240, shadowing: 0, scanner: "continuous")
        let (report, _) = try world.rehearse(hours: 0.5, phones: 200)
        try expectPlan(try percentile(report), error: 0.6)
    }

    @Test("visits are long enough if the plan expects detection after minutes")
    func slowScanner() throws {
        let world = try RehearsedWorld(beacons: 1, interval: 1022.5, shadowing: 0, scanner: "android-low-power")
        let (report, _) = try world.rehearse(hours: 1, phones: 100)
        try expectPlan(try percentile(report), error: 6)
    }

    @Test("it is that of the plan among other devices, which destroy packets of each visit independently")
    func background() throws {
        let world = try RehearsedWorld(
            beacons: 1, interval: 250, shadowing: 0, scanner: "continuous", background: 0.4)
        let (report, tallies) = try world.rehearse(hours: 0.1, phones: 400)
        try expectPlan(try percentile(report), error: 3)
        // A visit has a second packet only if the first one was lost. With these packets, the share of lost packets would
        // be too large if losses come in runs.
        let visits = tallies.places.reduce(0) { $0 + $1.visits }
        #expect((visits - 400...visits).contains(tallies.phoneCopies.offered))
        let collisions = try #require(report.promises.first { $0.subject == "at phones" })
        #expect(collisions.verdict == .holds)
    }

    @Test("visits are as long as the target")
    func longTarget() throws {
        let world = try RehearsedWorld(
            beacons: 1, interval: 1022.5, shadowing: 0, scanner: "android-low-power", targetSeconds: 400)
        let (_, tallies) = try world.rehearse(hours: 1, phones: 100)
        let visits = tallies.places.reduce(0) { $0 + $1.visits }
        let detected = tallies.places.reduce(0) { $0 + $1.detected }
        #expect(visits > 500)
        #expect(Double(detected) > 0.97 * Double(visits))
    }

    @Test("machines with long intervals are switched on throughout an interval")
    func switchesOnThroughoutAnInterval() throws {
        let fleet = try RehearsedWorld(interval: 10_240).fleet()
        let rehearsal = try Rehearsal(fleet, Rehearsal.Options())
        let stage = try RehearsalStage(rehearsal, end: 20_000_000, distance: nil)
        let transmitters = try Transmitters(
            fleet, tallies: stage.tallies.beacons, faults: [], seed: 1, end: 20_000_000, threads: 1)
        defer { transmitters.stop() }
        var first = [Int: Int]()
        while let slice = transmitters.next() {
            for packet in slice.packets where first[Int(packet.emitter)] == nil {
                first[Int(packet.emitter)] = packet.start
            }
        }
        #expect(first.count == 6)
        #expect(try #require(first.values.min()) < 5_000_000)
        #expect(try #require(first.values.max()) > 5_000_000)
        #expect(first.values.allSatisfy { $0 <= fleet.startMicroseconds(end: 20_000_000) })
    }

    // MARK: The statistical error

    /// Detections of which 5 % are late, in equal clusters with the given numbers of late detections.
    private func ratios(late: [Int], of size: Int) -> RehearsalTallies.Ratios {
        var ratios = RehearsalTallies.Ratios()
        for late in late {
            for number in 0..<size {
                // Uniform over 0...1 for detections in time, and over 1...1.05 for late ones.
                let place = Double(number) / Double(size)
                ratios.add(
                    number < late ? 1 + 0.05 * Double(number) / Double(max(1, late)) : (place - 0.05) / 0.95)
            }
            ratios.beacons.add(.init(all: size, late: late))
        }
        return ratios
    }

    private func judged(_ ratios: RehearsalTallies.Ratios) throws -> RehearsalPromise {
        var (_, tallies) = try RehearsedWorld(beacons: 1).rehearse(hours: 0.01, phones: 1)
        tallies.ratios = ratios
        return try percentile(RehearsalReport(tallies, version: "test", site: nil))
    }

    @Test("the standard error is that of independent detections if the clusters do not scatter")
    func independentDetections() throws {
        let promise = try judged(ratios(late: [50, 50, 50, 50], of: 1000))
        let expected = 100 * (0.05 * 0.95 / 4000.0).squareRoot()
        #expect(abs(try #require(promise.standardError) - expected) < 0.1 * expected)
    }

    @Test("the standard error counts the scatter between beacons twice")
    func scatteringBeacons() throws {
        let promise = try judged(ratios(late: [20, 80, 20, 80], of: 1000))
        // The variance of the mean of the four shares, of which about a seventh is that of independent detections.
        let variance = (0.03 * 0.03) / 3.0
        let independent = 0.05 * 0.95 / 4000
        let expected = 100 * (independent + 2 * (variance - independent)).squareRoot()
        #expect(abs(try #require(promise.standardError) - expected) < 0.15 * expected)
    }

    @Test("clusters of several runs are added")
    func clustersOfSeveralRuns() {
        var sum = ratios(late: [20, 80], of: 1000)
        sum.add(ratios(late: [50], of: 1000))
        #expect(sum.beacons.count == 3)
        #expect(sum.beacons.squares == 3_000_000)
        #expect(sum.beacons.lateSquares == 400 + 6400 + 2500)
        #expect(sum.beacons.products == 150_000)
    }

    @Test("without a floor, the phones look for all beacons")
    func withoutAFloor() throws {
        let world = try RehearsedWorld()
        let fleet = try RehearsedFleet(file: world.fleetFile, siteFile: nil)
        var options = Rehearsal.Options()
        options.hours = 0.5
        options.phones = 20
        let result = try #require(try Rehearsal(fleet, options).run(version: "test"))
        #expect(result.tallies.places.map(\.beacon) == Array(0..<6))
        #expect(result.tallies.ratios.beacons.count == 6)
        #expect(result.report.promises.filter { $0.verdict == .broken }.map(\.reason) == [])
    }

    // MARK: Several advertisements on one set

    @Test("machines with several advertisements on one set have a percentile of their own, which is not judged")
    func advertisementsInTurn() throws {
        let world = try RehearsedWorld(controller: "bluetooth-4", frames: 2, shadowing: 0, scanner: "continuous")
        let (report, tallies) = try world.rehearse(hours: 0.25, phones: 100)
        let promises = report.promises.filter { $0.kind == .percentile }
        #expect(promises.map(\.verdict) == [.unjudged, .unjudged])
        // The text has only the beginning of each subject.
        #expect(Set(promises.map { $0.subject.prefix(30) }).count == 2)
        #expect(promises[0].measured == nil)
        #expect(promises[0].reason == "too few machines send each advertisement on its own advertising set")
        // The iBeacon leaves out about every 16th event of the set, so it needs longer than the plan expects.
        #expect(try #require(promises[1].measured) > 108)
        #expect(promises[1].reason.contains("in turn"))
        #expect(tallies.turnRatios.beacons.count > 1)
    }
}
