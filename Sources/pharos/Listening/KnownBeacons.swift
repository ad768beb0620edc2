internal import Advertiser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
internal import LinuxHost
internal import Sightings
internal import Synchronization

/// The beacons that profiles and fleets give names to.
struct KnownBeacons {
    private(set) var beacons: [KnownBeacon] = []
    /// What the profiles among the files want on the air.
    private(set) var profiles: [LoadedProfile] = []
    private var keys: [EphemeralKey] = []

    var isEmpty: Bool { beacons.isEmpty }
    var names: Set<String> { Set(beacons.map(\.name)) }

    init(_ files: [String]) throws {
        for file in files {
            if try Self.isProfile(file) { try add(LoadedProfile(path: file)) } else { try add(NamedFleet(path: file)) }
        }
        if !files.isEmpty && beacons.isEmpty {
            throw Failure(.configuration, "\(files.joined(separator: ", ")): no beacon in there has an identity")
        }
    }

    /// A profile has advertisements at its top level; everything else is for the fleet's own reader to judge.
    private static func isProfile(_ path: String) throws -> Bool {
        if Files.exists(path + "/manifest.json") { return false }
        guard case .object(let members)? = JSONDocument.parse(try InputFile.read(path)).root?.value else {
            return false
        }
        let keys = Set(members.map(\.key))
        return keys.contains("advertisements") && keys.isDisjoint(with: ["beacons", "groups"])
    }

    private mutating func add(_ profile: LoadedProfile) throws {
        for warning in profile.warnings { Terminal.writeError("pharos: \(warning)\n") }
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
        for beacon in try fleet.manifest().beacons {
            for advertisement in beacon.advertisements {
                guard let identity = BeaconIdentity(advertisement.identity) else { continue }
                beacons.append(
                    KnownBeacon(
                        name: beacon.name, identity: identity,
                        intervalMicroseconds: advertisement.intervalMicroseconds))
            }
        }
    }

    /// A region by its pattern or by the name of a beacon.
    func region(_ text: String) throws -> RegionMonitor.Region {
        if let pattern = RegionPattern(text) { return RegionMonitor.Region(name: text, pattern: pattern) }
        guard names.contains(text) else {
            throw Failure(
                .usage,
                "--monitor \(text): this is neither ibeacon:UUID[-MAJOR[-MINOR]] nor uid:NAMESPACE[-INSTANCE] nor "
                    + "another identity, and no beacon of --known has that name")
        }
        return RegionMonitor.Region(name: text, pattern: nil)
    }

    /// Tells whose an ephemeral id is, by the wall clock; `nil` without keys.
    func resolver() -> SightingTable.Resolver? {
        guard !keys.isEmpty else { return nil }
        let table = Mutex(EphemeralTable(keys))
        let clock = ScanWallClock.shared
        return { id, instant in
            guard let time = clock.unixMicroseconds(at: instant) else { return nil }
            return table.withLock { $0.beacon(id, unixSeconds: Int(time / 1_000_000)) }
        }
    }
}

/// The key of a beacon with ephemeral ids.
struct EphemeralKey {
    /// Its place among the known beacons.
    let beacon: Int
    let key: IdentityKey
    let exponent: RotationExponent
    /// When its clock stood at 65280, in seconds since 1970; `nil` where that is not known: then it cannot be told.
    let epochSeconds: Int?
}

/// The ids that all keys make in the window of now and in one on each side. What is in no window is nobody's: an id that
/// was recorded and sent again later is none of ours.
struct EphemeralTable {
    private struct Window {
        var number: Int?
        var ids: [FixedOctets<8>] = []
    }

    private let keys: [EphemeralKey]
    private var windows: [Window]
    private var beacons: [FixedOctets<8>: Int] = [:]
    private var checkedSecond: Int?

    init(_ keys: [EphemeralKey]) {
        self.keys = keys
        windows = keys.map { _ in Window() }
    }

    mutating func beacon(_ id: FixedOctets<8>, unixSeconds: Int) -> Int? {
        if checkedSecond != unixSeconds {
            checkedSecond = unixSeconds
            for index in keys.indices { turn(index, unixSeconds) }
        }
        return beacons[id]
    }

    private mutating func turn(_ index: Int, _ unixSeconds: Int) {
        let key = keys[index]
        guard let epoch = key.epochSeconds else { return }
        let period = Int(key.exponent.periodSeconds)
        let counter = Int(IdentityKey.firstCounter) + unixSeconds - epoch
        guard counter >= 0, windows[index].number != counter / period else { return }
        for id in windows[index].ids { beacons[id] = nil }
        let times = [counter - period, counter, counter + period].compactMap { UInt32(exactly: $0) }
        let ids = times.compactMap { try? key.key.ephemeralID(at: $0, exponent: key.exponent) }
        for id in ids { beacons[id] = key.beacon }
        windows[index] = Window(number: counter / period, ids: ids)
    }
}

extension Advertisement.Content {
    /// What tells its receiver who it is; `nil` for telemetry, ephemeral ids and octets of no known layout.
    var identity: BeaconIdentity? {
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
    init?(_ identity: FleetManifest.Identity) {
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
