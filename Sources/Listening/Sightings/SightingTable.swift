internal import BeaconFrames
public import BluetoothTypes

/// All beacons that are known or were heard: takes sightings, and joins each to its beacon.
///
/// Known beacons are never given up. Strangers have a table of a fixed size: where it is full, a new one takes the place
/// of any of them, so that a flood of fresh identities costs nothing but strangers. A report without an identity of its
/// own (telemetry, a name) belongs to the beacon that was last heard from the same sender. Nothing is allocated for a
/// report of a beacon that is in the table.
public struct SightingTable: Sendable {
    /// What is done with strangers.
    public enum Strangers: Hashable, Sendable {
        /// Only how many there are is counted.
        case counted
        /// So many of them are kept.
        case kept(Int)
    }

    /// Strangers that are kept unless said otherwise.
    public static let defaultStrangers = 4096

    /// What was counted, in total.
    public struct Counts: Hashable, Sendable {
        public var reports = 0
        /// Reports whose level lies outside what a receiver can say, 127 (not available) apart.
        public var impossibleLevels = 0
        /// Reports whose last AD structure runs past their end; what came before it was taken.
        public var malformed = 0
        /// Reports with neither an identity nor a sender.
        public var anonymous = 0
        /// Reports of strangers.
        public var strangers = 0
        /// Strangers that were given up for others.
        public var evicted = 0
    }

    /// Whose an ephemeral id is: the number of a known beacon, `nil` for nobody's.
    public typealias Resolver = @Sendable (_ id: FixedOctets<8>, _ instant: HeardInstant) -> Int?

    /// Whose a resolvable private address is: the number of a known beacon, `nil` for nobody's.
    public typealias AddressResolver = @Sendable (_ address: DeviceAddress, _ instant: HeardInstant) -> Int?

    /// The known beacons in the order in which they were given, then strangers.
    public private(set) var tracks: [BeaconTrack]
    /// How many of ``tracks`` are known, from the first on.
    public let knownCount: Int
    public private(set) var counts = Counts()
    /// Beacons that were heard in this round: places in ``tracks``, in the order of their first report.
    public private(set) var heardInRound: [Int] = []
    /// Reports of strangers in this round.
    public private(set) var strangersInRound = 0

    private let strangerLimit: Int
    private let resolver: Resolver?
    private let addressResolver: AddressResolver?
    private let hasKnownAddresses: Bool
    private var places: [BeaconIdentity: Int] = [:]
    /// The beacon last heard from each sender: no more senders than tracks.
    private var senders: [Sender: Int] = [:]
    private var sketch = AddressSketch()
    private var randomness: SplitMix64
    /// Counts the times without listening.
    private var stretch = 0

    /// - Parameters:
    ///   - known: Of several with one identity the first one counts.
    ///   - resolver: Without one, ephemeral ids are strangers.
    ///   - addressResolver: Without one, those who change their address are.
    ///   - seed: For the choice of strangers to give up.
    public init(
        known: [KnownBeacon] = [], strangers: Strangers = .kept(SightingTable.defaultStrangers),
        resolver: Resolver? = nil, addressResolver: AddressResolver? = nil, seed: UInt64 = 1
    ) {
        tracks = known.map(BeaconTrack.init)
        knownCount = known.count
        strangerLimit = if case .kept(let limit) = strangers { max(0, limit) } else { 0 }
        self.resolver = resolver
        self.addressResolver = addressResolver
        hasKnownAddresses = known.contains { $0.identity?.kind == "address" }
        randomness = SplitMix64(seed: seed)
        for (place, beacon) in known.enumerated() {
            if let identity = beacon.identity, places[identity] == nil { places[identity] = place }
        }
    }

    /// Different senders of strangers in this round, about: see ``AddressSketch``.
    public var strangerSendersInRound: Int { sketch.count }

    /// Whether strangers are kept, and not only counted.
    public var keepsStrangers: Bool { strangerLimit > 0 }

    /// The place of a beacon in ``tracks``; `nil` for one that is not in the table.
    public func place(of identity: BeaconIdentity) -> Int? { places[identity] }

    /// Takes an advertisement, whose data is `range` of `octets`.
    ///
    /// - Returns: the place in ``tracks`` of the beacon that it belongs to, by its first identity; `nil` for a stranger
    ///   that is not kept.
    @discardableResult
    public mutating func hear(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        counts.reports += 1
        if let rssi = sighting.rssi, rssi != 127, !LevelTally.range.contains(rssi) { counts.impossibleLevels += 1 }
        var first = knownByAddress(sighting)
        var hasIdentity = first != nil
        var telemetry: EddystoneTLM?
        var name: Range<Int>?
        var cursor = ADStructureCursor(range.clamped(to: 0..<octets.count))
        while let element = cursor.next(in: octets) {
            if element.type == .completeLocalName || element.type == .shortenedLocalName {
                name = element.data
                continue
            }
            guard let frame = BeaconFrame(element, in: octets) else { continue }
            if case .eddystoneTLM(let frame) = frame { telemetry = frame }
            guard let identity = BeaconIdentity(frame) else { continue }
            hasIdentity = true
            guard let place = place(identity, at: sighting.instant) else { continue }
            take(sighting, place, as: identity, power: frame.powerAtOneMeter)
            first = first ?? place
        }
        if cursor.isTruncated { counts.malformed += 1 }
        if !hasIdentity { first = join(sighting) }
        if let first {
            if let telemetry { tracks[first].remember(telemetry) }
            if let name { tracks[first].rename(octets, name) }
        }
        if first.map({ $0 >= knownCount }) ?? true { countStranger(sighting) }
        return first
    }

    /// A known beacon whose identity is its address, or who makes addresses with a known key: every report from there is
    /// its own.
    private mutating func knownByAddress(_ sighting: Sighting) -> Int? {
        guard let sender = sighting.sender, let place = knownPlace(of: sender, at: sighting.instant), place >= 0,
            place < knownCount
        else { return nil }
        take(sighting, place, as: .address(sender.address), power: nil)
        return place
    }

    private func knownPlace(of sender: Sender, at instant: HeardInstant) -> Int? {
        if hasKnownAddresses, let place = places[.address(sender.address)], place < knownCount { return place }
        guard let addressResolver, sender.isRandom, sender.address.randomKind == .resolvablePrivate else { return nil }
        return addressResolver(sender.address, instant)
    }

    /// A report without an identity of its own.
    private mutating func join(_ sighting: Sighting) -> Int? {
        guard let sender = sighting.sender else {
            counts.anonymous += 1
            return nil
        }
        let identity = BeaconIdentity.address(sender.address)
        guard let place = senders[sender] ?? place(identity, at: sighting.instant) else { return nil }
        if tracks[place].identity == identity {
            take(sighting, place, as: identity, power: nil)
        } else {
            touch(place)
            tracks[place].join(sighting)
        }
        return place
    }

    /// The beacon was heard from this sender last, and the sender sent this beacon last.
    private mutating func take(_ sighting: Sighting, _ place: Int, as identity: BeaconIdentity, power: Int?) {
        touch(place)
        if let old = tracks[place].sender, old != sighting.sender, senders[old] == place { senders[old] = nil }
        tracks[place].hear(sighting, as: identity, power: power, stretch: stretch)
        if let sender = sighting.sender, senders[sender] != place { senders[sender] = place }
    }

    private mutating func touch(_ place: Int) {
        if tracks[place].enterRound() { heardInRound.append(place) }
    }

    private mutating func place(_ identity: BeaconIdentity, at instant: HeardInstant) -> Int? {
        if let place = places[identity] { return place }
        if case .eddystoneEID(let id) = identity, let place = resolver?(id, instant), place < knownCount, place >= 0 {
            return place
        }
        guard strangerLimit > 0 else { return nil }
        let place: Int
        if tracks.count < knownCount + strangerLimit {
            place = tracks.count
            tracks.append(BeaconTrack(identity))
        } else {
            place = knownCount + randomness.next(upTo: UInt32(clamping: strangerLimit - 1))
            counts.evicted += 1
            if let identity = tracks[place].identity { places[identity] = nil }
            if let sender = tracks[place].sender, senders[sender] == place { senders[sender] = nil }
            tracks[place] = BeaconTrack(identity, isInRound: tracks[place].isInRound)
        }
        places[identity] = place
        return place
    }

    private mutating func countStranger(_ sighting: Sighting) {
        counts.strangers += 1
        strangersInRound += 1
        if let sender = sighting.sender { sketch.add(sender) }
    }

    /// Ends a round: what is counted by rounds begins anew.
    public mutating func beginRound() {
        for place in heardInRound { tracks[place].beginRound() }
        heardInRound.removeAll(keepingCapacity: true)
        strangersInRound = 0
        sketch.removeAll()
    }

    /// Nothing could be heard for a while: the gaps across that time say nothing of the beacons.
    public mutating func breakOff() { stretch += 1 }
}

extension BeaconFrame {
    /// What the frame says of the level at 1 m, in dBm, in range or not; `nil` for telemetry.
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
