public import Auditing
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
public import FleetStore
internal import LinuxHost
internal import Profiles
public import Sightings
internal import Synchronization

/// The advertisements that the beacons of profiles and fleets should send, with the keys of rotating payloads.
public struct AuditedFiles {
    /// The beacons in the order of the files.
    public private(set) var beacons: [ExpectedBeacon] = []
    /// The beacons of the files, for an audit with a virtual adapter, which receives them.
    public private(set) var virtualBeacons = VirtualBeacons()
    /// Warnings about the files, one sentence each.
    public private(set) var warnings: [String] = []
    /// The identities of the fleets' beacons that were not selected.
    public private(set) var others: Set<BeaconIdentity> = []
    /// True if an advertisement is on the LE Coded PHY. A receiver then listens to two PHYs in turn.
    var needsCoded: Bool { beacons.flatMap(\.advertisements).contains { $0.phy?.isCoded == true } }
    private let selection: BeaconSelection
    /// The keys of ephemeral ids. Their ``EphemeralKey/beacon`` is the index of the advertisement, counted over all
    /// beacons.
    private var ephemeralIDKeys: [EphemeralKey] = []
    /// The keys of encrypted telemetry, by the index of the advertisement, counted over all beacons.
    private var telemetryKeys: [Int: EphemeralKey] = [:]

    /// - Parameters:
    ///   - files: Profiles, fleet files, and manifests or their directories.
    ///   - selection: The beacons of the fleets to audit. Profiles are not selected.
    /// - Throws: An error if a file cannot be used, if the files contain no beacon, or if a selected name does not
    ///   exist.
    public init(_ files: [String], selection: BeaconSelection = .init()) throws(ListenerServiceError) {
        self.selection = selection
        do {
            for file in files {
                if try KnownBeacons.content(of: file) == .profile {
                    try addProfile(file)
                } else {
                    try add(NamedFleet(path: file))
                }
            }
        } catch {
            throw ListenerServiceError(error)
        }
        if beacons.isEmpty {
            throw .refused(.invalid, "\(files.joined(separator: ", ")): the files contain no beacon to audit")
        }
    }

    private mutating func addProfile(_ file: String) throws {
        let report = ProfileReport(try ProfileReport.read(file), file: file)
        guard let profile = report.profile else { throw report.refusal }
        warnings += report.problems.map { $0.text(file: file) }
        let count = beacons.count
        let directory = Files.directory(of: file)
        try add(profile, group: []) { name in
            do throws(BeaconServiceError) {
                return try KeyFile.read(name.hasPrefix("/") ? name : directory + name)
            } catch {
                // A missing key is no error here: the advertisement that needs it is then not judged.
                if case .refused(.missing, _) = error { return nil }
                throw error
            }
        }
        if beacons.count > count { virtualBeacons.add(try LoadedProfile(path: file)) }
    }

    private mutating func add(_ fleet: NamedFleet) throws {
        virtualBeacons.add(fleet, keys: nil)
        let manifest = try fleet.manifest()
        let keys = FleetKeys(of: fleet).directory
        var texts: [String: [UInt8]] = [:]
        do throws(FleetStoreError) {
            for (name, text) in try fleet.profiles(of: manifest.beacons) { texts[name] = text }
        } catch {
            // If the profiles are missing, the manifest is used. It describes everything except unusual flags.
            guard error.kind == .missing else { throw error }
        }
        let selected = try selection.beacons(of: manifest.beacons, in: fleet.path)
        let names = Set(selected.map(\.name))
        for beacon in manifest.beacons where !names.contains(beacon.name) {
            others.formUnion(beacon.advertisements.compactMap { BeaconIdentity($0.identity) })
        }
        for beacon in selected {
            let key: (String) throws -> IdentityKey? = { _ in
                guard let rotation = try BeaconRotation(beacon) else { return nil }
                return try keys.key(of: rotation)
            }
            if let text = texts[beacon.name], let profile = BeaconProfile.decode(text).profile {
                try add(profile, group: beacon.group, key)
            } else {
                try add(beacon, key)
            }
        }
    }

    // MARK: From a profile

    private mutating func add(
        _ profile: BeaconProfile, group: [String], _ key: (String) throws -> IdentityKey?
    ) throws {
        let keysOfEphemeralIDs = Set(
            profile.advertisements.filter { $0.content.typeName == "eddystone-eid" }.compactMap(\.rotatingKey))
        let firstIndex = advertisementCount
        var expected: [ExpectedAdvertisement] = []
        // If the profile contains no address, the beacon's machine derives an address. The audit does not know this
        // address and does not compare it, so any address can be used here.
        let transmitted = try profile.advertisements { _ in DeviceAddress(FixedOctets()) }
        for (configured, advertisement) in zip(profile.advertisements, transmitted) {
            let address: ExpectedAdvertisement.Address
            if let key = configured.rotatingKey, keysOfEphemeralIDs.contains(key) {
                address = .changing
            } else {
                switch configured.address ?? profile.address {
                case .public: address = .anyPublic
                case .randomStatic: address = .anyStatic
                case .explicit(let explicit): address = .exactly(Sender(explicit, isRandom: true))
                }
            }
            let isJudgeable = try note(
                configured.rotatingKey, isEphemeralID: configured.content.typeName == "eddystone-eid",
                firstIndex + expected.count, profile.eidEpoch, key)
            expected.append(try ExpectedAdvertisement(advertisement, from: address, isJudgeable: isJudgeable))
        }
        append(ExpectedBeacon(name: profile.name, group: group, advertisements: expected))
    }

    /// Adds a beacon, unless another file describes the same beacon, such as a manifest and the profile next to it.
    private mutating func append(_ beacon: ExpectedBeacon) {
        // The comparison ignores which keys are available.
        func advertisements(of beacon: ExpectedBeacon) -> [ExpectedAdvertisement] {
            beacon.advertisements.map { advertisement in
                var advertisement = advertisement
                advertisement.isJudgeable = true
                return advertisement
            }
        }
        let isKnown = beacons.contains {
            $0.name == beacon.name && advertisements(of: $0) == advertisements(of: beacon)
        }
        guard isKnown else { return beacons.append(beacon) }
        // Remove the keys of the advertisements that are not added.
        let count = advertisementCount
        ephemeralIDKeys.removeAll { $0.beacon >= count }
        telemetryKeys = telemetryKeys.filter { $0.key < count }
    }

    private var advertisementCount: Int { beacons.reduce(0) { $0 + $1.advertisements.count } }

    /// Stores the key of an advertisement, if it has one.
    ///
    /// - Returns: Whether the advertisement can be judged.
    private mutating func note(
        _ rotation: Advertisement.RotatingKey?, isEphemeralID: Bool, _ advertisement: Int, _ epoch: RFC3339Time?,
        _ key: (String) throws -> IdentityKey?
    ) throws -> Bool {
        guard let rotation else { return true }
        guard let exponent = RotationExponent(rawValue: rotation.rotationExponent), let epoch,
            let file = rotation.identityKeyFile, let key = try key(file)
        else { return false }
        let entry = EphemeralKey(
            beacon: advertisement, key: key, exponent: exponent, epochSeconds: epoch.secondsSince1970)
        if isEphemeralID { ephemeralIDKeys.append(entry) } else { telemetryKeys[advertisement] = entry }
        return true
    }

    // MARK: From a manifest

    private mutating func add(_ beacon: FleetManifest.Beacon, _ key: (String) throws -> IdentityKey?) throws {
        let firstIndex = advertisementCount
        let hasEphemeralID = beacon.advertisements.contains { $0.type == "eddystone-eid" }
        var expected: [ExpectedAdvertisement] = []
        for advertisement in beacon.advertisements {
            let rotation = advertisement.identityKeyFile.map {
                Advertisement.RotatingKey(
                    identityKeyFile: $0, rotationExponent: UInt8(clamping: advertisement.rotationExponent ?? 0))
            }
            let address: ExpectedAdvertisement.Address
            if rotation != nil, hasEphemeralID {
                address = .changing
            } else {
                address = beacon.address.map { .exactly(Sender($0, isRandom: true)) } ?? .anyPublic
            }
            let isJudgeable = try note(
                rotation, isEphemeralID: advertisement.type == "eddystone-eid", firstIndex + expected.count,
                beacon.eidEpoch, key)
            if let content = Self.content(advertisement, rotation) {
                let transmitted = Advertisement(
                    content: content, interval: Self.interval(advertisement.intervalMicroseconds),
                    pattern: advertisement.pattern, measuredPower: Self.power(advertisement), address: .public,
                    phy: advertisement.phy)
                var value = try ExpectedAdvertisement(transmitted, from: address, isJudgeable: isJudgeable)
                // The manifest does not contain unusual flags.
                if advertisement.payloadOctets != nil { value.octets = nil }
                expected.append(value)
            } else {
                expected.append(
                    ExpectedAdvertisement(
                        type: advertisement.type, content: .raw, octets: nil,
                        intervalMicroseconds: advertisement.intervalMicroseconds, pattern: advertisement.pattern,
                        address: address, phy: advertisement.phy, isJudgeable: false))
            }
        }
        append(ExpectedBeacon(name: beacon.name, group: beacon.group, advertisements: expected))
    }

    private static func content(
        _ advertisement: FleetManifest.Advertisement, _ rotation: Advertisement.RotatingKey?
    ) -> Advertisement.Content? {
        switch (advertisement.identity, advertisement.type) {
        case (.iBeacon(let uuid, let major, let minor), _):
            return .iBeacon(uuid: uuid, major: major, minor: minor, flags: .beacon)
        case (.altBeacon(let company, let id), _):
            return .altBeacon(companyID: company, beaconID: id, reserved: 0, flags: .beacon)
        case (.eddystoneUID(let namespace, let instance), _):
            return .eddystoneUID(namespace: namespace, instance: instance)
        case (.eddystoneURL(let text), _): return (try? CompressedURL(text)).map { .eddystoneURL($0) }
        case (.none, "eddystone-tlm"):
            return .eddystoneTLM(.init(battery: .unknown, temperature: .unknown), encryption: rotation)
        case (.none, "eddystone-eid"): return rotation.map { .eddystoneEID($0) }
        case (.none, _): return nil
        }
    }

    private static func power(_ advertisement: FleetManifest.Advertisement) -> MeasuredPowerRule {
        guard let dBm = advertisement.measuredPower.flatMap({ Int8(exactly: $0) }) else {
            return .calibrated(PowerCalibration(points: [], fallback: nil))
        }
        let octet = UInt8(bitPattern: dBm)
        return advertisement.type.hasPrefix("eddystone-")
            ? .atZeroMeters(MeasuredPowerAtZeroMeters(octet: octet))
            : .atOneMeter(MeasuredPowerAtOneMeter(octet: octet))
    }

    private static func interval(_ microseconds: Int) -> AdvertisingInterval {
        AdvertisingInterval(rawValue: UInt32(clamping: (microseconds * 2 + 625) / 1250))
    }

    // MARK: Keys

    /// Returns functions that resolve ephemeral ids and decrypt telemetry with the keys.
    ///
    /// - Parameter unixSeconds: Returns the wall clock time at a moment; `nil` if it is not known.
    public func keys(unixSeconds: @escaping @Sendable (HeardInstant) -> Int?) -> Auditor.Keys {
        let table = Mutex(EphemeralTable(ephemeralIDKeys))
        let telemetryKeys = telemetryKeys
        return Auditor.Keys { id, instant in
            guard let time = unixSeconds(instant) else { return nil }
            return table.withLock { $0.beacon(id, unixSeconds: time) }
        } open: { frame, advertisement, instant in
            guard let key = telemetryKeys[advertisement], let epoch = key.epochSeconds, let time = unixSeconds(instant)
            else {
                return nil
            }
            let counter = Int(IdentityKey.firstCounter) + time - epoch
            let period = Int(key.exponent.periodSeconds)
            for time in [counter, counter - period, counter + period] {
                if let seconds = UInt32(exactly: time),
                    let telemetry = try? key.key.open(frame, at: seconds, exponent: key.exponent)
                {
                    return telemetry
                }
            }
            return nil
        }
    }
}
