internal import Airtime
public import BluetoothTypes
internal import Configuration
public import Fleet

/// The beacons around one receiver and their advertisements, from the options or from a site of a fleet.
public struct PlannedAir: Sendable {
    /// Beacons that send the same advertisements. A beacon has one radio, so it never collides with itself.
    public struct Machines: Sendable {
        public let count: Int
        /// The advertisements that each of these beacons sends, at least one.
        public let frames: [PlannedFrame]

        public init(count: Int, frames: [PlannedFrame]) {
            self.count = count
            self.frames = frames
        }
    }

    public let machines: [Machines]
    /// The site of the beacons; nil if the options describe the beacons.
    public let origin: Origin?
    /// The interval that the options request, in µs; nil if the beacons keep their own intervals.
    public var requestedMicroseconds: Int?

    /// A site of a fleet.
    public struct Origin: Sendable {
        /// The fleet's name.
        public let fleet: String
        /// The name of the site; empty for beacons without a site.
        public let site: String

        /// The site as a part of a sentence, such as `the site museum`.
        public var name: String { site.isEmpty ? "the fleet \(fleet)" : "the site \(site)" }
    }

    /// Creates beacons of several kinds around one receiver.
    public init(_ machines: [Machines], from origin: Origin? = nil) {
        self.machines = machines
        self.origin = origin
    }

    /// Creates equal beacons, each of which sends all `frames`.
    public init(beacons: Int, frames: [PlannedFrame]) {
        self.init([Machines(count: beacons, frames: frames)])
    }

    public var beacons: Int { machines.reduce(0) { $0 + $1.count } }
    public var advertisements: Int { machines.reduce(0) { $0 + $1.count * $1.frames.count } }

    /// The only advertisement, if all beacons send the same single advertisement; nil otherwise. Models of equal fleets
    /// can be used only if it exists.
    var onlyFrame: PlannedFrame? {
        guard let first = machines.first?.frames.first, machines.allSatisfy({ $0.frames.count == 1 }) else {
            return nil
        }
        let isEqual = machines.allSatisfy {
            $0.frames[0].interval == first.interval && $0.frames[0].pattern == first.pattern
                && $0.frames[0].airtimeMicroseconds == first.airtimeMicroseconds
                && $0.frames[0].extended == first.extended
        }
        return isEqual ? first : nil
    }

    func kinds() throws(AirtimeError) -> [AdvertisingMachines] {
        try machines.map { kind throws(AirtimeError) in
            try AdvertisingMachines(
                count: kind.count,
                advertisements: kind.frames.map { frame throws(AirtimeError) in try frame.group(kind.count) })
        }
    }

    /// The indices of the target advertisement. A beacon is found by its most frequent advertisement. The target is the
    /// least frequent of these advertisements, so every beacon of the site is found at least as fast as the target.
    var target: (kind: Int, frame: Int) {
        let fastest = machines.enumerated().compactMap { kind, machines in
            machines.frames.indices.min { machines.frames[$0].sortKey < machines.frames[$1].sortKey }
                .map { (kind: kind, frame: $0) }
        }
        return fastest.max { frame($0).sortKey < frame($1).sortKey } ?? (0, 0)
    }

    /// Returns the advertisement with these indices.
    func frame(_ indices: (kind: Int, frame: Int)) -> PlannedFrame { machines[indices.kind].frames[indices.frame] }

    /// Returns an equal fleet, and the probability that no packet outside that fleet destroys a packet. Together they
    /// give the same losses as the target advertisement has among these machines.
    func fleet() throws(AirtimeError) -> (group: AdvertiserGroup, otherClear: Double) {
        if let onlyFrame { return (try onlyFrame.group(beacons), 1) }
        return try TargetCollisions(kind: target.kind, advertisement: target.frame, in: kinds())
            .fleet(ofMachines: beacons)
    }

    /// Returns every advertisement of every beacon for the simulation. Advertisements of the same beacon have the same
    /// machine number.
    ///
    /// - Parameter isCounted: The advertisement whose receptions are counted; `nil` to count all advertisements.
    func advertisers(isCounted: PlannedFrame.SortKey? = nil) throws(AirtimeError) -> [AirAdvertiser] {
        let limit = AirSimulation.maximumAdvertisers
        guard advertisements <= limit else {
            throw .quantity(
                name: "a number of simulated advertisements (1...\(limit))", value: Double(advertisements))
        }
        var advertisers: [AirAdvertiser] = []
        for kind in machines {
            for _ in 0..<kind.count {
                let machine = kind.frames.count > 1 ? advertisers.count : nil
                for frame in kind.frames {
                    var advertiser = try AirAdvertiser(frame.group(1))
                    advertiser.machine = machine
                    advertiser.isCounted = isCounted.map { $0 == frame.sortKey } ?? true
                    advertisers.append(advertiser)
                }
            }
        }
        return advertisers
    }

    /// Returns each different frame once, with the number of beacons that send it and the share of its packets that are
    /// clear.
    ///
    /// - Parameter clear: The probabilities of the advertisements, by kind of beacon and advertisement.
    func streams(_ clear: [[Double]]) -> [(frame: PlannedFrame, beacons: Int, clear: Double)] {
        var indices: [PlannedFrame.SortKey: Int] = [:]
        var streams: [(frame: PlannedFrame, beacons: Int, clear: Double)] = []
        for (kind, shares) in zip(machines, clear) {
            for (frame, share) in zip(kind.frames, shares) {
                let index = indices[frame.sortKey] ?? streams.count
                if index == streams.count {
                    indices[frame.sortKey] = index
                    streams.append((frame, 0, 0))
                }
                streams[index].beacons += kind.count
                streams[index].clear += Double(kind.count) * share
            }
        }
        return streams.map { ($0.frame, $0.beacons, $0.clear / Double(max(1, $0.beacons))) }
    }
}

// The sites of a fleet.
extension PlannedAir {
    /// Returns all sites of a fleet, or the named site.
    ///
    /// - Parameters:
    ///   - fleet: The fleet's name.
    ///   - file: The name of the fleet's file for messages; `nil` to use the fleet's name.
    ///   - site: The name of the only site to return; `nil` to return all sites.
    ///   - interval: The interval that replaces the intervals of all advertisements; `nil` to keep their intervals.
    ///   - payloadOctets: The bytes of data that replace the lengths of all advertisements; nil to keep their lengths.
    ///   - phy: The PHY that replaces the PHYs of all advertisements; nil to keep their PHYs.
    ///
    /// Throws for a fleet without beacons, and for a site that the fleet does not have.
    public static func sites(
        of traffic: FleetTraffic, fleet: String, file: String? = nil, site: String? = nil,
        interval: AdvertisingInterval? = nil, payloadOctets: Int? = nil, phy: ExtendedPHY? = nil
    ) throws(PlanError) -> [PlannedAir] {
        guard !traffic.sites.isEmpty else {
            throw PlanError(.configuration, "\(file ?? fleet): the fleet \(fleet) has no beacons to plan for")
        }
        let sites = try traffic.sites.map { site throws(PlanError) in
            let machines = try site.machines.map { kind throws(PlanError) in
                let frames = try kind.advertisements.map { advertisement throws(PlanError) in
                    try PlannedFrame(
                        advertisement.type, interval: interval ?? advertisement.interval,
                        pattern: interval == nil ? advertisement.pattern : nil,
                        phy: phy ?? advertisement.phy, payloadOctets: payloadOctets ?? advertisement.payloadOctets)
                }
                return Machines(count: kind.count, frames: frames)
            }
            return PlannedAir(machines, from: Origin(fleet: fleet, site: site.name))
        }
        guard let site else { return sites }
        let chosen = sites.filter { $0.origin?.site == site }
        guard !chosen.isEmpty else { throw unknownSite(site, fleet, traffic.sites.map(\.name)) }
        return chosen
    }

    /// Returns the only site; nil if there is no site.
    ///
    /// Throws if there are several sites. The error explains how to choose one of them.
    public static func only(of sites: [PlannedAir]) throws(PlanError) -> PlannedAir? {
        guard sites.count > 1 else { return sites.first }
        let names = sites.compactMap { $0.origin?.site }
        throw PlanError(
            .question,
            "--from-fleet: this fleet has \(names.count) sites, and the answer is for one; choose it with "
                + choices(names))
    }

    private static func unknownSite(_ site: String, _ fleet: String, _ names: [String]) -> PlanError {
        let nearest = NearestWord.find(site, among: names).map { "; did you mean \($0)?" }
        return PlanError(
            .question,
            "--site: the fleet \(fleet) has no site \(ProblemText.quoted(site))"
                + (nearest ?? "; choose it with \(choices(names))"))
    }

    /// The largest number of names that a message lists.
    private static let nameLimit = 12

    private static func choices(_ names: [String]) -> String {
        var choices = names.prefix(nameLimit).map { "--site " + ($0.isEmpty ? "\"\"" : $0) }
        if names.count > nameLimit { choices.append("one of \(names.count - nameLimit) more") }
        guard choices.count > 1, let last = choices.popLast() else { return choices.joined() }
        return choices.joined(separator: ", ") + " or " + last
    }
}
