internal import Airtime
internal import ArgumentParser
internal import Configuration
internal import PlanReport

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

    @Option(
        help: ArgumentHelp("Take what is sent from a beacon profile; all boxes send it.", valueName: "file"),
        completion: .file())
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
        guard intervalMs != nil || profile != nil || fleet.source.fromFleet != nil else {
            throw ValidationError("Give --interval-ms, --profile or --from-fleet.")
        }
        if profile != nil, fleet.packet.payloadOctets != nil {
            throw ValidationError("Give --payload-octets or --profile, not both.")
        }
        if profile != nil, fleet.source.fromFleet != nil {
            throw ValidationError("Give --profile or --from-fleet, not both: a fleet says what its beacons send.")
        }
    }

    func run() throws {
        let sites = try fleet.source.sites(
            interval: intervalMs?.interval, payloadOctets: fleet.packet.payloadOctets)
        var answer = sites.count > 1 ? try answer(of: sites) : try answer(of: sites.first ?? options())
        answer.noteRounding(of: intervalMs)
        try answer.show(output)
    }

    /// The boxes that the options tell of.
    private func options() throws -> PlannedAir {
        PlannedAir(
            beacons: fleet.beacons ?? 1,
            frames: try PlannedFrame.frames(profile: profile, interval: intervalMs?.interval, packet: fleet.packet))
    }

    private func answer(of air: PlannedAir) throws -> PlanAnswer {
        let question = CollisionQuestion(
            air: air, background: try background.load, captureDecibels: captureDb, copySpacing: copySpacingMs)
        return try PlanValue.answer { () throws(AirtimeError) in try question.answer() }
    }

    /// A row for each site.
    private func answer(of sites: [PlannedAir]) throws -> PlanAnswer {
        let load = try background.load
        let fleet = sites.first?.origin?.fleet ?? ""
        var rows: [(name: String, share: Double)] = []
        var answer = PlanAnswer(title: "Collisions of the sites of \(fleet)", answer: "")
        for site in sites {
            let name = (site.origin?.site).flatMap { $0.isEmpty ? nil : $0 } ?? "–"
            let model = try PlanValue.answer { () throws(AirtimeError) in
                try BoxCollisionModel(boxes: site.kinds(), background: load)
            }
            rows.append((name, model.collisionFreeProbability))
            answer.figure(
                name, PlanNumber.percent(model.collisionFreeProbability),
                remark:
                    "free of collisions: \(PlanNumber.beacons(site.beacons)), \(site.advertisements) advertisements, "
                    + "\(PlanNumber.text(model.arrivalsPerSecondPerBox)) arriving a second from each")
        }
        if let worst = rows.min(by: { $0.share < $1.share }) {
            answer.content.answer =
                "The fleet \(fleet) has \(sites.count) sites; at the fullest, \(worst.name), "
                + "\(PlanNumber.percent(worst.share)) of the packets reach a receiver without a collision."
        }
        answer.json.append(("fleet", .string(fleet)))
        answer.json.append(("sites", .array(try sites.map { .record(try self.answer(of: $0).json) })))
        answer.note(
            "As if a receiver heard all of its site: `--site` tells more of one, `plan site` who is heard where.")
        return answer
    }
}
