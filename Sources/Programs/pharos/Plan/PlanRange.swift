internal import ArgumentParser
internal import Planner

struct PlanRange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "range",
        abstract: "Explain spacing and range: beacons in range, levels, height, bodies and capture.",
        discussion: """
            pharos plan range --spacing-m 10 --range-m 100
            pharos plan range --distance-m 4 --interferer-m 20
            pharos plan range --level-dbm -75 --height-m 3 --body-db 15

            --spacing-m, --range-m, --distance-m, --level-dbm, --height-m, --body-db and --interferer-m can each be \
            given alone. The answer has a value for each path-loss model.
            """)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Spacing of a square grid of beacons (default: 10 and 15).", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0.01...1_000_000, "m") })
    var spacingM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Range of a beacon (default: computed from power and path loss).", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0.001...1_000_000, "m") })
    var rangeM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Distance of a beacon, measured on the floor: show its level and loss.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...500_000, "m") })
    var distanceM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Level at the receiver: show the distance with this level.", valueName: "dBm"),
        transform: { try PlanValue.number($0, in: -150...40, "dBm") })
    var levelDbm: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Height of the beacons above the receiver.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...1000, "m") })
    var heightM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Loss caused by a body between beacon and receiver, such as 15 at 5 cm from the receiver and 6 at 20 cm.",
            valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...60, "dB") })
    var bodyDb: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Distance from the receiver to another beacon, whose packet collides.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...500_000, "m") })
    var interfererM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Capture: a packet survives a collision with a packet that is this many dB weaker (default: 12).",
            valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...40, "dB") })
    var captureDb: Double?

    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    private var question: RangeQuestion {
        var question = RangeQuestion()
        (question.spacing, question.range, question.distance, question.level) = (spacingM, rangeM, distanceM, levelDbm)
        (question.height, question.body, question.interferer) = (heightM, bodyDb, interfererM)
        if let captureDb { question.captureThreshold = captureDb }
        question.pathLoss = radio.model
        question.radioPower = radio.radioPower
        question.sensitivity = radio.sensitivity
        question.shadowing = radio.shadowing
        return question
    }

    func validate() throws {
        guard question.hasValues else {
            throw ValidationError(
                "Give at least one of --spacing-m, --range-m, --distance-m, --level-dbm, --height-m, --body-db and "
                    + "--interferer-m.")
        }
        if captureDb != nil, interfererM == nil { throw ValidationError("--capture-db needs --interferer-m.") }
    }

    func run() throws { try output.show(question.answer()) }
}
