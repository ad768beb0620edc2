/// What surrounds advertisers and receivers: losses on the way, what a receiver makes of overlapping packets, strangers
/// on the air, and how long a batch lasts.
public struct AirConditions: Sendable {
    /// What becomes of packets that overlap on one channel.
    public enum Capture: Hashable, Sendable {
        /// All that are audible are lost.
        case none
        /// One survives while it is stronger than all others that are on the air at the same instant together by more
        /// than so many dB.
        case powerSum(thresholdDecibels: Double)
    }

    /// Packets of other devices that start at random, on each channel by itself.
    public struct Strangers: Hashable, Sendable {
        /// The share of a channel that they keep busy.
        public var busyShare: Double
        public var airtimeMicroseconds: Double
        /// At every receiver; nil where nothing survives them.
        public var powerDBm: Double?

        public init(busyShare: Double, airtimeMicroseconds: Double, powerDBm: Double? = nil) {
            self.busyShare = busyShare
            self.airtimeMicroseconds = airtimeMicroseconds
            self.powerDBm = powerDBm
        }

        /// Packets a µs, on one channel.
        var rate: Double { -log1p(-busyShare) / airtimeMicroseconds }
    }

    /// The mean loss in dB from a beacon's place to a receiver's; what is no number counts as out of reach.
    public var meanLossDecibels: @Sendable (FloorPosition, FloorPosition) -> Double = { _, _ in 0 }
    /// Sigma of the normal deviation around the mean loss, in dB: drawn for each link, and the same all batch long.
    public var shadowingDecibels = 0.0
    public var capture = Capture.none
    public var strangers: Strangers?
    /// Whether channels 38 and 39 are played even where all receivers stay on 37: three times the work, and without
    /// them `anyClear` knows one copy only.
    public var playsAllChannels = true
    /// How much time a batch plays.
    public var durationMicroseconds = 10_000_000.0
    /// Latencies beyond it count as undiscovered. The batch's duration, unless it is given.
    public var horizonMicroseconds: Double?
    /// Instants in a batch from which each latency is taken: the first `duration - horizon` are cut into so many equal
    /// pieces, and one instant falls into each at random. Only the very beginning where the two are equal.
    public var latencyInstants = 1

    public init() {}

    var horizon: Double { horizonMicroseconds ?? durationMicroseconds }

    func check() throws(AirtimeError) {
        try AirLimit.check(shadowingDecibels, 0...100, "a shadowing in dB")
        if case .powerSum(let threshold) = capture {
            try AirLimit.check(threshold, -100...100, "a capture threshold in dB")
        }
        if let strangers {
            guard strangers.busyShare >= 0, strangers.busyShare <= 0.99 else { throw .share(strangers.busyShare) }
            guard strangers.airtimeMicroseconds >= 1, strangers.airtimeMicroseconds <= 100_000 else {
                throw .airtime(strangers.airtimeMicroseconds)
            }
            if let power = strangers.powerDBm { try AirLimit.check(power, -300...200, "strangers' power in dBm") }
        }
        try AirLimit.check(durationMicroseconds, 1000...AirSimulation.maximumDuration, "a duration in µs")
        try AirLimit.check(horizon, 1...durationMicroseconds, "a horizon in µs")
        try AirLimit.check(Double(latencyInstants), 1...10_000, "a number of instants")
    }
}

/// One scanner in an ``AirSimulation``. What does not fit is refused by the simulation.
public struct AirReceiver: Hashable, Sendable {
    public var path = AirPath(standingAt: FloorPosition(x: 0, y: 0))
    public var scan: ScanPattern
    /// When a window on channel 37 begins, in µs after the batch's beginning; nil for a new random phase a batch.
    public var phaseMicroseconds: Double?
    /// Packets below this power are not decoded.
    public var sensitivityDBm = -95.0
    /// How long the receiver is deaf after each packet that it decoded.
    public var deadTimeMicroseconds = 0.0
    /// How long it is deaf at the beginning of each window, where there is more than one channel to change to.
    public var channelGapMicroseconds = 0.0

    public init(scan: ScanPattern = .continuous) {
        self.scan = scan
    }

    func check() throws(AirtimeError) {
        if let phaseMicroseconds { try AirLimit.check(phaseMicroseconds, -1e15...1e15, "a scanner's phase in µs") }
        try AirLimit.check(sensitivityDBm, -250...200, "a sensitivity in dBm")
        try AirLimit.check(deadTimeMicroseconds, 0...1e6, "a dead time in µs")
        try AirLimit.check(channelGapMicroseconds, 0...1e7, "a gap at a channel change in µs")
    }
}

/// The listening of one receiver in one batch.
struct AirWindows {
    private let window: Double
    private let interval: Double
    private let channels: Int
    private let gap: Double
    private let phase: Double
    private let neverPauses: Bool

    /// `unit` of 0..<1 is the random phase, where none is given.
    init(_ receiver: AirReceiver, unit: Double) {
        let scan = receiver.scan
        window = Double(scan.windowMicroseconds)
        interval = Double(scan.intervalMicroseconds)
        channels = scan.channelCount
        gap = channels > 1 ? receiver.channelGapMicroseconds : 0
        phase = receiver.phaseMicroseconds ?? unit * interval * Double(channels)
        neverPauses = channels == 1 && scan.windowMicroseconds == scan.intervalMicroseconds
    }

    /// Whether a copy lies wholly inside a window on its channel, 0...2 for 37...39.
    @inline(__always)
    func cover(start: Double, end: Double, channel: Int) -> Bool {
        if neverPauses { return channel == 0 }
        let number = ((start - phase) / interval).rounded(.down)
        let begin = phase + number * interval
        guard start - begin >= gap, end - begin <= window else { return false }
        guard channels > 1 else { return channel == 0 }
        let turn = number - (number / 3).rounded(.down) * 3
        return Int(turn) == channel
    }
}

/// Where a receiver is: at one place, or walking from point to point at an even speed and staying at the last.
public struct AirPath: Hashable, Sendable {
    public let points: [FloorPosition]
    public let metersPerSecond: Double
    /// Meters walked at each point.
    private let walked: [Double]

    public init(standingAt position: FloorPosition) {
        points = [position]
        metersPerSecond = 0
        walked = [0]
    }

    /// The walk begins at the first point with the beginning of each batch.
    ///
    /// Throws for a path without points, points that are no numbers, and a speed outside 0...100 m/s.
    public init(walking points: [FloorPosition], metersPerSecond: Double) throws(AirtimeError) {
        guard !points.isEmpty else { throw .quantity(name: "a number of points of a path", value: 0) }
        guard metersPerSecond >= 0, metersPerSecond <= 100 else {
            throw .quantity(name: "a speed in m/s", value: metersPerSecond)
        }
        var walked = [0.0]
        for (from, to) in zip(points, points.dropFirst()) {
            walked.append(walked[walked.count - 1] + from.distance(to: to))
        }
        guard let length = walked.last, length.isFinite, points[0].isFinite else {
            throw .quantity(name: "the length of a path in m", value: walked.last ?? 0)
        }
        self.points = points
        self.metersPerSecond = metersPerSecond
        self.walked = walked
    }

    var moves: Bool { metersPerSecond > 0 && points.count > 1 }

    /// Where the receiver is after so much time; before the beginning at the first point.
    public func position(afterMicroseconds time: Double) -> FloorPosition {
        let distance = max(0, time) * metersPerSecond * 1e-6
        guard moves, let end = walked.firstIndex(where: { $0 > distance }), end > 0 else {
            return moves && distance > 0 ? points[points.count - 1] : points[0]
        }
        let (from, to) = (points[end - 1], points[end])
        let share = (distance - walked[end - 1]) / (walked[end] - walked[end - 1])
        return FloorPosition(x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y))
    }
}

/// A place on a floor plan, in metres.
public struct FloorPosition: Hashable, Sendable {
    public let x: Double
    public let y: Double

    /// Any numbers. Callers that read them from files must check that they are finite.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Whether both are numbers.
    public var isFinite: Bool { x.isFinite && y.isFinite }

    /// Metres as the crow flies.
    public func distance(to other: FloorPosition) -> Double {
        let (dx, dy) = (other.x - x, other.y - y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
