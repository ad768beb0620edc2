internal import Airtime
internal import ArgumentParser
internal import Planner

struct PlanWalk: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walk",
        abstract: "Whether a beacon is seen by somebody who walks past.",
        discussion: """
            Example: pharos plan walk --speed-mps 1.4 --distance-m 3 --range-m 10 --interval-ms 760 \
            --scanner android-low-power
            """)

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How fast (people: 1.4).", valueName: "m/s"),
        transform: { try PlanValue.number($0, in: 0.001...1000, "m/s") })
    var speedMps: Double

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How near the way comes to the beacon.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...1_000_000, "m") })
    var distanceM: Double

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How far the beacon is heard; left out, from power and path loss.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0.001...1_000_000, "m") })
    var rangeM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range, the asked one included (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try source.validate(beacons: beacons, isOptional: true)
        try interval.validate(with: source)
    }

    func run() throws {
        let range = try rangeM.map { PlannedRange(meters: $0) } ?? radio.range
        let question = WalkQuestion(
            air: try source.air(interval, packet, beacons: beacons), scanner: try receiver.presetOrContinuous,
            speed: speedMps, distance: distanceM, range: range)
        try output.show(question.answer())
    }
}
