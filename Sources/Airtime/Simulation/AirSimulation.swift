import BluetoothTypes

/// Advertisers, receivers and strangers on three channels, played packet by packet.
///
/// Answers what no closed model does: positions, capture by power sums, walking receivers, dead times, clocks that
/// drift, fleets that are powered on together. A batch is `conditions.durationMicroseconds` of air from a state in which
/// everything has long been running; phases, shadowing and delays are drawn anew for each batch.
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

    /// Refuses an empty or too large scene, quantities out of range, and batches that would take minutes.
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
