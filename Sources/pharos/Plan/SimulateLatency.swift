internal import ArgumentParser
internal import Planner

struct SimulateLatency: ParsableCommand {
    static let name = "latency"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Simulate the time to discovery, packet by packet.",
        discussion: """
            Example: pharos plan simulate latency --beacons 100 --interval-ms 100 --scanner android-low-latency --seed 7
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var receiver: PlanScannerOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Tell the share that is not yet received after so many seconds.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: fleet.source)
        try simulation.validate(with: output)
    }

    func run() throws { try simulation.run(question(), named: Self.name, output) }

    func question() throws -> SimulatedLatency {
        try SimulatedLatency(
            air: fleet.air(interval), scanner: receiver.presetOrContinuous, undiscoveredAfter: undiscoveredAfterS,
            seed: simulation.seed, precision: simulation.precision)
    }
}
