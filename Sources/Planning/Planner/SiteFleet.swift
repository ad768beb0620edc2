internal import Airtime
internal import BluetoothTypes
public import Configuration
public import Fleet
public import Sites

/// Puts the beacons of a fleet on the floor of the site file that refers to it.
/// It reads no files. The caller adds one beacon after the other with ``add(_:)``, and calls ``fill(_:)`` at the end.
public struct SiteFleet: Sendable {
    private let reference: Site.FleetReference
    private let outline: FloorOutline?
    private let defaults: Site.Defaults
    private var found = Found()

    /// - Parameter site: The site whose file refers to the fleet.
    public init(_ reference: Site.FleetReference, of site: Site) {
        self.reference = reference
        outline = site.outline
        defaults = site.defaults
    }

    /// The path in the site file.
    public var name: String { reference.path }

    /// The sites, floors and beacons of the fleet.
    private struct Found: Sendable {
        var sites = NameList()
        /// The floors of the chosen site.
        var floors = NameList()
        var beacons: [SiteBeacon] = []
        var onTheGlobe = NameList()
        var nowhere = NameList()
        var outside = NameList()
        /// The first reason for which a beacon cannot be planned.
        var fault: String?

        /// The number of beacons without a position on the plan.
        var missing: Int { onTheGlobe.count + nowhere.count }
    }

    /// Adds a beacon of the fleet. Beacons of sites and floors other than those of the reference are ignored.
    public mutating func add(_ beacon: FleetManifest.Beacon) {
        found.sites.addOnce(beacon.site ?? "")
        guard reference.site.map({ $0 == beacon.site }) ?? true else { return }
        found.floors.addOnce(beacon.floor ?? "")
        guard reference.floor.map({ $0 == beacon.floor }) ?? true, found.fault == nil else { return }
        place(beacon)
    }

    /// Sets the site's beacons after all beacons of the fleet were added.
    /// - Returns: warnings, at the position of the reference in the site file.
    ///
    /// Throws an error at this position if there is no beacon to plan with.
    public func fill(_ site: inout Site) throws(FileProblem) -> [FileProblem] {
        if let refusal {
            throw FileProblem(refusal, at: reference.node.position, path: reference.node.path)
        }
        site.beacons = found.beacons
        return warnings.map {
            FileProblem($0, at: reference.node.position, path: reference.node.path, severity: .warning)
        }
    }

    private mutating func place(_ beacon: FleetManifest.Beacon) {
        guard case .plan(let x, let y, _) = beacon.position else {
            if beacon.position == nil { found.nowhere.add(beacon.name) } else { found.onTheGlobe.add(beacon.name) }
            return
        }
        let extent = -Site.extent...Site.extent
        guard let x = Double(x.text), let y = Double(y.text), extent.contains(x), extent.contains(y) else {
            found.fault =
                "\(ProblemText.quoted(beacon.name)) is too far away: positions lie within ±\(NumberFormat.significant(Site.extent, 9)) m"
            return
        }
        guard found.beacons.count < Site.beaconLimit else {
            found.fault = "it has more than \(Site.beaconLimit) beacons, the most that a site may have"
            return
        }
        let position = FloorPosition(x: x, y: y)
        if let outline, !outline.contains(position) { found.outside.add(beacon.name) }
        do throws(AirtimeError) {
            guard let own = try Self.beacon(beacon, at: position, defaults) else {
                found.fault =
                    "\(ProblemText.quoted(beacon.name)) sends nothing, or nothing at an interval of 20 ms...10.24 s"
                return
            }
            found.beacons.append(own)
        } catch {
            found.fault = "\(ProblemText.quoted(beacon.name)): \(error)"
        }
    }

    /// Returns a beacon that is detected by its most frequent advertisement; its other advertisements only cause
    /// collisions. Returns nil if it sends nothing at an interval of 20 ms...10.24 s.
    private static func beacon(
        _ beacon: FleetManifest.Beacon, at position: FloorPosition, _ defaults: Site.Defaults
    ) throws(AirtimeError) -> SiteBeacon? {
        var sent: [(traffic: FleetTraffic.Advertisement, radioPower: Int?)] = []
        for advertisement in beacon.advertisements {
            guard let traffic = advertisement.traffic else { return nil }
            sent.append((traffic, advertisement.radioPower))
        }
        let fastest = sent.indices.min { left, right in
            (sent[left].traffic.interval, sent[left].traffic.payloadOctets)
                < (sent[right].traffic.interval, sent[right].traffic.payloadOctets)
        }
        guard let fastest, AdvertisingInterval.legacyRange.contains(sent[fastest].traffic.interval) else { return nil }
        var companions: [AdvertiserGroup] = []
        for (index, other) in sent.enumerated() where index != fastest {
            companions.append(try other.traffic.group)
        }
        return try SiteBeacon(
            name: beacon.name, position: position,
            intervalMicroseconds: Double(sent[fastest].traffic.interval.microseconds),
            airtimeMicroseconds: sent[fastest].traffic.group.airtimeMicroseconds,
            radioPower: sent[fastest].radioPower.map { Double($0) } ?? defaults.radioPower,
            pattern: sent[fastest].traffic.pattern, companions: companions)
    }

    /// The reason for which there is no beacon to plan with; nil if there is a beacon.
    private var refusal: String? {
        let fleet = "the fleet \(ProblemText.quoted(reference.path))"
        if let site = reference.site, found.floors.count == 0 {
            return "\(fleet) has no beacons of a site \(ProblemText.quoted(site)); its sites: \(found.sites.text)"
        }
        if found.sites.count > 1, reference.site == nil {
            return "\(fleet) has several sites: \(found.sites.text); choose one with \"site\""
        }
        if let floor = reference.floor, found.beacons.isEmpty, found.fault == nil, found.missing == 0 {
            return
                "there are no beacons of a floor \(ProblemText.quoted(floor)) in \(fleet); its floors: \(found.floors.text)"
        }
        if let fault = found.fault { return "\(fleet): \(fault)" }
        guard found.beacons.isEmpty else { return nil }
        if found.missing == 0 { return "\(fleet) has no beacons" }
        return
            "no beacon of \(fleet) has a position on the plan: give each a \"position\" in metres, such as [3.5, 12]"
    }

    private var warnings: [String] {
        var warnings: [String] = []
        if reference.floor == nil, found.floors.count > 1 {
            warnings.append(
                "the plan has the beacons of \(found.floors.count) floors: \(found.floors.text); choose one with \"floor\""
            )
        }
        if found.nowhere.count > 0 {
            warnings.append("left out, because they have no position: \(found.nowhere.text)")
        }
        if found.onTheGlobe.count > 0 {
            warnings.append(
                "left out, because their positions are geographic and not in metres on the plan: \(found.onTheGlobe.text)"
            )
        }
        if found.outside.count > 0 { warnings.append("outside the outline: \(found.outside.text)") }
        return warnings
    }

    /// Returns a note about the fleet for the answer.
    func note(proposes: Bool) -> String {
        let part = [reference.site.map { "the site \($0)" }, reference.floor.map { "the floor \($0)" }].compactMap(
            \.self)
        let named = part.isEmpty ? "" : ", " + part.joined(separator: ", ")
        let power = NumberFormat.significant(defaults.radioPower)
        let proposed = proposes ? " Proposed beacons have the values of \"defaults\"." : ""
        return "The beacons, their intervals, payloads and radio power come from \(reference.path)\(named)"
            + "; a beacon without a radio power has \(power) dBm. "
            + "A beacon with several advertisements counts as found when its most frequent one is received; the others "
            + "count as possible collisions.\(proposed)"
    }
}

/// Names for a message: the first names, and the number of further names.
private struct NameList: Sendable {
    private var names: [String] = []
    private var seen: Set<String> = []
    private(set) var count = 0
    /// The largest number of names that a message lists.
    private static let limit = 8

    mutating func add(_ name: String) {
        count += 1
        if names.count < Self.limit { names.append(TerminalText.line(name)) }
    }

    /// Adds a name that may have been added before.
    mutating func addOnce(_ name: String) {
        if seen.insert(name).inserted { add(name) }
    }

    var text: String {
        let shown = names.map { $0.isEmpty ? "(none)" : $0 }.joined(separator: ", ")
        return count > names.count ? "\(shown) and \(count - names.count) more" : shown
    }
}
