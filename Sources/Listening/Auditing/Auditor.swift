public import BeaconFrames
public import BluetoothTypes
public import Sightings

/// Compares what is heard with what is to be on the air: takes sightings, and tells at the end what holds.
///
/// Pure: sightings, the time in which somebody listened, and what keys say of octets are handed in. Memory grows with the
/// events of the expected advertisements (eight octets each); strangers cost nothing beyond a fixed table.
public struct Auditor: Sendable {
    /// What keys tell.
    public struct Keys: Sendable {
        /// Whose an ephemeral id is: the number of an advertisement, counted over all beacons; `nil` for nobody's.
        public var resolve: @Sendable (_ id: FixedOctets<8>, _ instant: HeardInstant) -> Int?
        /// What encrypted telemetry of such an advertisement says; `nil` where its key does not open it.
        public var open:
            @Sendable (_ frame: EddystoneEncryptedTLM, _ advertisement: Int, _ instant: HeardInstant) -> EddystoneTLM?

        /// Without keys nothing is resolved and nothing opened.
        public init(
            resolve: @escaping @Sendable (FixedOctets<8>, HeardInstant) -> Int? = { _, _ in nil },
            open: @escaping @Sendable (EddystoneEncryptedTLM, Int, HeardInstant) -> EddystoneTLM? = { _, _, _ in nil }
        ) {
            self.resolve = resolve
            self.open = open
        }
    }

    /// Somebody who listens.
    public struct Receiver: Sendable {
        public let name: String
        public var listened = ListenedTime()
        /// Reports that were heard, of whomever.
        public internal(set) var reports = 0
        /// Reports that were lost before anybody could read them, as far as that is known.
        public var lost = 0
    }

    /// A beacon that carries a UUID or a namespace of ours and is none of ours.
    struct Stranger: Sendable {
        let identity: BeaconIdentity
        var sender: Sender?
        var reports = 0
    }

    /// Frames of one type that stand in the place of an expected one.
    struct Unexpected: Sendable {
        /// The first of them.
        let octets: [UInt8]
        /// By receiver.
        var events: [HeardEvents]
    }

    /// Strangers that are kept.
    static let strangerLimit = 256
    /// Senders that are remembered beside those that are expected.
    private static let senderLimit = 4096

    public let beacons: [ExpectedBeacon]
    public private(set) var receivers: [Receiver]
    /// All advertisements, beacon by beacon.
    let advertisements: [(beacon: Int, expected: ExpectedAdvertisement)]
    /// By advertisement, then by receiver.
    private(set) var heard: [[HeardAdvertisement]]
    /// Frames from a beacon's own address that are none of its own: by beacon, then by type.
    private(set) var unexpected: [[String: Unexpected]]
    private(set) var strangers: [BeaconIdentity: Stranger] = [:]

    private let keys: Keys
    private var byIdentity: [BeaconIdentity: [Int]] = [:]
    private var byAddress: [Sender: Int] = [:]
    private var raw: [Int] = []
    private var regions: Set<RegionPattern> = []
    /// A beacon that sends telemetry alone, from an address that nobody knows: all telemetry that is nobody else's.
    private var lonely: Int?
    /// The beacon last heard from each sender.
    private var senders: [Sender: Int] = [:]

    /// - Parameter receivers: How they are called.
    public init(_ beacons: [ExpectedBeacon], receivers: [String], keys: Keys = Keys()) {
        self.beacons = beacons
        self.receivers = receivers.map { Receiver(name: $0) }
        self.keys = keys
        advertisements = beacons.indices.flatMap { beacon in
            beacons[beacon].advertisements.map { (beacon: beacon, expected: $0) }
        }
        heard = advertisements.map { _ in receivers.map { _ in HeardAdvertisement() } }
        unexpected = beacons.map { _ in [:] }
        for (index, (beacon, expected)) in advertisements.enumerated() {
            if case .exactly(let sender) = expected.address { byAddress[sender] = beacon }
            switch expected.content {
            case .frame(let identity):
                byIdentity[identity, default: []].append(index)
                if let region = Self.region(identity) { regions.insert(region) }
            case .raw: raw.append(index)
            case .ephemeralID: break
            case .telemetry, .btHome:
                let isAlone = beacons[beacon].advertisements.count == 1
                if isAlone, expected.address == .anyStatic || expected.address == .anyPublic { lonely = beacon }
            }
        }
    }

    /// All that share its UUID, or its namespace.
    private static func region(_ identity: BeaconIdentity) -> RegionPattern? {
        switch identity {
        case .iBeacon(let uuid, _, _): .iBeacon(uuid: uuid, major: nil, minor: nil)
        case .eddystoneUID(let namespace, _): .eddystoneUID(namespace: namespace, instance: nil)
        case .altBeacon, .eddystoneURL, .eddystoneEID, .address: nil
        }
    }

    /// The longest of all expected intervals, in microseconds; 0 without any.
    public var longestIntervalMicroseconds: Int {
        advertisements.map(\.expected.intervalMicroseconds).max() ?? 0
    }

    /// How long to listen unless somebody says otherwise: 30 s, or 60 of the longest intervals.
    public var defaultMicroseconds: Int { max(30_000_000, 60 * longestIntervalMicroseconds) }

    /// Advertisements of which something was heard.
    public var heardCount: Int { heard.count { $0.contains(where: \.isHeard) } }
    /// All advertisements.
    public var expectedCount: Int { advertisements.count }

    /// A receiver can hear from now on.
    public mutating func begin(_ receiver: Int, at now: HeardInstant) { receivers[receiver].listened.begin(at: now) }

    /// A receiver cannot hear any more.
    public mutating func end(_ receiver: Int, at now: HeardInstant) { receivers[receiver].listened.end(at: now) }

    /// A receiver knows of so many lost reports by now.
    public mutating func note(lost: Int, by receiver: Int) { receivers[receiver].lost = lost }

    /// Takes an advertisement, whose data is `range` of `octets`. Of one receiver they come in their order.
    public mutating func hear(
        _ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>, by receiver: Int
    ) {
        receivers[receiver].reports += 1
        guard !sighting.isScanResponse else { return }
        var beacon: Int?
        var stranger: BeaconIdentity?
        var telemetry: BeaconFrame?
        var type: String?
        var cursor = ADStructureCursor(range.clamped(to: 0..<octets.count))
        while let element = cursor.next(in: octets) {
            guard let frame = BeaconFrame(element, in: octets) else { continue }
            type = type ?? frame.typeName
            switch frame {
            case .eddystoneTLM, .eddystoneEncryptedTLM, .btHome: telemetry = telemetry ?? frame
            case .eddystoneEID(let frame):
                guard let index = keys.resolve(frame.id, sighting.instant), advertisements.indices.contains(index)
                else { continue }
                take(sighting, index, octets, range, receiver)
                beacon = advertisements[index].beacon
            case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL:
                guard let identity = BeaconIdentity(frame) else { continue }
                guard let index = choose(byIdentity[identity], octets, range) else {
                    stranger = identity
                    continue
                }
                take(sighting, index, octets, range, receiver)
                beacon = advertisements[index].beacon
            }
        }
        if let beacon {
            remember(sighting.sender, beacon)
        } else if let telemetry {
            take(telemetry, sighting, octets, range, receiver)
        } else if let index = raw.first(where: { advertisements[$0].expected.octets?.matches(octets, range) ?? false })
        {
            take(sighting, index, octets, range, receiver)
            remember(sighting.sender, advertisements[index].beacon)
        } else if let sender = sighting.sender, let beacon = byAddress[sender] {
            takeUnexpected(type ?? "raw", of: beacon, sighting, octets, range, receiver)
        } else if let stranger {
            meet(stranger, sighting.sender)
        }
    }

    /// Of several advertisements with one identity, the one whose octets these are.
    private func choose(_ candidates: [Int]?, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard let candidates else { return nil }
        for index in candidates where advertisements[index].expected.octets?.matches(octets, range) ?? true {
            return index
        }
        return candidates.first
    }

    private mutating func take(
        _ sighting: Sighting, _ index: Int, _ octets: Span<UInt8>, _ range: Range<Int>, _ receiver: Int,
        isRight: Bool? = nil
    ) {
        let expected = advertisements[index].expected
        heard[index][receiver].add(
            sighting, isRight: isRight ?? expected.octets?.matches(octets, range) ?? true,
            isTurning: expected.address == .turning, octets: octets, range)
    }

    /// Telemetry and BTHome have no identity: it is that of the beacon at its address, or of the one last heard from there.
    private mutating func take(
        _ frame: BeaconFrame, _ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>, _ receiver: Int
    ) {
        guard let sender = sighting.sender, let beacon = byAddress[sender] ?? senders[sender] ?? lonely else { return }
        let index = advertisements.indices.first { index in
            guard advertisements[index].beacon == beacon else { return false }
            switch (advertisements[index].expected.content, frame) {
            case (.btHome, .btHome): return true
            case (.telemetry, .eddystoneTLM), (.telemetry, .eddystoneEncryptedTLM): return true
            default: return false
            }
        }
        guard let index else {
            return takeUnexpected(frame.typeName, of: beacon, sighting, octets, range, receiver)
        }
        let matches = advertisements[index].expected.octets?.matches(octets, range) ?? true
        switch frame {
        case .eddystoneTLM(let frame) where matches:
            heard[index][receiver].telemetry.add(frame, at: sighting.instant)
            take(sighting, index, octets, range, receiver, isRight: true)
        case .eddystoneEncryptedTLM(let frame) where matches:
            let opened = keys.open(frame, index, sighting.instant)
            if let opened { heard[index][receiver].telemetry.add(opened, at: sighting.instant) }
            take(sighting, index, octets, range, receiver, isRight: opened != nil)
        case .btHome(let packet):
            let expected = advertisements[index].expected.content
            take(
                sighting, index, octets, range, receiver,
                isRight: expected == .btHome(isEncrypted: packet.isEncrypted))
        default: take(sighting, index, octets, range, receiver, isRight: false)
        }
    }

    private mutating func takeUnexpected(
        _ type: String, of beacon: Int, _ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>,
        _ receiver: Int
    ) {
        if unexpected[beacon][type] == nil {
            unexpected[beacon][type] = Unexpected(
                octets: range.map { octets[$0] }, events: receivers.map { _ in HeardEvents() })
        }
        unexpected[beacon][type]?.events[receiver].add(at: sighting.instant)
    }

    private mutating func remember(_ sender: Sender?, _ beacon: Int) {
        guard let sender, senders[sender] != beacon else { return }
        if senders.count >= Self.senderLimit { senders.removeAll(keepingCapacity: true) }
        senders[sender] = beacon
    }

    /// Of those without a UUID or a namespace of ours there are many everywhere.
    private mutating func meet(_ identity: BeaconIdentity, _ sender: Sender?) {
        guard let region = Self.region(identity), regions.contains(region) else { return }
        guard strangers[identity] != nil || strangers.count < Self.strangerLimit else { return }
        strangers[identity, default: Stranger(identity: identity)].reports += 1
        strangers[identity]?.sender = sender
    }
}
