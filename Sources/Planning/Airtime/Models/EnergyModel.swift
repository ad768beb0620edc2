public import BluetoothTypes

/// The battery life of a beacon, and the energy of one received advertisement.
///
/// Symbols: Q_event the charge of one advertising event on three channels, E the mean period, I_sleep the current
/// between events, C the capacity, η its usable share, V the nominal voltage, p the probability that a packet arrives.
/// life = η·C/(Q_event/E + I_sleep). Assumptions: the beacon does nothing else (sensors, LEDs and connections take
/// additional charge), and the battery does not age, so the result can exceed its shelf life.
public struct EnergyModel: Hashable, Sendable {
    public let chip: BeaconChip
    public let battery: BeaconBattery
    /// T, the advertising interval in µs.
    public let intervalMicroseconds: Double
    /// Q_event in µC.
    public let eventMicrocoulombs: Double
    /// The mean current of the events of the beacon's other advertisements, in µA.
    private let companionMicroamperes: Double
    /// The number of events per second of the beacon's other advertisements.
    private let companionEventsPerSecond: Double

    /// - Parameter companions: Other advertisements of the same beacon, with the same chip and battery.
    ///
    /// Throws for an interval that is not positive or longer than a day, and for a payload of more than 31 bytes.
    public init(
        chip: BeaconChip, battery: BeaconBattery, interval: AdvertisingInterval, payloadOctets: Int,
        extended: ExtendedTraffic? = nil, companions: [EnergyModel] = []
    ) throws(AirtimeError) {
        try self.init(
            chip: chip, battery: battery, intervalMicroseconds: Double(interval.microseconds),
            payloadOctets: payloadOctets, extended: extended, companions: companions)
    }

    /// Creates the model with any interval in µs, even if no controller supports it.
    package init(
        chip: BeaconChip, battery: BeaconBattery, intervalMicroseconds: Double, payloadOctets: Int,
        extended: ExtendedTraffic? = nil, companions: [EnergyModel] = []
    ) throws(AirtimeError) {
        guard intervalMicroseconds > 0, intervalMicroseconds <= 86_400e6 else { throw .interval(intervalMicroseconds) }
        self.chip = chip
        self.battery = battery
        self.intervalMicroseconds = intervalMicroseconds
        eventMicrocoulombs =
            if let extended { chip.eventMicrocoulombs(of: extended) } else {
                try chip.eventMicrocoulombs(payloadOctets: payloadOctets)
            }
        companionMicroamperes = companions.reduce(0) { $0 + $1.eventMicrocoulombs / $1.meanPeriodSeconds }
        companionEventsPerSecond = companions.reduce(0) { $0 + 1 / $1.meanPeriodSeconds }
    }

    /// E, the mean period between advertising events in s.
    private var meanPeriodSeconds: Double {
        (intervalMicroseconds + AdvertisingDelay.meanMicroseconds) / 1_000_000
    }

    /// Q_event/E + I_sleep in µA, where Q_event/E is the sum over all advertisements of the beacon.
    public var meanCurrentMicroamperes: Double {
        eventMicrocoulombs / meanPeriodSeconds + companionMicroamperes + chip.sleepMicroamperes
    }

    /// True if the charge would last longer than ``BeaconBattery/shelfLifeDays``.
    public var exceedsShelfLife: Bool { lifeDays > BeaconBattery.shelfLifeDays }

    /// η·C over the mean current, in days. The battery may fail earlier, after its ``BeaconBattery/shelfLifeDays``.
    public var lifeDays: Double {
        battery.efficiency * battery.capacityMilliampereHours * 1000 / meanCurrentMicroamperes / 24
    }

    /// (Q_event + I_sleep·E)·V/p in µJ: the battery's energy for one advertisement that is received with `probability`,
    /// on one channel. If the beacon sends several advertisements, the value is their mean.
    ///
    /// Throws for a probability outside 0<...1.
    public func microjoulesPerReceived(probability: Double) throws(AirtimeError) -> Double {
        guard probability > 0, probability <= 1 else { throw .share(probability) }
        let otherMicrocoulombs = (chip.sleepMicroamperes + companionMicroamperes) * meanPeriodSeconds
        let eventsPerPeriod = 1 + companionEventsPerSecond * meanPeriodSeconds
        return (eventMicrocoulombs + otherMicrocoulombs) * battery.nominalVolts / probability / eventsPerPeriod
    }
}

/// The charge that a radio chip needs for advertising: one row of a table that can be extended.
///
/// Each charge is that of an advertising event on three channels, including wake-up, crystal start and processing. All
/// charges were measured or published; none was computed from the peak current of a data sheet.
public struct BeaconChip: Hashable, Sendable {
    /// The name on the command line.
    public let name: String
    /// The charge of an event without advertising data, in µC.
    public let emptyEventMicrocoulombs: Double
    /// The charge of an event with 31 bytes, in µC. Between 0 and 31 bytes the charge grows linearly.
    public let fullEventMicrocoulombs: Double
    /// The current between events, in µA.
    public let sleepMicroamperes: Double
    /// The source of the values, and the radio power at which they apply.
    public let source: String

    /// Throws for charges outside 0.01...10,000 µC, and sleep currents outside 0...100,000 µA.
    public init(
        name: String, emptyEventMicrocoulombs: Double, fullEventMicrocoulombs: Double, sleepMicroamperes: Double,
        source: String
    ) throws(AirtimeError) {
        for value in [emptyEventMicrocoulombs, fullEventMicrocoulombs] {
            try Quantity.check(value, in: 0.01...10_000, "a charge of an event (0.01...10 000 µC)")
        }
        try Quantity.check(sleepMicroamperes, in: 0...100_000, "a sleep current (0...100 000 µA)")
        self.init(
            row: name, emptyEventMicrocoulombs, fullEventMicrocoulombs, sleepMicroamperes, source: source)
    }

    private init(row name: String, _ empty: Double, _ full: Double, _ sleep: Double, source: String) {
        self.name = name
        emptyEventMicrocoulombs = empty
        fullEventMicrocoulombs = full
        sleepMicroamperes = sleep
        self.source = source
    }

    /// Q_event in µC for `payloadOctets` of advertising data. Throws for more than 31 bytes.
    public func eventMicrocoulombs(payloadOctets: Int) throws(AirtimeError) -> Double {
        guard PacketTiming.payloadRange.contains(payloadOctets) else { throw .payload(payloadOctets) }
        let share = Double(payloadOctets) / Double(PacketTiming.payloadRange.upperBound)
        return emptyEventMicrocoulombs + share * (fullEventMicrocoulombs - emptyEventMicrocoulombs)
    }

    /// Returns Q_event in µC of an extended advertising event: the charge of an empty legacy event, plus
    /// ``microcoulombsPerMicrosecond`` for each additional microsecond on the air.
    public func eventMicrocoulombs(of extended: ExtendedTraffic) -> Double {
        let empty = 3 * Double(PacketRate.le1M.microseconds(payload: 6))
        return emptyEventMicrocoulombs + microcoulombsPerMicrosecond * (extended.eventMicroseconds - empty)
    }

    /// The charge of a microsecond on the air, in µC, from the difference between 0 and 31 bytes of legacy data; 0 if
    /// the charge was not measured for both payloads.
    public var microcoulombsPerMicrosecond: Double {
        (fullEventMicrocoulombs - emptyEventMicrocoulombs)
            / Double(3 * 8 * PacketTiming.payloadRange.upperBound)
    }

    /// The default current between events, in µA, of a chip that is not in the table.
    public static let usualSleepMicroamperes = 2.0

    /// The table of chips.
    public static let all = [
        BeaconChip(row: "nrf52832", 7.03, 13.65, 2, source: "nRF52832, published figures for +4 dBm"),
        lairdBL652("bl652-4dbm", 12.74, "+4 dBm"), lairdBL652("bl652-0dbm", 10.64, "0 dBm"),
        lairdBL652("bl652-minus4dbm", 9.47, "-4 dBm"), lairdBL652("bl652-minus8dbm", 9.42, "-8 dBm"),
        lairdBL652("bl652-minus12dbm", 9.13, "-12 dBm"), lairdBL652("bl652-minus16dbm", 8.98, "-16 dBm"),
        BeaconChip(
            row: "da14580", 9.6, 9.6, 3,
            source:
                "DA14580 as a beacon; both values from the manufacturer's answer on UM-B-019: 9.6 µC for the active "
                + "part, sleep current 2...3 µA; the charge was not measured for each payload"),
    ]

    /// The row of that name, regardless of case; `nil` if there is none.
    public static func named(_ name: String) -> BeaconChip? {
        all.first { $0.name == name.lowercased() }
    }

    private static func lairdBL652(_ name: String, _ charge: Double, _ power: String) -> BeaconChip {
        BeaconChip(
            row: name, charge, charge, 2,
            source: "Laird BL652 (nRF52832) datasheet, table 10: connectable advertising with DC/DC at \(power), "
                + "standby doze 2 µA; the charge was not measured for each payload")
    }
}

/// A battery: one row of a table that can be extended.
public struct BeaconBattery: Hashable, Sendable {
    /// The name on the command line.
    public let name: String
    /// C, the nominal capacity in mAh.
    public let capacityMilliampereHours: Double
    /// The nominal voltage in V.
    public let nominalVolts: Double
    /// η: the share of the capacity that a beacon can use. Current pulses, the cut-off voltage and self-discharge take
    /// the rest.
    public let efficiency: Double
    /// The source of the values.
    public let source: String

    /// The η of all batteries in the table.
    public static let defaultEfficiency = 0.85
    /// The time after which a battery is no longer usable, even without load, in days: about ten years.
    public static let shelfLifeDays = 3652.5

    /// Throws for a capacity outside 0.1...10⁶ mAh, a voltage outside 0.5...60 V, and an efficiency outside 0.01...1.
    public init(
        name: String, capacityMilliampereHours: Double, nominalVolts: Double,
        efficiency: Double = Self.defaultEfficiency, source: String
    ) throws(AirtimeError) {
        try Quantity.check(capacityMilliampereHours, in: 0.1...1_000_000, "a capacity (0.1...1 000 000 mAh)")
        try Quantity.check(nominalVolts, in: 0.5...60, "a voltage (0.5...60 V)")
        guard efficiency >= 0.01, efficiency <= 1 else { throw .share(efficiency) }
        self.init(row: name, capacityMilliampereHours, nominalVolts, efficiency, source: source)
    }

    private init(row name: String, _ capacity: Double, _ volts: Double, _ efficiency: Double, source: String) {
        self.name = name
        capacityMilliampereHours = capacity
        nominalVolts = volts
        self.efficiency = efficiency
        self.source = source
    }

    /// The table of batteries.
    public static let all = [
        BeaconBattery(row: "cr2032", 235, 3, defaultEfficiency, source: "nominal, from encyc.org, CR2032"),
        BeaconBattery(
            row: "cr2450", 550, 3, defaultEfficiency,
            source: "nominal at 0.2 mA and 23 °C, from the user guide of Atmel's AVR Butterfly"),
        BeaconBattery(
            row: "cr2477", 1000, 3, defaultEfficiency, source: "typical, from BeaconZone's table of batteries"),
        BeaconBattery(
            row: "2xaa", 2200, 3, defaultEfficiency, source: "two AA alkaline in series, from BeaconZone's table"),
        BeaconBattery(
            row: "2xaa-lithium", 3000, 3, defaultEfficiency,
            source: "two AA lithium in series, from BeaconZone's table"),
    ]

    /// The row of that name, regardless of case; `nil` if there is none.
    public static func named(_ name: String) -> BeaconBattery? {
        all.first { $0.name == name.lowercased() }
    }
}
