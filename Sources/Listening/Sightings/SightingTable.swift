internal import BeaconFrames
public import BluetoothTypes

/// All beacons that are known or were received. Assigns each sighting to its beacon.
///
/// Known beacons are never removed. The number of strangers, that is, of beacons that are not known, is limited: when
/// the table is full, a new stranger replaces a random one, so a flood of new identities cannot affect known beacons. A
/// report without an identity (telemetry, a name) is assigned to the beacon whose identity the same sender sent last.
/// Taking a report of a beacon in the table allocates no memory.
public struct SightingTable: Sendable {
    /// The treatment of strangers.
    public enum Strangers: Hashable, Sendable {
        /// Strangers are only counted.
        case counted
        /// At most this number of strangers is kept.
        case kept(Int)
    }

    /// The default number of strangers that are kept.
    public static let defaultStrangers = 4096

    /// Totals since the table was created.
    public struct Counts: Hashable, Sendable {
        public var reports = 0
        /// Reports with an impossible level. The value 127 means that no level is available, and is not counted.
        public var impossibleLevels = 0
        /// Reports whose last AD structure extends past the end of the data. The structures before it were read.
        public var malformed = 0
        /// Reports with neither an identity nor a sender.
        public var anonymous = 0
        /// Reports of strangers.
        public var strangers = 0
        /// Strangers that were replaced by others.
        public var evicted = 0
    }

    /// Returns the position in ``tracks`` of the known beacon that sent an ephemeral id; `nil` for an unknown id.
    public typealias Resolver = @Sendable (_ id: FixedOctets<8>, _ instant: HeardInstant) -> Int?

    /// Returns the position in ``tracks`` of the known beacon that uses a resolvable private address; `nil` for an
    /// unknown address.
    public typealias AddressResolver = @Sendable (_ address: DeviceAddress, _ instant: HeardInstant) -> Int?

    /// The known beacons in the order of `known`, followed by strangers.
    public private(set) var tracks: [BeaconTrack]
    /// The number of known beacons, which are the first in ``tracks``.
    public let knownCount: Int
    public private(set) var counts = Counts()
    /// The positions in ``tracks`` of the beacons received in the current round, in the order of their first report.
    public private(set) var heardInRound: [Int] = []
    /// The positions in ``tracks`` of the groups of devices to which the last report belongs. The devices of a group
    /// share a UUID, a namespace or a service.
    public private(set) var groupsOfReport: [Int] = []
    /// The number of reports of strangers in the current round.
    public private(set) var strangersInRound = 0
    /// The devices of networks such as Find My. They have no track, and so no list shows their addresses.
    public private(set) var networks = NetworkSightings()
    /// The time that the receiver certainly listened.
    public private(set) var clock = ListeningClock()

    private let strangerLimit: Int
    private let resolver: Resolver?
    private let addressResolver: AddressResolver?
    /// True if a known beacon is identified by its address.
    private let hasKnownAddresses: Bool
    /// The position of each beacon in ``tracks``.
    private var positions: [BeaconIdentity: Int] = [:]
    /// The groups of devices that share a UUID or a namespace.
    private var regions: [(pattern: RegionPattern, position: Int)] = []
    /// The groups of devices that advertise a service.
    private var services: [(service: AdvertisedService, position: Int)] = []
    /// The local names of known beacons.
    private var localNames: [(octets: [UInt8], position: Int)] = []
    /// For each sender of a known local name, the position in ``tracks`` of the beacon with this name. A device does
    /// not send its name in each advertisement.
    private var namedSenders: [Sender: Int] = [:]
    /// The maximum number of senders in `namedSenders`.
    private static let namedSenderLimit = 4096
    /// For each sender, the position in ``tracks`` of the beacon whose identity it sent last. There are no more senders
    /// than tracks.
    private var senders: [Sender: Int] = [:]
    private var sketch = AddressSketch()
    /// Chooses strangers to replace.
    private var randomness = SplitMix64(seed: 1)

    /// - Parameters:
    ///   - known: The known beacons. If several have the same identity, its reports are assigned to the first of them.
    ///   - resolver: Resolves ephemeral ids; `nil` to treat them as strangers.
    ///   - addressResolver: Resolves private addresses; `nil` to treat their devices as strangers.
    public init(
        known: [KnownBeacon] = [], strangers: Strangers = .kept(SightingTable.defaultStrangers),
        resolver: Resolver? = nil, addressResolver: AddressResolver? = nil
    ) {
        var beaconCounts: [BeaconIdentity: Int] = [:]
        for beacon in known { if let identity = beacon.identity { beaconCounts[identity, default: 0] += 1 } }
        tracks = known.map { beacon in
            BeaconTrack(beacon, isShared: beacon.identity.map { beaconCounts[$0] ?? 0 > 1 } ?? false)
        }
        knownCount = known.count
        strangerLimit = if case .kept(let limit) = strangers { max(0, limit) } else { 0 }
        self.resolver = resolver
        self.addressResolver = addressResolver
        hasKnownAddresses = known.contains { $0.identity?.kind == "address" }
        for (position, beacon) in known.enumerated() {
            if let identity = beacon.identity, positions[identity] == nil { positions[identity] = position }
            switch beacon.region {
            case .localName(let name): localNames.append((Array(name.utf8), position))
            case .service(let uuid): services.append((AdvertisedService(uuid), position))
            case .iBeacon, .eddystoneUID: if let pattern = beacon.region { regions.append((pattern, position)) }
            case .identity, nil: break
            }
        }
    }

    /// The approximate number of different senders of strangers in the current round: see ``AddressSketch``.
    public var strangerSendersInRound: Int { sketch.count }

    /// True if strangers are kept, and not only counted.
    public var keepsStrangers: Bool { strangerLimit > 0 }

    /// Takes an advertisement with the data in `range` of `octets`.
    ///
    /// - Returns: The position in ``tracks`` of the beacon with the first identity in the data; `nil` for a stranger
    ///   that is not kept.
    @discardableResult
    public mutating func receive(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        counts.reports += 1
        clock.receive(at: sighting.instant)
        if let rssi = sighting.rssi, rssi != 127, !LevelTally.range.contains(rssi) { counts.impossibleLevels += 1 }
        groupsOfReport.removeAll(keepingCapacity: true)
        let devicePosition = takeKnownByAddress(sighting) ?? takeKnownByName(sighting, octets, range)
        var firstPosition = devicePosition
        var hasIdentity = firstPosition != nil
        var ownIdentity: BeaconIdentity?
        var power: Int?
        var telemetry: EddystoneTLM?
        var btHome: BTHome?
        var network: DeviceNetwork?
        var companyID: UInt16?
        var name: Range<Int>?
        var cursor = ADStructureCursor(range.clamped(to: 0..<octets.count))
        while let element = cursor.next(in: octets) {
            for (service, position) in services where service.isNamed(by: element, in: octets) { join(group: position) }
            if element.type == .completeLocalName || element.type == .shortenedLocalName {
                name = element.data
                continue
            }
            guard let frame = BeaconFrame(element, in: octets) else {
                network = network ?? DeviceNetwork(element, in: octets)
                if element.type == .manufacturerData, element.data.count >= 2 {
                    companyID = octets.uint16LittleEndian(at: element.data.lowerBound)
                }
                continue
            }
            if case .eddystoneTLM(let frame) = frame { telemetry = frame }
            if case .btHome(let frame) = frame { btHome = frame }
            guard let identity = BeaconIdentity(frame) else { continue }
            // A beacon that is known by its address or its name states its power in the same data.
            if let devicePosition { tracks[devicePosition].claim(frame.powerAtOneMeter) }
            for (pattern, position) in regions where pattern.contains(identity) { join(group: position) }
            ownIdentity = ownIdentity ?? identity
            power = power ?? frame.powerAtOneMeter
            hasIdentity = true
            guard let position = position(identity, at: sighting.instant) else { continue }
            take(sighting, position, as: identity, power: frame.powerAtOneMeter)
            firstPosition = firstPosition ?? position
        }
        if cursor.isTruncated { counts.malformed += 1 }
        for position in groupsOfReport {
            markReceived(position)
            tracks[position].receiveFromMember(
                sighting, as: ownIdentity ?? sighting.sender.map { .address($0.address) }, power: power,
                listeningPeriod: clock.period)
        }
        if !hasIdentity { firstPosition = join(sighting, of: network) }
        if let firstPosition {
            if let telemetry { tracks[firstPosition].remember(telemetry) }
            if let btHome { tracks[firstPosition].remember(btHome) }
            if let companyID, !hasIdentity { tracks[firstPosition].remember(companyID: companyID) }
            if let name { tracks[firstPosition].rename(octets, name) }
        }
        if groupsOfReport.isEmpty, firstPosition.map({ $0 >= knownCount }) ?? true { countStranger(sighting) }
        return firstPosition
    }

    /// Takes a report of a known beacon that is identified by its address, or by the key of its resolvable addresses.
    /// Returns the position of the beacon in ``tracks``; `nil` for other senders.
    private mutating func takeKnownByAddress(_ sighting: Sighting) -> Int? {
        guard let sender = sighting.sender, let position = knownPosition(of: sender, at: sighting.instant),
            position >= 0, position < knownCount
        else { return nil }
        take(sighting, position, as: .address(sender.address), power: nil)
        return position
    }

    /// Takes a report of a known beacon that is identified by its local name, in this report or in an earlier one of
    /// the same sender. Returns the position of the beacon in ``tracks``; `nil` for other senders.
    private mutating func takeKnownByName(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !localNames.isEmpty, let sender = sighting.sender else { return nil }
        var cursor = ADStructureCursor(range.clamped(to: 0..<octets.count))
        while let element = cursor.next(in: octets) {
            guard element.type == .completeLocalName || element.type == .shortenedLocalName else { continue }
            let position = localNames.first { Self.isEqual(octets, element.data, $0.octets) }?.position
            // A device that has another name now is not the beacon any more.
            guard namedSenders[sender] != position else { break }
            if namedSenders.count >= Self.namedSenderLimit { namedSenders.removeAll(keepingCapacity: true) }
            if let former = namedSenders[sender], senders[sender] == former { senders[sender] = nil }
            namedSenders[sender] = position
        }
        guard let position = namedSenders[sender] else { return nil }
        take(sighting, position, as: .address(sender.address), power: nil)
        return position
    }

    private static func isEqual(_ octets: Span<UInt8>, _ range: Range<Int>, _ name: [UInt8]) -> Bool {
        range.count == name.count && range.allSatisfy { octets[$0] == name[$0 - range.lowerBound] }
    }

    private mutating func join(group position: Int) {
        if !groupsOfReport.contains(position) { groupsOfReport.append(position) }
    }

    private func knownPosition(of sender: Sender, at instant: HeardInstant) -> Int? {
        if hasKnownAddresses, let position = positions[.address(sender.address)], position < knownCount {
            return position
        }
        guard let addressResolver, sender.isRandom, sender.address.randomKind == .resolvablePrivate else { return nil }
        return addressResolver(sender.address, instant)
    }

    /// Takes a report without an identity.
    ///
    /// - Parameter network: The network whose devices send such reports; `nil` if there is none.
    private mutating func join(_ sighting: Sighting, of network: DeviceNetwork?) -> Int? {
        guard let sender = sighting.sender else {
            counts.anonymous += 1
            return nil
        }
        let identity = BeaconIdentity.address(sender.address)
        let senderPosition = senders[sender]
        // A device of a network may also send reports without the network's data, such as scan responses.
        if let network = network ?? networks.network(of: sender),
            senderPosition.map({ tracks[$0].identity == identity }) ?? true
        {
            networks.add(network, sender, sighting)
            return nil
        }
        guard let position = senderPosition ?? position(identity, at: sighting.instant) else { return nil }
        if tracks[position].identity == identity {
            take(sighting, position, as: identity, power: nil)
        } else {
            markReceived(position)
            tracks[position].join(sighting)
        }
        return position
    }

    /// Takes a report of a beacon's own identity, and remembers that this sender sent it.
    private mutating func take(_ sighting: Sighting, _ position: Int, as identity: BeaconIdentity, power: Int?) {
        markReceived(position)
        if let former = tracks[position].sender, former != sighting.sender, senders[former] == position {
            senders[former] = nil
        }
        tracks[position].receive(sighting, as: identity, power: power, listeningPeriod: clock.period)
        if let sender = sighting.sender, senders[sender] != position { senders[sender] = position }
    }

    private mutating func markReceived(_ position: Int) {
        if tracks[position].enterRound() { heardInRound.append(position) }
    }

    private mutating func position(_ identity: BeaconIdentity, at instant: HeardInstant) -> Int? {
        if let position = positions[identity] { return position }
        if case .eddystoneEID(let id) = identity, let position = resolver?(id, instant), position < knownCount,
            position >= 0
        {
            return position
        }
        guard strangerLimit > 0 else { return nil }
        let position: Int
        if tracks.count < knownCount + strangerLimit {
            position = tracks.count
            tracks.append(BeaconTrack(identity))
        } else {
            position = knownCount + randomness.next(upTo: UInt32(clamping: strangerLimit - 1))
            counts.evicted += 1
            if let identity = tracks[position].identity { positions[identity] = nil }
            if let sender = tracks[position].sender, senders[sender] == position { senders[sender] = nil }
            tracks[position] = BeaconTrack(identity, isInRound: tracks[position].isInRound)
        }
        positions[identity] = position
        return position
    }

    private mutating func countStranger(_ sighting: Sighting) {
        counts.strangers += 1
        strangersInRound += 1
        if let sender = sighting.sender { sketch.add(sender) }
    }

    /// Begins a new round: sets all counts of the round to 0.
    public mutating func beginRound() {
        for position in heardInRound { tracks[position].beginRound() }
        heardInRound.removeAll(keepingCapacity: true)
        strangersInRound = 0
        sketch.removeAll()
        networks.beginRound()
    }

    /// Marks the receiver as working from now on, for the first time or again.
    public mutating func startListening(at now: HeardInstant) { clock.startListening(at: now) }

    /// Marks the receiver as not working from now on. A gap between two events in which the receiver did not work is
    /// not used to learn an interval.
    public mutating func stopListening(at now: HeardInstant) { clock.stopListening(at: now) }
}

extension BeaconFrame {
    /// The level at 1 m that the frame states, in dBm, plausible or not; `nil` for telemetry.
    var powerAtOneMeter: Int? {
        switch self {
        case .iBeacon(let frame): Int(frame.measuredPower.dBm)
        case .altBeacon(let frame): Int(frame.measuredPower.dBm)
        case .eddystoneUID(let frame): Int(frame.measuredPower.dBm) - MeasuredPowerAtZeroMeters.stepToOneMeter
        case .eddystoneURL(let frame): Int(frame.measuredPower.dBm) - MeasuredPowerAtZeroMeters.stepToOneMeter
        case .eddystoneEID(let frame): Int(frame.measuredPower.dBm) - MeasuredPowerAtZeroMeters.stepToOneMeter
        case .eddystoneTLM, .eddystoneEncryptedTLM, .btHome: nil
        }
    }
}

/// Estimates the number of different senders without storing an address: each sender sets one bit, chosen by a hash.
///
/// Whang, Vander-Zanden and Taylor, A Linear-Time Probabilistic Counting Algorithm (1990). The estimate is nearly
/// exact for small numbers, within 2 % up to 100,000 senders, and at most about 340,000.
public struct AddressSketch: Sendable {
    /// The number of bits of the sketch.
    private static let bits = 32_768

    private var words = [UInt64](repeating: 0, count: bits / 64)
    /// The number of bits that are set.
    private var setBits = 0

    /// Creates a sketch without senders.
    public init() {}

    /// Counts a sender.
    public mutating func add(_ sender: Sender) {
        var mixer = SplitMix64(seed: sender.address.octets.number << 1 | (sender.isRandom ? 1 : 0))
        let bit = Int(mixer.next() % UInt64(Self.bits))
        guard words[bit / 64] & 1 << UInt64(bit % 64) == 0 else { return }
        words[bit / 64] |= 1 << UInt64(bit % 64)
        setBits += 1
    }

    /// The estimated number of different senders.
    public var count: Int {
        guard setBits > 0 else { return 0 }
        let unsetBits = max(1, Self.bits - setBits)
        return Int((Double(Self.bits) * naturalLogarithm(Double(Self.bits) / Double(unsetBits))).rounded())
    }

    /// Removes all senders.
    public mutating func removeAll() {
        guard setBits > 0 else { return }
        for index in words.indices { words[index] = 0 }
        setBits = 0
    }
}

extension FixedOctets<6> {
    fileprivate var number: UInt64 { (0..<6).reduce(0) { $0 << 8 | UInt64(self[$1]) } }
}
