internal import BluetoothTypes
public import Listener
public import Sightings

/// A beacon that was received in one second, with the level of every packet.
public struct HeardBeacon: Hashable, Sendable {
    /// The name that a fleet gives the beacon; `nil` for a beacon that is in no fleet.
    public let name: BeaconKey?
    /// The beacon's identity. `nil` if the identity changes with time: an ephemeral identifier, or an address that is
    /// neither public nor static random.
    public let identity: BeaconKey?
    /// The identity followed by the sender's address. `nil` if the address is neither public nor static random, or if a
    /// beacon that is not shared was received from several addresses.
    public let identityAtAddress: BeaconKey?
    /// True if several devices send the identity at once.
    public let isShared: Bool
    /// The levels in dBm, in the order in which the packets arrived.
    public internal(set) var levels: [Double]
}

extension HeardBeacon {
    /// Creates a beacon with one key, as in a survey.
    public init(_ key: BeaconKey, levels: [Double]) {
        self.init(name: nil, identity: key, identityAtAddress: nil, isShared: false, levels: levels)
    }

    /// The beacon's key in a survey; `nil` if several devices send its identity and the address is not known.
    public var recordedKey: BeaconKey? { isShared ? identityAtAddress : name ?? identity }

    /// The keys that the beacon may have in a map. The first of them that is in the map is used.
    public var keys: [BeaconKey] {
        (isShared ? [identityAtAddress] : [name, identityAtAddress, identity]).compactMap(\.self)
    }
}

/// Combines sightings into whole seconds. Leaves out seconds in which the receiver could not receive.
public final class SecondGatherer: SightingConsumer {
    /// Receives each completed second: its number from 0, and the beacons received in it, sorted by key.
    public var onSecond: (_ second: Int, _ heard: [HeardBeacon]) -> Void = { _, _ in }
    /// Receives messages for the user.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Returns true if no more seconds are needed.
    public var isEnough: () -> Bool = { false }

    private var table: SightingTable
    /// The start of the first second; `nil` if the gatherer has not begun yet.
    private(set) var origin: HeardInstant?
    /// The number of the current second, from 0.
    private var second = 0
    /// True if the receiver was deaf during a part of the current second.
    private var wasDeaf = false
    private var isDeaf = false

    /// A beacon in the table. A known beacon is identified by the index of its track, an unknown beacon by its
    /// identity.
    private enum TrackedBeacon: Hashable {
        case known(Int)
        case unknown(BeaconIdentity)
    }

    /// The levels of this second by beacon and address. The address is `nil` if it is neither public nor static random.
    private var heard: [TrackedBeacon: [DeviceAddress?: [Double]]] = [:]
    /// The beacons of ``heard``, in the order in which they were first received.
    private var order: [TrackedBeacon] = []
    /// For each beacon and each public or static random address, the number and the second of its last packet.
    private var addresses: [TrackedBeacon: [DeviceAddress: (packet: Int, second: Int)]] = [:]
    /// The names that the source of the sightings gave to beacons.
    private var names: [TrackedBeacon: BeaconKey] = [:]
    /// The beacons whose identities several devices send at once.
    private var sharedBeacons: Set<TrackedBeacon> = []
    /// The identities that several devices send according to the caller.
    private let knownSharedIdentities: Set<BeaconKey>
    /// The number of packets so far.
    private var packetCount = 0
    private let acceptsZeroLevel: Bool

    /// The age in seconds from which the last packet of an address is ignored.
    private static let addressLifetime = 60
    /// The largest number of stored addresses of one beacon.
    private static let addressLimit = 32
    /// The number of beacons with stored addresses above which all stored addresses are discarded.
    private static let beaconLimit = 20_000
    /// The longest silence in a recording that is processed second by second, in seconds. Longer silences are skipped.
    private static let longestSilence = 600

    /// Creates a gatherer for the sightings of one source.
    ///
    /// - Parameters:
    ///   - known: The known beacons: those that profiles, fleets or listener files name.
    ///   - clock: The clock of the source.
    ///   - isOnlyKnown: True to leave out unknown beacons.
    ///   - shared: Identities that several devices send.
    ///   - acceptsZeroLevel: True if 0 dBm is a level. Many receivers use 0 for "unknown".
    public init(
        _ known: KnownBeacons, _ clock: HearingClock, isOnlyKnown: Bool = false, shared: Set<BeaconKey> = [],
        acceptsZeroLevel: Bool = false
    ) {
        table = known.table(
            clock, strangers: isOnlyKnown ? .counted : .kept(SightingTable.defaultStrangers))
        knownSharedIdentities = shared
        self.acceptsZeroLevel = acceptsZeroLevel
    }

    // MARK: Sightings

    public var isSatisfied: Bool { isEnough() }

    public var nextWakeUp: HeardInstant? {
        origin.map { $0.advanced(byMicroseconds: (second + 1) * 1_000_000) }
    }

    public func begin(at now: HeardInstant) { origin = origin ?? now }

    public func advance(to now: HeardInstant) {
        guard let origin else { return begin(at: now) }
        let current = now.microseconds(since: origin) / 1_000_000
        if current - second > Self.longestSilence {
            endSecond()
            second = current
        }
        while second < current, !isEnough() { endSecond() }
    }

    public func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        receive(report.sighting, octets, range)
    }

    /// Processes an advertisement whose data is in `range` of `octets`.
    ///
    /// - Parameter name: The name that the source of the sightings gives the beacon.
    func receive(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>, name: String? = nil) {
        begin(at: sighting.instant)
        guard let track = table.receive(sighting, octets, range), !sighting.isScanResponse else { return }
        let unknown = table.tracks[track].identity.map(TrackedBeacon.unknown)
        guard let beacon = track < table.knownCount ? .known(track) : unknown else { return }
        if let name, let key = BeaconKey(name) { names[beacon] = key }
        let address = sighting.sender.flatMap { Self.isPermanent($0) ? $0.address : nil }
        if let address, !sharedBeacons.contains(beacon) { detectSharing(beacon, address) }
        guard let rssi = sighting.rssi,
            let level = ReceivedLevel.level(Double(rssi), acceptsZeroLevel: acceptsZeroLevel)
        else { return }
        if heard[beacon] == nil { order.append(beacon) }
        heard[beacon, default: [:]][address, default: []].append(level)
    }

    public func change(_ state: ListeningState, at now: HeardInstant) {
        // In the state `foreign`, another program scans, and this receiver gets the reports of that scan, though
        // perhaps fewer than usual. So the receiver is not deaf.
        isDeaf = !state.isListening && state != .foreign
        wasDeaf = wasDeaf || isDeaf
    }

    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    public func finish(at now: HeardInstant) {
        advance(to: now)
        // The last second is incomplete. It counts only if at least one beacon was received in it.
        if !heard.isEmpty, !isEnough() { endSecond() }
    }

    private func endSecond() {
        if !wasDeaf { onSecond(second, beacons()) }
        (heard, order) = ([:], [])
        if addresses.count >= Self.beaconLimit { addresses = [:] }
        second += 1
        wasDeaf = isDeaf
    }

    // MARK: Identities of several devices

    /// Returns true if the address of a sender is public or static random.
    private static func isPermanent(_ sender: Sender) -> Bool {
        !sender.isRandom || sender.address.randomKind == .staticDevice
    }

    /// Detects that several devices send one identity: one address is received, then another, then the first again.
    private func detectSharing(_ beacon: TrackedBeacon, _ address: DeviceAddress) {
        guard let identity = identity(of: beacon) else { return }
        packetCount += 1
        var lastPackets = addresses[beacon, default: [:]]
        let last = lastPackets[address]
        if last == nil, lastPackets.count >= Self.addressLimit { lastPackets = [:] }
        lastPackets[address] = (packetCount, second)
        addresses[beacon] = lastPackets
        guard let last, second - last.second <= Self.addressLifetime,
            lastPackets.contains(where: { $0.key != address && $0.value.packet > last.packet })
        else { return }
        sharedBeacons.insert(beacon)
        addresses[beacon] = nil
        onSentence("\(BeaconKey(identity)) is sent by several devices at once: they are distinguished by address", true)
    }

    private func identity(of beacon: TrackedBeacon) -> BeaconIdentity? {
        switch beacon {
        case .known(let track): table.tracks[track].known?.identity
        case .unknown(let identity): identity
        }
    }

    // MARK: Seconds

    /// Returns the beacons of this second, sorted by key.
    private func beacons() -> [HeardBeacon] {
        let received = order.flatMap { beacons($0, heard[$0] ?? [:]) }.filter { !$0.keys.isEmpty }
        var result: [HeardBeacon] = []
        for beacon in received.sorted(by: { $0.keys[0] < $1.keys[0] }) {
            // The frames of a beacon with a name may have different identities. They are merged into one beacon.
            if let last = result.last, let name = beacon.name, last.name == name, !beacon.isShared, !last.isShared {
                result[result.count - 1].levels += beacon.levels
            } else {
                result.append(beacon)
            }
        }
        return result
    }

    private func beacons(_ beacon: TrackedBeacon, _ byAddress: [DeviceAddress?: [Double]]) -> [HeardBeacon] {
        let sender = identity(of: beacon)
        let identity: BeaconKey? =
            switch sender {
            case nil, .eddystoneEID: nil
            case .address where byAddress[nil] != nil: nil
            case .some(let identity): BeaconKey(identity)
            }
        var name = names[beacon]
        if case .known(let track) = beacon { name = table.tracks[track].known.flatMap { BeaconKey($0.name) } }
        let isShared = sharedBeacons.contains(beacon) || identity.map { knownSharedIdentities.contains($0) } ?? false
        let sorted = byAddress.sorted { $0.key?.description ?? "" < $1.key?.description ?? "" }
        guard isShared || sorted.count == 1 else {
            return [
                HeardBeacon(
                    name: name, identity: identity, identityAtAddress: nil, isShared: false,
                    levels: sorted.flatMap(\.value))
            ]
        }
        return sorted.map { address, levels in
            var identityAtAddress: BeaconKey?
            if identity != nil, let sender, let address { identityAtAddress = BeaconKey(sender, from: address) }
            return HeardBeacon(
                name: name, identity: identity, identityAtAddress: identityAtAddress, isShared: isShared,
                levels: levels)
        }
    }
}
