public import BeaconFrames
public import BluetoothTypes
public import Sightings

/// Compares received advertisements with the advertisements that should be sent.
///
/// The caller passes sightings, the times of listening, and functions that use keys. The auditor stores eight bytes for
/// each received event of an expected advertisement, and a limited number of strangers.
public struct Auditor: Sendable {
    /// Functions that need the beacons' keys.
    public struct Keys: Sendable {
        /// Returns the index of the advertisement with an ephemeral id, counted over all beacons; `nil` if no key fits.
        public var resolve: @Sendable (_ id: FixedOctets<8>, _ instant: HeardInstant) -> Int?
        /// Decrypts the telemetry of an advertisement; returns `nil` if its key does not fit.
        public var open:
            @Sendable (_ frame: EddystoneEncryptedTLM, _ advertisement: Int, _ instant: HeardInstant) -> EddystoneTLM?

        /// Creates the functions. By default, they resolve and decrypt nothing.
        public init(
            resolve: @escaping @Sendable (FixedOctets<8>, HeardInstant) -> Int? = { _, _ in nil },
            open: @escaping @Sendable (EddystoneEncryptedTLM, Int, HeardInstant) -> EddystoneTLM? = { _, _, _ in nil }
        ) {
            self.resolve = resolve
            self.open = open
        }
    }

    /// A receiver of the audit.
    public struct Receiver: Sendable {
        public let name: String
        public var listened = ListenedTime()
        /// The number of reports from all senders.
        public internal(set) var reports = 0
        /// The known number of reports that were lost before they could be read.
        public var lost = 0
        /// The number of advertisements whose end is missing: those with an AD structure that reaches past the end of
        /// the data, and those that ``Auditor/note(truncated:by:)`` counted.
        public internal(set) var truncated = 0
        /// The last value of ``Auditor/note(truncated:by:)``, which is contained in ``truncated``.
        fileprivate var truncatedBefore = 0
    }

    /// A beacon that is not audited, but has the UUID or the namespace of an audited beacon.
    struct Stranger: Sendable {
        let identity: BeaconIdentity
        var sender: Sender?
        var reports = 0
    }

    /// Frames of one type that come from a beacon's address, but belong to none of the beacon's advertisements.
    struct Unexpected: Sendable {
        /// The data of the first frame.
        let octets: [UInt8]
        /// The events that each receiver received.
        var events: [EventTimes]
    }

    /// The maximum number of strangers.
    static let strangerLimit = 256
    /// The maximum number of entries in `senders`.
    private static let senderLimit = 4096

    public let beacons: [ExpectedBeacon]
    public private(set) var receivers: [Receiver]
    /// All advertisements, in the order of the beacons.
    let advertisements: [(beacon: Int, expected: ExpectedAdvertisement)]
    /// For each advertisement, the reports of each receiver.
    private(set) var heard: [[ReceivedAdvertisement]]
    /// For each beacon, by type, frames that come from its address, but belong to none of its advertisements.
    private(set) var unexpected: [[String: Unexpected]]
    private(set) var strangers: [BeaconIdentity: Stranger] = [:]

    private let keys: Keys
    /// For each identity, the indices in `advertisements` of the advertisements with this identity.
    private var byIdentity: [BeaconIdentity: [Int]] = [:]
    /// For each sender, the beacon that should send from exactly this address.
    private var byAddress: [Sender: Int] = [:]
    /// The indices in `advertisements` of raw data without a known frame.
    private var rawAdvertisements: [Int] = []
    /// The UUIDs and namespaces of the audited beacons, by which strangers are recognised.
    private var regions: Set<RegionPattern> = []
    /// A beacon that sends only telemetry or BTHome, from an unknown address. A frame of these types that belongs to no
    /// other beacon is assigned to this beacon.
    private var telemetryBeacon: Int?
    /// For each sender, the beacon whose frame it sent last.
    private var senders: [Sender: Int] = [:]
    /// The beacons to which a sender in `senders` is assigned.
    private var beaconsWithSender: Set<Int> = []
    /// The beacons with an identity that no other beacon has.
    private var beaconsWithOwnIdentity: Set<Int> = []

    /// The voltage below which a battery is low, in millivolts.
    public var lowBatteryMillivolts = 2400
    /// The levels that a plan expects; `nil` to judge no levels.
    public var expectedLevels: ExpectedLevels?
    /// The charge below which a battery is low, in percent.
    public static let lowBatteryPercent = 20
    /// The share of the time in which receivers listen on the PHY of an advertisement: 0.5 if they listen to LE 1M and
    /// LE Coded in turn.
    public var listeningShare = 1.0
    private let others: Set<BeaconIdentity>

    /// - Parameters:
    ///   - receivers: The names of the receivers.
    ///   - others: Identities of beacons that are known but not audited. They are not counted as strangers.
    public init(
        _ beacons: [ExpectedBeacon], receivers: [String], others: Set<BeaconIdentity> = [], keys: Keys = Keys()
    ) {
        self.beacons = beacons
        self.others = others
        self.receivers = receivers.map { Receiver(name: $0) }
        self.keys = keys
        advertisements = beacons.indices.flatMap { beacon in
            beacons[beacon].advertisements.map { (beacon: beacon, expected: $0) }
        }
        heard = advertisements.map { _ in receivers.map { _ in ReceivedAdvertisement() } }
        unexpected = beacons.map { _ in [:] }
        for (index, (beacon, expected)) in advertisements.enumerated() {
            if case .exactly(let sender) = expected.address { byAddress[sender] = beacon }
            switch expected.content {
            case .frame(let identity):
                byIdentity[identity, default: []].append(index)
                if let region = Self.region(identity) { regions.insert(region) }
            case .raw: rawAdvertisements.append(index)
            case .ephemeralID: break
            case .telemetry, .btHome:
                let isAlone = beacons[beacon].advertisements.count == 1
                if isAlone, expected.address == .anyStatic || expected.address == .anyPublic {
                    telemetryBeacon = beacon
                }
            }
        }
        for indices in byIdentity.values {
            let owners = Set(indices.map { advertisements[$0].beacon })
            if owners.count == 1 { beaconsWithOwnIdentity.formUnion(owners) }
        }
    }

    /// Returns the pattern of all identities with the same UUID or namespace.
    private static func region(_ identity: BeaconIdentity) -> RegionPattern? {
        switch identity {
        case .iBeacon(let uuid, _, _): .iBeacon(uuid: uuid, major: nil, minor: nil)
        case .eddystoneUID(let namespace, _): .eddystoneUID(namespace: namespace, instance: nil)
        case .altBeacon, .eddystoneURL, .eddystoneEID, .address: nil
        }
    }

    /// The longest expected interval, in microseconds; 0 without advertisements.
    public var longestIntervalMicroseconds: Int {
        advertisements.map(\.expected.intervalMicroseconds).max() ?? 0
    }

    /// The default duration of an audit, in microseconds: 30 s, or 60 times the longest interval if that is longer.
    public var defaultMicroseconds: Int { max(30_000_000, 60 * longestIntervalMicroseconds) }

    /// The number of expected advertisements that were received at least once.
    public var heardCount: Int { heard.count { $0.contains(where: \.isHeard) } }
    /// The number of expected advertisements.
    public var expectedCount: Int { advertisements.count }

    /// Marks a receiver as working from now on.
    public mutating func begin(_ receiver: Int, at now: HeardInstant) { receivers[receiver].listened.begin(at: now) }

    /// Marks a receiver as not working from now on.
    public mutating func end(_ receiver: Int, at now: HeardInstant) { receivers[receiver].listened.end(at: now) }

    /// Sets the number of reports that a receiver has lost so far.
    public mutating func note(lost: Int, by receiver: Int) { receivers[receiver].lost = lost }

    /// Sets the number of advertisements without an end that a receiver did not pass to ``receive(_:_:_:by:)``.
    public mutating func note(truncated: Int, by receiver: Int) {
        receivers[receiver].truncated += truncated - receivers[receiver].truncatedBefore
        receivers[receiver].truncatedBefore = truncated
    }

    /// Takes an advertisement with the data in `range` of `octets`. The reports of one receiver must be in order.
    public mutating func receive(
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
                guard let candidates = byIdentity[identity] else {
                    stranger = identity
                    continue
                }
                guard let index = choose(candidates, from: sighting.sender, octets, range) else { continue }
                take(sighting, index, octets, range, receiver)
                beacon = advertisements[index].beacon
            }
        }
        if cursor.isTruncated { receivers[receiver].truncated += 1 }
        if let beacon {
            remember(sighting.sender, beacon)
        } else if let telemetry {
            take(telemetry, sighting, octets, range, receiver)
        } else if let index = rawAdvertisements.first(where: {
            advertisements[$0].expected.octets?.matches(octets, range) ?? false
        }) {
            take(sighting, index, octets, range, receiver)
            remember(sighting.sender, advertisements[index].beacon)
        } else if let sender = sighting.sender, let beacon = byAddress[sender] {
            takeUnexpected(type ?? "raw", of: beacon, sighting, octets, range, receiver)
        } else if let stranger {
            countStranger(stranger, sighting.sender)
        }
    }

    /// Returns which of several advertisements with the same identity a sender sends. For example, all beacons of a
    /// shop may send one URL. Returns `nil` until a frame that only one beacon sends has shown which beacon the sender
    /// is.
    private func choose(
        _ candidates: [Int], from sender: Sender?, _ octets: Span<UInt8>, _ range: Range<Int>
    ) -> Int? {
        guard candidates.count > 1 else { return candidates.first }
        var matching: [Int] = []
        for index in candidates where advertisements[index].expected.octets?.matches(octets, range) ?? true {
            matching.append(index)
        }
        if matching.isEmpty { matching = candidates }
        let owner = advertisements[candidates[0]].beacon
        guard candidates.contains(where: { advertisements[$0].beacon != owner }) else { return matching.first }
        if let beacon = sender.flatMap({ byAddress[$0] ?? senders[$0] }),
            let index = matching.first(where: { advertisements[$0].beacon == beacon })
        {
            return index
        }
        // If senders of all these beacons are known, this sender is another device.
        guard let unassigned = matching.first(where: { !beaconsWithSender.contains(advertisements[$0].beacon) }) else {
            return matching.first
        }
        return beaconsWithOwnIdentity.contains(advertisements[unassigned].beacon) ? nil : unassigned
    }

    private mutating func take(
        _ sighting: Sighting, _ index: Int, _ octets: Span<UInt8>, _ range: Range<Int>, _ receiver: Int,
        isRight: Bool? = nil
    ) {
        let expected = advertisements[index].expected
        heard[index][receiver].add(
            sighting, isRight: isRight ?? expected.octets?.matches(octets, range) ?? true,
            isOnPHY: expected.isSent(on: sighting.phy), hasChangingAddress: expected.address == .changing,
            octets: octets, range)
    }

    /// Takes a frame of telemetry or BTHome. The frame has no identity; it belongs to the beacon with this address, or
    /// to the beacon whose frame the same sender sent last.
    private mutating func take(
        _ frame: BeaconFrame, _ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>, _ receiver: Int
    ) {
        guard let sender = sighting.sender, let beacon = byAddress[sender] ?? senders[sender] ?? telemetryBeacon else {
            return
        }
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
            let decrypted = keys.open(frame, index, sighting.instant)
            if let decrypted { heard[index][receiver].telemetry.add(decrypted, at: sighting.instant) }
            take(sighting, index, octets, range, receiver, isRight: decrypted != nil)
        case .btHome(let packet):
            let expected = advertisements[index].expected.content
            if !packet.isEncrypted, let battery = packet.objects.first(where: { $0.kind.name == "battery" }) {
                heard[index][receiver].batteryPercent = Int(battery.text)
            }
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
                octets: range.map { octets[$0] }, events: receivers.map { _ in EventTimes() })
        }
        unexpected[beacon][type]?.events[receiver].add(at: sighting.instant)
    }

    private mutating func remember(_ sender: Sender?, _ beacon: Int) {
        guard let sender, senders[sender] != beacon else { return }
        if senders.count >= Self.senderLimit { senders.removeAll(keepingCapacity: true) }
        // The sender may have been assigned to another beacon with the same URL. A frame that only one beacon sends
        // corrects the assignment.
        if let former = senders.updateValue(beacon, forKey: sender) { beaconsWithSender.remove(former) }
        beaconsWithSender.insert(beacon)
    }

    /// Counts a report of a stranger. Ignores strangers without a UUID or namespace of the audited beacons.
    private mutating func countStranger(_ identity: BeaconIdentity, _ sender: Sender?) {
        guard let region = Self.region(identity), regions.contains(region), !others.contains(identity) else { return }
        guard strangers[identity] != nil || strangers.count < Self.strangerLimit else { return }
        strangers[identity, default: Stranger(identity: identity)].reports += 1
        strangers[identity]?.sender = sender
    }
}
