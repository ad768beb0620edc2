/// What a radio chip takes from its battery for advertising: one row of a table that anyone may extend.
///
/// Charges are per advertising event on three channels, with wake-up, crystal and processing, as they were measured or
/// published; nothing is scaled from data sheets' peak currents.
public struct BeaconChip: Hashable, Sendable {
    /// The name on the command line.
    public let name: String
    /// Charge of an event without advertising data, in µC.
    public let emptyEventMicrocoulombs: Double
    /// Charge of an event with 31 octets, in µC; linear in between.
    public let fullEventMicrocoulombs: Double
    /// Current between events, in µA.
    public let sleepMicroamperes: Double
    /// Where the figures come from, and for which radio power.
    public let source: String

    /// Refuses charges outside 0.01...10,000 µC, and sleep currents outside 0...100,000 µA.
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

    /// Q_event in µC for `payloadOctets` of advertising data. Refuses what no legacy packet holds.
    public func eventMicrocoulombs(payloadOctets: Int) throws(AirtimeError) -> Double {
        guard PacketTiming.payloadRange.contains(payloadOctets) else { throw .payload(payloadOctets) }
        let share = Double(payloadOctets) / Double(PacketTiming.payloadRange.upperBound)
        return emptyEventMicrocoulombs + share * (fullEventMicrocoulombs - emptyEventMicrocoulombs)
    }

    /// The table.
    public static let all = [
        BeaconChip(row: "nrf52832", 7.03, 13.65, 2, source: "nRF52832, published figures for +4 dBm"),
        lairdBL652("bl652-4dbm", 12.74, "+4 dBm"), lairdBL652("bl652-0dbm", 10.64, "0 dBm"),
        lairdBL652("bl652-minus4dbm", 9.47, "-4 dBm"), lairdBL652("bl652-minus8dbm", 9.42, "-8 dBm"),
        lairdBL652("bl652-minus12dbm", 9.13, "-12 dBm"), lairdBL652("bl652-minus16dbm", 8.98, "-16 dBm"),
        BeaconChip(
            row: "da14580", 9.6, 9.6, 3,
            source: "DA14580 as a beacon, 9.6 µC for the active part by the maker's support on UM-B-019, sleep current "
                + "2...3 µA by the same; not measured apart by payload"),
    ]

    /// The row of that name, capitals or not; `nil` when there is none.
    public static func named(_ name: String) -> BeaconChip? {
        all.first { $0.name == name.lowercased() }
    }

    private static func lairdBL652(_ name: String, _ charge: Double, _ power: String) -> BeaconChip {
        BeaconChip(
            row: name, charge, charge, 2,
            source: "Laird BL652 (nRF52832) datasheet, table 10: connectable advertising with DC/DC at \(power), "
                + "standby doze 2 µA; not measured apart by payload")
    }
}
