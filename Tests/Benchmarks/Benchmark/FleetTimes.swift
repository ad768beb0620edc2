import Glibc
import LinuxHost

/// Fleets from tables: checks, manifests and profiles, and the same manifests made by other programs.
struct FleetTimes {
    let pharos: String
    /// The directory with the scripts of the other programs.
    let scripts: String
    let python: String
    /// A directory for temporary files.
    let folder: String
    /// The largest number of beacons.
    let beacons: Int

    private static let rounds = 3
    private static let profiles = 10_000
    /// The longest times of `fleet check` and of `fleet generate --manifest-only`, in s.
    private static let goals: [(beacons: Int, check: Double, generate: Double)] = [
        (400, 0.05, 0.08), (10_000, 0.6, 1), (100_000, 6, 10),
    ]
    /// The goal in MiB: 1.2 GB for 100,000 beacons.
    private static let memoryGoal = 1144.0

    func run(_ report: Report) throws {
        let folder = "\(folder)/fleet-\(getpid())"
        guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("mkdir", folder, errno: errno) }
        defer { _ = unsafe rmdir(folder) }
        for goal in Self.goals where goal.beacons <= beacons {
            let fleet = try SampleFleet(beacons: goal.beacons, in: "\(folder)/\(goal.beacons)")
            defer { fleet.remove() }
            try manifests(report, fleet, check: goal.check, generate: goal.generate)
        }
        let boxes = try SampleFleet(beacons: min(beacons, Self.profiles), in: folder + "/profiles")
        defer { boxes.remove() }
        try profiles(report, boxes)
        let part = try SampleFleet(beacons: max(1, beacons / 10), in: folder + "/part")
        defer { part.remove() }
        try peers(report, part)
        try IdentifierTimes(pharos: pharos, folder: folder, beacons: beacons).run(report)
    }

    private func command(_ name: String, _ fleet: SampleFleet, _ options: [String] = []) throws -> MeasuredRun {
        let nowhere = try Descriptor.open("/dev/null", .replace)
        return try MeasuredRun([pharos, "fleet", name, fleet.file] + options, output: nowhere)
    }

    private func generate(_ fleet: SampleFleet, _ options: [String]) throws -> MeasuredRun {
        try command("generate", fleet, ["--output", fleet.output] + options)
    }

    /// A first run, and a second one that must not write anything.
    private func twice(_ fleet: SampleFleet, _ options: [String]) throws -> (first: MeasuredRun, second: MeasuredRun) {
        fleet.clear()
        let first = try generate(fleet, options)
        let before = try fleet.stamps()
        let second = try generate(fleet, options)
        guard try fleet.stamps() == before, before.count >= 4 else {
            throw BenchmarkError("an unchanged second run wrote files of \(fleet.output)")
        }
        return (first, second)
    }

    private func manifests(_ report: Report, _ fleet: SampleFleet, check: Double, generate: Double) throws {
        report.section("Fleet: \(Double(fleet.beacons).grouped) beacons from CSV")
        var (checks, firsts, seconds): ([MeasuredRun], [MeasuredRun], [MeasuredRun]) = ([], [], [])
        for _ in 0..<Self.rounds {
            let (first, second) = try twice(fleet, ["--manifest-only"])
            firsts.append(first)
            seconds.append(second)
            checks.append(try command("check", fleet))
        }
        report.row("", ["seconds", "slowest", "processor s", "peak MiB"])
        for (name, runs) in [("check", checks), ("generate, new", firsts), ("generate, again", seconds)] {
            let times = runs.map(\.seconds)
            let work = runs.map(\.processorSeconds).median.text(2)
            report.row(name, [times.median.text(2), (times.max() ?? 0).text(2), work, Self.peak(runs).text(0)])
        }
        report.target("fleet check", checks.map(\.seconds).median, "s", atMost: check)
        for (name, runs) in [("", firsts), (", unchanged", seconds)] {
            report.target("fleet generate --manifest-only\(name)", runs.map(\.seconds).median, "s", atMost: generate)
            report.target("its peak RSS", Self.peak(runs), "MiB", atMost: Self.memoryGoal, digits: 0)
        }
        report.line(
            "Medians of \(Self.rounds) rounds; 1144 MiB are 1.2 GB. The unchanged runs wrote nothing: inode, size,")
        report.line("and times of modification and change of every file and of the directory did not change.")
    }

    private static func peak(_ runs: [MeasuredRun]) -> Double { runs.map(\.peak).max() ?? 0 }

    private func profiles(_ report: Report, _ fleet: SampleFleet) throws {
        report.section("Fleet: \(Double(fleet.beacons).grouped) profiles, each in a file of its own")
        var runs: [(first: MeasuredRun, second: MeasuredRun)] = []
        for _ in 0..<Self.rounds { runs.append(try twice(fleet, [])) }
        report.target("fleet generate", runs.map(\.first.seconds).median, "s", atMost: 5)
        report.line("again, nothing written: \(runs.map(\.second.seconds).median.text(2)) s")
    }

    /// Measures the programs in turns on a tenth of the fleet: the other programs would need minutes for all of it.
    private func peers(_ report: Report, _ fleet: SampleFleet) throws {
        report.section("Fleet: the manifests of \(Double(fleet.beacons).grouped) beacons, compared with jq and Python")
        let nowhere = try Descriptor.open("/dev/null", .replace)
        let other = fleet.folder + "/other"
        _ = unsafe mkdir(other, 0o700)
        let hasJQ = (try? ChildProcess.run(["jq", "--version"], output: nowhere)) != nil
        var runs: [(name: String, runs: [MeasuredRun], run: () throws -> MeasuredRun)] = [
            ("pharos", [], { [self] in try generate(fleet, ["--manifest-only"]) }),
            (
                "Python csv, json", [],
                { [self] in
                    try MeasuredRun([python, "\(scripts)/fleet_peers.py", fleet.table, other], output: nowhere)
                }
            ),
        ]
        if hasJQ { runs.append(("jq", [], { [self] in try jq(fleet.table, other) })) }
        for _ in 0..<Self.rounds {
            for index in runs.indices {
                fleet.clear()
                runs[index].runs.append(try runs[index].run())
                if index == 1 { try compare(fleet, other) }
            }
        }
        report.row("", ["seconds", "times pharos", "processor s", "times pharos", "peak MiB"])
        let (time, work) = (runs[0].runs.map(\.seconds).median, runs[0].runs.map(\.processorSeconds).median)
        for (name, runs, _) in runs {
            let (seconds, processor) = (runs.map(\.seconds).median, runs.map(\.processorSeconds).median)
            let columns = [seconds.text(2), (seconds / time).text(1), processor.text(2), (processor / work).text(1)]
            report.row(name, columns + [Self.peak(runs).text(0)])
        }
        report.line(
            "Medians of \(Self.rounds) rounds in turns. Pharos uses all cores. It also checks airtime, writes the "
                + "lock and")
        report.line(
            "waits for the disk. jq leaves out addresses and fingerprints; its peak is that of one of its two runs.")
        if !hasJQ { report.notMeasured("jq", because: "it is not installed; apt-get install jq") }
    }

    /// jq writes one file in each run, so a second run makes the table.
    private func jq(_ table: String, _ folder: String) throws -> MeasuredRun {
        let (manifest, rows) = (folder + "/manifest.json", folder + "/manifest.csv")
        var run = try MeasuredRun(
            ["jq", "-Rnc", "-f", "\(scripts)/fleet_peers.jq", table], output: try Descriptor.open(manifest, .replace))
        let second = try MeasuredRun(
            ["jq", "-rf", "\(scripts)/fleet_peers_table.jq", manifest], output: try Descriptor.open(rows, .replace))
        run.seconds += second.seconds
        run.processorSeconds += second.processorSeconds
        run.peak = max(run.peak, second.peak)
        return run
    }

    /// Checks that the files of Python are as long as those of Pharos: programs that write different files cannot be
    /// compared.
    private func compare(_ fleet: SampleFleet, _ other: String) throws {
        _ = try generate(fleet, ["--manifest-only"])
        for name in ["manifest.json", "manifest.csv"] {
            let (ours, theirs) = (try Files.read("\(fleet.output)/\(name)"), try Files.read("\(other)/\(name)"))
            guard ours.count == theirs.count else {
                throw BenchmarkError("\(name) has \(ours.count) bytes, but \(theirs.count) if Python writes it")
            }
        }
    }
}
