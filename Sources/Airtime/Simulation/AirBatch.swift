import BluetoothTypes

/// A packet on the air.
struct AirPacket {
    let start: Double
    let end: Double
    /// When its advertising event began.
    let eventStart: Double
    /// -1 for a stranger.
    let advertiser: Int32
    /// The number of the event after a given start; -1 where there is none.
    let event: Int32
    /// 0...2 for channels 37...39.
    let channel: Int32
}

/// One batch of an `AirSimulation` while it is played: slice after slice of time, so that memory stays bounded.
///
/// Times are in µs from the batch's beginning. Traffic begins a little earlier, so that the first packets meet others.
struct AirBatch {
    /// How far apart a walking receiver's places are, in µs.
    static let walkingSlice = 100_000.0
    private static let packetsInSlice = 32_768.0

    let scene: AirSimulation
    let index: Int
    let channels: Int
    let longestAirtime: Double
    /// Whether any box sends more than one advertisement.
    let hasBoxes: Bool
    var random: SplitMix64

    // Traffic.
    var nextStart: [Double]
    var nextEvent: [Int32]
    var nextStranger: [Double] = []
    var packets: [AirPacket] = []
    /// The first of `packets` that is not yet judged.
    private var unjudged = 0

    // Reception, by receiver, or by receiver and advertiser.
    let windows: [AirWindows]
    let sensitivities: [Double]
    let strangersPower: Double
    /// Of the wanted packet's power, the share that all others together may not exceed; nil without capture.
    let capture: Double?
    let instants: [Double]
    private let shadows: [Double]
    var powers: [Double]
    var deafUntil: [Double]
    var links: [AirLink]
    var counts: [ReceptionCounts]
    var beacons: [BeaconCounts]
    var clearByEvent: [(hits: Int, trials: Int)] = []
    /// The packets that overlap with the one that is judged.
    var overlapping: [Int] = []

    init(_ scene: AirSimulation, index: Int) {
        self.scene = scene
        self.index = index
        channels = scene.channels
        longestAirtime = scene.longestAirtime
        hasBoxes = scene.advertisers.contains { $0.box != nil }
        random = SplitMix64(seed: scene.seed, batch: index)
        let conditions = scene.conditions
        let linkCount = scene.advertisers.count * scene.receivers.count
        var random = self.random
        windows = scene.receivers.map { AirWindows($0, unit: random.nextUnit()) }
        let spare = conditions.durationMicroseconds - conditions.horizon
        let piece = spare / Double(conditions.latencyInstants)
        instants = (0..<(spare > 0 ? conditions.latencyInstants : 1)).map { (Double($0) + random.nextUnit()) * piece }
        shadows = (0..<(conditions.shadowingDecibels > 0 ? linkCount : 0)).map { _ in
            random.nextNormal() * conditions.shadowingDecibels
        }
        self.random = random
        sensitivities = scene.receivers.map { decibelRatio($0.sensitivityDBm) }
        strangersPower = conditions.strangers?.powerDBm.map { decibelRatio($0) } ?? .infinity
        capture = if case .powerSum(let threshold) = conditions.capture { decibelRatio(-threshold) } else { nil }
        powers = Array(repeating: 0, count: linkCount)
        deafUntil = Array(repeating: -.infinity, count: scene.receivers.count)
        links = Array(repeating: AirLink(), count: linkCount)
        counts = Array(repeating: ReceptionCounts(), count: scene.receivers.count)
        beacons = Array(repeating: BeaconCounts(), count: scene.advertisers.count)
        nextStart = Array(repeating: 0, count: scene.advertisers.count)
        nextEvent = Array(repeating: -1, count: scene.advertisers.count)
    }

    mutating func play() -> AirTally {
        let lastCopy = scene.advertisers.reduce(0) { max($0, $1.thirdCopyMicroseconds) }
        let deadTime = scene.receivers.reduce(0) { max($0, $1.deadTimeMicroseconds) }
        let begin = -(lastCopy + 2 * longestAirtime + deadTime)
        let end = scene.conditions.durationMicroseconds + lastCopy + 2 * longestAirtime
        let moves = scene.receivers.contains { $0.path.moves }
        var slice = max(Self.packetsInSlice / scene.packetRate, 4 * longestAirtime)
        if moves { slice = min(slice, max(Self.walkingSlice, 4 * longestAirtime)) }

        beginTraffic(begin)
        updatePowers(0, all: true)
        var now = begin
        while now < end {
            let sliceEnd = min(now + slice, end)
            if moves { updatePowers((now + sliceEnd) / 2, all: false) }
            forgetPackets(before: now)
            send(until: sliceEnd)
            // Whatever starts before `sliceEnd` is known by now, so what ends before it can be judged.
            while unjudged < packets.count, packets[unjudged].start + longestAirtime <= sliceEnd {
                judge(unjudged)
                unjudged += 1
            }
            now = sliceEnd
        }
        return tally()
    }

    /// Drops the packets that no packet to come, and none that is not yet judged, can overlap.
    private mutating func forgetPackets(before now: Double) {
        let earliest = unjudged < packets.count ? min(now, packets[unjudged].start) : now
        var dropped = 0
        while dropped < unjudged, packets[dropped].start <= earliest - longestAirtime { dropped += 1 }
        packets.removeSubrange(0..<dropped)
        unjudged -= dropped
    }

    /// What each receiver hears of each advertiser, in mW: of all receivers, or of those that walk.
    private mutating func updatePowers(_ time: Double, all: Bool) {
        for (receiver, description) in scene.receivers.enumerated() where all || description.path.moves {
            let place = description.path.position(afterMicroseconds: time)
            for (advertiser, beacon) in scene.advertisers.enumerated() {
                let link = receiver * scene.advertisers.count + advertiser
                let loss = scene.conditions.meanLossDecibels(beacon.position, place)
                let shadow = shadows.isEmpty ? 0 : shadows[link]
                powers[link] = decibelRatio(beacon.radioPowerDBm - loss - shadow)
            }
        }
    }
}

/// 10^(decibels/10), between 0 and what still can be added up; 0 for what is no number.
func decibelRatio(_ decibels: Double) -> Double {
    let ratio = pow(10, decibels / 10)
    return ratio >= 0 ? min(ratio, 1e100) : 0
}
