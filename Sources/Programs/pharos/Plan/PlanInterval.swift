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
        abstract: "Which advertising interval to set.",
        discussion: """
            Example: pharos plan interval --beacons 250 --detect-within-s 10 --probability 0.95 \
            --scanner android-low-power
            """)

    @OptionGroup var fleet: PlanFleetOptions

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How long detection may take.", valueName: "s"),
        transform: PlanValue.seconds)
    var detectWithinS: Double?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("In which share of cases, such as 0.95.", valueName: "p"),
        transform: PlanValue.share)
    var probability: Double?

    @Flag(help: "As many advertisements as possible, of all beacons together.")
    var maxThroughput = false

    @OptionGroup var receiver: PlanScannerOptions

    @Option(
        help: ArgumentHelp("Set the interval in this beacon profile, and leave the rest of it.", valueName: "file"))
    var writeProfile: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Which of the profile's advertisements, counted from 1 (default: the most frequent).", valueName: "n"))
    var advertisement: [Int] = []

    @Flag(help: "Give the profile an interval of its own within the advised spread, by its name.")
    var spread = false

    @OptionGroup var output: PlanOutput

    func validate() throws {
        if maxThroughput {
            guard detectWithinS == nil, probability == nil else {
                throw ValidationError("Give --max-throughput, or --detect-within-s and --probability, not both.")
            }
        } else {
            guard detectWithinS != nil, let probability else {
                throw ValidationError("Say what for: --detect-within-s and --probability, or --max-throughput.")
            }
            guard probability > 0, probability < 1 else {
                throw ValidationError("--probability: write a share between 0 and 1, without the ends.")
            }
        }
        if !advertisement.isEmpty || spread, writeProfile == nil {
            throw ValidationError("\(spread ? "--spread" : "--advertisement") belongs to --write-profile.")
        }
    }

    func run() throws {
        ThisProgram.keepFreedMemory()
        let scanner = try receiver.presetOrContinuous
        let site = try fleet.source.site(interval: nil, payloadOctets: fleet.packet.payloadOctets)
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
                    fleet: FleetInterval(site), goal: goal, scanner: scanner, comparesScanners: comparesScanners)
            } else {
                try IntervalQuestion(
                    beacons: fleet.beacons ?? 1, payloadOctets: fleet.packet.payloadOctets ?? 31, goal: goal,
                    scanner: scanner, comparesScanners: comparesScanners)
            }
        var answer = try question.answer()
        if let writeProfile {
            let own = spread ? try PlanError.asking { () throws(AirtimeError) in try question.advice.spread() } : nil
            let sentences = try write(question.advice.interval, spread: own, to: writeProfile)
            for sentence in sentences {
                if output.json { Terminal.writeError("pharos: \(sentence)\n") } else { answer.note(sentence) }
            }
        }
        try output.show(answer)
    }

    /// Puts the advised interval, or the profile's own of the spread, into a beacon profile.
    ///
    /// - Returns: What was changed, and what speaks against it, as sentences.
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
                throw Failure(.osError, "\(path): it cannot be written: \(error.text)")
            }
        }
        return revision.sentences(about: path)
    }
}
