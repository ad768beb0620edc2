public import BluetoothTypes
internal import Configuration
public import Fleet

/// The sites of a fleet as the air that is asked about.
extension PlannedAir {
    /// All sites of a fleet, or the one that is named.
    ///
    /// - Parameters:
    ///   - fleet: The fleet's name.
    ///   - file: How messages call what the fleet was read from; `nil` for its name.
    ///   - site: The only one to take; `nil` for all.
    ///   - interval: What every advertisement's interval is taken to be; `nil` for its own.
    ///   - payloadOctets: What every advertisement's length is taken to be; `nil` for its own.
    ///
    /// Refuses a fleet without beacons, and a site that it does not have.
    public static func sites(
        of traffic: FleetTraffic, fleet: String, file: String? = nil, site: String? = nil,
        interval: AdvertisingInterval? = nil, payloadOctets: Int? = nil
    ) throws(PlanError) -> [PlannedAir] {
        guard !traffic.sites.isEmpty else {
            throw PlanError(.configuration, "\(file ?? fleet): the fleet \(fleet) has no beacons to plan for")
        }
        let sites = try traffic.sites.map { site throws(PlanError) in
            let boxes = try site.boxes.map { kind throws(PlanError) in
                let frames = try kind.advertisements.map { own throws(PlanError) in
                    try PlannedFrame(
                        own.type, interval: interval ?? own.interval,
                        payloadOctets: payloadOctets ?? own.payloadOctets)
                }
                return Boxes(count: kind.count, frames: frames)
            }
            return PlannedAir(boxes, from: Origin(fleet: fleet, site: site.name))
        }
        guard let site else { return sites }
        let chosen = sites.filter { $0.origin?.site == site }
        guard !chosen.isEmpty else { throw unknown(site, fleet, traffic.sites.map(\.name)) }
        return chosen
    }

    /// The one site of a question that is asked of one; `nil` where there is none.
    ///
    /// Refuses several, and says how to choose.
    public static func only(of sites: [PlannedAir]) throws(PlanError) -> PlannedAir? {
        guard sites.count > 1 else { return sites.first }
        let names = sites.compactMap { $0.origin?.site }
        throw PlanError(
            .question,
            "--from-fleet: this fleet has \(names.count) sites, and the question is asked of one; choose it with "
                + choices(names))
    }

    private static func unknown(_ site: String, _ fleet: String, _ names: [String]) -> PlanError {
        let nearest = NearestWord.find(site, among: names).map { "; did you mean \($0)?" }
        return PlanError(
            .question,
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
