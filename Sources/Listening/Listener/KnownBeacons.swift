public import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
public import Fleet
internal import FleetStore
internal import LinuxHost
public import Sightings
internal import Synchronization

/// The beacons that profiles, fleets and listener files name, and the keys that resolve ephemeral ids and resolvable
/// private addresses.
public struct KnownBeacons {
    /// One entry for each identity and each key, in the order of the files.
    public private(set) var beacons: [KnownBeacon] = []
    /// The beacons of the files, for a scan with a virtual adapter, which receives them.
    public private(set) var virtualBeacons = VirtualBeacons()
    /// Warnings about the files, one sentence each.
    public private(set) var warnings: [String] = []
    /// The tags and attachments of listener files and fleets, by the name of the beacon.
    public private(set) var notes: [String: BeaconNote] = [:]
    /// The errors of the files that a listener file names. They are collected, so that all of them are reported.
    private var failures: [ListenerServiceError] = []
    /// False if a file with beacons could not be read, so that beacons are missing.
    package private(set) var isComplete = true
    private var keys: [EphemeralKey] = []
    private var addressKeys: [AddressKey] = []

    public var isEmpty: Bool { beacons.isEmpty }
    public var names: Set<String> { Set(beacons.map(\.name)) }
    /// The names of the devices, such as phones, that are known by the key of their private addresses.
    public var namesOfAddressKeys: Set<String> { Set(addressKeys.map { beacons[$0.beacon].name }) }

    /// - Parameter files: Profiles, listener files, fleet files, and manifests or their directories. If several beacons
    ///   have the same identity, its reports are assigned to the first of them.
    /// - Throws: An error if a file cannot be used, or if there are files but no beacon in them has an identity.
    public init(_ files: [String] = []) throws(ListenerServiceError) {
        do {
            for file in files {
                switch try Self.content(of: file) {
                case .profile: try add(LoadedProfile(path: file))
                case .listener: add(try ListenerFile.read(file), at: file)
                case .fleet: try add(NamedFleet(path: file))
                }
            }
            if let failure { throw failure }
        } catch {
            throw ListenerServiceError(error)
        }
        warnOfSecondNames()
        if !files.isEmpty && beacons.isEmpty {
            // The warnings say why beacons were left out.
            throw .service(
                .refused(
                    .invalid,
                    warnings + [
                        "\(files.joined(separator: ", ")): the files contain no beacon with an identity: give the profile a "
                            + "static random \"address\" to recognise its beacon by, or leave out --known"
                    ]))
        }
    }

    /// An item of an inventory: a beacon with its tags and attachments.
    public struct InventoryItem: Equatable, Sendable {
        public var beacon: KnownBeacon
        public var note: BeaconNote

        /// Creates an item with its beacon.
        public init(beacon: KnownBeacon, note: BeaconNote) {
            self.beacon = beacon
            self.note = note
        }
    }

    /// Reads the beacons that a listener file names. A file that only lists strangers names no beacons.
    ///
    /// - Parameters:
    ///   - path: The listener file. Other files are named relative to it.
    ///   - items: Reads an inventory; `nil` for a warning that its items are treated as strangers.
    public init(
        _ listener: ListenerFile, at path: String,
        items: ((String) throws(ListenerServiceError) -> [InventoryItem])? = nil
    ) throws(ListenerServiceError) {
        self.init(allOf: listener, at: path, items: items)
        if let failure { throw failure }
    }

    /// Reads the beacons that a listener file names, without those of files that cannot be used; ``failure`` has the
    /// errors of those files.
    package init(
        allOf listener: ListenerFile, at path: String,
        items: ((String) throws(ListenerServiceError) -> [InventoryItem])? = nil
    ) {
        add(listener, at: path, items)
        warnOfSecondNames()
    }

    /// All errors of the files that a listener file names, as one error; `nil` if there are none.
    package var failure: ListenerServiceError? {
        guard let firstFailure = failures.first, failures.count > 1 else { return failures.first }
        let kind =
            if case .service(.refused(let kind, _)) = firstFailure { kind } else { BeaconServiceError.Kind.invalid }
        return .service(.refused(kind, failures.flatMap(\.messages)))
    }

    /// Runs `body` and collects its error.
    ///
    /// - Parameter hasBeacons: Whether beacons are missing if `body` fails.
    private mutating func collect(hasBeacons: Bool = true, _ body: (inout KnownBeacons) throws -> Void) {
        do {
            try body(&self)
        } catch {
            failures.append(ListenerServiceError(error))
            if hasBeacons { isComplete = false }
        }
    }

    /// The content of a file that names beacons.
    enum Content {
        case profile
        case listener
        /// A fleet file, a manifest or its directory; also every other file, which is then refused.
        case fleet
    }

    /// Returns the content of a file. A profile has advertisements at its top level.
    static func content(of path: String) throws -> Content {
        let isFleetDirectory = Files.exists(path + "/manifest.json")
        if isFleetDirectory { return .fleet }
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.readInput(path, limit: sizeLimit)
        } catch {
            throw BeaconServiceError(error, reading: Files.inputName(path), limit: sizeLimit)
        }
        guard let root = JSONDocument.parse(octets).root, let kind = FileKind(root) else { return .fleet }
        switch kind {
        case .beaconProfile: return root["beacons"] == nil && root["groups"] == nil ? .profile : .fleet
        case .listener: return .listener
        default: return .fleet
        }
    }

    /// The maximum size of a file in bytes.
    private static let sizeLimit = 1 << 30

    private mutating func add(_ profile: LoadedProfile) throws {
        warnings += profile.warnings
        virtualBeacons.add(profile)
        let countBefore = beacons.count
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
                beacons.append(known(profile, index, nil, interval))
            } else if let identity = advertisement.content.identity {
                beacons.append(known(profile, index, identity, interval))
            }
        }
        if beacons.count == countBefore { addAddresses(of: profile) }
    }

    /// Adds a beacon without an identity, such as one that sends only BTHome. Its addresses are used as identities.
    private mutating func addAddresses(of profile: LoadedProfile) {
        var added: Set<BeaconIdentity> = []
        for (index, advertisement) in profile.advertisements.enumerated() {
            guard case .staticRandom(let address) = advertisement.address,
                added.insert(.address(address)).inserted
            else { continue }
            let interval = profile.interval(of: index).interval.microseconds
            beacons.append(known(profile, index, .address(address), interval))
            warnings.append(
                "\(profile.name) sends no identity, so it is recognised by its address \(address). If the profile does not name "
                    + "an address, this is the address that this machine would use")
        }
    }

    private func known(
        _ profile: LoadedProfile, _ index: Int, _ identity: BeaconIdentity?, _ interval: Int
    ) -> KnownBeacon {
        KnownBeacon(
            name: profile.name, identity: identity, intervalMicroseconds: interval,
            calibrationAtOneMeter: profile.calibrationAtOneMeter(of: index))
    }

    private mutating func add(
        _ listener: ListenerFile, at path: String,
        _ items: ((String) throws(ListenerServiceError) -> [InventoryItem])? = nil
    ) {
        let directory = Files.directory(of: path)
        func fullPath(_ name: String) -> String { name.hasPrefix("/") ? name : directory + name }
        let keys = listener.keys.map { fullPath($0.hasSuffix("/") ? $0 : $0 + "/") }
        for entry in listener.known {
            switch entry {
            case .fleet(let file):
                collect { try $0.add(NamedFleet(path: fullPath(file), isNamedInFile: true), keys: keys) }
            case .profile(let file): collect { try $0.add(LoadedProfile(path: fullPath(file), isNamedInFile: true)) }
            case .inventory(let file):
                guard let items else {
                    warnings.append(
                        "\(fullPath(file)): this command does not read inventories, so the beacons of this file are "
                            + "not known; use `pharos listen` or `pharos zones`, which read it")
                    continue
                }
                collect {
                    for item in try items(fullPath(file)) {
                        $0.notes[item.beacon.name] = $0.notes[item.beacon.name] ?? item.note
                        $0.beacons.append(item.beacon)
                        $0.virtualBeacons.add([item.beacon], name: item.beacon.name)
                    }
                }
            case .beacon(let beacon):
                // An entry without tags and attachments does not remove the tags and attachments that a fleet gives the
                // same beacon.
                if beacon.note != BeaconNote() || notes[beacon.name] == nil { notes[beacon.name] = beacon.note }
                let identities = beacon.patterns.map { KnownBeacon(name: beacon.name, $0) }
                beacons += identities
                virtualBeacons.add(identities, name: beacon.name)
            }
        }
        for key in listener.addressKeys {
            let file = key.file.hasPrefix("/") ? key.file : (keys ?? directory) + key.file
            collect(hasBeacons: false) {
                let resolvingKey = try KeyFile.readIdentityResolvingKey(file)
                $0.addressKeys.append(AddressKey(beacon: $0.beacons.count, key: resolvingKey))
                $0.virtualBeacons.add(resolvingKey, name: key.name)
            }
            beacons.append(KnownBeacon(name: key.name, identity: nil))
        }
    }

    /// - Parameter keys: The directory of the keys; `nil` for the keys directory next to the fleet.
    private mutating func add(_ fleet: NamedFleet, keys: String? = nil) throws {
        virtualBeacons.add(fleet, keys: keys)
        let directory = FleetKeys(of: fleet, in: keys).directory
        var beaconsWithoutKey = 0
        for beacon in try fleet.manifest().beacons {
            if !beacon.tags.isEmpty || !beacon.attachments.isEmpty {
                var note = BeaconNote()
                note.tags = beacon.tags
                note.attachments = beacon.attachments
                notes[beacon.name] = notes[beacon.name] ?? note
            }
            for advertisement in beacon.advertisements {
                guard let identity = BeaconIdentity(advertisement.identity) else { continue }
                beacons.append(
                    KnownBeacon(
                        name: beacon.name, identity: identity,
                        intervalMicroseconds: advertisement.intervalMicroseconds))
            }
            let rotatingAdvertisement = beacon.advertisements.first { $0.type == "eddystone-eid" }
            guard let rotatingAdvertisement, let rotation = try BeaconRotation(beacon) else { continue }
            guard let key = try directory.key(of: rotation) else {
                beaconsWithoutKey += 1
                continue
            }
            for exponent in rotation.exponents {
                self.keys.append(
                    EphemeralKey(
                        beacon: beacons.count, key: key, exponent: exponent,
                        epochSeconds: rotation.epoch?.secondsSince1970))
            }
            beacons.append(
                KnownBeacon(
                    name: beacon.name, identity: nil, intervalMicroseconds: rotatingAdvertisement.intervalMicroseconds))
        }
        if beaconsWithoutKey > 0 {
            warnings.append(
                "\(beaconsWithoutKey) \(beaconsWithoutKey == 1 ? "beacon has" : "beacons have") no key in \(directory.path): "
                    + "\(beaconsWithoutKey == 1 ? "its" : "their") ephemeral ids cannot be resolved")
        }
    }

    /// Adds a warning for each beacon that is never reported, because earlier beacons have all its identities.
    private mutating func warnOfSecondNames() {
        var firstNames: [BeaconIdentity: String] = [:]
        var reported: Set<String> = []
        for beacon in beacons {
            guard let identity = beacon.identity else {
                reported.insert(beacon.name)
                continue
            }
            if firstNames[identity] == nil { firstNames[identity] = beacon.name }
            if firstNames[identity] == beacon.name { reported.insert(beacon.name) }
        }
        var sentences: [String] = []
        for beacon in beacons where reported.insert(beacon.name).inserted {
            guard let identity = beacon.identity, let firstName = firstNames[identity] else { continue }
            sentences.append(
                "\(beacon.name) is never reported: \(firstName) has the same identity, \(identity), and comes first")
        }
        // If all beacons of a fleet send one URL, hundreds of beacons have the identity of the first one.
        warnings += sentences.prefix(3)
        if sentences.count > 3 {
            warnings.append("\(sentences.count - 3) more beacons are never reported, for the same reason")
        }
    }

    /// Returns the region that `text` describes, as a pattern or as the name of a beacon.
    ///
    /// - Throws: `request` if `text` is neither.
    public func region(_ text: String) throws(ListenerServiceError) -> RegionMonitor.Region {
        if let pattern = RegionPattern(text) { return RegionMonitor.Region(name: text, pattern: pattern) }
        guard names.contains(text) else {
            throw .refused(
                .request,
                "--monitor \(text): use ibeacon:UUID[-MAJOR[-MINOR]], uid:NAMESPACE[-INSTANCE], "
                    + "another identity, or the name of a beacon in --known")
        }
        return RegionMonitor.Region(name: text, pattern: nil)
    }

    /// Returns a table of these beacons.
    ///
    /// - Parameter clock: The clock of the source of the sightings.
    public func table(
        _ clock: HearingClock, strangers: SightingTable.Strangers = .kept(SightingTable.defaultStrangers)
    ) -> SightingTable {
        SightingTable(
            known: beacons, strangers: strangers, resolver: resolver(clock), addressResolver: addressResolver)
    }

    /// Finds the devices of resolvable private addresses; `nil` if there are no keys.
    private var addressResolver: SightingTable.AddressResolver? {
        guard !addressKeys.isEmpty else { return nil }
        let resolver = Mutex(AddressResolver(addressKeys))
        return { address, instant in resolver.withLock { $0.beacon(address, at: instant) } }
    }

    /// Returns a function that resolves ephemeral ids, with the wall clock of a source; `nil` without keys.
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
    /// The identity that the content transmits; `nil` for telemetry, BTHome, ephemeral ids and raw data without a
    /// known frame.
    public var identity: BeaconIdentity? {
        switch self {
        case .iBeacon(let uuid, let major, let minor, _): .iBeacon(uuid: uuid, major: major, minor: minor)
        case .altBeacon(let company, let id, _, _): .altBeacon(companyID: company, id: id)
        case .eddystoneUID(let namespace, let instance): .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL(let url): .eddystoneURL(url)
        case .raw(let data): BeaconFrame(decoding: data).flatMap(BeaconIdentity.init)
        case .eddystoneTLM, .eddystoneEID, .btHome: nil
        }
    }
}

extension BeaconIdentity {
    /// Converts the identity of a beacon in a manifest. Returns `nil` if the identity rotates, and if there is none.
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

extension ListenerFile {
    /// Reads the file at `path`, or standard input for `-`.
    ///
    /// - Throws: `refused` with all problems of the file.
    public static func read(_ path: String) throws(ListenerServiceError) -> ListenerFile {
        let octets: [UInt8]
        do throws(BeaconServiceError) {
            octets = try ProfileReport.read(path)
        } catch {
            throw .service(error)
        }
        let (file, problems) = decode(octets)
        guard let file else { throw .service(BeaconServiceError(problems, of: Files.inputName(path))) }
        return file
    }
}
