internal import ArgumentParser
internal import Planner

struct PlanLatency: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "How long until one given beacon is first received by a scanner.",
        discussion: """
            Example: pharos plan latency --beacons 100 --interval-ms 760 --scanner android-low-power \
            --undiscovered-after-s 10 60
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Tell the share that is not yet received after so many seconds.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: fleet.source)
        guard receiver.scanner != nil || receiver.scanWindowMs != nil else {
            throw ValidationError("Name the receiver: --scanner, or --scan-window-ms and --scan-interval-ms.")
        }
    }

    func run() throws {
        let question = LatencyQuestion(
            air: try fleet.air(interval), scanner: try receiver.presetOrContinuous, background: try background.load,
            undiscoveredAfter: undiscoveredAfterS)
        try output.show(question.answer())
    }
}
