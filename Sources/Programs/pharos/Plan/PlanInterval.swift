internal import Airtime
internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import LinuxHost
internal import Planner
internal import Profiles

struct PlanInterval: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interval",
        abstract: "Find the advertising interval to set.",
        discussion: """
            Examples:

              pharos plan interval --beacons 250 --detect-within-s 10 --probability 0.95 --scanner android-low-power
              pharos plan interval --beacons 40 --detect-within-s 10 --probability 95% --phy coded --scanner-phy coded \
            --scanner android-balanced
            """)

    @OptionGroup var fleet: PlanFleetOptions

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Longest time until a beacon is found.", valueName: "s"),
        transform: PlanValue.seconds)
    var detectWithinS: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Share of cases in which a beacon is found in time, such as 0.95 or 95%.", valueName: "p"),
        transform: PlanValue.probability)
    var probability: Double?

    @Flag(help: "Find the interval at which the most advertisements of all beacons together arrive.")
    var maxThroughput = false

    @OptionGroup var receiver: PlanScannerOptions

    @Option(
        help: ArgumentHelp("Write the interval into this beacon profile.", valueName: "file"))
    var writeProfile: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Number of the profile's advertisement, from 1 (default: the most frequent).", valueName: "n"))
    var advertisement: [Int] = []

    @Flag(
        help:
            "Write an interval from the advised spread (a range of intervals for a fleet), chosen by the profile's name."
    )
    var spread = false

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([writeProfile, fleet.source.fromFleet, receiver.scannerFile])
        if maxThroughput {
            guard detectWithinS == nil, probability == nil else {
                throw ValidationError("Give --max-throughput, or --detect-within-s and --probability, not both.")
            }
        } else {
            guard detectWithinS != nil, probability != nil else {
                throw ValidationError("Give a goal: --detect-within-s and --probability, or --max-throughput.")
            }
        }
        if !advertisement.isEmpty || spread, writeProfile == nil {
            throw ValidationError("\(spread ? "--spread" : "--advertisement") needs --write-profile.")
        }
    }

    func run() throws {
        let scanners = try receiver.mix
        let phy = fleet.packet.phy
        let site = try fleet.source.site(interval: nil, payloadOctets: fleet.packet.payloadOctets, phy: phy)
        if let site {
            try site.check(scanners, receiving: receiver.scannerPhy)
        } else if let phy {
            try scanners.check(receiving: phy, on: receiver.scannerPhy)
        }
        let goal: IntervalGoal =
            if let detectWithinS, let probability {
                .detect(withinSeconds: detectWithinS, probability: probability)
            } else {
                .maximumThroughput
            }
        let comparesScanners = output.html != nil
        let question =
            if let site {
                try IntervalQuestion(
                    fleet: FleetInterval(site), goal: goal, scanners: scanners, comparesScanners: comparesScanners)
            } else {
                try IntervalQuestion(
                    beacons: fleet.beacons ?? 1, phy: phy, payloadOctets: fleet.packet.payloadOctets ?? 31, goal: goal,
                    scanners: scanners, comparesScanners: comparesScanners)
            }
        var answer = try question.answer()
        if let writeProfile {
            // If the target is missed, there is no advised spread.
            let advisedSpread =
                spread && answer.holds
                ? try PlanError.asking { () throws(AirtimeError) in try question.advice.spread() } : nil
            var sentences = try write(question.advice.interval, spread: advisedSpread, to: writeProfile)
            if !answer.holds {
                sentences.append(
                    "\(writeProfile): this interval comes closest to the target, but misses it.")
            }
            for sentence in sentences {
                if output.json || output.csv { Terminal.writeMessage(sentence) } else { answer.note(sentence) }
            }
        }
        try output.show(answer)
    }

    /// Writes an interval into a beacon profile: the interval that the spread has for this profile, or the advised
    /// interval if there is none.
    ///
    /// - Returns: Sentences about the changes, and warnings.
    private func write(_ advised: AdvertisingInterval, spread: IntervalSpread?, to path: String) throws -> [String] {
        let text = try InputFile.read(path, limit: ProfileReport.sizeLimit)
        let report = ProfileReport(text, file: path)
        guard let profile = report.profile else { throw report.refusal }
        let revision: ProfileRevision
        do throws(PlanError) {
            revision = try ProfileRevision(
                of: text, profile: profile, interval: spread?.interval(of: profile.name) ?? advised,
                advertisements: advertisement)
        } catch {
            throw error.about(path)
        }
        if !revision.changes.isEmpty {
            do throws(SystemError) {
                try Files.rewrite(path, with: revision.text)
            } catch {
                throw Failure(.osError, "\(path): cannot write the file: \(error.text)")
            }
        }
        return revision.sentences(about: path)
    }
}
