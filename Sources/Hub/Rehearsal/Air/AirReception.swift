internal import Airtime
internal import Planner

/// Decides which packets the listeners (phones and receivers) receive, from levels, collisions and capture.
///
/// A listener receives a packet if three conditions hold: the level of the packet reaches the sensitivity of the
/// listener; the packet lies wholly inside a scan window on its channel; and either no other audible packet overlaps
/// with it, or it is stronger than the sum of all overlapping packets by at least the capture threshold.
///
/// Extended advertising needs more: a listener receives an event if it receives a packet on a primary channel, and if
/// all auxiliary packets survive. A listener that received the packet on the primary channel receives the auxiliary
/// packets even after the end of its window, and goes on to receive other packets on the primary channels, as in the
/// plan (see `ExtendedTraffic`).
struct AirReception {
    /// The scan of a listener. All times are in µs; `channels` is the number of scanned channels.
    struct Scan {
        var window: Int
        var interval: Int
        var channels: Int
        /// The time at the beginning of each window in which nothing is received.
        var gap: Int
        /// The time after each received packet in which nothing is received.
        var deadTime: Int
        /// The time at which a cycle through all channels starts.
        var phase: Int
        /// True if the listener receives extended advertising on LE 1M.
        var receivesExtended: Bool
        /// True if the listener receives extended advertising on LE Coded.
        var receivesCoded: Bool

        /// - Parameter phy: The PHY on which the scanner receives extended advertising; nil for legacy PDUs only. The
        ///   ideal scanner `ScannerPreset.continuous` receives every PHY, as in the plan.
        init(_ preset: ScannerPreset, phase: Int, phy: ScannerPHY? = nil) {
            window = preset.pattern.windowMicroseconds
            interval = preset.pattern.intervalMicroseconds
            channels = preset.pattern.channelCount
            gap = channels == 1 ? 0 : Int(preset.windowGapMicroseconds)
            deadTime = Int(preset.deadTimeMicroseconds)
            self.phase = phase
            receivesExtended = preset == .continuous || phy == .le1M
            receivesCoded = preset == .continuous || phy == .coded
        }

        /// Returns true if the listener receives this kind of advertising.
        func receives(_ kind: AirPacket.Kind) -> Bool {
            switch kind {
            case .legacy: true
            case .extended: receivesExtended
            case .coded: receivesCoded
            }
        }

        var cycle: Int { interval * channels }

        /// Returns true if a packet lies wholly inside a window on its channel.
        @inline(__always)
        func receives(_ channel: Int, from start: Int, to end: Int) -> Bool {
            if channels == 1 {
                guard channel == 0 else { return false }
                if window >= interval { return true }
            }
            let time = (start - phase) % cycle
            let cycleTime = time < 0 ? time + cycle : time
            let within = cycleTime % interval
            return cycleTime / interval == channel && within >= gap && within + (end - start) <= window
        }
    }

    /// The outcome of a packet at one listener.
    enum Outcome {
        /// Received; no other packet overlaps with it.
        case clear
        /// Received although another packet overlaps with it.
        case captured
        /// Destroyed by packets of other emitters.
        case collided
        /// Destroyed by a device that does not belong to the fleet.
        case background

        var isReceived: Bool { self == .clear || self == .captured }

        /// Returns the outcome of an event for a listener that needs two packets with these outcomes.
        func and(_ other: Outcome) -> Outcome {
            guard isReceived, other.isReceived else { return isReceived ? other : self }
            return self == .clear ? other : self
        }
    }

    /// A packet on a primary channel whose auxiliary packets have not all been decided for a listener.
    private struct Announcement {
        let packet: AirPacket
        let listener: Int
        let level: Float
        /// The outcome of all packets so far.
        var outcome: Outcome
    }

    /// A packet whose outcomes are not all decided yet, or that may overlap with such a packet.
    private struct Pending {
        var packet: AirPacket
        var end: Int
    }

    let sensitivity: Float
    /// The capture threshold as a ratio of powers: 10^(threshold in dB/10).
    private let captureRatio: Float
    /// By channel: the load of devices that do not belong to the fleet.
    private let backgrounds: [BackgroundLoad]
    private let emitters: Int
    /// The number of words with the bits of all listeners.
    private let words: Int
    /// The scan of each listener; nil while the listener does not scan.
    var scans: [Scan?]
    private(set) var deadUntil: [Int]
    /// By listener, then by emitter: the level in dBm without the power offset of a packet.
    private(set) var levels: [Float]
    /// By listener, then by emitter: the received power in mW; 0 if it is too weak to destroy other packets.
    private var powers: [Float]
    /// By emitter: one bit for each listener, which is set if the listener may receive the emitter.
    private var listenersInReach: [UInt64]
    /// By channel: packets in the order of their starts.
    private var queues: [[Pending]]
    /// By channel: the index of the first packet whose outcomes are not decided yet.
    private var heads: [Int]
    private var longestAirtime = 400
    /// By emitter: the packets of extended advertising whose auxiliary packets are awaited.
    private var announcements: [[Announcement]]
    /// The indices in the queue of the packets that overlap with the packet that is being decided.
    private var overlapping: [Int] = []

    /// Packets whose level is below the sensitivity by more than this, in dB, do not destroy other packets.
    private static let harmlessMargin: Float = 12
    /// Auxiliary packets follow within this time, in µs. They do not follow if the emitter was stopped in between.
    private static let longestEvent = 1_000_000

    /// - Parameter isExtended: True if some emitters send extended advertising, so that there are secondary channels.
    init(
        emitters: Int, listeners: Int, sensitivity: Double, captureDecibels: Double, background: BackgroundLoad,
        isExtended: Bool = false
    ) {
        self.emitters = emitters
        self.sensitivity = Float(sensitivity)
        captureRatio = Float(pow(10, captureDecibels / 10))
        // The shares come from a valid load, so no error is expected.
        let loads = background.loads.primary + (isExtended ? background.loads.secondary : [])
        backgrounds = loads.map {
            (try? BackgroundLoad(share: $0, airtimeMicroseconds: background.airtimeMicroseconds)) ?? .none
        }
        queues = Array(repeating: [], count: loads.count)
        heads = Array(repeating: 0, count: loads.count)
        announcements = Array(repeating: [], count: isExtended ? emitters : 0)
        words = max(1, (listeners + 63) / 64)
        scans = Array(repeating: nil, count: listeners)
        deadUntil = Array(repeating: 0, count: listeners)
        levels = Array(repeating: -.infinity, count: listeners * emitters)
        powers = Array(repeating: 0, count: listeners * emitters)
        listenersInReach = Array(repeating: 0, count: emitters * words)
    }

    /// A reception without listeners.
    static let empty = AirReception(
        emitters: 0, listeners: 0, sensitivity: 0, captureDecibels: 0, background: .none)

    // MARK: Levels

    /// Sets the level of an emitter at a listener, in dBm.
    mutating func setLevel(_ level: Float, of emitter: Int, at listener: Int) {
        let index = listener * emitters + emitter
        levels[index] = level
        guard level >= sensitivity - Self.harmlessMargin else {
            powers[index] = 0
            listenersInReach[emitter * words + listener >> 6] &= ~(1 << UInt64(listener & 63))
            return
        }
        powers[index] = Float(pow(10, Double(level) / 10))
        if level >= sensitivity {
            listenersInReach[emitter * words + listener >> 6] |= 1 << UInt64(listener & 63)
        } else {
            listenersInReach[emitter * words + listener >> 6] &= ~(1 << UInt64(listener & 63))
        }
    }

    // MARK: Packets

    /// Adds a packet, which must not start before the previously added packet.
    ///
    /// - Parameter decide: Called for each outcome that is now known, with the packet, the listener, the level in dBm
    ///   and the outcome. Returns true if the listener received the packet. For extended advertising, it is called once
    ///   for the whole event: the packet is that on the primary channel, and its airtime ends with the last auxiliary
    ///   packet.
    mutating func add(
        _ packet: AirPacket, _ random: inout UInt64,
        _ decide: (AirPacket, _ listener: Int, _ level: Float, Outcome) -> Bool
    ) {
        finish(before: packet.start, &random, decide)
        let channel = Int(packet.channel)
        longestAirtime = max(longestAirtime, Int(packet.airtime))
        queues[channel].append(Pending(packet: packet, end: packet.start + Int(packet.airtime)))
    }

    /// Decides the outcomes of all packets that have ended by `time`, in µs.
    mutating func finish(
        before time: Int, _ random: inout UInt64,
        _ decide: (AirPacket, _ listener: Int, _ level: Float, Outcome) -> Bool
    ) {
        for channel in queues.indices {
            while heads[channel] < queues[channel].count, queues[channel][heads[channel]].end <= time {
                self.decide(channel, heads[channel], &random, decide)
                heads[channel] += 1
            }
            // Removes decided packets that cannot overlap with later packets.
            if heads[channel] > 256 {
                let oldest = time - 2 * longestAirtime
                var count = 0
                while count < heads[channel], queues[channel][count].end < oldest { count += 1 }
                if count > 128 {
                    queues[channel].removeFirst(count)
                    heads[channel] -= count
                }
            }
        }
    }

    private mutating func decide(
        _ channel: Int, _ index: Int, _ random: inout UInt64,
        _ decide: (AirPacket, _ listener: Int, _ level: Float, Outcome) -> Bool
    ) {
        let packet = queues[channel][index].packet
        let end = queues[channel][index].end
        overlapping.removeAll(keepingCapacity: true)
        var other = index - 1
        while other >= 0, queues[channel][other].packet.start > packet.start - longestAirtime {
            if queues[channel][other].end > packet.start { overlapping.append(other) }
            other -= 1
        }
        other = index + 1
        while other < queues[channel].count, queues[channel][other].packet.start < end {
            overlapping.append(other)
            other += 1
        }
        let emitter = Int(packet.emitter)
        guard !packet.isAuxiliary else { return decideAuxiliary(packet, end: end, &random, decide) }
        if packet.kind != .legacy {
            announcements[emitter].removeAll { $0.packet.start < packet.start - Self.longestEvent }
        }
        for word in 0..<words {
            var remaining = listenersInReach[emitter * words + word]
            while remaining != 0 {
                let listener = word << 6 + remaining.trailingZeroBitCount
                remaining &= remaining - 1
                guard let scan = scans[listener], packet.start >= deadUntil[listener],
                    scan.receives(packet.kind), scan.receives(channel, from: packet.start, to: end)
                else { continue }
                let level = levels[listener * emitters + emitter] + packet.powerOffset
                guard level >= sensitivity else { continue }
                let outcome = outcome(channel, packet, listener, level, &random)
                guard packet.kind == .legacy else {
                    announcements[emitter].append(
                        Announcement(packet: packet, listener: listener, level: level, outcome: outcome))
                    continue
                }
                if decide(packet, listener, level, outcome) {
                    deadUntil[listener] = scan.deadTime > 0 ? end + scan.deadTime : 0
                }
            }
        }
    }

    /// Decides an auxiliary packet for all listeners that received a packet of its event on a primary channel. The last
    /// auxiliary packet decides the event.
    private mutating func decideAuxiliary(
        _ packet: AirPacket, end: Int, _ random: inout UInt64,
        _ decide: (AirPacket, _ listener: Int, _ level: Float, Outcome) -> Bool
    ) {
        func isOfEvent(_ announcement: Announcement) -> Bool {
            announcement.packet.advertisement == packet.advertisement && announcement.packet.event == packet.event
        }
        let emitter = Int(packet.emitter)
        for index in announcements[emitter].indices {
            let announcement = announcements[emitter][index]
            guard isOfEvent(announcement) else { continue }
            if announcement.outcome.isReceived {
                let outcome = outcome(
                    Int(packet.channel), packet, announcement.listener, announcement.level, &random)
                announcements[emitter][index].outcome = announcement.outcome.and(outcome)
            }
            guard packet.isLast else { continue }
            var event = announcement.packet
            event.airtime = Int32(end - event.start)
            let isReceived = decide(
                event, announcement.listener, announcement.level, announcements[emitter][index].outcome)
            if isReceived, let deadTime = scans[announcement.listener]?.deadTime, deadTime > 0 {
                deadUntil[announcement.listener] = end + deadTime
            }
        }
        if packet.isLast { announcements[emitter].removeAll(where: isOfEvent) }
    }

    private func outcome(
        _ channel: Int, _ packet: AirPacket, _ listener: Int, _ level: Float, _ random: inout UInt64
    ) -> Outcome {
        let background = backgrounds[channel]
        if background.share > 0 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let unit = Double(random >> 11) * 0x1p-53
            if unit >= background.clearProbability(forPacketOf: Double(packet.airtime)) { return .background }
        }
        guard !overlapping.isEmpty else { return .clear }
        var sum: Float = 0
        var isClear = true
        for index in overlapping {
            let other = queues[channel][index].packet
            guard other.emitter != packet.emitter else { continue }
            let linkIndex = listener * emitters + Int(other.emitter)
            var power = powers[linkIndex]
            if power == 0 { continue }
            if other.powerOffset != 0 { power *= Float(pow(10, Double(other.powerOffset) / 10)) }
            sum += power
            if levels[linkIndex] + other.powerOffset >= sensitivity { isClear = false }
        }
        if isClear { return .clear }
        return Float(pow(10, Double(level) / 10)) >= captureRatio * sum ? .captured : .collided
    }
}
