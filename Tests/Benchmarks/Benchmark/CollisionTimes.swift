import Airtime
import CCollisions
import Glibc

/// The collision simulation, beside a plain C program of the same algorithm.
struct CollisionTimes {
    private static let fleets = [(250, 100.0), (50, 100.0), (100, 20.0), (1000, 1000.0)]
    private static let airtime = 376.0
    private static let rounds = 101

    static func run(_ report: Report) throws {
        report.section("Collisions: advertising events a second on one core, beside plain C")
        report.row("N, T", ["Swift 10⁶/s", "C 10⁶/s", "ratio", "clear", "C clear", "exact"])
        var eventTime = 0.0
        for (count, interval) in fleets.reversed() {
            let row = try measure(count, interval * 1000)
            eventTime = row.time
            report.row(
                "\(count), \(interval.shortText) ms",
                [(1000 / row.time).text(0), (1000 / row.referenceTime).text(0), (row.referenceTime / row.time).text(2)]
                    + [row.share, row.referenceShare, row.exact].map { $0.text(5) })
        }
        report.line("Medians of \(rounds) rounds, turn about, in processor time: what other programs take of the core")
        report.line("does not count.")
        report.target("an event of 250 beacons at 100 ms, 200 million a second", eventTime, "ns", atMost: 5)
    }

    private struct Row {
        /// In nanoseconds an event.
        var time = 0.0
        var referenceTime = 0.0
        var share = 0.0
        var referenceShare = 0.0
        var exact = 0.0
    }

    private static func measure(_ count: Int, _ interval: Double) throws -> Row {
        let group = try AdvertiserGroup(count: count, intervalMicroseconds: interval, airtimeMicroseconds: airtime)
        let simulation = try CollisionSimulation(group, seed: 1)
        let blocks = Int64(simulation.blocksPerBatch)
        var tally = ShareTally()
        var (started, clear) = (0.0, 0.0)
        var times: [Double] = []
        var referenceTimes: [Double] = []
        for round in 0..<rounds {
            let (time, batch) = processorTime { simulation.batch(round) }
            times.append(time / Double(batch.trials))
            tally.merge(batch)
            let (referenceTime, reference) = processorTime {
                collisions_simulate(Int32(count), interval, airtime, blocks, UInt64(round))
            }
            guard reference.started > 0 else { throw BenchmarkError("the C program started nothing") }
            referenceTimes.append(referenceTime / Double(reference.started))
            started += Double(reference.started)
            clear += Double(reference.clear)
        }
        var row = Row(time: times.median, referenceTime: referenceTimes.median)
        row.share = tally.share ?? 0
        row.referenceShare = clear / started
        row.exact = (0..<count - 1).reduce(1) { product, _ in product * (1 - 2 * airtime / group.meanPeriodMicroseconds)
        }
        // A race between programs that find different things would mean nothing.
        guard abs(row.share - row.referenceShare) < 0.01, abs(row.share - row.exact) < 0.01 else {
            throw BenchmarkError("the simulations disagree: \(row)")
        }
        return row
    }

    private static func processorTime<Result>(_ body: () -> Result) -> (nanoseconds: Double, Result) {
        let start = processorNanoseconds()
        let result = body()
        return (processorNanoseconds() - start, result)
    }

    private static func processorNanoseconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
