internal import Airtime

/// What phones and receivers receive of the packets on the air: levels, collisions and capture.
///
/// A listener receives a packet that is at least as strong as its sensitivity, that lies wholly inside a window of its scan
/// on the packet's channel, and with which no other audible packet overlaps, or which is stronger than the sum of all
/// overlapping packets by the capture threshold.
struct AirReception {
    /// The scan of a listener: window, interval and channels in µs.
    struct Scan {
        var window: Int
        var interval: Int
        var channels: Int
        /// The part of each window that is lost at its beginning.
        var gap: Int
        /// The time after each received packet in which nothing is received.
        var deadTime: Int
        /// The start of a cycle.
        var phase: Int

        init(_ preset: ScannerPreset, phase: Int) {
            window = preset.pattern.windowMicroseconds
            interval = preset.pattern.intervalMicroseconds
            channels = preset.pattern.channelCount
            gap = channels == 1 ? 0 : Int(preset.windowGapMicroseconds)
            deadTime = Int(preset.deadTimeMicroseconds)
            self.phase = phase
        }

        var cycle: Int { interval * channels }

        /// Returns whether a packet lies wholly inside a window on its channel.
        @inline(__always)
        func hears(_ channel: Int, from start: Int, to end: Int) -> Bool {
            if channels == 1 {
                guard channel == 0 else { return false }
                if window >= interval { return true }
            }
            let time = (start - phase) % cycle
            let place = time < 0 ? time + cycle : time
            let within = place % interval
            return place / interval == channel && within >= gap && within + (end - start) <= window
        }
    }

    /// What happened to a packet at one listener.
    enum Outcome {
        case clear
        /// Received although another packet overlaps with it.
        case captured
        case collided
        /// Destroyed by a device that is none of the fleet's.
        case background

        var isReceived: Bool { self == .clear || self == .captured }
    }

    private struct Pending {
        var packet: AirPacket
        var end: Int
    }

    let sensitivity: Float
    /// 10^(threshold/10).
    private let captureRatio: Float
    /// By channel: other devices on it.
    private let backgrounds: [BackgroundLoad]
    private let emitters: Int
    private let words: Int
    /// The scan of each listener; nil while it does not listen.
    var scans: [Scan?]
    private(set) var deadUntil: [Int]
    /// By listener and emitter: the level in dBm without the packet's own offset, and its power in mW.
    private(set) var levels: [Float]
    private var powers: [Float]
    /// By emitter: a bit for each listener that may receive it.
    private var reach: [UInt64]
    /// By channel: packets in the order of their starts.
    private var queues: [[Pending]] = [[], [], []]
    /// By channel: the first packet that is not decided.
    private var heads = [0, 0, 0]
    private var longestAirtime = 400
    /// The overlapping packets of the present one.
    private var overlapping: [Int] = []

    /// Packets that are weaker than this below the sensitivity do not destroy others, in dB.
    private static let inaudible: Float = 12

    init(emitters: Int, listeners: Int, sensitivity: Double, captureDecibels: Double, background: BackgroundLoad) {
        self.emitters = emitters
        self.sensitivity = Float(sensitivity)
        captureRatio = Float(pow(10, captureDecibels / 10))
        // The shares are those of a load that was checked.
        backgrounds = background.loads.primary.map {
            (try? BackgroundLoad(share: $0, airtimeMicroseconds: background.airtimeMicroseconds)) ?? .none
        }
        words = max(1, (listeners + 63) / 64)
        scans = Array(repeating: nil, count: listeners)
        deadUntil = Array(repeating: 0, count: listeners)
        levels = Array(repeating: -.infinity, count: listeners * emitters)
        powers = Array(repeating: 0, count: listeners * emitters)
        reach = Array(repeating: 0, count: emitters * words)
    }

    /// A reception without listeners.
    static let empty = AirReception(
        emitters: 0, listeners: 0, sensitivity: 0, captureDecibels: 0, background: .none)

    // MARK: Levels

    /// Sets the level of an emitter at a listener, in dBm.
    mutating func setLevel(_ level: Float, of emitter: Int, at listener: Int) {
        let place = listener * emitters + emitter
        levels[place] = level
        guard level >= sensitivity - Self.inaudible else {
            powers[place] = 0
            reach[emitter * words + listener >> 6] &= ~(1 << UInt64(listener & 63))
            return
        }
        powers[place] = Float(pow(10, Double(level) / 10))
        if level >= sensitivity {
            reach[emitter * words + listener >> 6] |= 1 << UInt64(listener & 63)
        } else {
            reach[emitter * words + listener >> 6] &= ~(1 << UInt64(listener & 63))
        }
    }

    // MARK: Packets

    /// Adds a packet, which must not start before the previous one.
    ///
    /// - Parameter decide: Gets each packet whose fate is known now: the packet, the listener, its level and the outcome.
    mutating func add(
        _ packet: AirPacket, _ random: inout UInt64,
        _ decide: (AirPacket, _ listener: Int, _ level: Float, Outcome) -> Bool
    ) {
        finish(before: packet.start, &random, decide)
        let channel = Int(packet.channel)
        longestAirtime = max(longestAirtime, Int(packet.airtime))
        queues[channel].append(Pending(packet: packet, end: packet.start + Int(packet.airtime)))
    }

    /// Decides all packets that have ended by `time`.
    mutating func finish(
        before time: Int, _ random: inout UInt64,
        _ decide: (AirPacket, _ listener: Int, _ level: Float, Outcome) -> Bool
    ) {
        for channel in 0..<3 {
            while heads[channel] < queues[channel].count, queues[channel][heads[channel]].end <= time {
                self.decide(channel, heads[channel], &random, decide)
                heads[channel] += 1
            }
            // Decided packets that no later one can overlap with are forgotten.
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
        for word in 0..<words {
            var rest = reach[emitter * words + word]
            while rest != 0 {
                let listener = word << 6 + rest.trailingZeroBitCount
                rest &= rest - 1
                guard let scan = scans[listener], packet.start >= deadUntil[listener],
                    scan.hears(channel, from: packet.start, to: end)
                else { continue }
                let level = levels[listener * emitters + emitter] + packet.powerOffset
                guard level >= sensitivity else { continue }
                let outcome = outcome(channel, packet, listener, level, &random)
                if decide(packet, listener, level, outcome) {
                    deadUntil[listener] = scan.deadTime > 0 ? end + scan.deadTime : 0
                }
            }
        }
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
            let place = listener * emitters + Int(other.emitter)
            var power = powers[place]
            if power == 0 { continue }
            if other.powerOffset != 0 { power *= Float(pow(10, Double(other.powerOffset) / 10)) }
            sum += power
            if levels[place] + other.powerOffset >= sensitivity { isClear = false }
        }
        if isClear { return .clear }
        return Float(pow(10, Double(level) / 10)) >= captureRatio * sum ? .captured : .collided
    }
}
