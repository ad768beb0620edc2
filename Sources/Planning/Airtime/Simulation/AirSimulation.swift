internal import BluetoothTypes

/// Advertisers and other devices around one receiver, simulated packet by packet.
///
/// The simulation checks the models, and includes effects that the models omit: capture by sums of powers, fleets of
/// different beacons, and the dead times of receivers. A batch is `conditions.durationMicroseconds` of traffic in a
/// steady state: the beacons do not start together. Phases, shadowing and delays are drawn at random for each batch.
public struct AirSimulation: Sendable {
    public static let maximumAdvertisers = 20_000
    /// A day, in µs.
    public static let maximumDuration = 86_400e6
    /// The largest number of packets and overlaps in a batch: about ten seconds of work.
    static let maximumWork = 500e6
    /// The longest run of losses that is counted.
    public static let longestRun = 16

    public let advertisers: [AirAdvertiser]
    public let receiver: AirReceiver
    /// The receivers of a mix with their shares. Each batch has one of these receivers. Empty if all batches have
    /// `receiver`.
    public let visitors: [Visitor]
    public let conditions: AirConditions
    public let seed: UInt64

    /// A receiver and the share of the batches that it receives.
    public struct Visitor: Hashable, Sendable {
        public let receiver: AirReceiver
        public let share: Double
    }

    /// Creates a simulation with the scanners of a mix. Each batch has one of the scanners; the scanner's share in the
    /// mix is its share of the batches.
    public init(
        advertisers: [AirAdvertiser], scanners: ScannerMix, conditions: AirConditions, seed: UInt64
    ) throws(AirtimeError) {
        let visitors = scanners.parts.map { Visitor(receiver: AirReceiver($0.scanner), share: $0.share) }
        try self.init(
            advertisers: advertisers, receiver: visitors[0].receiver, visitors: visitors.count > 1 ? visitors : [],
            conditions: conditions, seed: seed)
    }

    /// Throws if there is no advertiser or more than ``maximumAdvertisers``, if a quantity is out of range, and if a
    /// batch would take more than about ten seconds.
    public init(
        advertisers: [AirAdvertiser], receiver: AirReceiver = AirReceiver(),
        conditions: AirConditions = AirConditions(), seed: UInt64
    ) throws(AirtimeError) {
        try self.init(
            advertisers: advertisers, receiver: receiver, visitors: [], conditions: conditions, seed: seed)
    }

    private init(
        advertisers: [AirAdvertiser], receiver: AirReceiver, visitors: [Visitor], conditions: AirConditions,
        seed: UInt64
    ) throws(AirtimeError) {
        guard !advertisers.isEmpty else { throw .count(0) }
        guard advertisers.count <= Self.maximumAdvertisers else {
            throw .quantity(
                name: "a number of simulated advertisers (at most \(Self.maximumAdvertisers))",
                value: Double(advertisers.count))
        }
        try conditions.check()
        for advertiser in advertisers { try advertiser.check() }
        try receiver.check()
        for visitor in visitors { try visitor.receiver.check() }
        self.visitors = visitors
        self.advertisers = advertisers
        self.receiver = receiver
        self.conditions = conditions
        self.seed = seed
        let work = self.work
        guard work <= Self.maximumWork else {
            throw .quantity(name: "a number of packets and overlaps in a batch", value: work)
        }
    }

    /// Creates a simulation of N equal advertisers around a receiver.
    public init(
        _ group: AdvertiserGroup, scan: ScanPattern, conditions: AirConditions = AirConditions(), seed: UInt64
    ) throws(AirtimeError) {
        guard group.count <= Self.maximumAdvertisers else { throw .count(group.count) }
        try self.init(
            advertisers: AirAdvertiser.fleet(group), receiver: AirReceiver(scan: scan), conditions: conditions,
            seed: seed)
    }

    /// Returns the counts of batch number `index`, which depend only on the scene, the seed and `index`. Batches may
    /// run on any thread; ``BatchSum`` merges their tallies in the order of the indices.
    public func batch(_ index: Int) -> AirTally {
        var batch = AirBatch(self, index: index)
        return batch.run()
    }

    /// Returns the receiver of a batch. The receivers alternate so evenly that in any sequence of consecutive batches
    /// their shares are close to those of the mix.
    func receiver(ofBatch index: Int) -> AirReceiver {
        let golden = 0.618_033_988_749_894_9
        var position = (Double(index) * golden + 0.5).truncatingRemainder(dividingBy: 1)
        for visitor in visitors {
            if position < visitor.share { return visitor.receiver }
            position -= visitor.share
        }
        return visitors.last?.receiver ?? receiver
    }

    /// The number of simulated channels.
    var channels: Int {
        let allUseOneChannel = ([receiver] + visitors.map(\.receiver)).allSatisfy { $0.scan.channelCount == 1 }
        return conditions.simulatesAllChannels || !allUseOneChannel ? 3 : 1
    }

    /// The number of packets per µs on all channels together.
    var packetRate: Double {
        let primary = Double(channels)
        return advertisers.reduce(primary * (conditions.otherDevices?.rate ?? 0)) {
            $0 + (primary + Double($1.auxiliary.count)) / $1.meanPeriod
        }
    }

    var longestAirtime: Double {
        let longestOfAdvertisers = advertisers.reduce(0) { longest, advertiser in
            advertiser.auxiliary.reduce(max(longest, advertiser.airtimeMicroseconds)) {
                max($0, $1.airtimeMicroseconds)
            }
        }
        return max(longestOfAdvertisers, conditions.otherDevices?.airtimeMicroseconds ?? 0)
    }

    private var work: Double {
        packetRate * conditions.durationMicroseconds * (1 + packetRate * 2 * longestAirtime)
    }
}

/// One advertisement of a beacon in an ``AirSimulation``.
public struct AirAdvertiser: Hashable, Sendable {
    /// T, the advertising interval in µs.
    public var intervalMicroseconds: Double
    /// tau in µs; with extended PDUs, the airtime of the packet on one primary channel.
    public var airtimeMicroseconds: Double
    /// The auxiliary packets of extended PDUs in the order of their starts; none with legacy PDUs. A receiver needs all
    /// of them, and receives them even after its scan window has ended.
    public private(set) var auxiliary: [AuxiliaryPacket] = []
    /// The time from the start of the copy on channel 37 to the start of the copy on channel 38, in µs. Each copy ends
    /// before the next one starts.
    public var secondCopyMicroseconds = 1000.0
    /// The time from the start of the copy on channel 37 to the start of the copy on channel 39, in µs.
    public var thirdCopyMicroseconds = 2000.0
    /// The level at the receiver in dBm. Only the differences between the levels of advertisers have an effect: they
    /// determine capture.
    public var receivedLevelDBm = 0.0
    /// A number that identifies the beacon of this advertisement, if the beacon sends several. Advertisements with the
    /// same number share a radio and never collide. Nil for a beacon with one advertisement.
    public var machine: Int?
    /// False for an advertiser that only causes collisions.
    public var isCounted = true

    /// Creates an advertiser of legacy PDUs with T and tau in µs.
    public init(intervalMicroseconds: Double, airtimeMicroseconds: Double) {
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    /// Creates one advertiser of a group.
    public init(_ group: AdvertiserGroup) {
        self.init(
            intervalMicroseconds: group.intervalMicroseconds, airtimeMicroseconds: group.airtimeMicroseconds)
        guard let extended = group.extended else { return }
        secondCopyMicroseconds = extended.copySpacingMicroseconds
        thirdCopyMicroseconds = 2 * extended.copySpacingMicroseconds
        auxiliary = zip(extended.offsets, extended.event.auxiliaryMicroseconds).map {
            AuxiliaryPacket(offsetMicroseconds: $0, airtimeMicroseconds: Double($1))
        }
    }

    /// A packet on a secondary channel. The simulation draws one of the 37 channels for each packet.
    public struct AuxiliaryPacket: Hashable, Sendable {
        /// The time from the start of the copy on channel 37 to the start of this packet, in µs.
        public fileprivate(set) var offsetMicroseconds: Double
        public let airtimeMicroseconds: Double
    }

    /// Sets the time between the starts of two copies, in µs; the time from the third copy to the auxiliary packets
    /// stays the same.
    public mutating func setCopySpacing(microseconds spacing: Double) {
        for index in auxiliary.indices {
            auxiliary[index].offsetMicroseconds += 2 * spacing - thirdCopyMicroseconds
        }
        secondCopyMicroseconds = spacing
        thirdCopyMicroseconds = 2 * spacing
    }

    /// The time from the start of an event to the start of its last packet, in µs.
    var lastOffset: Double { auxiliary.last?.offsetMicroseconds ?? thirdCopyMicroseconds }

    /// A fleet of equal advertisers.
    public static func fleet(_ group: AdvertiserGroup) -> [AirAdvertiser] {
        Array(repeating: AirAdvertiser(group), count: min(group.count, AirSimulation.maximumAdvertisers + 1))
    }

    /// E, the mean period between advertising events in µs.
    var meanPeriod: Double { intervalMicroseconds + AdvertisingDelay.meanMicroseconds }

    func check() throws(AirtimeError) {
        guard airtimeMicroseconds > 0, airtimeMicroseconds <= 100_000 else { throw .airtime(airtimeMicroseconds) }
        try Quantity.check(
            secondCopyMicroseconds - airtimeMicroseconds, in: 0...1e6, "the pause before the second copy in µs")
        try Quantity.check(
            thirdCopyMicroseconds - secondCopyMicroseconds - airtimeMicroseconds, in: 0...1e6,
            "the pause before the third copy in µs")
        let lastAirtime = auxiliary.last?.airtimeMicroseconds ?? airtimeMicroseconds
        guard intervalMicroseconds > lastOffset + lastAirtime, intervalMicroseconds <= 1e12 else {
            throw .interval(intervalMicroseconds)
        }
        try Quantity.check(receivedLevelDBm, in: -200...200, "a received level in dBm")
    }
}

/// The scanner in an ``AirSimulation``. The phase of its windows is random in each batch.
public struct AirReceiver: Hashable, Sendable {
    public var scan: ScanPattern
    /// The time after each decoded packet in which the receiver cannot receive, in µs.
    public var deadTimeMicroseconds = 0.0
    /// The time at the beginning of each scan window in which the receiver cannot receive, in µs; ignored for a
    /// receiver that stays on one channel.
    public var channelGapMicroseconds = 0.0

    public init(scan: ScanPattern = .continuous) {
        self.scan = scan
    }

    /// Creates a receiver with the scan pattern and the times of a preset.
    public init(_ preset: ScannerPreset) {
        scan = preset.pattern
        deadTimeMicroseconds = preset.deadTimeMicroseconds
        channelGapMicroseconds = preset.windowGapMicroseconds
    }

    func check() throws(AirtimeError) {
        try Quantity.check(deadTimeMicroseconds, in: 0...1e6, "a dead time in µs")
        try Quantity.check(channelGapMicroseconds, in: 0...1e7, "a gap at a channel change in µs")
    }
}

/// Capture, shadowing, other devices and the duration of the batches of an ``AirSimulation``.
public struct AirConditions: Hashable, Sendable {
    /// The rule for packets that overlap on one channel.
    public enum Capture: Hashable, Sendable {
        /// All overlapping packets are lost.
        case none
        /// A packet survives if its level is always at least this many dB above the sum of all overlapping packets.
        case powerSum(thresholdDecibels: Double)
    }

    /// Packets of other devices, which start at random on each channel. No packet survives an overlap with them.
    public struct OtherDevices: Hashable, Sendable {
        /// The share of time in which these packets occupy a channel, 0...0.99.
        public var busyShare: Double
        /// The length of these packets on the primary channels in µs.
        public var airtimeMicroseconds: Double
        /// The length of these packets on the secondary channels in µs; nil if each is as long as the auxiliary packet
        /// that it may destroy.
        public var secondaryAirtimeMicroseconds: Double?

        public init(busyShare: Double, airtimeMicroseconds: Double, secondaryAirtimeMicroseconds: Double? = nil) {
            self.busyShare = busyShare
            self.airtimeMicroseconds = airtimeMicroseconds
            self.secondaryAirtimeMicroseconds = secondaryAirtimeMicroseconds
        }

        /// Returns the probability that no packet of other devices hits an auxiliary packet of `airtime` µs. The
        /// simulation draws with this probability, and does not simulate other devices' packets on the secondary
        /// channels.
        func secondaryClearProbability(forPacketOf airtime: Double) -> Double {
            exp(log1p(-busyShare) * (1 + airtime / (secondaryAirtimeMicroseconds ?? airtime)))
        }

        /// The number of packets of other devices per µs on one channel.
        var rate: Double { -log1p(-busyShare) / airtimeMicroseconds }
    }

    public var capture = Capture.none
    /// σ of the normal distribution of each advertiser's level, in dB; constant during a batch.
    public var shadowingDecibels = 0.0
    public var otherDevices: OtherDevices?
    /// True to simulate channels 38 and 39 even for a receiver that stays on channel 37. This triples the work;
    /// ``AirTally/anyClear`` needs it.
    public var simulatesAllChannels = true
    /// The duration of a batch in µs. Latencies longer than a batch cannot be measured.
    public var durationMicroseconds = 10_000_000.0

    public init() {}

    func check() throws(AirtimeError) {
        try Quantity.check(shadowingDecibels, in: 0...100, "a shadowing in dB")
        if case .powerSum(let threshold) = capture {
            try Quantity.check(threshold, in: -100...100, "a capture threshold in dB")
        }
        if let otherDevices {
            guard otherDevices.busyShare >= 0, otherDevices.busyShare <= 0.99 else {
                throw .share(otherDevices.busyShare)
            }
            let secondary = otherDevices.secondaryAirtimeMicroseconds
            if let secondary, !(secondary >= 1 && secondary <= 100_000) { throw .airtime(secondary) }
            guard otherDevices.airtimeMicroseconds >= 1, otherDevices.airtimeMicroseconds <= 100_000 else {
                throw .airtime(otherDevices.airtimeMicroseconds)
            }
        }
        try Quantity.check(durationMicroseconds, in: 1000...AirSimulation.maximumDuration, "a duration in µs")
    }
}
