internal import Airtime
internal import ArgumentParser
internal import Planner

struct PlanDensity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "density",
        abstract: "How many beacons a place bears, and how far apart that is.",
        discussion: """
            Example: pharos plan density --interval-ms 500 --detect-within-s 10 --probability 0.95 \
            --scanner android-low-power
            """)

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var source: PlanSourceOptions

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How long detection may take.", valueName: "s"),
        transform: PlanValue.seconds)
    var detectWithinS: Double

    @Option(
        parsing: .unconditional, help: ArgumentHelp("In which share of cases, such as 0.95.", valueName: "p"),
        transform: PlanValue.share)
    var probability: Double

    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: source)
        guard probability > 0, probability < 1 else {
            throw ValidationError("--probability: write a share between 0 and 1, without the ends.")
        }
    }

    func run() throws {
        let question = DensityQuestion(
            air: try source.air(interval, packet), scanner: try receiver.presetOrContinuous,
            target: DetectionTarget(withinSeconds: detectWithinS, probability: probability), range: try radio.range,
            drawsCurve: output.html != nil)
        try output.show(question.answer())
    }
}
