internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Planner

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Computes how many beacons, how often and how loud.",
        discussion: """
            Every number comes from an exact model, or from a simulation with a seed where there is none. Try \
            `pharos plan interval --beacons 250 --detect-within-s 10 --probability 0.99 --scanner android-low-power`; \
            with a fleet file, `pharos plan collisions --from-fleet museum.json`.
            """,
        subcommands: [
            PlanInterval.self, PlanCollisions.self, PlanLatency.self, PlanDensity.self, PlanWalk.self,
            PlanEnergy.self, PlanSite.self, PlanSimulate.self, PlanThesis.self,
        ])
}

/// How the answer of a planner's command is to be given.
struct PlanOutput: ParsableArguments {
    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp("Write a page with pictures and controls as well.", valueName: "file"), completion: .file())
    var html: String?

    /// Prints the answer, and ends with 1 where what was asked for cannot be had.
    func show(_ answer: PlanAnswer) throws {
        if let html {
            do throws(SystemError) {
                try Files.replace(html, with: Array(answer.page(command: Self.command).utf8), isDurable: false)
            } catch {
                throw Failure(.osError, "\(html): the page cannot be written: \(error.text)")
            }
        }
        Terminal.write(json ? answer.json.line + "\n" : answer.text(charts: Self.charts))
        if let html, !json { Terminal.write("\npage written: \(html)\n") }
        if !answer.holds { throw Failure(.failure) }
    }

    /// As wide as the terminal, in characters and colours that it has.
    private static var charts: TextChart {
        let encoding =
            Terminal.environment("LC_ALL") ?? Terminal.environment("LC_CTYPE") ?? Terminal.environment("LANG")
        let isPlain = encoding.map { !$0.uppercased().contains("UTF") } ?? false
        return TextChart(width: Terminal.columns, isPlain: isPlain, isColored: Terminal.wantsColor)
    }

    /// The command line, as somebody would type it again.
    static var command: String { ShellText.line(["pharos"] + CommandLine.arguments.dropFirst()) }
}

/// Shows on a terminal how far a long question is, and ends it at Ctrl-C with what there is.
final class PlanWatch {
    private let line = ProgressLine()
    private let signals: SignalDescriptor
    private let pace: Int
    private var calls = 0
    private var isStopped = false

    /// - Parameter pace: Looks for signals at every so manieth call.
    init(every pace: Int = 1) throws {
        self.pace = pace
        signals = try SignalDescriptor()
    }

    /// To be called as often as it is convenient.
    ///
    /// - Returns: Whether to go on.
    func report(_ progress: () -> PlanProgress) -> Bool {
        calls += 1
        if calls % pace == 0, signals.take() != nil { isStopped = true }
        line.report {
            let progress = progress()
            // "1 batches", with no end in sight, tells less than that the program works.
            return progress.done > 1 || progress.total != nil ? progress.text : nil
        }
        return !isStopped
    }

    func finish() { line.finish() }
}
