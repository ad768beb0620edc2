internal import Advertiser
public import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Fleet
internal import FleetStore
internal import Glibc
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Profiles
public import Sightings
internal import VirtualController

/// The beacons that a virtual adapter receives: all beacons that profiles, fleets, listener files and inventories
/// describe, at their intervals. If there are none, the adapter receives one iBeacon.
public struct VirtualBeacons: Sendable {
    private enum Part: Sendable {
        case profile(LoadedProfile)
        case fleet(NamedFleet, keys: String?)
        /// The identities of one beacon that a listener file or an inventory describes.
        case identities(name: String, [KnownBeacon])
        case phone(name: String, IdentityResolvingKey)
    }

    private var parts: [Part] = []

    /// Creates an empty collection. A virtual adapter then receives one iBeacon.
    public init() {}

    mutating func add(_ profile: LoadedProfile) { parts.append(.profile(profile)) }

    /// - Parameter keys: The directory of the keys; `nil` for the keys directory next to the fleet.
    mutating func add(_ fleet: NamedFleet, keys: String?) { parts.append(.fleet(fleet, keys: keys)) }

    /// Adds a beacon that has one or several identities.
    public mutating func add(_ identities: [KnownBeacon], name: String) {
        parts.append(.identities(name: name, identities))
    }

    mutating func add(_ key: IdentityResolvingKey, name: String) { parts.append(.phone(name: name, key)) }

    /// Starts a virtual air: every controller that is connected to it receives the beacons.
    ///
    /// - Parameter model: The model of the receiving controllers.
    /// - Throws: An error if a file has changed since it was added, a key cannot be read, or a beacon cannot be sent.
    func air(_ model: VirtualControllerModel, _ path: VirtualPath) throws -> VirtualAirServer {
        let beacons = try beacons()
        // A controller without extended advertising could not receive extended advertisements, so another model is
        // used.
        let hasExtended = beacons.contains { $0.sources.contains { $0.advertisement.phy != nil } }
        let model = hasExtended && !model.hasExtendedAdvertising ? .zephyr : model
        return try VirtualAirServer(VirtualAirConfiguration(model: model)) { air in
            try VirtualBeaconHosts(beacons, on: air, path)
        }
    }

    /// The name and the advertisements of each beacon, in the order of the files.
    ///
    /// - Throws: An error if a file has changed since it was added, or a key cannot be read.
    public func advertisements() throws(ListenerServiceError) -> [(name: String, advertisements: [Advertisement])] {
        do {
            return try beacons().map { ($0.name, $0.sources.map(\.advertisement)) }
        } catch {
            throw ListenerServiceError(error)
        }
    }

    /// The beacons in the order of the files. A beacon that two files describe is sent once.
    func beacons() throws -> [VirtualBeacon] {
        var beacons: [VirtualBeacon] = []
        var addedIdentities: Set<BeaconIdentity> = []
        func add(_ beacon: VirtualBeacon) {
            let identities = Set(beacon.sources.compactMap(\.advertisement.content.identity))
            let isDuplicate =
                !identities.isEmpty && identities.isSubset(of: addedIdentities)
                && beacons.contains { $0.name == beacon.name }
            guard !isDuplicate, !beacon.sources.isEmpty else { return }
            addedIdentities.formUnion(identities)
            beacons.append(beacon)
        }
        for part in parts {
            switch part {
            case .profile(let profile): add(try VirtualBeacon(profile))
            case .fleet(let fleet, let keys): for beacon in try VirtualBeacon.beacons(of: fleet, keys) { add(beacon) }
            case .identities, .phone: continue
            }
        }
        // Profiles and fleets describe a beacon in more detail than listener files and inventories, so their beacons
        // were added first.
        for part in parts {
            switch part {
            case .identities(let name, let known):
                let newIdentities = known.filter {
                    $0.identity.map { !addedIdentities.contains($0) } ?? ($0.region != nil)
                }
                add(VirtualBeacon(name: name, newIdentities))
            case .phone(let name, let key): add(try VirtualBeacon(name: name, key))
            case .profile, .fleet: continue
            }
        }
        return beacons.isEmpty ? [.sample] : beacons
    }
}

/// One beacon on the virtual air.
struct VirtualBeacon: Sendable {
    let name: String
    let sources: [PayloadSource]
    /// The value of the beacon's own seconds counter, from which ephemeral ids are computed.
    var eidTime: UInt32?

    /// The interval of beacons whose file does not give one: 100 ms.
    private static let usualInterval = AdvertisingInterval(rawValue: 160)
    /// The measured power at 1 m of beacons whose file does not give one: -59 dBm.
    private static let usualPower = -59

    /// The only beacon if no file describes any.
    static let sample = VirtualBeacon(
        name: "sample",
        [
            KnownBeacon(
                name: "sample",
                identity: .iBeacon(
                    uuid: FixedOctets<16>([
                        0xFB, 0x0B, 0x57, 0xA2, 0x82, 0x28, 0x44, 0xCD, 0x91, 0x3A, 0x94, 0xA1, 0x22, 0xBA, 0x12, 0x06,
                    ]) ?? FixedOctets(), major: 1, minor: 2))
        ])

    init(_ profile: LoadedProfile) throws {
        name = profile.name
        sources = try profile.advertisements.map { try profile.source($0) }
        eidTime = profile.eidTime()
    }

    /// Creates a beacon with these identities. Identities that cannot be sent, such as an ephemeral id, are left out.
    init(name: String, _ identities: [KnownBeacon]) {
        self.name = name
        let address = StaticAddress.make(name: name)
        sources = identities.compactMap { known in
            guard let content = Self.content(known) else { return nil }
            // A device that is known by its address may have any kind of address.
            let rule: Advertisement.AddressRule =
                if case .address(let knownAddress)? = known.identity { .random(knownAddress) } else {
                    .staticRandom(address)
                }
            let dBm = known.calibrationAtOneMeter ?? Self.usualPower
            let interval = known.intervalMicroseconds.map { (2 * $0 + 625) / 1250 }
            var hasPower = true
            if case .raw = content { hasPower = false }
            return PayloadSource(
                Advertisement(
                    content: content,
                    interval: interval.map { AdvertisingInterval(rawValue: UInt32(clamping: $0)) }
                        ?? Self.usualInterval,
                    measuredPower: hasPower
                        ? .atOneMeter(MeasuredPowerAtOneMeter(octet: UInt8(bitPattern: Int8(clamping: dBm)))) : .none,
                    address: rule))
        }
    }

    private static func content(_ known: KnownBeacon) -> Advertisement.Content? {
        if let region = known.region { return content(region) }
        return switch known.identity {
        case .iBeacon(let uuid, let major, let minor):
            .iBeacon(uuid: uuid, major: major, minor: minor, flags: .beacon)
        case .altBeacon(let company, let id):
            .altBeacon(companyID: company, beaconID: id, reserved: 0, flags: .beacon)
        case .eddystoneUID(let namespace, let instance): .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL(let url): .eddystoneURL(url)
        case .address: .raw(Self.flags)
        case .eddystoneEID, nil: nil
        }
    }

    /// Returns the content of one device of a region; `nil` if it does not fit into an advertisement.
    private static func content(_ region: RegionPattern) -> Advertisement.Content? {
        func raw(_ structure: ADStructure) -> Advertisement.Content? {
            (try? AdvertisingData([.flags(.beacon), structure])).map { .raw($0) }
        }
        return switch region {
        case .iBeacon(let uuid, let major, let minor):
            .iBeacon(uuid: uuid, major: major ?? 1, minor: minor ?? 1, flags: .beacon)
        case .eddystoneUID(let namespace, let instance):
            .eddystoneUID(namespace: namespace, instance: instance ?? FixedOctets())
        case .localName(let name): raw(.completeLocalName(name))
        case .service(let uuid): raw(ADStructure(.complete128BitUUIDs, BluetoothUUID.uuid128(uuid).littleEndian))
        case .identity: nil
        }
    }

    /// The data of a device that is recognised by its address alone.
    private static let flags = AdvertisingData(octets: [2, 1, 6])

    /// Creates a phone that uses one resolvable private address.
    init(name: String, _ key: IdentityResolvingKey) throws {
        self.name = name
        let random = FixedOctets<3>(Privileges.randomOctets(3)) ?? FixedOctets()
        sources = [
            PayloadSource(
                Advertisement(
                    content: .raw(Self.flags), interval: Self.usualInterval, measuredPower: .none,
                    address: .random(try key.address(from: random))))
        ]
    }

    /// Returns all beacons of a fleet. Advertisements whose key is missing are left out.
    static func beacons(of fleet: NamedFleet, _ keys: String?) throws -> [VirtualBeacon] {
        let directory = FleetKeys(of: fleet, in: keys).directory
        let manifest = try fleet.manifest()
        let texts = Dictionary(
            try fleet.profiles(of: manifest.beacons).map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first }
        )
        return try manifest.beacons.compactMap { beacon in
            guard let text = texts[beacon.name], let profile = BeaconProfile.decode(text).profile else { return nil }
            let key = try BeaconRotation(beacon).flatMap { try directory.key(of: $0) }
            let advertisements = try profile.advertisements { StaticAddress.make(name: $0) }
            let sendable = advertisements.filter { $0.content.keyFile == nil || key != nil }
            var virtualBeacon = VirtualBeacon(
                name: beacon.name,
                sources: sendable.map {
                    PayloadSource($0, identityKey: key, firstPacket: LoadedProfile.firstPacket)
                })
            virtualBeacon.eidTime = LoadedProfile.eidTime(since: beacon.eidEpoch)
            return virtualBeacon
        }
    }

    private init(name: String, sources: [PayloadSource]) {
        self.name = name
        self.sources = sources
    }

    /// The path loss at 1 m, in dB, at which a receiver measures the level that the beacon states.
    var lossAtOneMeter: Double {
        for source in sources {
            let advertisement = source.advertisement
            let power = advertisement.radioPower ?? RadioPower(octet: 0)
            if let measured = try? advertisement.measuredPower.atOneMeter(radioPower: power) {
                return Double(Int(power.dBm) - Int(measured.dBm))
            }
        }
        return Double(-Self.usualPower)
    }
}

/// The path of the receiver among the virtual beacons.
enum VirtualPath: Sendable {
    /// Next to all beacons, 0.3 m from each.
    case still
    /// Along a line of beacons that are 10 m apart, there and back. The receiver turns around 10 m before the first
    /// beacon and 10 m after the last one. It stays 10 s at each beacon and each turning point, and walks 10 m in 7 s.
    case tour

    /// The shortest distance to a beacon, in metres.
    private static let nearest = 0.3
    /// The distance between two neighbouring beacons, in metres.
    private static let spacing = 10.0
    private static let staySeconds = 10.0
    /// The time for the way from one stop to the next, in seconds.
    private static let walkSeconds = 7.0
    /// The level in dBm below which packets are not received, as by most radios.
    private static let sensitivity = -100.0

    /// The distance in metres from the receiver to a beacon.
    ///
    /// - Parameters:
    ///   - beacon: The index of the beacon.
    ///   - count: The number of beacons.
    func distance(to beacon: Int, of count: Int, seconds: Double) -> Double {
        guard self == .tour else { return Self.nearest }
        // The stops are in front of the first beacon, at each beacon, and behind the last one.
        let legCount = count + 1
        let legSeconds = Self.staySeconds + Self.walkSeconds
        let completedLegs = Int(seconds / legSeconds)
        let walkedShare = max(0, seconds - Double(completedLegs) * legSeconds - Self.staySeconds) / Self.walkSeconds
        let leg = completedLegs % (2 * legCount)
        let stop = leg < legCount ? Double(leg) + walkedShare : Double(2 * legCount - leg) - walkedShare
        let distance = Self.spacing * (stop - Double(beacon + 1))
        return max(Self.nearest, abs(distance))
    }

    /// The path loss in dB with free-space propagation; `nil` if a packet of this power is too weak to be received.
    func loss(_ lossAtOneMeter: Double, meters: Double, power: RadioPower) -> Int? {
        let loss = lossAtOneMeter + 20 * log10(meters)
        return Double(power.dBm) - loss < Self.sensitivity ? nil : Int(loss.rounded())
    }
}

/// The hosts of the beacons on a virtual air: a controller and a session for each beacon.
final class VirtualBeaconHosts: AirResident {
    private var sessions: [BeaconSession] = []
    private(set) var nextWakeUp: HCIInstant?

    /// The model of the controllers. It has enough advertising sets, power levels and data bytes for every profile.
    private static let roomyModel: VirtualControllerModel = {
        var model = VirtualControllerModel.intel
        model.advertisingSets = 64
        model.features.insert(.advertisingCodingSelection)
        model.powerLevels = (-40...20).map { RadioPower(octet: UInt8(bitPattern: $0)) }
        model.defaultPower = RadioPower(octet: 0)
        return model
    }()

    /// - Throws: An error with the name of the beacon, if a beacon cannot be sent.
    init(_ beacons: [VirtualBeacon], on air: VirtualAir, _ path: VirtualPath) throws {
        let beginning = air.now
        var senders: [VirtualController.ID: (index: Int, loss: Double)] = [:]
        for (index, beacon) in beacons.enumerated() {
            do {
                let channel = VirtualChannel(Self.roomyModel, on: air)
                let host = HCIHost(channel: channel)
                let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
                let session = BeaconSession(
                    host: host,
                    allocation: try SetAllocation(beacon.sources, on: capabilities, isExclusive: true),
                    clock: EIDClock(saved: beacon.eidTime, at: host.now), telemetry: FixedSensors.shared)
                try session.start()
                sessions.append(session)
                senders[channel.controller.id] = (index, beacon.lossAtOneMeter)
            } catch {
                throw BeaconServiceError.refused(.invalid, "\(beacon.name) cannot be sent on the virtual air: \(error)")
            }
        }
        let count = beacons.count
        air.pathLoss = { [parameters = air.parameters] pdu, _ in
            guard let sender = senders[pdu.sender] else { return parameters.pathLoss }
            let seconds = Double(max(0, pdu.start.microseconds(since: beginning))) / 1_000_000
            let meters = path.distance(to: sender.index, of: count, seconds: seconds)
            return path.loss(sender.loss, meters: meters, power: pdu.power)
        }
        nextWakeUp = sessions.compactMap(\.nextWakeUp).min()
    }

    func wake(at now: HCIInstant) {
        for session in sessions {
            // A beacon that fails just stops, as a real beacon does.
            if let due = session.nextWakeUp, due <= now { try? session.wake(now) }
        }
        nextWakeUp = sessions.compactMap(\.nextWakeUp).min()
    }
}

/// The sensors of virtual beacons: fixed values, because this machine's sensors are not those of the beacons.
package final class FixedSensors: TelemetrySource, Sendable {
    package static let shared = FixedSensors()

    package func batteryMillivolts(_ sensor: String) -> UInt16? { 2900 }
    package func batteryPercent(_ sensor: String) -> UInt8? { 80 }
    package func temperature(_ sensor: String) -> FixedPointTemperature? { FixedPointTemperature(rawValue: 21 * 256) }
    package func measurement(_ kind: BTHomeKind, _ sensor: String) -> String? { "1" }
}
