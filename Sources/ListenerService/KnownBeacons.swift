public import BeaconFrames
public import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
public import Fleet
internal import FleetStore
internal import LinuxHost
public import Sightings
internal import Synchronization

/// The beacons that profiles and fleets give names to, and the keys that tell whose an ephemeral id is.
public struct KnownBeacons {
    /// One for each identity, or each key of ephemeral ids, in the order of the files.
    public private(set) var beacons: [KnownBeacon] = []
    /// What the profiles among the files want on the air.
    public private(set) var profiles: [LoadedProfile] = []
    /// What the files do not forbid and their authors should know, one sentence each.
    public private(set) var warnings: [String] = []
    private var keys: [EphemeralKey] = []

    public var isEmpty: Bool { beacons.isEmpty }
    public var names: Set<String> { Set(beacons.map(\.name)) }

    /// - Parameter files: Profiles, fleet files, and manifests or the directories that they lie in; of several beacons
    ///   with one identity the first one counts.
    /// - Throws: where a file cannot be used, or where there are files and no beacon in them has an identity.
    public init(_ files: [String] = []) throws(ListenerServiceError) {
        do {
            for file in files {
                if try Self.isProfile(file) {
                    try add(LoadedProfile(path: file))
                } else {
                    try add(NamedFleet(path: file))
                }
            }
        } catch {
            throw ListenerServiceError(error)
        }
        if !files.isEmpty && beacons.isEmpty {
            throw .refused(.invalid, "\(files.joined(separator: ", ")): no beacon in there has an identity")
        }
    }

    /// A profile has advertisements at its top level; everything else is for the fleet's own reader to judge.
    static func isProfile(_ path: String) throws -> Bool {
        if Files.exists(path + "/manifest.json") { return false }
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.readInput(path, limit: sizeLimit)
        } catch {
            throw BeaconServiceError(error, reading: path == "-" ? "standard input" : path, limit: sizeLimit)
        }
        guard case .object(let members)? = JSONDocument.parse(octets).root?.value else { return false }
        let keys = Set(members.map(\.key))
        return keys.contains("advertisements") && keys.isDisjoint(with: ["beacons", "groups"])
    }

    /// What a file may hold at most, in octets.
    private static let sizeLimit = 1 << 30

    private mutating func add(_ profile: LoadedProfile) throws {
        warnings += profile.warnings
        profiles.append(profile)
        for (index, advertisement) in profile.advertisements.enumerated() {
            let interval = profile.interval(of: index).interval.microseconds
            if case .eddystoneEID(let rotation) = advertisement.content {
                guard let key = try profile.identityKey(for: advertisement),
                    let exponent = RotationExponent(rawValue: rotation.rotationExponent)
                else { continue }
                keys.append(
                    EphemeralKey(
                        beacon: beacons.count, key: key, exponent: exponent,
                        epochSeconds: profile.eidEpochUnixSeconds))
                beacons.append(KnownBeacon(name: profile.name, identity: nil, intervalMicroseconds: interval))
            } else if let identity = advertisement.content.identity {
                beacons.append(KnownBeacon(name: profile.name, identity: identity, intervalMicroseconds: interval))
            }
        }
    }

    private mutating func add(_ fleet: NamedFleet) throws {
        let directory = FleetKeys(of: fleet).directory
        var withoutKey = 0
        for beacon in try fleet.manifest().beacons {
            for advertisement in beacon.advertisements {
                guard let identity = BeaconIdentity(advertisement.identity) else { continue }
                beacons.append(
                    KnownBeacon(
                        name: beacon.name, identity: identity,
                        intervalMicroseconds: advertisement.intervalMicroseconds))
            }
            let rotating = beacon.advertisements.first { $0.type == "eddystone-eid" }
            guard let rotating, let rotation = try BeaconRotation(beacon) else { continue }
            guard let key = try directory.key(of: rotation) else {
                withoutKey += 1
                continue
            }
            for exponent in rotation.exponents {
                keys.append(
                    EphemeralKey(
                        beacon: beacons.count, key: key, exponent: exponent,
                        epochSeconds: rotation.epoch?.secondsSince1970))
            }
            beacons.append(
                KnownBeacon(
                    name: beacon.name, identity: nil, intervalMicroseconds: rotating.intervalMicroseconds))
        }
        if withoutKey > 0 {
            warnings.append("\(withoutKey) beacons have no key in \(directory.path): their ephemeral ids stay unknown")
        }
    }

    /// A region by its pattern or by the name of a beacon.
    ///
    /// - Throws: `request` where `text` is neither.
    public func region(_ text: String) throws(ListenerServiceError) -> RegionMonitor.Region {
        if let pattern = RegionPattern(text) { return RegionMonitor.Region(name: text, pattern: pattern) }
        guard names.contains(text) else {
            throw .refused(
                .request,
                "--monitor \(text): this is neither ibeacon:UUID[-MAJOR[-MINOR]] nor uid:NAMESPACE[-INSTANCE] nor "
                    + "another identity, and no beacon of --known has that name")
        }
        return RegionMonitor.Region(name: text, pattern: nil)
    }

    /// Tells whose an ephemeral id is, by the wall clock of a source; `nil` without keys.
    public func resolver(_ clock: HearingClock) -> SightingTable.Resolver? {
        guard !keys.isEmpty else { return nil }
        let table = Mutex(EphemeralTable(keys))
        return { id, instant in
            guard let time = clock.unixMicroseconds(at: instant) else { return nil }
            return table.withLock { $0.beacon(id, unixSeconds: Int(time / 1_000_000)) }
        }
    }
}

extension Advertisement.Content {
    /// What tells its receiver who it is; `nil` for telemetry, ephemeral ids and octets of no known layout.
    public var identity: BeaconIdentity? {
        switch self {
        case .iBeacon(let uuid, let major, let minor, _): .iBeacon(uuid: uuid, major: major, minor: minor)
        case .altBeacon(let company, let id, _, _): .altBeacon(companyID: company, id: id)
        case .eddystoneUID(let namespace, let instance): .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL(let url): .eddystoneURL(url)
        case .raw(let data): BeaconFrame(decoding: data).flatMap(BeaconIdentity.init)
        case .eddystoneTLM, .eddystoneEID: nil
        }
    }
}

extension BeaconIdentity {
    /// The identity of a beacon in a manifest; `nil` for those that rotate, and for none.
    public init?(_ identity: FleetManifest.Identity) {
        switch identity {
        case .iBeacon(let uuid, let major, let minor): self = .iBeacon(uuid: uuid, major: major, minor: minor)
        case .altBeacon(let company, let id): self = .altBeacon(companyID: company, id: id)
        case .eddystoneUID(let namespace, let instance): self = .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL(let text):
            guard let url = try? CompressedURL(text) else { return nil }
            self = .eddystoneURL(url)
        case .none: return nil
        }
    }
}
