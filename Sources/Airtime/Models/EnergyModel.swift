/// How long a beacon's battery lasts, and what one received advertisement costs.
///
/// Symbols: Q_event the charge of one advertising event on three channels, E the mean period, I_sleep the current
/// between events, C the capacity, η its usable share, V the nominal voltage, p the probability that a packet arrives.
/// life = η·C/(Q_event/E + I_sleep). Assumption: the beacon does nothing else (sensors, LEDs and connections come on
/// top), and the battery outlives its shelf life in the calculation where the answer is decades.
public struct EnergyModel: Hashable, Sendable {
    public let chip: BeaconChip
    public let battery: BeaconBattery
    /// T in µs.
    public let intervalMicroseconds: Double
    /// Q_event in µC.
    public let eventMicrocoulombs: Double
    /// What the box's other advertisements draw, and how many events a second they are.
    private let companionMicroamperes: Double
    private let companionEventsPerSecond: Double

    /// - Parameter companions: Other advertisements of the same box, with the same chip and battery.
    ///
    /// Refuses an interval that is no positive number or over a day, and more octets than a legacy packet holds.
    public init(
        chip: BeaconChip, battery: BeaconBattery, intervalMicroseconds: Double, payloadOctets: Int,
        companions: [EnergyModel] = []
    ) throws(AirtimeError) {
        guard intervalMicroseconds > 0, intervalMicroseconds <= 86_400e6 else { throw .interval(intervalMicroseconds) }
        self.chip = chip
        self.battery = battery
        self.intervalMicroseconds = intervalMicroseconds
        eventMicrocoulombs = try chip.eventMicrocoulombs(payloadOctets: payloadOctets)
        companionMicroamperes = companions.reduce(0) { $0 + $1.eventMicrocoulombs / $1.meanPeriodSeconds }
        companionEventsPerSecond = companions.reduce(0) { $0 + 1 / $1.meanPeriodSeconds }
    }

    /// E in seconds.
    private var meanPeriodSeconds: Double {
        (intervalMicroseconds + AdvertisingDelay.meanMicroseconds) / 1_000_000
    }

    /// Q_event/E + I_sleep in µA; Q_event/E of every advertisement of the box.
    public var meanCurrentMicroamperes: Double {
        eventMicrocoulombs / meanPeriodSeconds + companionMicroamperes + chip.sleepMicroamperes
    }

    /// η·C over the mean current, in days.
    public var lifeDays: Double {
        battery.efficiency * battery.capacityMilliampereHours * 1000 / meanCurrentMicroamperes / 24
    }

    /// (Q_event + I_sleep·E)·V/p in µJ: what the battery gives for one advertisement that is received with
    /// `probability`, on one channel; where the box sends several, for an average one of them.
    ///
    /// Refuses a probability outside 0<...1.
    public func microjoulesPerReceived(probability: Double) throws(AirtimeError) -> Double {
        guard probability > 0, probability <= 1 else { throw .share(probability) }
        let others = (chip.sleepMicroamperes + companionMicroamperes) * meanPeriodSeconds
        let events = 1 + companionEventsPerSecond * meanPeriodSeconds
        return (eventMicrocoulombs + others) * battery.nominalVolts / probability / events
    }
}
