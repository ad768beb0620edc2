import Airtime
import CCollisions
import Glibc
import LinuxHost

/// The collision simulation, beside a plain C program of the same algorithm.
struct CollisionTimes {
    private static let fleets = [(250, 100.0), (50, 100.0), (100, 20.0), (1000, 1000.0)]
    private static let airtime = 376.0
    private static let rounds = 101

    /// - Parameter pharos: The binary whose simulation on two cores is measured; `nil`: only one core is.
    static func run(_ report: Report, pharos: String?) throws {
        report.section("Collisions: advertising events a second on one core, beside plain C")
        report.row("N, T", ["Swift 10⁶/s", "C 10⁶/s", "ratio", "clear", "C clear", "exact"])
        var (eventTime, ratio) = (0.0, 0.0)
        var slowest = 0.0
        for (count, interval) in fleets.reversed() {
            let row = try measure(count, interval * 1000)
            (eventTime, ratio) = (row.time, row.referenceTime / row.time)
            slowest = max(slowest, 1 / ratio)
            report.row(
                "\(count), \(interval.shortText) ms",
                [(1000 / row.time).text(0), (1000 / row.referenceTime).text(0), ratio.text(2)]
                    + [row.share, row.referenceShare, row.exact].map { $0.text(5) })
        }
        report.line("Medians of \(rounds) rounds, turn about, in processor time: what other programs take of the core")
        report.line("does not count.")
        report.target("an event of 250 beacons at 100 ms, 30 million a second", eventTime, "ns", atMost: 33)
        report.line("time of an event compared with plain C, in the slowest row: \(slowest.text(2)) times")
        guard let pharos else {
            report.notMeasured("two cores", because: "no static binary; give it with --pharos")
            return
        }
        try onTwoCores(report, pharos, ratio)
    }

    /// The whole command with one thread and with two; beside C it is as fast as one thread is, times what the second
    /// one gains.
    private static func onTwoCores(_ report: Report, _ pharos: String, _ ratio: Double) throws {
        let nowhere = try Descriptor.open("/dev/null", .replace)
        let command = [
            pharos, "plan", "simulate", "collisions", "--beacons", "250", "--interval-ms", "100", "--precision",
            "0.0002", "--json", "--jobs",
        ]
        let times = try Measuring.inTurns(
            rounds: 5, ["1", "2"].map { jobs in { try ChildProcess.run(command + [jobs], output: nowhere) } })
        let gain = times[0].median / times[1].median
        let seconds = times.map { ($0.median / 1e9).text(2) }
        report.line("plan simulate collisions --precision 0.0002 takes")
        report.line("\(seconds[0]) s with one thread, \(seconds[1]) s with two.")
        report.line("time of an event on two cores compared with plain C on one: \((1 / (ratio * gain)).text(2)) times")
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
