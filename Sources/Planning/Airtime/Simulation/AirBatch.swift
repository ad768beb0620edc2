import BluetoothTypes

/// Simulates one batch of an ``AirSimulation``. It processes one slice of time after the other, so that memory stays
/// bounded.
///
/// Times are in µs from the beginning of the batch. Traffic begins a little earlier, so that the first packets can
/// collide.
struct AirBatch {
    private struct Packet {
        let start: Double
        let end: Double
        let eventStart: Double
        /// -1 for another device.
        let advertiser: Int32
        /// 0...2 for channels 37...39, and 3...39 for the secondary channels.
        let channel: Int32
        /// True for the last auxiliary packet of an event. The result of this packet decides whether the event is
        /// received.
        var isLast = false
        /// True for an auxiliary packet that a packet of another device destroys.
        var isDestroyed = false

        var isAuxiliary: Bool { channel > 2 }
    }

    /// The results of one advertiser's copies so far.
    private struct History {
        /// By channel: the number of copies counted so far, at most ``AirSimulation/longestRun``.
        var copies: InlineArray<3, UInt8> = [0, 0, 0]
        /// By channel: the number of the latest copies that were lost in a row, at most ``AirSimulation/longestRun``.
        var losses: InlineArray<3, UInt8> = [0, 0, 0]
        /// True if a copy of the current event is clear.
        var isClear = false
        /// True if a copy of the current event was received.
        var isReceived = false
        /// True after the first received event.
        var hasReceivedEvent = false
        /// With extended PDUs, for the current event: by channel, true if the copy is clear.
        var clearCopies: InlineArray<3, Bool> = [false, false, false]
        /// With extended PDUs, for the current event: by channel, true if the copy was received.
        var receivedCopies: InlineArray<3, Bool> = [false, false, false]
        /// With extended PDUs: true if all auxiliary packets of the current event so far are clear.
        var isAuxiliaryClear = true
    }

    private static let packetsInSlice = 8192.0

    private let scene: AirSimulation
    private let index: Int
    private let channels: Int
    private let longestAirtime: Double
    /// The longest time from the start of an event to the start of its last packet, in µs.
    private let longestOffset: Double
    /// True if a beacon sends more than one advertisement.
    private let hasSharedRadios: Bool
    private var random: SplitMix64

    // Traffic.
    private var nextStart: [Double]
    private var nextOtherPacket: [Double] = []
    /// The packets that are not yet decided, and packets that can overlap with them, in the order of their starts.
    private var packets: [Packet] = []
    private var sorted: [Packet] = []
    private var buckets: [Int] = []
    /// The index in `packets` of the first packet that is not yet decided.
    private var undecided = 0

    // Reception.
    private let receiver: AirReceiver
    private let windows: AirWindows
    /// The power of each advertiser, on a linear scale.
    private let powers: [Double]
    /// A packet survives if the power of all overlapping packets together is at most this share of the packet's power;
    /// nil without capture.
    private let survivablePowerRatio: Double?
    private var deadUntil = -Double.infinity
    private var histories: [History]
    private var counts = AirCounts()
    private var latency = LatencyTally()
    /// The indices of the packets that overlap with the packet that is being decided.
    private var overlapping: [Int] = []

    init(_ scene: AirSimulation, index: Int) {
        self.scene = scene
        self.index = index
        channels = scene.channels
        longestAirtime = scene.longestAirtime
        longestOffset = scene.advertisers.reduce(0) { max($0, $1.lastOffset) }
        hasSharedRadios = scene.advertisers.contains { $0.machine != nil }
        var random = SplitMix64(seed: scene.seed, batch: index)
        receiver = scene.receiver(ofBatch: index)
        windows = AirWindows(receiver, unit: random.nextUnit())
        let shadowing = scene.conditions.shadowingDecibels
        powers = scene.advertisers.map { advertiser in
            let shadow = shadowing > 0 ? random.nextNormal() * shadowing : 0
            return powerRatio(decibels: advertiser.receivedLevelDBm - shadow)
        }
        survivablePowerRatio =
            if case .powerSum(let threshold) = scene.conditions.capture { powerRatio(decibels: -threshold) } else {
                nil
            }
        nextStart = Array(repeating: 0, count: scene.advertisers.count)
        histories = Array(repeating: History(), count: scene.advertisers.count)
        self.random = random
    }

    mutating func run() -> AirTally {
        let begin = -(longestOffset + 2 * longestAirtime + receiver.deadTimeMicroseconds)
        let end = scene.conditions.durationMicroseconds + longestOffset + 2 * longestAirtime
        let slice = max(Self.packetsInSlice / scene.packetRate, 4 * longestAirtime)
        beginTraffic(begin)
        var now = begin
        while now < end {
            let sliceEnd = min(now + slice, end)
            forgetPackets(before: now)
            send(from: now, until: sliceEnd)
            // All packets that start before `sliceEnd` are known, so every packet that certainly ends by then can be
            // decided.
            while undecided < packets.count, packets[undecided].start + longestAirtime <= sliceEnd {
                decide(undecided)
                undecided += 1
            }
            now = sliceEnd
        }
        for (advertiser, history) in zip(scene.advertisers, histories)
        where advertiser.isCounted && !history.hasReceivedEvent {
            latency.count(nil, batch: index)
        }
        return AirTally(counts, latency: latency)
    }
}

// Traffic.

extension AirBatch {
    /// Draws the first starts of all advertisers and other devices.
    private mutating func beginTraffic(_ begin: Double) {
        for (index, advertiser) in scene.advertisers.enumerated() {
            let shortestPeriod = advertiser.intervalMicroseconds
            let longestPeriod = shortestPeriod + AdvertisingDelay.maximumMicroseconds
            // The simulation begins at a random instant. The probability that this instant is in a given period is
            // proportional to the length of the period, and all instants of the period are equally likely.
            let periodSquared =
                shortestPeriod * shortestPeriod + random.nextUnit()
                * (longestPeriod * longestPeriod - shortestPeriod * shortestPeriod)
            nextStart[index] = begin + periodSquared.squareRoot() * random.nextUnit()
        }
        if let otherDevices = scene.conditions.otherDevices, otherDevices.rate > 0 {
            nextOtherPacket = (0..<channels).map { _ in begin + randomPause(otherDevices.rate) }
        }
    }

    /// Drops the packets with which no further packet can overlap.
    private mutating func forgetPackets(before now: Double) {
        let earliest = undecided < packets.count ? min(now, packets[undecided].start) : now
        var dropped = 0
        while dropped < undecided, packets[dropped].start <= earliest - longestAirtime { dropped += 1 }
        packets.removeSubrange(0..<dropped)
        undecided -= dropped
    }

    /// Adds the packets of all events that start before `end`, in the order of their starts.
    private mutating func send(from begin: Double, until end: Double) {
        // Copies of earlier events may start in this slice too.
        let firstUnsorted = packets.lastIndex { $0.start < begin }.map { $0 + 1 } ?? 0
        for index in nextStart.indices {
            let advertiser = scene.advertisers[index]
            while nextStart[index] < end {
                sendEvent(index, advertiser)
                nextStart[index] +=
                    advertiser.intervalMicroseconds + random.nextUnit() * AdvertisingDelay.maximumMicroseconds
            }
        }
        if let otherDevices = scene.conditions.otherDevices {
            for channel in nextOtherPacket.indices {
                while nextOtherPacket[channel] < end {
                    add(start: nextOtherPacket[channel], airtime: otherDevices.airtimeMicroseconds, channel: channel)
                    nextOtherPacket[channel] += randomPause(otherDevices.rate)
                }
            }
        }
        sortPackets(firstUnsorted, from: begin, until: end + longestOffset)
    }

    private mutating func sendEvent(_ index: Int, _ advertiser: AirAdvertiser) {
        let (start, airtime) = (nextStart[index], advertiser.airtimeMicroseconds)
        add(start: start, airtime: airtime, channel: 0, of: index, eventStart: start)
        if channels > 1 {
            for (channel, offset) in [(1, advertiser.secondCopyMicroseconds), (2, advertiser.thirdCopyMicroseconds)] {
                add(start: start + offset, airtime: airtime, channel: channel, of: index, eventStart: start)
            }
        }
        for (auxiliaryIndex, packet) in advertiser.auxiliary.enumerated() {
            let begin = start + packet.offsetMicroseconds
            let channel = 3 + Int(random.nextUnit() * Double(ExtendedEvent.secondaryChannels))
            let clearProbability = scene.conditions.otherDevices?.secondaryClearProbability(
                forPacketOf: packet.airtimeMicroseconds)
            packets.append(
                Packet(
                    start: begin, end: begin + packet.airtimeMicroseconds, eventStart: start, advertiser: Int32(index),
                    channel: Int32(channel), isLast: auxiliaryIndex == advertiser.auxiliary.count - 1,
                    isDestroyed: clearProbability.map { random.nextUnit() >= $0 } ?? false))
        }
    }

    private mutating func add(
        start: Double, airtime: Double, channel: Int, of advertiser: Int = -1, eventStart: Double = 0
    ) {
        packets.append(
            Packet(
                start: start, end: start + airtime, eventStart: eventStart, advertiser: Int32(advertiser),
                channel: Int32(channel)))
    }

    /// Returns a random time in µs to the next packet of other devices, which start at random at `rate` packets per µs.
    private mutating func randomPause(_ rate: Double) -> Double {
        -log(1 - random.nextUnit()) / rate
    }

    /// Sorts the packets from `first` on by their start. Starts are spread evenly over the slice, so distributing the
    /// packets into buckets by their starts nearly sorts them. An insertion sort completes the order.
    private mutating func sortPackets(_ first: Int, from begin: Double, until end: Double) {
        let count = packets.count - first
        guard count > 1 else { return }
        let scale = Double(count) / (end - begin)
        func bucket(_ packet: Packet) -> Int { min(count - 1, Int((packet.start - begin) * scale)) }
        buckets.removeAll(keepingCapacity: true)
        buckets.append(contentsOf: repeatElement(0, count: count + 1))
        for index in first..<packets.count { buckets[bucket(packets[index]) + 1] += 1 }
        for index in 1...count { buckets[index] += buckets[index - 1] }
        sorted.removeAll(keepingCapacity: true)
        sorted.append(contentsOf: packets[first...])
        for packet in sorted {
            let index = bucket(packet)
            packets[first + buckets[index]] = packet
            buckets[index] += 1
        }
        for index in first + 1..<packets.count {
            let packet = packets[index]
            var position = index
            while position > first, packets[position - 1].start > packet.start {
                packets[position] = packets[position - 1]
                position -= 1
            }
            packets[position] = packet
        }
    }
}

// Reception.

extension AirBatch {
    /// Decides whether a packet survives and is received, and counts it.
    private mutating func decide(_ packet: Int) {
        let wanted = packets[packet]
        guard wanted.advertiser >= 0 else { return }
        findOverlapping(packet)
        let isClear = !wanted.isDestroyed && survives(packet)
        guard !wanted.isAuxiliary else { return decideAuxiliary(wanted, isClear: isClear) }
        let isReceived =
            isClear && wanted.start >= deadUntil
            && windows.contain(start: wanted.start, end: wanted.end, channel: Int(wanted.channel))
        if isReceived { deadUntil = wanted.end + receiver.deadTimeMicroseconds }
        let advertiser = Int(wanted.advertiser)
        guard scene.advertisers[advertiser].auxiliary.isEmpty else {
            let channel = Int(wanted.channel)
            if channel == 0 { histories[advertiser].isAuxiliaryClear = true }
            histories[advertiser].clearCopies[channel] = isClear
            histories[advertiser].receivedCopies[channel] = isReceived
            return
        }
        count(wanted, isClear: isClear, isReceived: isReceived)
    }

    /// Counts the result of an auxiliary packet. The last auxiliary packet decides the event: a copy counts as clear
    /// only if all auxiliary packets are clear too.
    private mutating func decideAuxiliary(_ packet: Packet, isClear: Bool) {
        let advertiser = Int(packet.advertiser)
        if !isClear { histories[advertiser].isAuxiliaryClear = false }
        guard packet.isLast else { return }
        let event = histories[advertiser]
        for channel in 0..<channels {
            let isReceived = event.isAuxiliaryClear && event.receivedCopies[channel]
            let copy = Packet(
                start: packet.start, end: packet.end, eventStart: packet.eventStart, advertiser: packet.advertiser,
                channel: Int32(channel))
            count(copy, isClear: event.isAuxiliaryClear && event.clearCopies[channel], isReceived: isReceived)
        }
    }

    private mutating func findOverlapping(_ packet: Int) {
        overlapping.removeAll(keepingCapacity: true)
        let wanted = packets[packet]
        var other = packet - 1
        while other >= 0, packets[other].start > wanted.start - longestAirtime {
            if packets[other].channel == wanted.channel, packets[other].end > wanted.start,
                !isFromSameBeacon(other, wanted)
            {
                overlapping.append(other)
            }
            other -= 1
        }
        other = packet + 1
        while other < packets.count, packets[other].start < wanted.end {
            if packets[other].channel == wanted.channel, !isFromSameBeacon(other, wanted) { overlapping.append(other) }
            other += 1
        }
    }

    /// Returns true if a packet comes from the same beacon as the wanted packet. Such packets never overlap, because a
    /// beacon sends one packet after the other.
    private func isFromSameBeacon(_ packet: Int, _ wanted: Packet) -> Bool {
        guard hasSharedRadios, packets[packet].advertiser >= 0,
            let machine = scene.advertisers[Int(packets[packet].advertiser)].machine
        else { return false }
        return machine == scene.advertisers[Int(wanted.advertiser)].machine
    }

    private func power(_ packet: Int) -> Double {
        let advertiser = Int(packets[packet].advertiser)
        return advertiser < 0 ? .infinity : powers[advertiser]
    }

    private func survives(_ packet: Int) -> Bool {
        guard !overlapping.isEmpty else { return true }
        guard let survivablePowerRatio else { return false }
        let limit = power(packet) * survivablePowerRatio
        guard overlapping.reduce(0, { $0 + power($1) }) > limit else { return true }
        // During the wanted packet, the sum of the powers is largest at its start or at the start of an overlapping
        // packet.
        let start = packets[packet].start
        return powerOnAir(at: start) <= limit
            && !overlapping.contains { packets[$0].start > start && powerOnAir(at: packets[$0].start) > limit }
    }

    private func powerOnAir(at instant: Double) -> Double {
        overlapping.reduce(0) { sum, other in
            packets[other].start <= instant && packets[other].end > instant ? sum + power(other) : sum
        }
    }

    private mutating func count(_ wanted: Packet, isClear: Bool, isReceived: Bool) {
        guard wanted.eventStart >= 0, wanted.eventStart < scene.conditions.durationMicroseconds,
            scene.advertisers[Int(wanted.advertiser)].isCounted
        else { return }
        let channel = Int(wanted.channel)
        var history = histories[Int(wanted.advertiser)]
        let lossesBefore = history.losses[channel]
        let limit = UInt8(AirSimulation.longestRun)
        history.copies[channel] = min(history.copies[channel] + 1, limit)
        history.losses[channel] = isClear ? 0 : min(lossesBefore + 1, limit)
        history.isClear = isClear || (channel > 0 && history.isClear)
        history.isReceived = isReceived || (channel > 0 && history.isReceived)
        if isReceived, !history.hasReceivedEvent {
            history.hasReceivedEvent = true
            latency.count(wanted.eventStart, batch: index)
        }
        histories[Int(wanted.advertiser)] = history

        counts.copies += 1
        if isClear { counts.clear += 1 }
        counts.copyRuns[Int(history.copies[channel])] += 1
        counts.lossRuns[Int(history.losses[channel])] += 1
        if lossesBefore > 0 {
            counts.copiesAfterLoss += 1
            if !isClear { counts.lossesAfterLoss += 1 }
        }
        guard channel == channels - 1 else { return }
        counts.events += 1
        if history.isClear { counts.clearEvents += 1 }
        if history.isReceived { counts.receivedEvents += 1 }
    }
}

/// The scan windows of the receiver in one batch of the simulation.
private struct AirWindows {
    private let window: Double
    private let interval: Double
    private let channels: Int
    private let gap: Double
    private let phase: Double
    private let neverPauses: Bool

    /// - Parameter unit: The random phase as a share of the receiver's cycle, 0..<1.
    init(_ receiver: AirReceiver, unit: Double) {
        let scan = receiver.scan
        window = Double(scan.windowMicroseconds)
        interval = Double(scan.intervalMicroseconds)
        channels = scan.channelCount
        gap = channels > 1 ? receiver.channelGapMicroseconds : 0
        phase = unit * interval * Double(channels)
        neverPauses = channels == 1 && scan.windowMicroseconds == scan.intervalMicroseconds
    }

    /// Returns true if a copy lies wholly inside a window on its channel.
    ///
    /// - Parameter channel: The channel of the copy, 0...2 for 37...39.
    func contain(start: Double, end: Double, channel: Int) -> Bool {
        if neverPauses { return channel == 0 }
        let intervalIndex = ((start - phase) / interval).rounded(.down)
        let begin = phase + intervalIndex * interval
        guard start - begin >= gap, end - begin <= window else { return false }
        guard channels > 1 else { return channel == 0 }
        let channelOfInterval = intervalIndex - (intervalIndex / 3).rounded(.down) * 3
        return Int(channelOfInterval) == channel
    }
}

/// 10^(decibels/10).
private func powerRatio(decibels: Double) -> Double { pow(10, decibels / 10) }

extension SplitMix64 {
    /// A normally distributed number with mean 0 and deviation 1 (Box and Muller).
    package mutating func nextNormal() -> Double {
        let radius = (-2 * log(1 - nextUnit())).squareRoot()
        return radius * cos(2 * .pi * nextUnit())
    }
}
