internal import Airtime
internal import ArgumentParser
internal import Planner

struct SimulateCollisions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collisions", abstract: "Collisions, packet by packet.",
        discussion: "Example: pharos plan simulate collisions --beacons 250 --interval-ms 100 --seed 7")

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Capture: a packet survives others that together are this many dB weaker.", valueName: "dB"),
        transform: PlanValue.number)
    var captureDb: Double?

    @Option(
        help: ArgumentHelp("Spacing of the copies, a value of this range for each device.", valueName: "ms..ms"),
        transform: PlanValue.copySpacing)
    var copySpacingMs: CopySpacing?

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    func validate() throws { try interval.validate(with: fleet.source) }

    func run() throws {
        let question = try SimulatedCollisions(
            air: fleet.air(interval), background: background.load, captureDecibels: captureDb,
            copySpacing: copySpacingMs, seed: simulation.seed, precision: simulation.precision)
        try output.show(simulation.answer(question))
    }
}
