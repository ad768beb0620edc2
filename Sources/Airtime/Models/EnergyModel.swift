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

    /// Refuses an interval that is no positive number or over a day, and more octets than a legacy packet holds.
    public init(
        chip: BeaconChip, battery: BeaconBattery, intervalMicroseconds: Double, payloadOctets: Int
    ) throws(AirtimeError) {
        guard intervalMicroseconds > 0, intervalMicroseconds <= 86_400e6 else { throw .interval(intervalMicroseconds) }
        self.chip = chip
        self.battery = battery
        self.intervalMicroseconds = intervalMicroseconds
        eventMicrocoulombs = try chip.eventMicrocoulombs(payloadOctets: payloadOctets)
    }

    /// E in seconds.
    private var meanPeriodSeconds: Double {
        (intervalMicroseconds + AdvertisingDelay.maximumMicroseconds / 2) / 1_000_000
    }

    /// Q_event/E + I_sleep in µA.
    public var meanCurrentMicroamperes: Double {
        eventMicrocoulombs / meanPeriodSeconds + chip.sleepMicroamperes
    }

    /// η·C over the mean current, in days.
    public var lifeDays: Double {
        battery.efficiency * battery.capacityMilliampereHours * 1000 / meanCurrentMicroamperes / 24
    }

    /// (Q_event + I_sleep·E)·V/p in µJ: what the battery gives for one advertisement that is received with
    /// `probability`, on one channel.
    ///
    /// Refuses a probability outside 0<...1.
    public func microjoulesPerReceived(probability: Double) throws(AirtimeError) -> Double {
        guard probability > 0, probability <= 1 else { throw .share(probability) }
        let charge = eventMicrocoulombs + chip.sleepMicroamperes * meanPeriodSeconds
        return charge * battery.nominalVolts / probability
    }
}
