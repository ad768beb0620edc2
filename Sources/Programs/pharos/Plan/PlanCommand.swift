internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Planner

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Plan beacons: how many, at which interval, at which power.",
        discussion: """
            The numbers come from models that are checked by simulation. Examples:

              pharos plan interval --beacons 250 --detect-within-s 10 --probability 0.99 --scanner android-low-power
              pharos plan collisions --from-fleet museum.json
              pharos plan collisions --beacons 100,250,500 --interval-ms 100,500
            """,
        subcommands: [
            PlanInterval.self, PlanCollisions.self, PlanLatency.self, PlanPattern.self, PlanDensity.self, PlanWalk.self,
            PlanEnergy.self, PlanRange.self, PlanSite.self, PlanCompare.self, PlanSimulate.self, PlanThesis.self,
            PlanScanners.self, PlanJSONKeys.self,
        ])
}

/// Prints the documentation of the JSON keys, from which the manual page is generated.
struct PlanJSONKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json-keys", abstract: "Print the meaning of each JSON key of all plan commands.",
        shouldDisplay: false)

    func run() { Terminal.write(PlanReference.json.line + "\n") }
}

/// The options that determine how an answer of the planner is printed.
struct PlanOutput: ParsableArguments {
    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Print a table for spreadsheets: a header, and a line for each answer.")
    var csv = false

    @Option(
        help: ArgumentHelp("Also write a web page with charts and controls.", valueName: "file"), completion: .file(),
        transform: OptionValue.page)
    var html: String?

    func validate() throws {
        if json, csv { throw ValidationError("Give --json or --csv, not both.") }
        if html == "-" { throw ValidationError("--html needs a file name; the answer goes to standard output.") }
    }

    /// Throws an error if the page would replace a file that the command reads.
    func refuseOverwriting(_ files: [String?]) throws {
        try OutputFiles.refuseOverwriting([("--html", html)], read: files)
    }

    /// Prints the answer, or passes it to the comparison if the command runs as part of a comparison. Throws a failure
    /// with exit status 1 if the target cannot be reached.
    func show(_ answer: PlanAnswer) throws {
        if let collector = PlanAnswerCollector.current { return collector.take(answer) }
        if csv {
            Terminal.write(PlanComparison([.init(settings: [], answer: answer)]).csv)
        } else if json {
            Terminal.write(answer.json.line + "\n")
        } else {
            Terminal.show(answer.text(charts: Self.charts))
        }
        // The page is written after the answer was printed, so that the answer is not lost if the page cannot be
        // written.
        if let html {
            try PageFile.write(answer.page(command: CommandProgram.commandLine), to: html)
            if !json, !csv { Terminal.show("\npage written: \(html)\n") }
        }
        if !answer.holds { throw Failure(.failure) }
    }

    /// The form of charts: as wide as the terminal, with the characters and colours that it supports.
    private static var charts: TextChart {
        TextChart(width: Terminal.columns, isPlain: Terminal.isPlain, isColored: Terminal.wantsColor)
    }
}

/// Shows the progress of a long calculation on a terminal. Ctrl-C stops the calculation, which then answers with the
/// results so far.
final class PlanWatch {
    private let progressLine = ProgressLine()
    private let signals: SignalDescriptor
    private let callsPerCheck: Int
    private var calls = 0
    private var isStopped = false

    /// - Parameter callsPerCheck: The number of calls of ``report(_:)`` between two checks for signals.
    init(callsPerCheck: Int = 1) throws {
        self.callsPerCheck = callsPerCheck
        signals = try SignalDescriptor()
    }

    /// Shows the progress. Call it as often as convenient.
    ///
    /// - Returns: False after Ctrl-C.
    func report(_ progress: () -> PlanProgress) -> Bool {
        calls += 1
        if calls % callsPerCheck == 0, signals.take() != nil { isStopped = true }
        progressLine.report {
            let progress = progress()
            // Show nothing after the first batch of a simulation if the number of batches is unknown.
            return progress.done > 1 || progress.total != nil ? progress.text : nil
        }
        return !isStopped
    }

    func finish() { progressLine.finish() }
}
