internal import BluetoothTypes

/// The probability that an event of another advertiser destroys an event of the target, as a function of the time from
/// the start of the target's event to the start of the other event.
///
/// The probability is constant between its steps. It is 1 where packets on the primary channel overlap. For extended
/// PDUs it is 1 - (36/37)^n where only n pairs of auxiliary packets overlap in time: the two packets of a pair are on
/// the same channel of 37 with probability 1/37.
struct CollisionWindow: Sendable {
    /// The steps, ascending: each has a time in µs and the rise of the probability at that time. The probability is 0
    /// before the first step and after the last step.
    private let steps: [Step]

    private struct Step {
        let time: Double
        let rise: Double
    }

    /// Creates the window of two packets on one channel, with their airtimes in µs.
    init(packetOf airtime: Double, against otherAirtime: Double) {
        steps = [Step(time: -otherAirtime, rise: 1), Step(time: airtime, rise: -1)]
    }

    /// Creates the window of two events of extended PDUs, for a receiver on one primary channel.
    ///
    /// A graph whose nodes are the auxiliary packets, and whose edges are the overlapping pairs, has no cycle. So the
    /// probability that the packets of a pair are on the same channel does not depend on the other pairs.
    init(eventOf target: ExtendedTraffic, against other: ExtendedTraffic) {
        let primaryAirtime = Double(target.event.primaryMicroseconds)
        let otherPrimaryAirtime = Double(other.event.primaryMicroseconds)
        var changes: [(time: Double, pairs: Int)] = [(-otherPrimaryAirtime, 0), (primaryAirtime, 0)]
        for (offset, airtime) in zip(target.offsets, target.event.auxiliaryMicroseconds) {
            for (otherOffset, otherAirtime) in zip(other.offsets, other.event.auxiliaryMicroseconds) {
                changes.append((offset - otherOffset - Double(otherAirtime), 1))
                changes.append((offset - otherOffset + Double(airtime), -1))
            }
        }
        changes.sort { $0.time < $1.time }
        let differentChannelProbability = 1 - 1 / Double(ExtendedEvent.secondaryChannels)
        var steps: [Step] = []
        var (pairs, probability) = (0, 0.0)
        for (index, change) in changes.enumerated() {
            pairs += change.pairs
            let isLast = index + 1 == changes.count
            guard isLast || changes[index + 1].time > change.time else { continue }
            let isPrimary = change.time >= -otherPrimaryAirtime && change.time < primaryAirtime
            let newProbability = isLast ? 0 : isPrimary ? 1 : 1 - pow(differentChannelProbability, Double(pairs))
            if newProbability != probability {
                steps.append(Step(time: change.time, rise: newProbability - probability))
            }
            probability = newProbability
        }
        self.steps = steps
    }

    /// The integral of the probability over time, in µs. This integral divided by E is the probability that the other
    /// advertiser destroys the event.
    var microseconds: Double { -steps.reduce(0) { $0 + $1.time * $1.rise } }

    /// The mean square of the time between the starts of the two events, weighted with the probability that the
    /// target's event is destroyed, in µs².
    var meanSquare: Double {
        -steps.reduce(0) { $0 + $1.time * $1.time * $1.time * $1.rise } / 3 / microseconds
    }

    /// The bends of the probability's autocorrelation: the time of each bend in µs, and the change of the slope there.
    /// The autocorrelation is linear between two bends.
    var autocorrelationBends: [(time: Double, slopeChange: Double)] {
        var changes: [Int: Double] = [:]
        for from in steps {
            for to in steps {
                // The keys are rounded to thousandths of a µs, so that equal distances become one bend.
                changes[Int(((to.time - from.time) * 1000).rounded()), default: 0] -= from.rise * to.rise
            }
        }
        return changes.filter { abs($0.value) > 1e-12 }.sorted { $0.key < $1.key }.map {
            (Double($0.key) / 1000, $0.value)
        }
    }
}

extension AdvertiserGroup {
    /// The collision window of the events of two advertisers of this group.
    var collisionWindow: CollisionWindow {
        extended.map { CollisionWindow(eventOf: $0, against: $0) }
            ?? CollisionWindow(packetOf: airtimeMicroseconds, against: airtimeMicroseconds)
    }
}
