internal import Glibc
internal import Sightings

/// Computes how long a beacon may be silent before it counts as gone. The result depends on the beacon's advertising
/// interval, the share of lost advertising events, and the number of events that are lost in a row. All times are
/// microseconds of listened time, that is, time during which the receiver worked.
struct BeaconSilence: Sendable {
    /// The smallest number of gaps between received events for an estimate of the losses.
    static let neededGaps = 8.0
    /// The number of gaps from which the estimate of the losses counts as reliable. With fewer gaps, three standard
    /// errors are added to the estimate, otherwise one.
    static let reliableGaps = 16.0
    /// The smallest number of gaps for the first estimate of the interval.
    static let firstGaps = 8
    /// The number of received events after which all counts are halved, so that old losses count less.
    static let halvingLimit = 4000.0
    /// The number of assumed events with which the estimate of the losses starts. The share ``leastLoss`` of these
    /// events counts as lost.
    static let priorEvents = 10.0
    /// The share of the ``priorEvents`` that counts as lost.
    static let leastLoss = 0.1
    /// The assumed share of lost events while fewer than ``neededGaps`` gaps have been counted.
    static let firstLoss = 0.65
    /// The limits of an estimated share of lost events.
    static let losses = 0.1...0.95
    /// The number of events after which the interval is estimated again. An estimate takes as much computing time as
    /// dozens of reports, so it is not made for each event.
    static let eventsPerEstimate = 16

    /// The time of the last report of the beacon, of any kind.
    private(set) var lastReceived: Int?
    /// The time of the last received advertising event.
    private var lastEvent: Int?
    /// The number of events that the sighting table had counted when ``lastEvent`` was received.
    private(set) var events = 0
    /// The mean time between two events, configured or learned; `nil` while it is not known.
    private var period: Double?
    /// The mean time between two events according to the configured interval; `nil` to learn the time.
    private let configuredPeriod: Double?
    /// True if the interval is learned. False for a group of devices, which have no common interval.
    private let learns: Bool
    /// The smallest gap between two events so far.
    private var smallestGap: Int?
    /// The number of the listening period (see `ListeningClock/period`) in which the last event was received.
    private var listeningPeriod = 0
    /// The number of events until the interval is estimated again.
    private var eventsUntilLearning = firstGaps + 1
    /// The first gaps, kept until the interval is known.
    private var earlyGaps: [Int] = []
    /// The number of received events, halved from time to time (see ``halvingLimit``).
    private var received = 0.0
    /// The number of lost events, halved together with `received`.
    private var lost = 0.0
    /// The number of series of events that were lost in a row.
    private var lossSeries = 0.0

    /// - Parameters:
    ///   - interval: The configured interval; `nil` to learn it.
    ///   - isGroup: True if several devices count as the beacon.
    init(interval: Int?, isGroup: Bool = false) {
        learns = !isGroup
        configuredPeriod = interval.map { Double($0 + IntervalEstimate.meanDelayMicroseconds) }
        period = configuredPeriod
    }

    /// Records a report that is not an advertising event of its own, such as a scan response.
    mutating func receiveOther(at now: Int) { lastReceived = now }

    /// Starts to measure the silence of a beacon that an earlier run of the listener saved as present.
    mutating func resume(at now: Int) {
        lastReceived = lastReceived ?? now
        lastEvent = lastEvent ?? now
    }

    /// Counts a received advertising event.
    ///
    /// - Parameters:
    ///   - events: The number of events that the sighting table has counted, including this one.
    ///   - listeningPeriod: The value of `ListeningClock/period`. A gap is not counted if the period has changed since
    ///     the previous event.
    ///   - learn: Returns the period as estimated by the sighting table.
    mutating func receive(at now: Int, events: Int, period listeningPeriod: Int, learn: () -> Double?) {
        if let lastEvent, self.listeningPeriod == listeningPeriod, self.events > 0 { count(gap: now - lastEvent) }
        self.events = events
        self.listeningPeriod = listeningPeriod
        lastReceived = now
        lastEvent = now
        guard configuredPeriod == nil, learns else { return }
        eventsUntilLearning -= 1
        guard eventsUntilLearning <= 0 else { return }
        eventsUntilLearning = period == nil ? 4 : Self.eventsPerEstimate
        let formerPeriod = period
        period = learn() ?? period
        if formerPeriod == nil, period != nil {
            for gap in earlyGaps { count(gap: gap) }
            earlyGaps = []
        }
        // Losses that were counted with a wrong time between events are wrong.
        if let formerPeriod, let period, abs(period - formerPeriod) > formerPeriod / 4 {
            (received, lost, lossSeries) = (0, 0, 0)
        }
    }

    private mutating func count(gap: Int) {
        guard gap >= IntervalEstimate.sameEventMicroseconds else { return }
        smallestGap = min(smallestGap ?? gap, gap)
        guard let period else {
            if earlyGaps.count < 2 * Self.eventsPerEstimate { earlyGaps.append(gap) }
            return
        }
        let missing = max(0, (Double(gap) / period).rounded() - 1)
        received += 1
        lost += missing
        if missing > 0 { lossSeries += 1 }
        if received > Self.halvingLimit {
            received /= 2
            lost /= 2
            lossSeries /= 2
        }
    }

    /// The time between two events: the configured or learned period, otherwise the smallest gap; `nil` without any
    /// gap.
    var likelyPeriod: Double? { period ?? smallestGap.map(Double.init) }

    /// The silence after which the beacon counts as gone.
    var limit: Int {
        guard let period, received >= Self.neededGaps else {
            guard let likely = likelyPeriod else { return ExitRule.unknownMicroseconds }
            return max(
                ExitRule.unknownMicroseconds,
                ExitRule.silenceMicroseconds(period: likely, loss: Self.firstLoss))
        }
        // The loss is estimated from only a few events, so a multiple of its standard error is added.
        let standardErrors = received < Self.reliableGaps ? 3.0 : 1
        let eventCount = received + lost + Self.priorEvents
        let loss = Self.upper((lost + Self.priorEvents * Self.leastLoss) / eventCount, eventCount, standardErrors)
        let lossAfterReceived = min(
            max((lossSeries + Self.priorEvents * loss) / (received + Self.priorEvents), 0.02), Self.losses.upperBound)
        let lossAfterLost = Self.upper(
            (lost - lossSeries + Self.priorEvents * loss) / (lost + Self.priorEvents), lost + Self.priorEvents, 1)
        let events = Self.lostInARow(
            period: period / 1_000_000, loss: loss, lossAfterReceived: lossAfterReceived, lossAfterLost: lossAfterLost,
            rate: ExitRule.falseExitsPerSecond)
        let range = ExitRule.rangeMicroseconds
        return Int(min(max(events * period, Double(range.lowerBound)), Double(range.upperBound)))
    }

    /// Returns the smallest n such that, while the beacon is present, n events in a row are lost less than `rate` times
    /// per second.
    ///
    /// The first event after a received one is lost with probability `lossAfterReceived`, the first event after a lost
    /// one with probability `lossAfterLost`. So series of at least n lost events occur at the rate (1 -
    /// loss)/period·lossAfterReceived·lossAfterLost^(n - 1).
    ///
    /// - Parameter period: The time between two events, in seconds.
    private static func lostInARow(
        period: Double, loss: Double, lossAfterReceived: Double, lossAfterLost: Double, rate: Double
    ) -> Double {
        let exponent = Glibc.log(rate * period / ((1 - loss) * lossAfterReceived)) / Glibc.log(lossAfterLost)
        return 1 + max(1, exponent.rounded(.up))
    }

    /// Returns an upper bound of a share that was estimated from `count` events.
    ///
    /// - Parameter standardErrors: The number of standard errors that are added to the share.
    private static func upper(_ share: Double, _ count: Double, _ standardErrors: Double) -> Double {
        let share = min(max(share, losses.lowerBound), losses.upperBound)
        return min(share + standardErrors * (share * (1 - share) / count).squareRoot(), losses.upperBound)
    }
}
