internal import Airtime
internal import ArgumentParser
internal import Planner

struct SimulateCollisions: ParsableCommand {
    static let name = "collisions"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Simulate collisions, packet by packet.",
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

    func validate() throws {
        try interval.validate(with: fleet.source)
        try simulation.validate(with: output)
    }

    func run() throws { try simulation.run(question(), named: Self.name, output) }

    func question() throws -> SimulatedCollisions {
        try SimulatedCollisions(
            air: fleet.air(interval), background: background.load, captureDecibels: captureDb,
            copySpacing: copySpacingMs, seed: simulation.seed, precision: simulation.precision)
    }
}
