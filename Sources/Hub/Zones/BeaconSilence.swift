internal import Glibc
internal import Sightings

/// How long a beacon may be silent before it counts as gone: estimated from its interval, its share of lost events, and
/// the runs in which they are lost. All times are microseconds of listened time.
struct BeaconSilence: Sendable {
    /// The number of gaps after which the losses are estimated.
    static let needed = 8.0
    /// The number of gaps after which the estimate counts as safe. Before, three standard deviations are added, not one.
    static let safe = 16.0
    /// The number of gaps from which the interval is first estimated.
    static let firstGaps = 8
    /// All counts are halved after this number of received events, so that old losses matter less.
    static let memory = 4000.0
    /// The estimate starts from this number of assumed events with ``leastLoss``.
    static let prior = 10.0
    static let leastLoss = 0.1
    /// The assumed share of lost events of a beacon whose losses are not known yet.
    static let firstLoss = 0.65
    static let losses = 0.1...0.95
    /// The interval is estimated again after this number of events, because an estimate costs as much as dozens of
    /// reports.
    static let learning = 16

    /// When anything was last received from the beacon.
    private(set) var lastReceived: Int?
    /// When an advertising event was last received.
    private var lastEvent: Int?
    /// The number of events that the sighting table had counted by then.
    private(set) var events = 0
    /// The time between two events, configured or learned.
    private var period: Double?
    /// The configured time between two events; `nil` to learn it.
    private let configuredPeriod: Double?
    /// False for a group of devices, which have no common interval.
    private let learns: Bool
    /// The smallest gap between two events so far.
    private var smallestGap: Int?
    /// The number of the period of listening in which the last event was received.
    private var listeningPeriod = 0
    /// The number of events until the interval is estimated again.
    private var untilLearning = firstGaps + 1
    /// The gaps before the interval is known.
    private var firstOnes: [Int] = []
    /// The numbers of received and of lost events; halved from time to time, see ``memory``.
    private var received = 0.0
    private var lost = 0.0
    /// The number of runs of losses.
    private var runs = 0.0

    /// - Parameters:
    ///   - interval: The configured interval; `nil` to learn it.
    ///   - isGroup: Whether several devices count as the beacon.
    init(interval: Int?, isGroup: Bool = false) {
        learns = !isGroup
        configuredPeriod = interval.map { Double($0 + IntervalEstimate.meanDelayMicroseconds) }
        period = configuredPeriod
    }

    /// Takes a report that is not an advertising event of its own, such as a scan response.
    mutating func receiveOther(at now: Int) { lastReceived = now }

    /// Begins the silence of a beacon that an earlier run saved as present.
    mutating func resume(at now: Int) {
        lastReceived = lastReceived ?? now
        lastEvent = lastEvent ?? now
    }

    /// Takes an advertising event.
    ///
    /// - Parameters:
    ///   - listening: The number of the period of listening. A gap between two of them is not counted.
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

    /// The time between two events, as far as it is known.
    var likelyPeriod: Double? { period ?? smallestGap.map(Double.init) }

    /// The silence after which the beacon counts as gone.
    var limit: Int {
        guard let period, received >= Self.needed else {
            guard let likely = likelyPeriod else { return ExitRule.unknownMicroseconds }
            return max(
                ExitRule.unknownMicroseconds,
                ExitRule.silenceMicroseconds(period: likely, loss: Self.firstLoss))
        }
        // The estimate rests on a few dozen events at most.
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

    /// The shortest run of losses that a beacon which stays shows less than `rate` times per second.
    ///
    /// A run begins with probability `first` after a received event, and continues with probability `next` after a lost
    /// one: rate of runs of n or more = (1 - loss)/period·first·next^(n - 1).
    ///
    /// - Parameter period: In seconds.
    private static func lostInARow(
        period: Double, loss: Double, first: Double, next: Double, rate: Double
    ) -> Double {
        1 + max(1, (Glibc.log(rate * period / ((1 - loss) * first)) / Glibc.log(next)).rounded(.up))
    }

    /// - Parameter errors: The number of standard deviations that are added.
    private static func upper(_ share: Double, _ count: Double, _ errors: Double) -> Double {
        let share = min(max(share, losses.lowerBound), losses.upperBound)
        return min(share + errors * (share * (1 - share) / count).squareRoot(), losses.upperBound)
    }
}
