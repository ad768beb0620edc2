/// A battery: one row of a table that anyone may extend.
public struct BeaconBattery: Hashable, Sendable {
    /// The name on the command line.
    public let name: String
    /// C, the nominal capacity in mAh.
    public let capacityMilliampereHours: Double
    /// The nominal voltage in V.
    public let nominalVolts: Double
    /// η: the share of the capacity that a beacon can use, for pulses, the cut-off voltage and self-discharge.
    public let efficiency: Double
    /// Where the figures come from.
    public let source: String

    /// The η of the tables here.
    public static let defaultEfficiency = 0.85

    /// Refuses a capacity outside 0.1...10⁶ mAh, a voltage outside 0.5...60 V, and an efficiency outside 0.01...1.
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

    /// The table.
    public static let all = [
        BeaconBattery(row: "cr2032", 235, 3, defaultEfficiency, source: "nominal by encyc.org, CR2032"),
        BeaconBattery(
            row: "cr2450", 550, 3, defaultEfficiency,
            source: "nominal at 0.2 mA and 23 °C, by the user guide of Atmel's AVR Butterfly"),
        BeaconBattery(row: "cr2477", 1000, 3, defaultEfficiency, source: "typical by BeaconZone's table of batteries"),
        BeaconBattery(
            row: "2xaa", 2200, 3, defaultEfficiency, source: "two AA alkaline in series, by BeaconZone's table"),
        BeaconBattery(
            row: "2xaa-lithium", 3000, 3, defaultEfficiency,
            source: "two AA lithium in series, by BeaconZone's table"),
    ]

    /// The row of that name, capitals or not; `nil` when there is none.
    public static func named(_ name: String) -> BeaconBattery? {
        all.first { $0.name == name.lowercased() }
    }
}
