internal import Advertiser
internal import Airtime
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
internal import HCI
internal import LinuxHost
internal import Planner
internal import Profiles
internal import Sightings
public import Sites
internal import VirtualController

/// A fleet and its floor, read from files and checked, with all data that a rehearsal needs.
public struct RehearsedFleet: Sendable {
    public let name: String
    /// The path that was given on the command line.
    public let file: String
    /// The site file; nil without a floor.
    public let siteFile: String?
    /// The floor; nil without a site file.
    public let site: Site?
    /// The beacons in the order of the fleet file, followed by beacons that only the site file contains.
    let beacons: [RehearsedBeacon]
    /// Assumptions about the files, one sentence each.
    let notes: [String]
    /// The beacons and walls for the planner's models, in the order of ``beacons``.
    let model: SiteModel
    /// The wall clock at the beginning of the rehearsal, in seconds since 1970.
    let startUnixSeconds: Int

    /// 2026-01-01T00:00:00Z in seconds since 1970. A rehearsal begins at this time if the fleet has no ephemeral ids.
    /// If the fleet was not generated yet, this time is also the epoch of the ephemeral ids.
    fileprivate static let defaultStart = 1_767_225_600
    /// The time from the latest epoch of ephemeral ids to the beginning of the rehearsal, in seconds.
    private static let afterEpoch = 3600

    /// Reads a fleet and its floor.
    ///
    /// - Parameters:
    ///   - file: A fleet file, the directory that `fleet generate` wrote, its manifest, or a site file that refers to a
    ///     fleet.
    ///   - siteFile: The site file of the floor; nil if `file` is one, or to rehearse without a floor.
    /// - Throws: ``RehearsalError``, or `FleetStoreError` for the files of the fleet.
    public init(file: String, siteFile: String?) throws {
        var (fleetFile, siteFile) = (file, siteFile)
        var octets: [UInt8]?
        if let siteFile {
            octets = try Self.contents(siteFile)
        } else if let fileOctets = try? Files.readInput(file, limit: 1 << 26),
            let reference = Site.decode(fileOctets).site?.fleet
        {
            (siteFile, octets) = (file, fileOctets)
            fleetFile = Self.path(reference.path, nextTo: file)
        }
        var floor = try octets.map { try Self.floor($0, siteFile ?? file) }
        let (manifest, profiles) = try NamedFleet(path: fleetFile, isNamedInFile: fleetFile != file).plannedProfiles()
        var notes: [String] = []
        if floor != nil { notes += try Self.place(manifest, on: &floor, siteFile ?? "") }
        let siteBeacons = floor.map { Dictionary($0.beacons.map { ($0.name, $0) }) { first, _ in first } }
        let texts = Dictionary(profiles.map { ($0.name, $0.text) }) { first, _ in first }
        let keys = FleetKeys(of: NamedFleet(path: fleetFile)).directory
        var beacons: [RehearsedBeacon] = []
        for beacon in manifest.beacons {
            let place: SiteBeacon
            if let siteBeacons {
                guard let siteBeacon = siteBeacons[beacon.name] else { continue }
                place = siteBeacon
            } else {
                place = try Self.placeWithoutFloor(of: beacon)
            }
            guard let text = texts[beacon.name], let profile = BeaconProfile.decode(text).profile else {
                throw RehearsalError(.invalid, "\(fleetFile): \(ProblemText.quoted(beacon.name)) has no valid profile")
            }
            beacons.append(try RehearsedBeacon(beacon, profile, keys, at: place, isPlaced: siteBeacons != nil))
        }
        guard !beacons.isEmpty else {
            throw RehearsalError(.invalid, "\(siteFile ?? fleetFile): no beacon of \(fleetFile) is on this floor")
        }
        // A site file without a reference to a fleet may contain beacons that do not belong to the fleet.
        let fleetNames = Set(beacons.map(\.name))
        let siteOnly = (floor?.fleet == nil ? floor?.beacons ?? [] : []).filter { !fleetNames.contains($0.name) }
        beacons += try siteOnly.map { try RehearsedBeacon($0) }
        if !siteOnly.isEmpty {
            notes.append(
                "Beacons that only the site file contains send meaningless data with the right length and interval: "
                    + siteOnly.prefix(8).map(\.name).joined(separator: ", ") + (siteOnly.count > 8 ? " and more." : ".")
            )
        }
        if beacons.contains(where: \.hasInventedKey) {
            notes.append(
                "Beacons with ephemeral ids whose identity keys are missing send ids of invented keys; "
                    + "`pharos fleet keys` makes the real keys.")
        }
        if Self.isExtended(beacons) {
            notes.append(
                "The receivers receive each PHY of the fleet all the time; a real radio receives LE 1M and LE Coded in "
                    + "turn. As in the plan, LE Coded reaches only as far as LE 1M.")
        }
        if floor == nil {
            notes.append(
                "Without --site every phone stands 3 m from all beacons, so detection at places and along paths, levels and "
                    + "rooms cannot be judged.")
        }
        name = manifest.fleet
        self.file = file
        self.siteFile = siteFile
        site = floor
        self.beacons = beacons
        self.notes = notes
        let radio =
            try floor?.radio
            ?? SiteRadio(
                pathLoss: .logDistance(lossAtOneMeterDecibels: 65, exponent: 2.03), shadowing: 0, sensitivity: -90)
        model = SiteModel(
            beacons: beacons.map(\.place), walls: floor?.walls ?? [], radio: radio,
            background: try BackgroundLoad(floor?.backgroundLoad ?? .none))
        startUnixSeconds = beacons.compactMap(\.epoch).max().map { $0 + Self.afterEpoch } ?? Self.defaultStart
    }

    /// True if a beacon sends extended advertising.
    var isExtended: Bool { Self.isExtended(beacons) }

    private static func isExtended(_ beacons: [RehearsedBeacon]) -> Bool {
        beacons.contains { beacon in beacon.sent.contains { $0.group.extended != nil } }
    }

    /// The time in µs after which all machines are on the air.
    ///
    /// - Parameter end: The end of the rehearsal in µs.
    func startMicroseconds(end: Int) -> Int { Int(beacons.map { $0.spreadMicroseconds(end: end) }.max() ?? 0) + 1 }

    // MARK: Files

    private static func contents(_ path: String) throws(RehearsalError) -> [UInt8] {
        do throws(SystemError) {
            return try Files.readInput(path, limit: 1 << 26)
        } catch {
            throw RehearsalError(.missing, "\(path): \(error.text)")
        }
    }

    private static func path(_ path: String, nextTo file: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return String(file[...slash]) + path
    }

    private static func floor(_ octets: [UInt8], _ file: String) throws(RehearsalError) -> Site {
        let (site, problems) = Site.decode(octets)
        guard var site else {
            let errors = problems.filter(\.isError)
            throw RehearsalError(
                errors.refusal == .malformed ? .malformed : .invalid, errors.map { $0.text(file: file) })
        }
        // Only the page draws the picture, so the rehearsal runs even if the picture cannot be read.
        try? site.readPicture(ofSite: file)
        return site
    }

    /// Puts the beacons of the fleet on the floor.
    ///
    /// - Returns: warnings about beacons that are left out.
    private static func place(
        _ manifest: FleetManifest, on floor: inout Site?, _ file: String
    ) throws(RehearsalError) -> [String] {
        guard var site = floor else { return [] }
        defer { floor = site }
        guard let reference = site.fleet else {
            return []
        }
        var siteFleet = SiteFleet(reference, of: site)
        for beacon in manifest.beacons { siteFleet.add(beacon) }
        do throws(FileProblem) {
            return try siteFleet.fill(&site).map { $0.text(file: file) }
        } catch {
            throw RehearsalError(.invalid, error.text(file: file))
        }
    }

    /// The place and the radio data of a beacon if there is no floor. All beacons are at the same place.
    private static func placeWithoutFloor(of beacon: FleetManifest.Beacon) throws -> SiteBeacon {
        let traffic = beacon.advertisements.compactMap(\.traffic)
        guard let fastest = traffic.indices.min(by: { traffic[$0].interval < traffic[$1].interval }) else {
            throw NamedFleet.silentBeaconError(beacon.name, "the fleet")
        }
        let groups = try traffic.map { try $0.group }
        let group = groups[fastest]
        return try SiteBeacon(
            name: beacon.name, position: FloorPosition(x: 0, y: 0),
            intervalMicroseconds: min(10_240_000, group.intervalMicroseconds),
            airtimeMicroseconds: group.airtimeMicroseconds,
            radioPower: Double(beacon.advertisements[fastest].radioPower ?? 0), pattern: traffic[fastest].pattern,
            extended: group.extended, companions: groups.indices.filter { $0 != fastest }.map { groups[$0] })
    }
}

/// A beacon of a rehearsed fleet: its machine, its advertisements, and its place.
struct RehearsedBeacon: Sendable {
    /// An advertisement as it should be sent.
    struct Sent: Sendable {
        let source: PayloadSource
        /// The mean time between two advertising events in µs: the interval plus the mean random delay of 5 ms. With a
        /// pattern of intervals, the interval of the mean rate is used.
        let periodMicroseconds: Double
        /// The longest interval of the advertisement in µs.
        let longestMicroseconds: Double
        /// A group of one advertiser that sends the advertisement. With a pattern, its interval is that of the mean rate.
        let group: AdvertiserGroup
        /// The number of bytes of advertising data.
        let payloadOctets: Int
        /// The identity; nil for frames without an identity.
        let identity: BeaconIdentity?
        /// The type of the advertisement in the report, such as `ibeacon`.
        let type: String

        /// The length in µs of the cycle in which the advertisement is sent: the mean time between two events, or all
        /// parts of its pattern.
        var cycleMicroseconds: Double {
            source.advertisement.pattern.map { Double($0.cycleMicroseconds) } ?? periodMicroseconds
        }
    }

    let name: String
    let place: SiteBeacon
    let hasPosition: Bool
    let model: VirtualControllerModel
    let sent: [Sent]
    /// The index of the most frequent advertisement.
    let fastest: Int
    /// The time at which the counter of ephemeral ids was 65280, in seconds since 1970; nil without ephemeral ids.
    let epoch: Int?
    /// The identity key; nil without ephemeral ids and encryption.
    let key: IdentityKey?
    /// True if the identity key is missing and a key derived from the beacon's name is used instead.
    let hasInventedKey: Bool

    init(
        _ beacon: FleetManifest.Beacon, _ profile: BeaconProfile, _ keys: KeyDirectory, at place: SiteBeacon,
        isPlaced: Bool
    ) throws {
        name = beacon.name
        self.place = place
        hasPosition = isPlaced
        model = Self.model(beacon.controller.flatMap { ControllerKind(rawValue: $0) })
        let rotation = try BeaconRotation(beacon)
        let storedKey = try rotation.flatMap { try keys.key(of: $0) }
        hasInventedKey = rotation != nil && storedKey == nil
        let key = rotation == nil ? nil : storedKey ?? Self.inventedKey(beacon.name)
        self.key = key
        epoch = rotation == nil ? nil : beacon.eidEpoch?.secondsSince1970 ?? RehearsedFleet.defaultStart
        let advertisements = try profile.advertisements { StaticAddress.make(name: $0) }
        sent = try advertisements.map { advertisement in
            let source = Self.source(of: advertisement, key)
            let octets = try advertisement.payloadOctetCount()
            // The measured power is not a part of the identity, so any value can be used.
            let frame = try? advertisement.content.frame(measuredPower: .atOneMeter(BeaconProfile.typicalMeasuredPower))
            let intervals = advertisement.pattern?.parts.map(\.interval.interval) ?? [advertisement.interval]
            return Sent(
                source: source,
                periodMicroseconds: Double(advertisement.interval.microseconds) + AdvertisingDelay.meanMicroseconds,
                longestMicroseconds: Double(intervals.map(\.microseconds).max() ?? 0),
                group: try FleetTraffic.Advertisement(
                    type: advertisement.content.typeName, interval: advertisement.interval, phy: advertisement.phy,
                    payloadOctets: octets
                ).group, payloadOctets: octets,
                identity: frame.flatMap { BeaconIdentity($0) }, type: advertisement.content.typeName)
        }
        fastest = Self.fastest(sent)
    }

    /// A beacon that only the site file describes. It sends meaningless data of the right length.
    init(_ place: SiteBeacon) throws {
        name = place.name
        self.place = place
        hasPosition = true
        model = Self.model(nil)
        (key, epoch, hasInventedKey) = (nil, nil, false)
        let count = min(31, max(5, Int((place.airtimeMicroseconds / 8).rounded()) - 16))
        // Manufacturer data with the company identifier for tests.
        let hash = StableHash.of(place.name)
        let filler = (0..<count - 4).map { UInt8(truncatingIfNeeded: hash >> UInt64(8 * ($0 % 8))) }
        let octets = [UInt8(count - 1), 0xFF, 0xFF, 0xFF] + filler
        let units = UInt32((place.intervalMicroseconds / 625).rounded())
        let advertisement = Advertisement(
            content: .raw(AdvertisingData(octets: octets)), interval: AdvertisingInterval(rawValue: units),
            radioPower: try RadioPower(dBm: Int(place.radioPower.rounded())), measuredPower: .none,
            address: .staticRandom(StaticAddress.make(name: place.name)))
        sent = [
            Sent(
                source: PayloadSource(advertisement, firstPacket: 1),
                periodMicroseconds: Double(advertisement.interval.microseconds) + AdvertisingDelay.meanMicroseconds,
                longestMicroseconds: Double(advertisement.interval.microseconds),
                group: try AdvertiserGroup(
                    count: 1, interval: advertisement.interval, airtimeMicroseconds: Double(8 * (16 + count))),
                payloadOctets: count, identity: nil, type: "raw")
        ]
        fastest = 0
    }

    /// The payload source of an advertisement, with the identity key if the advertisement needs it.
    func source(of advertisement: Advertisement) -> PayloadSource { Self.source(of: advertisement, key) }

    private static func source(of advertisement: Advertisement, _ key: IdentityKey?) -> PayloadSource {
        PayloadSource(
            advertisement, identityKey: advertisement.content.keyFile != nil ? key : nil, firstPacket: 1)
    }

    /// A substitute for a missing identity key, derived from the name.
    private static func inventedKey(_ name: String) -> IdentityKey {
        var random = SplitMix64(seed: StableHash.of(name))
        var octets = FixedOctets<16>()
        for index in 0..<16 { octets[index] = UInt8(truncatingIfNeeded: random.next()) }
        return IdentityKey(octets)
    }

    /// The virtual controller of a kind of machine.
    private static func model(_ kind: ControllerKind?) -> VirtualControllerModel {
        switch kind {
        case .raspberryPi: return .raspberryPi
        case .bluetooth4: return .core4
        case .bluetooth5:
            var model = VirtualControllerModel.raspberryPi
            model.name = "bluetooth-5"
            return model
        case .extended, .virtual, nil:
            var model = VirtualControllerModel.intel
            model.advertisingSets = 64
            model.features.insert(.advertisingCodingSelection)
            model.powerLevels = (-40...20).map { RadioPower(octet: UInt8(bitPattern: $0)) }
            model.defaultPower = RadioPower(octet: 0)
            return model
        }
    }

    /// The index of the most frequent advertisement. The plan counts a beacon as detected when this advertisement is
    /// received.
    private static func fastest(_ sent: [Sent]) -> Int {
        sent.indices.min { left, right in
            (sent[left].periodMicroseconds, sent[left].payloadOctets)
                < (sent[right].periodMicroseconds, sent[right].payloadOctets)
        } ?? 0
    }

    /// The length in µs of the longest cycle of all advertisements.
    private var longestCycleMicroseconds: Double { sent.map(\.cycleMicroseconds).max() ?? 0 }

    /// The machine is switched on at a random time between 0 and this time in µs. The range is a whole cycle, so that
    /// the cycles of the machines are independent of each other. If a cycle is longer than a tenth of the rehearsal,
    /// the range is that tenth or the longest mean time between two events, whichever is longer.
    ///
    /// - Parameter end: The end of the rehearsal in µs.
    func spreadMicroseconds(end: Int) -> Double {
        let longest = (sent.map(\.longestMicroseconds).max() ?? 0) + AdvertisingDelay.meanMicroseconds
        return min(longestCycleMicroseconds, max(longest, Double(end / 10)))
    }

    /// True if a rehearsal until `end`, in µs, is so short that the cycles of the machines depend on each other.
    func hasDependentCycle(end: Int) -> Bool { spreadMicroseconds(end: end) < longestCycleMicroseconds }

    /// True if the beacon's advertisements take turns on one advertising set.
    var sharesSet: Bool { sent.count > 1 && !model.hasExtendedAdvertising }
}

/// Derives the seeds of several random generators from one seed.
enum RehearsalSeed {
    /// Returns the seed for a part of the rehearsal, such as the machine or the phone with an index. Each use has its
    /// own number `part`.
    static func mix(_ seed: UInt64, _ part: UInt64, _ index: Int) -> UInt64 {
        var random = SplitMix64(seed: seed ^ (part &* 0x9E37_79B9_7F4A_7C15))
        var second = SplitMix64(seed: random.next() &+ UInt64(truncatingIfNeeded: index))
        return second.next()
    }
}
