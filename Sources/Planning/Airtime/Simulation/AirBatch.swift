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

    private let scene: AirSimulation
    private let index: Int
    private let channels: Int
    private let longestAirtime: Double
    /// Whether any box sends more than one advertisement.
    private let hasBoxes: Bool
    private var random: SplitMix64

    // Traffic.
    private var nextStart: [Double]
    private var nextEvent: [Int32]
    private var nextStranger: [Double] = []
    private var packets: [AirPacket] = []
    /// The first of `packets` that is not yet judged.
    private var unjudged = 0

    // Reception, by receiver, or by receiver and advertiser.
    private let windows: [AirWindows]
    private let sensitivities: [Double]
    private let strangersPower: Double
    /// Of the wanted packet's power, the share that all others together may not exceed; nil without capture.
    private let capture: Double?
    private let instants: [Double]
    private let shadows: [Double]
    private var powers: [Double]
    private var deafUntil: [Double]
    private var links: [AirLink]
    private var counts: [ReceptionCounts]
    private var beacons: [BeaconCounts]
    private var clearByEvent: [(hits: Int, trials: Int)] = []
    /// The packets that overlap with the one that is judged.
    private var overlapping: [Int] = []

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

extension SplitMix64 {
    /// Normally distributed around 0 with a deviation of 1 (Box and Muller).
    mutating func nextNormal() -> Double {
        let radius = (-2 * log(1 - nextUnit())).squareRoot()
        return radius * cos(2 * .pi * nextUnit())
    }
}

extension AirBatch {
    /// Draws when every advertiser and every other device start first.
    mutating func beginTraffic(_ begin: Double) {
        for (index, advertiser) in scene.advertisers.enumerated() {
            switch advertiser.start {
            case .longAgo:
                let shortest = advertiser.intervalMicroseconds
                let longest = shortest + AdvertisingDelay.maximumMicroseconds
                // A random instant falls into a period in proportion to its length, and anywhere within it.
                let square = shortest * shortest + random.nextUnit() * (longest * longest - shortest * shortest)
                nextStart[index] = begin + square.squareRoot() * random.nextUnit() * advertiser.clock
            case .at(let time):
                nextStart[index] = time
                nextEvent[index] = 0
            }
        }
        if let strangers = scene.conditions.strangers, strangers.rate > 0 {
            nextStranger = (0..<channels).map { _ in begin + pause(strangers.rate) }
        }
    }

    /// Puts everything that starts before `end` on the air, in order; copies of an event may start later than it.
    mutating func send(until end: Double) {
        for index in nextStart.indices {
            while nextStart[index] < end { sendEvent(index) }
        }
        if let strangers = scene.conditions.strangers {
            for channel in nextStranger.indices {
                while nextStranger[channel] < end {
                    let start = nextStranger[channel]
                    packets.append(
                        AirPacket(
                            start: start, end: start + strangers.airtimeMicroseconds, eventStart: start, advertiser: -1,
                            event: -1, channel: Int32(channel)))
                    nextStranger[channel] += pause(strangers.rate)
                }
            }
        }
        packets.sort { $0.start < $1.start }
    }

    private mutating func sendEvent(_ index: Int) {
        let advertiser = scene.advertisers[index]
        let eventStart = nextStart[index]
        for channel in 0..<channels {
            let offset =
                switch channel {
                case 0: 0.0
                case 1: advertiser.secondCopyMicroseconds
                default: advertiser.thirdCopyMicroseconds
                }
            let start = eventStart + offset
            packets.append(
                AirPacket(
                    start: start, end: start + advertiser.airtimeMicroseconds, eventStart: eventStart,
                    advertiser: Int32(index), event: nextEvent[index], channel: Int32(channel)))
        }
        let delay = random.nextUnit() * AdvertisingDelay.maximumMicroseconds
        nextStart[index] += (advertiser.intervalMicroseconds + delay) * advertiser.clock
        if nextEvent[index] >= 0, nextEvent[index] < .max { nextEvent[index] += 1 }
    }

    /// The time to the next of packets that start at random.
    private mutating func pause(_ rate: Double) -> Double {
        -log(1 - random.nextUnit()) / rate
    }
}

extension AirBatch {
    /// Decides for each receiver what becomes of a packet.
    mutating func judge(_ packet: Int) {
        let wanted = packets[packet]
        guard wanted.advertiser >= 0 else { return }
        let advertiser = Int(wanted.advertiser)
        let isCounted =
            scene.advertisers[advertiser].isCounted && wanted.eventStart >= 0
            && wanted.eventStart < scene.conditions.durationMicroseconds
        findOverlapping(packet)
        for receiver in scene.receivers.indices {
            let link = receiver * scene.advertisers.count + advertiser
            let isAudible = powers[link] >= sensitivities[receiver]
            let isClear = isAudible && survives(packet, at: receiver)
            let isReceived =
                isClear && wanted.start >= deafUntil[receiver]
                && windows[receiver].cover(start: wanted.start, end: wanted.end, channel: Int(wanted.channel))
            if isReceived { deafUntil[receiver] = wanted.end + scene.receivers[receiver].deadTimeMicroseconds }
            guard isCounted else { continue }
            count(wanted, link, receiver, isAudible: isAudible, isClear: isClear, isReceived: isReceived)
        }
    }

    private mutating func findOverlapping(_ packet: Int) {
        overlapping.removeAll(keepingCapacity: true)
        let wanted = packets[packet]
        var other = packet - 1
        while other >= 0, packets[other].start > wanted.start - longestAirtime {
            if packets[other].channel == wanted.channel, packets[other].end > wanted.start, !isOwn(other, wanted) {
                overlapping.append(other)
            }
            other -= 1
        }
        other = packet + 1
        while other < packets.count, packets[other].start < wanted.end {
            if packets[other].channel == wanted.channel, !isOwn(other, wanted) { overlapping.append(other) }
            other += 1
        }
    }

    /// Whether a packet comes from the box of the wanted one, which sends one after the other.
    private func isOwn(_ packet: Int, _ wanted: AirPacket) -> Bool {
        let advertiser = packets[packet].advertiser
        guard hasBoxes, advertiser >= 0, let box = scene.advertisers[Int(advertiser)].box else { return false }
        return box == scene.advertisers[Int(wanted.advertiser)].box
    }

    private func power(_ packet: Int, at receiver: Int) -> Double {
        let advertiser = Int(packets[packet].advertiser)
        return advertiser < 0 ? strangersPower : powers[receiver * scene.advertisers.count + advertiser]
    }

    private func survives(_ packet: Int, at receiver: Int) -> Bool {
        guard !overlapping.isEmpty else { return true }
        guard let capture else {
            return !overlapping.contains { power($0, at: receiver) >= sensitivities[receiver] }
        }
        let limit = power(packet, at: receiver) * capture
        var sum = 0.0
        for other in overlapping {
            let power = power(other, at: receiver)
            if power > limit { return false }
            sum += power
        }
        guard sum > limit else { return true }
        // The sum at an instant is largest where one of them starts, or where the wanted packet does.
        let start = packets[packet].start
        return sumOnAir(at: start, receiver) <= limit
            && !overlapping.contains { packets[$0].start > start && sumOnAir(at: packets[$0].start, receiver) > limit }
    }

    private func sumOnAir(at instant: Double, _ receiver: Int) -> Double {
        overlapping.reduce(0) { sum, other in
            packets[other].start <= instant && packets[other].end > instant ? sum + power(other, at: receiver) : sum
        }
    }

    private mutating func count(
        _ wanted: AirPacket, _ link: Int, _ receiver: Int, isAudible: Bool, isClear: Bool, isReceived: Bool
    ) {
        let advertiser = Int(wanted.advertiser)
        let channel = Int(wanted.channel)
        counts[receiver].copies += 1
        if isAudible {
            counts[receiver].audible += 1
            beacons[advertiser].audible += 1
            if isClear {
                counts[receiver].clear += 1
                beacons[advertiser].clear += 1
            }
            if wanted.event >= 0, channel == 0 { countByEvent(Int(wanted.event), isClear: isClear) }
        }
        counts[receiver].count(links[link].follow(channel, isAudible: isAudible, isLost: isAudible && !isClear))

        if channel == 0 { links[link].event = [] }
        if isAudible { links[link].event.insert(.audible) }
        if isClear { links[link].event.insert(.clear) }
        if isReceived, !links[link].event.contains(.received) {
            links[link].event.insert(.received)
            links[link].isSeen = true
            settle(link, receiver, at: wanted.eventStart)
        }
        guard channel == channels - 1 else { return }
        let event = links[link].event
        counts[receiver].events += 1
        beacons[advertiser].events += 1
        if event.contains(.audible) { counts[receiver].audibleEvents += 1 }
        if event.contains(.clear) { counts[receiver].clearEvents += 1 }
        if event.contains(.received) {
            counts[receiver].received += 1
            beacons[advertiser].received += 1
        }
    }

    private mutating func countByEvent(_ event: Int, isClear: Bool) {
        guard event < AirSimulation.countedEvents else { return }
        while clearByEvent.count <= event { clearByEvent.append((0, 0)) }
        clearByEvent[event].trials += 1
        if isClear { clearByEvent[event].hits += 1 }
    }

    /// Ends the waits that began before an event that was received.
    private mutating func settle(_ link: Int, _ receiver: Int, at eventStart: Double) {
        let horizon = scene.conditions.horizon
        while links[link].nextInstant < instants.count, instants[links[link].nextInstant] <= eventStart {
            let latency = eventStart - instants[links[link].nextInstant]
            counts[receiver].latency.count(latency <= horizon ? latency : nil, batch: index)
            links[link].nextInstant += 1
        }
    }

    /// What the batch counted, with the waits that never ended.
    mutating func tally() -> AirTally {
        for (advertiser, description) in scene.advertisers.enumerated() where description.isCounted {
            for receiver in scene.receivers.indices {
                let link = receiver * scene.advertisers.count + advertiser
                for _ in links[link].nextInstant..<instants.count { counts[receiver].latency.count(nil, batch: index) }
                beacons[advertiser].links += 1
                if links[link].isSeen { beacons[advertiser].seen += 1 }
            }
        }
        var tally = AirTally()
        tally.receivers = counts.map { ReceptionTally($0) }
        tally.all = ReceptionTally(counts.reduce(into: ReceptionCounts()) { $0.add($1) })
        tally.beacons = beacons.map { AirTally.Beacon($0) }
        tally.clearByEvent = clearByEvent.map { ShareTally(hits: $0.hits, trials: $0.trials) }
        return tally
    }
}
