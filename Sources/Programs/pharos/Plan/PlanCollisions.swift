internal import Airtime
internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import Planner

struct PlanCollisions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collisions",
        abstract: "Show how many advertisements arrive, and how many are lost in a row.",
        discussion: "Example: pharos plan collisions --beacons 250 --interval-ms 100")

    @OptionGroup var fleet: PlanFleetOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Advertising interval, 20 ms...10.24 s (default: that of --profile).", valueName: "ms"),
        transform: PlanValue.interval)
    var intervalMs: RequestedInterval?

    @Option(
        help: ArgumentHelp("Beacon profile that all beacons send.", valueName: "file"),
        completion: .file())
    var profile: String?

    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Capture: a packet survives a collision with packets that are this many dB weaker, such as 12.",
            valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...40, "dB") })
    var captureDb: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Range of the time between the copies of an advertisement on the three channels, such as 0.45..6. Each device "
                + "has its own time.", valueName: "ms..ms"),
        transform: PlanValue.copySpacing)
    var copySpacingMs: CopySpacing?

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([profile, fleet.source.fromFleet])
        guard intervalMs != nil || profile != nil || fleet.source.fromFleet != nil else {
            throw ValidationError("Give --interval-ms, --profile or --from-fleet.")
        }
        if profile != nil, fleet.packet.payloadOctets != nil {
            throw ValidationError("Give --payload-octets or --profile, not both.")
        }
        if profile != nil, fleet.packet.phy != nil {
            throw ValidationError("Give --phy or --profile, not both: a profile says its PHY.")
        }
        if profile != nil, fleet.source.fromFleet != nil {
            throw ValidationError("Give --profile or --from-fleet, not both: a fleet says what its beacons send.")
        }
    }

    func run() throws {
        let load = try background.load
        var airs = try fleet.source.sites(
            interval: intervalMs?.interval, payloadOctets: fleet.packet.payloadOctets, phy: fleet.packet.phy)
        if airs.isEmpty { airs = [PlannedAir(beacons: fleet.beacons ?? 1, frames: try frames())] }
        let questions = airs.map { air in
            var air = air
            air.requestedMicroseconds = intervalMs?.microseconds
            return CollisionQuestion(
                air: air, background: load, captureDecibels: captureDb, copySpacing: copySpacingMs)
        }
        try output.show(questions.count > 1 ? SitesCollisionQuestion(questions).answer() : questions[0].answer())
    }

    /// Returns the advertisements that each beacon sends, from the profile or from the options.
    private func frames() throws -> [PlannedFrame] {
        if let profile {
            return try LoadedProfile(path: profile).advertisements.map { advertisement in
                do throws(PlanError) {
                    return try PlannedFrame(advertisement, interval: intervalMs?.interval)
                } catch {
                    throw error.about(profile)
                }
            }
        }
        guard let intervalMs else { return [] }
        return [
            try PlannedFrame(
                interval: intervalMs.interval, phy: fleet.packet.phy, payloadOctets: fleet.packet.payloadOctets ?? 31)
        ]
    }
}
