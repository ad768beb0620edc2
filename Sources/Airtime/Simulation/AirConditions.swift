internal import Glibc

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

    /// Packets of strangers that start at random, on each channel by itself.
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
