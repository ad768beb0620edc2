public import BluetoothTypes

/// Advertisers and other devices around one receiver, simulated packet by packet.
///
/// It checks the models, and includes what they leave out: capture by sums of powers, fleets of different beacons, and
/// the dead times of receivers. A batch is `conditions.durationMicroseconds` of traffic that has been running for long.
/// Phases, shadowing and delays are drawn again for each batch.
public struct AirSimulation: BatchedSimulation {
    public static let maximumAdvertisers = 20_000
    /// A day, in µs.
    public static let maximumDuration = 86_400e6
    /// The largest number of packets and overlaps in a batch: about ten seconds of work.
    static let maximumWork = 500e6
    /// The longest run of losses that is counted.
    public static let longestRun = 16

    public let advertisers: [AirAdvertiser]
    public let receiver: AirReceiver
    /// The receivers of a mix, one of which receives each batch, with their shares; empty if all batches have `receiver`.
    public let visitors: [Visitor]
    public let conditions: AirConditions
    public let seed: UInt64

    /// A receiver and the share of the batches that it receives.
    public struct Visitor: Hashable, Sendable {
        public let receiver: AirReceiver
        public let share: Double
    }

    /// The scanners of a mix around the advertisers: each batch has one of them, by their shares.
    public init(
        advertisers: [AirAdvertiser], scanners: ScannerMix, conditions: AirConditions, seed: UInt64
    ) throws(AirtimeError) {
        let visitors = scanners.parts.map { Visitor(receiver: AirReceiver($0.scanner), share: $0.share) }
        try self.init(
            advertisers: advertisers, receiver: visitors[0].receiver, visitors: visitors.count > 1 ? visitors : [],
            conditions: conditions, seed: seed)
    }

    /// Throws if there are no advertisers, or too many, if a quantity is out of range, and if a batch would take minutes.
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
        guard work <= Self.maximumWork else { throw .quantity(name: "the work of a batch, in overlaps", value: work) }
    }

    /// N equal advertisers around a receiver.
    public init(
        _ group: AdvertiserGroup, scan: ScanPattern, conditions: AirConditions = AirConditions(), seed: UInt64
    ) throws(AirtimeError) {
        guard group.count <= Self.maximumAdvertisers else { throw .count(group.count) }
        try self.init(
            advertisers: AirAdvertiser.fleet(group), receiver: AirReceiver(scan: scan), conditions: conditions,
            seed: seed)
    }

    public func batch(_ index: Int) -> AirTally {
        var batch = AirBatch(self, index: index)
        return batch.run()
    }

    /// The receiver of a batch. The numbers are spread so evenly that any row of batches has the mix's shares.
    func receiver(ofBatch index: Int) -> AirReceiver {
        let golden = 0.618_033_988_749_894_9
        var place = (Double(index) * golden + 0.5).truncatingRemainder(dividingBy: 1)
        for visitor in visitors {
            if place < visitor.share { return visitor.receiver }
            place -= visitor.share
        }
        return visitors.last?.receiver ?? receiver
    }

    /// The number of simulated channels.
    var channels: Int {
        let stays = ([receiver] + visitors.map(\.receiver)).allSatisfy { $0.scan.channelCount == 1 }
        return conditions.playsAllChannels || !stays ? 3 : 1
    }

    /// Packets per µs on all channels.
    var packetRate: Double {
        let own = advertisers.reduce(0) { $0 + 1 / $1.meanPeriod }
        return Double(channels) * (own + (conditions.strangers?.rate ?? 0))
    }

    var longestAirtime: Double {
        let own = advertisers.reduce(0) { max($0, $1.airtimeMicroseconds) }
        return max(own, conditions.strangers?.airtimeMicroseconds ?? 0)
    }

    private var work: Double {
        packetRate * conditions.durationMicroseconds * (1 + packetRate * 2 * longestAirtime)
    }
}

/// One advertisement of a beacon in an ``AirSimulation``.
public struct AirAdvertiser: Hashable, Sendable {
    /// T in µs.
    public var intervalMicroseconds: Double
    /// tau in µs.
    public var airtimeMicroseconds: Double
    /// The time from the start of the copy on channel 37 to the starts of those on 38 and 39, in µs. Each copy ends
    /// before the next one starts.
    public var secondCopyMicroseconds = 1000.0
    public var thirdCopyMicroseconds = 2000.0
    /// The level at the receiver in dB, on any common scale; it matters for capture.
    public var radioPowerDBm = 0.0
    /// The number of the beacon that sends this advertisement and others: they share a radio and never collide. Nil for a
    /// beacon with one advertisement.
    public var box: Int?
    /// False for an advertiser that only causes collisions.
    public var isCounted = true

    public init(interval: AdvertisingInterval, airtimeMicroseconds: Double) {
        self.init(intervalMicroseconds: Double(interval.microseconds), airtimeMicroseconds: airtimeMicroseconds)
    }

    /// An advertiser with an interval in µs that controllers need not support.
    package init(intervalMicroseconds: Double, airtimeMicroseconds: Double) {
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    /// A fleet of equal advertisers.
    public static func fleet(_ group: AdvertiserGroup) -> [AirAdvertiser] {
        let one = AirAdvertiser(
            intervalMicroseconds: group.intervalMicroseconds, airtimeMicroseconds: group.airtimeMicroseconds)
        return Array(repeating: one, count: min(group.count, AirSimulation.maximumAdvertisers + 1))
    }

    /// E in µs.
    var meanPeriod: Double { intervalMicroseconds + AdvertisingDelay.meanMicroseconds }

    func check() throws(AirtimeError) {
        guard airtimeMicroseconds > 0, airtimeMicroseconds <= 100_000 else { throw .airtime(airtimeMicroseconds) }
        try Quantity.check(
            secondCopyMicroseconds - airtimeMicroseconds, in: 0...1e6, "the pause before the second copy in µs")
        try Quantity.check(
            thirdCopyMicroseconds - secondCopyMicroseconds - airtimeMicroseconds, in: 0...1e6,
            "the pause before the third copy in µs")
        guard intervalMicroseconds > thirdCopyMicroseconds + airtimeMicroseconds, intervalMicroseconds <= 1e12 else {
            throw .interval(intervalMicroseconds)
        }
        try Quantity.check(radioPowerDBm, in: -200...200, "a radio power in dBm")
    }
}

/// The scanner in an ``AirSimulation``. The phase of its windows is random in each batch.
public struct AirReceiver: Hashable, Sendable {
    public var scan: ScanPattern
    /// The time after each decoded packet in which the receiver cannot receive, in µs.
    public var deadTimeMicroseconds = 0.0
    /// The time at the beginning of each window in which it cannot receive, in µs; used with several channels.
    public var channelGapMicroseconds = 0.0

    public init(scan: ScanPattern = .continuous) {
        self.scan = scan
    }

    /// The receiver with a preset's times.
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
    /// The fate of packets that overlap on one channel.
    public enum Capture: Hashable, Sendable {
        /// All of them are lost.
        case none
        /// A packet survives if it is always stronger than all others together by more than this many dB.
        case powerSum(thresholdDecibels: Double)
    }

    /// Packets of other devices, which start at random on each channel. No packet survives an overlap with them.
    public struct Strangers: Hashable, Sendable {
        /// The share of a channel that they occupy.
        public var busyShare: Double
        public var airtimeMicroseconds: Double

        public init(busyShare: Double, airtimeMicroseconds: Double) {
            self.busyShare = busyShare
            self.airtimeMicroseconds = airtimeMicroseconds
        }

        /// Packets per µs on one channel.
        var rate: Double { -log1p(-busyShare) / airtimeMicroseconds }
    }

    public var capture = Capture.none
    /// σ of the normal distribution of each advertiser's level, in dB; constant during a batch.
    public var shadowingDecibels = 0.0
    public var strangers: Strangers?
    /// True simulates channels 38 and 39 even for a receiver that stays on 37: three times the work, needed for
    /// ``AirTally/anyClear``.
    public var playsAllChannels = true
    /// The duration of a batch, and the longest latency, in µs.
    public var durationMicroseconds = 10_000_000.0

    public init() {}

    func check() throws(AirtimeError) {
        try Quantity.check(shadowingDecibels, in: 0...100, "a shadowing in dB")
        if case .powerSum(let threshold) = capture {
            try Quantity.check(threshold, in: -100...100, "a capture threshold in dB")
        }
        if let strangers {
            guard strangers.busyShare >= 0, strangers.busyShare <= 0.99 else { throw .share(strangers.busyShare) }
            guard strangers.airtimeMicroseconds >= 1, strangers.airtimeMicroseconds <= 100_000 else {
                throw .airtime(strangers.airtimeMicroseconds)
            }
        }
        try Quantity.check(durationMicroseconds, in: 1000...AirSimulation.maximumDuration, "a duration in µs")
    }
}
