internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import Fleet
internal import FleetStore
internal import Planner

/// A fleet in place of numbers.
struct PlanSourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take beacons, intervals and payloads from a fleet: its file, the folder that `fleet generate` wrote, or the manifest.json in it. --interval-ms and --payload-octets, where given, replace those of all its advertisements.",
            valueName: "fleet"), completion: .file())
    var fromFleet: String?

    @Option(help: ArgumentHelp("Which site of the fleet, where it has several.", valueName: "name"))
    var site: String?

    func validate() throws {
        if site != nil, fromFleet == nil { throw ValidationError("--site belongs to --from-fleet.") }
    }

    /// Refuses numbers beside the fleet that has them, and neither.
    func validate(beacons: Int?, isOptional: Bool = false) throws {
        if beacons != nil, fromFleet != nil {
            throw ValidationError("Give --beacons or --from-fleet, not both: a fleet says how many beacons it has.")
        }
        if beacons == nil, fromFleet == nil, !isOptional {
            throw ValidationError("Say how many beacons: --beacons, or --from-fleet.")
        }
    }

    /// The asked sites of the fleet: all, or the one that is named.
    ///
    /// - Parameters:
    ///   - interval: What every advertisement's interval is taken to be.
    ///   - payloadOctets: What every advertisement's length is taken to be.
    func sites(interval: AdvertisingInterval?, payloadOctets: Int?) throws -> [PlannedAir] {
        guard let fromFleet else { return [] }
        let (name, traffic) = try NamedFleet(path: fromFleet).traffic()
        guard !traffic.sites.isEmpty else {
            throw Failure(.configuration, "\(fromFleet): the fleet \(name) has no beacons to plan for")
        }
        var sites = try PlannedAir.sites(
            of: traffic, fleet: name, interval: interval, payloadOctets: payloadOctets)
        if let site {
            sites = sites.filter { $0.origin?.site == site }
            guard !sites.isEmpty else { throw Self.unknown(site, name, traffic.sites.map(\.name)) }
        }
        return sites
    }

    /// The boxes of the fleet's one site, or so many boxes with one advertisement each.
    func air(_ interval: PlanIntervalOption, _ packet: PlanPacketOptions, beacons: Int? = nil) throws -> PlannedAir {
        var air =
            try site(interval: interval.requested?.interval, payloadOctets: packet.payloadOctets)
            ?? PlannedAir(beacons: beacons ?? 1, frames: [packet.frame(interval)])
        air.requestedMicroseconds = interval.requested?.microseconds
        return air
    }

    /// The one site for a question that is asked of one.
    func site(interval: AdvertisingInterval?, payloadOctets: Int?) throws -> PlannedAir? {
        let sites = try sites(interval: interval, payloadOctets: payloadOctets)
        guard sites.count > 1 else { return sites.first }
        let names = sites.compactMap { $0.origin?.site }
        throw Failure(
            .usage,
            "--from-fleet: this fleet has \(names.count) sites, and the question is asked of one; choose it with "
                + Self.choices(names))
    }

    private static func unknown(_ site: String, _ fleet: String, _ names: [String]) -> Failure {
        let nearest = NearestWord.find(site, among: names).map { "; did you mean \($0)?" }
        return Failure(
            .usage,
            "--site: the fleet \(fleet) has no site \(ProblemText.quoted(site))"
                + (nearest ?? "; choose it with \(choices(names))"))
    }

    /// More names than these nobody reads.
    private static let nameLimit = 12

    private static func choices(_ names: [String]) -> String {
        var choices = names.prefix(nameLimit).map { "--site " + ($0.isEmpty ? "\"\"" : $0) }
        if names.count > nameLimit { choices.append("one of \(names.count - nameLimit) more") }
        guard choices.count > 1, let last = choices.popLast() else { return choices.joined() }
        return choices.joined(separator: ", ") + " or " + last
    }
}
