import Airtime
import Glibc

/// The speed of the packet simulation that checks the models.
struct CollisionTimes {
    private static let fleets = [(50, 100.0), (1000, 1000.0), (250, 100.0)]
    private static let airtime = 376.0
    private static let rounds = 21

    static func run(_ report: Report) throws {
        report.section("Collisions: simulated packets a second on one core")
        report.row("N, T", ["10⁶/s", "clear", "exact"])
        var last: Row?
        for (count, interval) in fleets {
            let row = try measure(count, interval * 1000)
            report.row(
                "\(count), \(interval.shortText) ms",
                [(1000 / row.time).text(1), row.share.text(5), row.exact.text(5)])
            last = row
        }
        if let last {
            report.target("an event of 250 beacons at 100 ms, 30 million a second", last.time, "ns", atMost: 33)
        }
        report.line("Medians of \(rounds) rounds, processor time.")
    }

    private struct Row {
        /// Nanoseconds for each packet.
        var time: Double
        var share: Double
        var exact: Double
    }

    private static func measure(_ count: Int, _ interval: Double) throws -> Row {
        let group = try AdvertiserGroup(count: count, intervalMicroseconds: interval, airtimeMicroseconds: airtime)
        var conditions = AirConditions()
        conditions.simulatesAllChannels = false
        conditions.durationMicroseconds = 100_000 / Double(count) * interval
        let simulation = try AirSimulation(group, scan: .continuous, conditions: conditions, seed: 1)
        var tally = ShareTally()
        var times: [Double] = []
        for round in 0..<rounds {
            let start = processorNanoseconds()
            let batch = simulation.batch(round).clear
            times.append((processorNanoseconds() - start) / Double(batch.trials))
            tally.merge(batch)
        }
        return Row(
            time: times.median, share: tally.share ?? 0,
            exact: try CollisionModel(groups: [group]).collisionFreeProbability)
    }

    private static func processorNanoseconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
