public import BluetoothTypes

/// Advertisers, receivers and other devices on three channels, played packet by packet.
///
/// Answers what no closed model does: positions, capture by power sums, walking receivers, dead times, clocks that
/// drift, fleets that are powered on together. A batch is `conditions.durationMicroseconds` of air from a state in which
/// everything has long been running; phases, shadowing and delays are drawn again for each batch.
public struct AirSimulation: BatchedSimulation {
    public static let maximumAdvertisers = 20_000
    public static let maximumReceivers = 256
    /// A day, in µs.
    public static let maximumDuration = 86_400e6
    /// Links between advertisers and receivers.
    static let maximumLinks = 1_000_000.0
    /// Packets and their overlaps, for all receivers, in a batch: some ten seconds of work.
    static let maximumWork = 500e6
    /// The longest run of losses that is counted.
    public static let longestRun = 16
    /// The events after a given start that are counted by number.
    public static let countedEvents = 128

    public let advertisers: [AirAdvertiser]
    public let receivers: [AirReceiver]
    public let conditions: AirConditions
    public let seed: UInt64

    /// Throws for an empty or too large scene, quantities out of range, and batches that would take minutes.
    public init(
        advertisers: [AirAdvertiser], receivers: [AirReceiver], conditions: AirConditions = AirConditions(),
        seed: UInt64
    ) throws(AirtimeError) {
        guard !advertisers.isEmpty else { throw .count(0) }
        guard advertisers.count <= Self.maximumAdvertisers else {
            throw .quantity(
                name: "a number of simulated advertisers (at most \(Self.maximumAdvertisers))",
                value: Double(advertisers.count))
        }
        guard (1...Self.maximumReceivers).contains(receivers.count) else {
            throw .quantity(name: "a number of receivers", value: Double(receivers.count))
        }
        let links = Double(advertisers.count) * Double(receivers.count)
        guard links <= Self.maximumLinks else { throw .quantity(name: "a number of links", value: links) }
        try conditions.check()
        for advertiser in advertisers { try advertiser.check() }
        for receiver in receivers { try receiver.check() }
        self.advertisers = advertisers
        self.receivers = receivers
        self.conditions = conditions
        self.seed = seed
        let work = self.work
        guard work <= Self.maximumWork else { throw .quantity(name: "the work of a batch, in overlaps", value: work) }
    }

    /// N equal advertisers around one receiver, all equally loud.
    public init(
        _ group: AdvertiserGroup, scan: ScanPattern, conditions: AirConditions = AirConditions(), seed: UInt64
    ) throws(AirtimeError) {
        guard group.count <= Self.maximumAdvertisers else { throw .count(group.count) }
        try self.init(
            advertisers: AirAdvertiser.fleet(group), receivers: [AirReceiver(scan: scan)], conditions: conditions,
            seed: seed)
    }

    public func batch(_ index: Int) -> AirTally {
        var batch = AirBatch(self, index: index)
        return batch.play()
    }

    var channels: Int {
        conditions.playsAllChannels || receivers.contains { $0.scan.channelCount > 1 } ? 3 : 1
    }

    /// Packets a µs on all channels.
    var packetRate: Double {
        let own = advertisers.reduce(0) { $0 + 1 / $1.meanPeriod }
        return Double(channels) * (own + (conditions.strangers?.rate ?? 0))
    }

    var longestAirtime: Double {
        let own = advertisers.reduce(0) { max($0, $1.airtimeMicroseconds) }
        return max(own, conditions.strangers?.airtimeMicroseconds ?? 0)
    }

    private var work: Double {
        let packets = packetRate * conditions.durationMicroseconds
        let overlapping = packetRate * 2 * longestAirtime
        let walks = receivers.contains { $0.path.moves } ? conditions.durationMicroseconds / AirBatch.walkingSlice : 1
        return packets * (1 + overlapping) * (1 + Double(receivers.count))
            + walks * Double(advertisers.count * receivers.count)
            + Double(conditions.latencyInstants * advertisers.count * receivers.count)
    }
}

/// One beacon in an ``AirSimulation``. What does not fit is refused by the simulation.
public struct AirAdvertiser: Hashable, Sendable {
    /// When the first advertising event begins.
    public enum Start: Hashable, Sendable {
        /// Long ago: a batch begins at a random instant of its period.
        case longAgo
        /// So many µs after the batch's beginning: `.at(0)` for all is a fleet that is powered on together.
        case at(microseconds: Double)
    }

    public var position = FloorPosition(x: 0, y: 0)
    /// T, by the advertiser's own clock.
    public var intervalMicroseconds: Double
    /// tau of each copy.
    public var airtimeMicroseconds: Double
    /// How long after the copy on channel 37 those on 38 and 39 start. Each copy ends before the next starts.
    public var secondCopyMicroseconds = 1000.0
    public var thirdCopyMicroseconds = 2000.0
    /// How much longer a second of this clock is, in millionths.
    public var clockDriftPPM = 0.0
    public var radioPowerDBm = 0.0
    public var start = Start.longAgo
    /// Which box it is one of several advertisements of: they share a radio, and never meet each other. `nil` for a box of
    /// its own.
    public var box: Int?
    /// Whether it is counted; otherwise it only fills the air.
    public var isCounted = true

    /// One at the origin that has been sending for long, with T, and tau in µs.
    public init(interval: AdvertisingInterval, airtimeMicroseconds: Double) {
        self.init(intervalMicroseconds: Double(interval.microseconds), airtimeMicroseconds: airtimeMicroseconds)
    }

    /// As above, with an interval in µs that need not be one that controllers support.
    package init(intervalMicroseconds: Double, airtimeMicroseconds: Double) {
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    /// A fleet of equal advertisers in one place.
    public static func fleet(_ group: AdvertiserGroup) -> [AirAdvertiser] {
        let one = AirAdvertiser(
            intervalMicroseconds: group.intervalMicroseconds, airtimeMicroseconds: group.airtimeMicroseconds)
        return Array(repeating: one, count: min(group.count, AirSimulation.maximumAdvertisers + 1))
    }

    /// E, with the clock's drift.
    var meanPeriod: Double { (intervalMicroseconds + AdvertisingDelay.meanMicroseconds) * clock }
    var clock: Double { 1 + clockDriftPPM * 1e-6 }

    func check() throws(AirtimeError) {
        guard airtimeMicroseconds > 0, airtimeMicroseconds <= 100_000 else { throw .airtime(airtimeMicroseconds) }
        try AirLimit.check(
            secondCopyMicroseconds - airtimeMicroseconds, 0...1e6, "the pause before the second copy in µs")
        try AirLimit.check(
            thirdCopyMicroseconds - secondCopyMicroseconds - airtimeMicroseconds, 0...1e6,
            "the pause before the third copy in µs")
        guard intervalMicroseconds > thirdCopyMicroseconds + airtimeMicroseconds, intervalMicroseconds <= 1e12 else {
            throw .interval(intervalMicroseconds)
        }
        try AirLimit.check(clockDriftPPM, -10_000...10_000, "a clock drift in ppm")
        try AirLimit.check(radioPowerDBm, -200...200, "a radio power in dBm")
        guard position.isFinite else { throw .quantity(name: "a position", value: position.x + position.y) }
        if case .at(let time) = start { try AirLimit.check(time, 0...AirSimulation.maximumDuration, "a start in µs") }
    }
}

/// Throws for quantities out of range, NaN included.
enum AirLimit {
    static func check(_ value: Double, _ range: ClosedRange<Double>, _ name: String) throws(AirtimeError) {
        guard range.contains(value) else { throw .quantity(name: name, value: value) }
    }
}
