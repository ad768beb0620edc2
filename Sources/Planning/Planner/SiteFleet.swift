internal import Airtime
internal import BluetoothTypes
public import Configuration
public import Fleet
public import Sites

/// Puts the beacons of a fleet on the floor of the site file that names it.
///
/// A value without files: whoever reads the fleet hands in one beacon after the other, and takes the site at the end.
public struct SiteFleet: Sendable {
    private let reference: Site.FleetReference
    private let outline: FloorOutline?
    private let defaults: Site.Defaults
    private var found = Found()

    /// - Parameter site: Whose file names the fleet.
    public init(_ reference: Site.FleetReference, of site: Site) {
        self.reference = reference
        outline = site.outline
        defaults = site.defaults
    }

    /// As the site file names it.
    public var name: String { reference.path }

    /// What was found in the fleet.
    private struct Found: Sendable {
        var sites = NameList()
        /// Of the chosen site.
        var floors = NameList()
        var beacons: [SiteBeacon] = []
        var onTheGlobe = NameList()
        var nowhere = NameList()
        var outside = NameList()
        /// Why a beacon cannot be planned for: the first one.
        var fault: String?

        /// Beacons without a place on the plan.
        var missing: Int { onTheGlobe.count + nowhere.count }
    }

    /// A beacon of the fleet; those of other sites and floors are passed over.
    public mutating func add(_ beacon: FleetManifest.Beacon) {
        found.sites.addOnce(beacon.site ?? "")
        guard reference.site.map({ $0 == beacon.site }) ?? true else { return }
        found.floors.addOnce(beacon.floor ?? "")
        guard reference.floor.map({ $0 == beacon.floor }) ?? true, found.fault == nil else { return }
        place(beacon)
    }

    /// Fills the site's beacons when all of the fleet have been added.
    ///
    /// - Returns: warnings, in places of the site file.
    ///
    /// Throws, in a place of the site file, where there is nothing to plan with.
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
            found.fault = "\(ProblemText.quoted(beacon.name)) stands farther away than any floor reaches"
            return
        }
        guard found.beacons.count < Site.beaconLimit else {
            found.fault = "these are more than the \(Site.beaconLimit) beacons that there may be"
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

    /// Detected by its most frequent advertisement, and as loud as that; the others fill the air.
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
            companions.append(
                try AdvertiserGroup(
                    count: 1, interval: other.traffic.interval,
                    airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: other.traffic.payloadOctets)))
        }
        return try SiteBeacon(
            name: beacon.name, position: position,
            intervalMicroseconds: Double(sent[fastest].traffic.interval.microseconds),
            airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: sent[fastest].traffic.payloadOctets),
            radioPower: sent[fastest].radioPower.map { Double($0) } ?? defaults.radioPower, companions: companions)
    }

    /// Why there is nothing to plan with.
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
            "no beacon of \(fleet) says where it hangs on the plan: give each a \"position\" in metres, such as [3.5, 12]"
    }

    private var warnings: [String] {
        var warnings: [String] = []
        if reference.floor == nil, found.floors.count > 1 {
            warnings.append(
                "beacons of \(found.floors.count) floors are put on one plan: \(found.floors.text); \"floor\" chooses one"
            )
        }
        if found.nowhere.count > 0 {
            warnings.append("left out, because they have no position: \(found.nowhere.text)")
        }
        if found.onTheGlobe.count > 0 {
            warnings.append(
                "left out, because they have a place on the globe and none in metres on the plan: \(found.onTheGlobe.text)"
            )
        }
        if found.outside.count > 0 { warnings.append("outside the outline: \(found.outside.text)") }
        return warnings
    }

    /// What a reader of the answer has to know.
    func note(proposes: Bool) -> String {
        let part = [reference.site.map { "the site \($0)" }, reference.floor.map { "the floor \($0)" }].compactMap(
            \.self)
        return "The beacons, with their intervals, payloads and radio power, are those of \(reference.path)"
            + (part.isEmpty ? "" : ", " + part.joined(separator: ", "))
            + "; where it says no radio power, \(NumberText.significant(defaults.radioPower)) dBm. "
            + "A beacon of several advertisements is detected by its most frequent one here, which is no faster than by all "
            + "of them; every one of them fills the air of the others."
            + (proposes ? " Proposed beacons are as \"defaults\" says." : "")
    }
}

/// Names as a message lists them: the first ones, and how many there are.
private struct NameList: Sendable {
    private var names: [String] = []
    private var seen: Set<String> = []
    private(set) var count = 0
    /// More names than these nobody reads.
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
