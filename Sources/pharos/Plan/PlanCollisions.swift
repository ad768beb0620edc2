internal import Airtime
internal import ArgumentParser
internal import PlanReport
internal import Profiles

struct PlanCollisions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collisions",
        abstract: "How many advertisements arrive: collision-free share, arrivals a second, runs of losses.",
        discussion: "Example: pharos plan collisions --beacons 250 --interval-ms 100")

    @OptionGroup var fleet: PlanFleetOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Advertising interval, 20 ms...10.24 s; left out, that of --profile.", valueName: "ms"),
        transform: PlanValue.interval)
    var intervalMs: RequestedInterval?

    @Option(help: ArgumentHelp("Take what is sent from a beacon profile; all boxes send it.", valueName: "file"))
    var profile: String?

    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Capture: a packet survives others this many dB weaker, such as 12.", valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...40, "dB") })
    var captureDb: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Spacing of the three copies, a value of this range for each device, such as 0.45..6.",
            valueName: "ms..ms"),
        transform: PlanValue.copySpacing)
    var copySpacingMs: CopySpacing?

    @OptionGroup var output: PlanOutput

    func validate() throws {
        guard intervalMs != nil || profile != nil else { throw ValidationError("Give --interval-ms, or --profile.") }
        if profile != nil, fleet.packet.payloadOctets != nil {
            throw ValidationError("Give --payload-octets or --profile, not both.")
        }
    }

    func run() throws {
        let boxes = try PlannedFrame.frames(profile: profile, interval: intervalMs?.interval, packet: fleet.packet)
        let question = CollisionQuestion(
            beacons: fleet.beacons, frames: boxes, background: try background.load, captureDecibels: captureDb,
            copySpacing: copySpacingMs)
        var answer = try PlanValue.answer { () throws(AirtimeError) in try question.answer() }
        if let intervalMs { answer.noteRounding(of: intervalMs) }
        try answer.show(output)
    }
}
