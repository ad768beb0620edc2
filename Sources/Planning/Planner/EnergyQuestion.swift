public import Airtime
internal import BluetoothTypes

/// A question for the planner: the battery life of a beacon, and the energy of one received advertisement.
public struct EnergyQuestion: Sendable {
    public let air: PlannedAir
    public let chip: BeaconChip
    public let battery: BeaconBattery
    /// True if the user gave the charge of an event; false if it comes from the table of chips.
    private let isMeasured: Bool

    /// - Parameters:
    ///   - air: The beacons in range with their intervals and payloads. Their collisions determine the energy of a
    ///     received packet.
    ///   - chip: A chip of the table. If it is nil, `eventMicrocoulombs` is needed.
    ///   - battery: A battery of the table. If it is nil, `capacityMilliampereHours` is needed, and the voltage is 3 V.
    ///   - eventMicrocoulombs: Replaces the charge of the chip's advertising event, in µC.
    ///   - sleepMicroamperes: Replaces the chip's current between events, in µA. The default for a chip that is not in
    ///     the table is `BeaconChip.usualSleepMicroamperes`.
    ///   - capacityMilliampereHours: Replaces the battery's capacity, in mAh.
    ///
    /// Throws for charges outside 0.01...10,000 µC, sleep currents outside 0...100,000 µA, capacities outside 0.1...10⁶
    /// mAh, and if the chip or the battery is not determined.
    public init(
        air: PlannedAir, chip: BeaconChip?, battery: BeaconBattery?, eventMicrocoulombs: Double? = nil,
        sleepMicroamperes: Double? = nil, capacityMilliampereHours: Double? = nil
    ) throws(PlanError) {
        self.air = air
        isMeasured = eventMicrocoulombs != nil
        self.chip = try Self.chip(chip, eventMicrocoulombs, sleepMicroamperes)
        self.battery = try Self.battery(battery, capacityMilliampereHours)
    }

    private static func chip(
        _ known: BeaconChip?, _ charge: Double?, _ sleep: Double?
    ) throws(PlanError) -> BeaconChip {
        if let known, charge == nil, sleep == nil { return known }
        guard let empty = charge ?? known?.emptyEventMicrocoulombs, let full = charge ?? known?.fullEventMicrocoulombs
        else { throw PlanError(.question, "there is no chip: name one, or give the charge of its advertising event") }
        let event = charge.map { "\(NumberFormat.significant($0)) µC an event" }
        let current = sleep.map { "\(NumberFormat.significant($0)) µA between events" }
        let given = [event, current].compactMap(\.self).joined(separator: " and ")
        let assumed = NumberFormat.significant(BeaconChip.usualSleepMicroamperes)
        let source =
            known == nil && sleep == nil ? "as given; \(assumed) µA are assumed between events" : "as given"
        return try PlanError.asking { () throws(AirtimeError) in
            try BeaconChip(
                name: known.map { "\($0.name) at \(given)" } ?? "a chip of \(given)", emptyEventMicrocoulombs: empty,
                fullEventMicrocoulombs: full,
                sleepMicroamperes: sleep ?? known?.sleepMicroamperes ?? BeaconChip.usualSleepMicroamperes,
                source: source)
        }
    }

    private static func battery(
        _ known: BeaconBattery?, _ capacity: Double?
    ) throws(PlanError) -> BeaconBattery {
        guard let capacity else {
            guard let known else {
                throw PlanError(.question, "there is no battery: name one, or give its capacity")
            }
            return known
        }
        return try PlanError.asking { () throws(AirtimeError) in
            try BeaconBattery(
                name: "\(known?.name ?? "battery") of \(NumberFormat.significant(capacity)) mAh",
                capacityMilliampereHours: capacity, nominalVolts: known?.nominalVolts ?? usualVolts,
                efficiency: known?.efficiency ?? BeaconBattery.defaultEfficiency, source: "as given")
        }
    }

    /// The voltage of a battery that is not in the table.
    private static let usualVolts = 3.0

    /// Returns the life in days, the mean current in µA and the energy of one received packet in µJ. Throws the models'
    /// errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        if let frame = air.machines.flatMap(\.frames).first(where: { $0.extended != nil }), !isMeasured,
            chip.microcoulombsPerMicrosecond == 0
        {
            throw PlanError(
                .question,
                "the charge of \(chip.name) is not known for each payload, so its charge for \(frame.name) in extended "
                    + "PDUs cannot be computed: measure it and use --charge-uc, or use --chip nrf52832")
        }
        let (kind, model, clear, microjoules) = try PlanError.asking { () throws(AirtimeError) in
            let collisions = try MachineCollisionModel(machines: air.kinds())
            let (kind, model) = try shortestLived()
            let clear = collisions.collisionFreeProbability(ofKind: kind)
            let microjoules = clear > 0 ? try model.microjoulesPerReceived(probability: min(1, clear)) : nil
            return (kind, model, clear, microjoules)
        }
        let frames = air.machines[kind].frames
        let isNegligible = clear < 1e-9
        var answer = PlanAnswer(
            title: air.origin.map { "Battery life at \($0.name)" } ?? "Battery life every \(frames[0].intervalText)",
            sentence: sentence(model, frames))
        answer.addOrigin(of: air)
        answer.add(.commonInterval, .milliseconds(frames.count == 1 ? frames[0].milliseconds : nil))
        answer.add(
            .life, .number(model.lifeDays), remark: model.exceedsShelfLife ? BeaconBattery.shelfLifeRemark : "")
        answer.add(
            .energyPerReceived, .number(microjoules), shown: isNegligible ? NumberFormat.none : nil,
            remark: isNegligible
                ? "practically no packet is free of collisions"
                : "\(NumberFormat.percent(clear)) of the packets are free of collisions")
        answer.add(.meanCurrent, .number(model.meanCurrentMicroamperes))
        answer.add(.collisionFree, .share(clear), isInText: false)
        answer.add(.energyChip, .word(chip.name))
        answer.add(.energyBattery, .word(battery.name))
        if frames.count == 1 {
            answer.show("charge of an event", .number(model.eventMicrocoulombs, unit: "µC"), remark: chip.source)
        }
        answer.show(
            "capacity", .number(battery.capacityMilliampereHours, unit: "mAh"),
            remark: "of which \(NumberFormat.percent(battery.efficiency)) are usable; \(battery.source)")
        answer.show("voltage", .number(battery.nominalVolts, unit: "V"), remark: "assumed for the battery's whole life")
        if air.origin != nil {
            answer.note(
                "The battery life is for the beacon whose battery is empty first. The energy is for an average "
                    + "packet of this beacon.")
        }
        if let only = air.onlyFrame, only.extended == nil {
            answer.pictures.page.battery = .init(
                beacons: air.beacons, intervalMs: only.milliseconds, payloadOctets: only.payloadOctets, chip: chip,
                battery: battery)
        }
        answer.noteRounding(of: air)
        answer.noteTraffic(of: air.onlyFrame)
        answer.note(
            "Sensors, lights and connections need additional energy. No battery lasts longer than its shelf life, about "
                + "ten years.")
        return answer
    }

    private func sentence(_ model: EnergyModel, _ frames: [PlannedFrame]) -> String {
        let fastest = frames.map(\.interval).min() ?? frames[0].interval
        let pace =
            frames.count == 1
            ? "every \(frames[0].intervalText)" : "\(frames.count) advertisements, the most frequent every \(fastest)"
        let time =
            "\(NumberFormat.significant(model.lifeDays)) days (\(NumberFormat.significant(model.lifeDays / 365.25)) years)"
        let use = "with \(chip.name) sending \(pace)."
        guard model.exceedsShelfLife else { return "A \(battery.name) lasts \(time) \(use)" }
        return "A \(battery.name) lasts about ten years, as long as a battery is usable: its charge would be enough "
            + "for \(time) \(use)"
    }

    /// Returns the kind of beacon whose battery is empty first, and its energy model.
    private func shortestLived() throws(AirtimeError) -> (kind: Int, model: EnergyModel) {
        var worst: (kind: Int, model: EnergyModel)?
        for (kind, machines) in air.machines.enumerated() {
            var models: [EnergyModel] = []
            for frame in machines.frames.reversed() {
                models.append(
                    try EnergyModel(
                        chip: chip, battery: battery, interval: frame.interval,
                        payloadOctets: frame.payloadOctets, extended: frame.extended,
                        companions: models.count == machines.frames.count - 1 ? models : []))
            }
            guard let model = models.last else { continue }
            if worst.map({ model.lifeDays < $0.model.lifeDays }) ?? true { worst = (kind, model) }
        }
        guard let worst else { throw .count(0) }
        return worst
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [
            .commonInterval, .life, .energyPerReceived, .meanCurrent, .collisionFree, .energyChip, .energyBattery,
        ]
}

extension PlanKey {
    fileprivate static let commonInterval = PlanKey(
        "intervalMs", "Advertising interval in ms; null if the beacon sends several advertisements.")
    fileprivate static let life = PlanKey(
        "lifeDays",
        "Days until the battery is empty, even if that is longer than the ten years for which a battery is usable; for a "
            + "fleet, until the first battery is empty.",
        label: "battery life", unit: "days")
    fileprivate static let energyPerReceived = PlanKey(
        "microjoulePerReceived", "Energy for each packet that arrives, in µJ; null if none arrives.",
        label: "energy for each received", unit: "µJ")
    fileprivate static let energyChip = PlanKey("chip", "Name of the chip, or its charge as given.")
    fileprivate static let energyBattery = PlanKey("battery", "Name of the battery, or its capacity as given.")
    fileprivate static let meanCurrent = PlanKey(
        "meanCurrentMicroamperes", "Mean current in µA.", label: "mean current", unit: "µA")
}

extension BeaconBattery {
    /// The remark next to a life that is longer than ``shelfLifeDays``.
    static let shelfLifeRemark = "of charge; a battery is usable for about ten years"
}
