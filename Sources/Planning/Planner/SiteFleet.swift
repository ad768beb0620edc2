internal import Airtime
internal import BluetoothTypes
public import Configuration
public import Fleet
public import Sites

/// Collects the beacons of the fleet to which a site file refers, and adds them to the site. This type reads no files.
/// The caller adds one beacon after the other with ``add(_:)``, and then calls ``fill(_:)``.
public struct SiteFleet: Sendable {
    private let reference: Site.FleetReference
    private let outline: FloorOutline?
    private let defaults: Site.Defaults
    private var contents = Contents()

    /// - Parameter site: The site whose file refers to the fleet.
    public init(_ reference: Site.FleetReference, of site: Site) {
        self.reference = reference
        outline = site.outline
        defaults = site.defaults
    }

    /// The path of the fleet as written in the site file.
    public var name: String { reference.path }

    /// The sites, floors and beacons of the fleet that were added so far.
    private struct Contents: Sendable {
        var sites = NameList()
        /// The floors of the chosen site.
        var floors = NameList()
        var beacons: [SiteBeacon] = []
        var onTheGlobe = NameList()
        var nowhere = NameList()
        var outside = NameList()
        /// The first reason for which a beacon cannot be planned.
        var fault: String?

        /// The number of beacons that have no position in metres on the floor.
        var missing: Int { onTheGlobe.count + nowhere.count }
    }

    /// Adds a beacon of the fleet. A beacon is ignored if the reference names another site or floor.
    public mutating func add(_ beacon: FleetManifest.Beacon) {
        contents.sites.addOnce(beacon.site ?? "")
        guard reference.site.map({ $0 == beacon.site }) ?? true else { return }
        contents.floors.addOnce(beacon.floor ?? "")
        guard reference.floor.map({ $0 == beacon.floor }) ?? true, contents.fault == nil else { return }
        place(beacon)
    }

    /// Sets the beacons of the site to the added beacons. Call it after all beacons of the fleet were added.
    /// - Returns: warnings, at the position of the reference in the site file.
    ///
    /// Throws an error at this position if there is no beacon to plan with.
    public func fill(_ site: inout Site) throws(FileProblem) -> [FileProblem] {
        if let refusal {
            throw FileProblem(refusal, at: reference.node.position, path: reference.node.path)
        }
        site.beacons = contents.beacons
        return warnings.map {
            FileProblem($0, at: reference.node.position, path: reference.node.path, severity: .warning)
        }
    }

    private mutating func place(_ beacon: FleetManifest.Beacon) {
        guard case .plan(let x, let y, _) = beacon.position else {
            if beacon.position == nil {
                contents.nowhere.add(beacon.name)
            } else {
                contents.onTheGlobe.add(beacon.name)
            }
            return
        }
        let extent = -Site.extent...Site.extent
        guard let x = Double(x.text), let y = Double(y.text), extent.contains(x), extent.contains(y) else {
            contents.fault =
                "\(ProblemText.quoted(beacon.name)) is too far away: positions lie within ±\(NumberFormat.significant(Site.extent, 9)) m"
            return
        }
        guard contents.beacons.count < Site.beaconLimit else {
            contents.fault = "it has more beacons than a site may have (\(Site.beaconLimit))"
            return
        }
        let position = FloorPosition(x: x, y: y)
        if let outline, !outline.contains(position) { contents.outside.add(beacon.name) }
        do throws(AirtimeError) {
            guard let siteBeacon = try Self.beacon(beacon, at: position, defaults) else {
                contents.fault =
                    "\(ProblemText.quoted(beacon.name)) sends nothing at an interval of 20 ms...10.24 s"
                return
            }
            contents.beacons.append(siteBeacon)
        } catch {
            contents.fault = "\(ProblemText.quoted(beacon.name)): \(error)"
        }
    }

    /// Returns the beacon for the models. It is detected by its most frequent advertisement; its other advertisements
    /// only cause collisions. Returns nil if it sends nothing at an interval of 20 ms...10.24 s.
    private static func beacon(
        _ beacon: FleetManifest.Beacon, at position: FloorPosition, _ defaults: Site.Defaults
    ) throws(AirtimeError) -> SiteBeacon? {
        var advertisements: [(traffic: FleetTraffic.Advertisement, radioPower: Int?)] = []
        for advertisement in beacon.advertisements {
            guard let traffic = advertisement.traffic else { return nil }
            advertisements.append((traffic, advertisement.radioPower))
        }
        let fastest = advertisements.indices.min { left, right in
            (advertisements[left].traffic.interval, advertisements[left].traffic.payloadOctets)
                < (advertisements[right].traffic.interval, advertisements[right].traffic.payloadOctets)
        }
        guard let fastest, AdvertisingInterval.legacyRange.contains(advertisements[fastest].traffic.interval) else {
            return nil
        }
        var companions: [AdvertiserGroup] = []
        for (index, other) in advertisements.enumerated() where index != fastest {
            companions.append(try other.traffic.group)
        }
        let group = try advertisements[fastest].traffic.group
        return try SiteBeacon(
            name: beacon.name, position: position, intervalMicroseconds: group.intervalMicroseconds,
            airtimeMicroseconds: group.airtimeMicroseconds,
            radioPower: advertisements[fastest].radioPower.map { Double($0) } ?? defaults.radioPower,
            pattern: advertisements[fastest].traffic.pattern, extended: group.extended, companions: companions)
    }

    /// The reason for which there is no beacon to plan with; nil if there is a beacon.
    private var refusal: String? {
        let fleet = "the fleet \(ProblemText.quoted(reference.path))"
        if let site = reference.site, contents.floors.count == 0 {
            return "\(fleet) has no beacons of a site \(ProblemText.quoted(site)); its sites: \(contents.sites.text)"
        }
        if contents.sites.count > 1, reference.site == nil {
            return "\(fleet) has several sites: \(contents.sites.text); choose one with \"site\""
        }
        if let floor = reference.floor, contents.beacons.isEmpty, contents.fault == nil, contents.missing == 0 {
            return
                "there are no beacons of a floor \(ProblemText.quoted(floor)) in \(fleet); its floors: "
                + "\(contents.floors.text)"
        }
        if let fault = contents.fault { return "\(fleet): \(fault)" }
        guard contents.beacons.isEmpty else { return nil }
        if contents.missing == 0 { return "\(fleet) has no beacons" }
        return
            "no beacon of \(fleet) has a position on the plan: give each a \"position\" in metres, such as [3.5, 12]"
    }

    private var warnings: [String] {
        var warnings: [String] = []
        if reference.floor == nil, contents.floors.count > 1 {
            warnings.append(
                "the plan has the beacons of \(contents.floors.count) floors: \(contents.floors.text); choose one with "
                    + "\"floor\""
            )
        }
        if contents.nowhere.count > 0 {
            warnings.append("left out, because they have no position: \(contents.nowhere.text)")
        }
        if contents.onTheGlobe.count > 0 {
            warnings.append(
                "left out, because their positions are geographic and not in metres on the plan: "
                    + "\(contents.onTheGlobe.text)"
            )
        }
        if contents.outside.count > 0 { warnings.append("outside the outline: \(contents.outside.text)") }
        return warnings
    }

    /// Returns a note about the fleet for the answer.
    func note(proposes: Bool) -> String {
        let scope = [reference.site.map { "the site \($0)" }, reference.floor.map { "the floor \($0)" }].compactMap(
            \.self)
        let scopeText = scope.isEmpty ? "" : ", " + scope.joined(separator: ", ")
        let power = NumberFormat.significant(defaults.radioPower)
        let proposed = proposes ? " Proposed beacons have the values of \"defaults\"." : ""
        return "The beacons, their intervals, payloads and radio power come from \(reference.path)\(scopeText)"
            + "; a beacon without a radio power has \(power) dBm. "
            + "A beacon with several advertisements counts as found when its most frequent advertisement is received; "
            + "its other advertisements count as possible collisions.\(proposed)"
    }
}

/// A list of names for a message, which states only the first names and the number of further names.
private struct NameList: Sendable {
    private var names: [String] = []
    private var known: Set<String> = []
    private(set) var count = 0
    /// The largest number of names that a message lists.
    private static let limit = 8

    mutating func add(_ name: String) {
        count += 1
        if names.count < Self.limit { names.append(TerminalText.line(name)) }
    }

    /// Adds a name if it was not added before.
    mutating func addOnce(_ name: String) {
        if known.insert(name).inserted { add(name) }
    }

    var text: String {
        let shown = names.map { $0.isEmpty ? "(none)" : $0 }.joined(separator: ", ")
        return count > names.count ? "\(shown) and \(count - names.count) more" : shown
    }
}
