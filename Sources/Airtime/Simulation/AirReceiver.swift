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
