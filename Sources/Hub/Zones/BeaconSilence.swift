internal import Glibc
internal import Sightings

/// Estimates how long a beacon may be silent before it counts as gone, from its advertising interval, its share of lost
/// advertising events, and how many events in a row are lost. All times are microseconds of listened time, which is the
/// time during which the receiver worked.
struct BeaconSilence: Sendable {
    /// The number of gaps between received events from which the losses are estimated.
    static let needed = 8.0
    /// The number of gaps from which the estimate counts as reliable. With fewer gaps, three standard deviations are
    /// added instead of one.
    static let safe = 16.0
    /// The number of gaps that the first estimate of the interval needs.
    static let firstGaps = 8
    /// All counts are halved after this number of received events, so that old losses matter less.
    static let memory = 4000.0
    /// The estimate of the loss starts from this number of assumed events, of which the share ``leastLoss`` was lost.
    static let prior = 10.0
    /// The assumed share of lost events at the start of the estimate.
    static let leastLoss = 0.1
    /// The assumed share of lost events of a beacon whose losses are not known yet.
    static let firstLoss = 0.65
    /// The limits of an estimated share of lost events.
    static let losses = 0.1...0.95
    /// The number of events after which the interval is estimated again. An estimate takes as much time as dozens of
    /// reports, so it is not made for each event.
    static let learning = 16

    /// The time of the last report of the beacon, of any kind.
    private(set) var lastReceived: Int?
    /// The time of the last received advertising event.
    private var lastEvent: Int?
    /// The number of events that the sighting table had counted up to ``lastEvent``.
    private(set) var events = 0
    /// The mean time between two events, configured or learned; `nil` while it is unknown.
    private var period: Double?
    /// The mean time between two events by the configured interval; `nil` to learn it.
    private let configuredPeriod: Double?
    /// True if the interval is learned. False for a group of devices, which have no common interval.
    private let learns: Bool
    /// The smallest gap between two events so far.
    private var smallestGap: Int?
    /// The number of the period of listening in which the last event was received.
    private var listeningPeriod = 0
    /// The number of events until the interval is estimated again.
    private var untilLearning = firstGaps + 1
    /// The first gaps, kept until the interval is known.
    private var firstOnes: [Int] = []
    /// The number of received events, halved from time to time (see ``memory``).
    private var received = 0.0
    /// The number of lost events, halved together with `received`.
    private var lost = 0.0
    /// The number of series of events that were lost in a row.
    private var runs = 0.0

    /// - Parameters:
    ///   - interval: The configured interval; `nil` to learn it.
    ///   - isGroup: True if several devices count as the beacon.
    init(interval: Int?, isGroup: Bool = false) {
        learns = !isGroup
        configuredPeriod = interval.map { Double($0 + IntervalEstimate.meanDelayMicroseconds) }
        period = configuredPeriod
    }

    /// Notes a report that is not an advertising event of its own, such as a scan response.
    mutating func receiveOther(at now: Int) { lastReceived = now }

    /// Starts to measure the silence of a beacon that an earlier run of the listener saved as present.
    mutating func resume(at now: Int) {
        lastReceived = lastReceived ?? now
        lastEvent = lastEvent ?? now
    }

    /// Counts a received advertising event.
    ///
    /// - Parameters:
    ///   - listening: The number of the period of listening. A gap between events of two different periods is not
    ///     counted.
    ///   - learn: Returns the period as estimated by the sighting table.
    mutating func receive(at now: Int, events: Int, period listening: Int, learn: () -> Double?) {
        if let lastEvent, listeningPeriod == listening, self.events > 0 { count(gap: now - lastEvent) }
        self.events = events
        listeningPeriod = listening
        lastReceived = now
        lastEvent = now
        guard configuredPeriod == nil, learns else { return }
        untilLearning -= 1
        guard untilLearning <= 0 else { return }
        untilLearning = period == nil ? 4 : Self.learning
        let before = period
        period = learn() ?? period
        if before == nil, period != nil {
            for gap in firstOnes { count(gap: gap) }
            firstOnes = []
        }
        // Losses that were counted with a wrong period are wrong.
        if let before, let period, abs(period - before) > before / 4 { (received, lost, runs) = (0, 0, 0) }
    }

    private mutating func count(gap: Int) {
        guard gap >= IntervalEstimate.sameEventMicroseconds else { return }
        smallestGap = min(smallestGap ?? gap, gap)
        guard let period else {
            if firstOnes.count < 2 * Self.learning { firstOnes.append(gap) }
            return
        }
        let missing = max(0, (Double(gap) / period).rounded() - 1)
        received += 1
        lost += missing
        if missing > 0 { runs += 1 }
        if received > Self.memory {
            received /= 2
            lost /= 2
            runs /= 2
        }
    }

    /// The time between two events: the configured or learned period, otherwise the smallest gap; `nil` without any
    /// gap.
    var likelyPeriod: Double? { period ?? smallestGap.map(Double.init) }

    /// The silence after which the beacon counts as gone.
    var limit: Int {
        guard let period, received >= Self.needed else {
            guard let likely = likelyPeriod else { return ExitRule.unknownMicroseconds }
            return max(
                ExitRule.unknownMicroseconds,
                ExitRule.silenceMicroseconds(period: likely, loss: Self.firstLoss))
        }
        // The estimate rests on few events, so a multiple of its standard deviation is added.
        let errors = received < Self.safe ? 3.0 : 1
        let total = received + lost + Self.prior
        let loss = Self.upper((lost + Self.prior * Self.leastLoss) / total, total, errors)
        let first = min(max((runs + Self.prior * loss) / (received + Self.prior), 0.02), Self.losses.upperBound)
        let next = Self.upper((lost - runs + Self.prior * loss) / (lost + Self.prior), lost + Self.prior, 1)
        let events = Self.lostInARow(
            period: period / 1_000_000, loss: loss, first: first, next: next, rate: ExitRule.falseExitsPerSecond)
        let range = ExitRule.rangeMicroseconds
        return Int(min(max(events * period, Double(range.lowerBound)), Double(range.upperBound)))
    }

    /// Returns the smallest number of events lost in a row that occurs less than `rate` times per second while the
    /// beacon stays.
    ///
    /// After a received event, the next event is lost with probability `first`; after a lost event, with probability
    /// `next`. So n or more events in a row are lost at the rate (1 - loss)/period·first·next^(n - 1).
    ///
    /// - Parameter period: The time between two events, in seconds.
    private static func lostInARow(
        period: Double, loss: Double, first: Double, next: Double, rate: Double
    ) -> Double {
        1 + max(1, (Glibc.log(rate * period / ((1 - loss) * first)) / Glibc.log(next)).rounded(.up))
    }

    /// - Parameter errors: The number of standard deviations that are added to the share.
    private static func upper(_ share: Double, _ count: Double, _ errors: Double) -> Double {
        let share = min(max(share, losses.lowerBound), losses.upperBound)
        return min(share + errors * (share * (1 - share) / count).squareRoot(), losses.upperBound)
    }
}
