public import Airtime
internal import BluetoothTypes

/// Asks for the battery life of a beacon, and for the energy of one received advertisement.
public struct EnergyQuestion: Sendable {
    public let air: PlannedAir
    public let chip: BeaconChip
    public let battery: BeaconBattery

    /// - Parameters:
    ///   - air: The interval, the payload and, for the energy of a received packet, the beacons that collide.
    ///   - eventMicrocoulombs: Replaces the charge of the chip's advertising event, in µC.
    ///   - capacityMilliampereHours: Replaces the battery's capacity, in mAh.
    ///
    /// Throws for charges outside 0.01...10,000 µC and capacities outside 0.1...10⁶ mAh.
    public init(
        air: PlannedAir, chip: BeaconChip, battery: BeaconBattery, eventMicrocoulombs: Double? = nil,
        capacityMilliampereHours: Double? = nil
    ) throws(PlanError) {
        self.air = air
        self.chip = try PlanError.asking { () throws(AirtimeError) in
            guard let eventMicrocoulombs else { return chip }
            return try BeaconChip(
                name: chip.name, emptyEventMicrocoulombs: eventMicrocoulombs,
                fullEventMicrocoulombs: eventMicrocoulombs, sleepMicroamperes: chip.sleepMicroamperes,
                source: "as given")
        }
        self.battery = try PlanError.asking { () throws(AirtimeError) in
            guard let capacityMilliampereHours else { return battery }
            return try BeaconBattery(
                name: battery.name, capacityMilliampereHours: capacityMilliampereHours,
                nominalVolts: battery.nominalVolts, efficiency: battery.efficiency, source: "as given")
        }
    }

    /// The life in days, the mean current in µA and the energy of one received packet in µJ. Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        let (kind, model, clear, each) = try PlanError.asking { () throws(AirtimeError) in
            let collisions = try BoxCollisionModel(boxes: air.kinds())
            let (kind, model) = try hungriest()
            let clear = collisions.collisionFreeProbability(ofBox: kind)
            let each = clear > 0 ? try model.microjoulesPerReceived(probability: min(1, clear)) : nil
            return (kind, model, clear, each)
        }
        let frames = air.boxes[kind].frames
        let isDrowned = clear < 1e-9
        var answer = PlanAnswer(
            title: air.origin.map { "Battery life at \($0.name)" } ?? "Battery life every \(frames[0].interval)",
            sentence: sentence(model, frames))
        answer.stateOrigin(of: air)
        answer.state(.commonInterval, .milliseconds(frames.count == 1 ? frames[0].milliseconds : nil))
        answer.state(.life, .number(model.lifeDays))
        answer.state(
            .energyPerReceived, .number(each), shown: isDrowned ? NumberFormat.none : nil,
            remark: isDrowned
                ? "practically no packet is free of collisions"
                : "\(NumberFormat.percent(clear)) of the packets are free of collisions")
        answer.state(.meanCurrent, .number(model.meanCurrentMicroamperes))
        answer.state(.collisionFree, .share(clear), isInText: false)
        if frames.count == 1 {
            answer.show("charge of an event", .number(model.eventMicrocoulombs, unit: "µC"), remark: chip.source)
        }
        answer.show(
            "capacity", .number(battery.capacityMilliampereHours, unit: "mAh"),
            remark: "of which \(NumberFormat.percent(battery.efficiency)) are usable; \(battery.source)")
        if air.origin != nil {
            answer.note(
                "The life is that of the beacon whose battery is empty first, and the energy that of an average one of its "
                    + "packets.")
        }
        if let only = air.onlyFrame {
            answer.pictures.page.battery = .init(
                beacons: air.beacons, intervalMs: only.milliseconds, payloadOctets: only.payloadOctets, chip: chip,
                battery: battery)
        }
        answer.noteRounding(of: air)
        answer.note(
            "Sensors, lights and connections need additional energy. No battery lasts longer than its shelf life, about "
                + "ten years.")
        return answer
    }

    private func sentence(_ model: EnergyModel, _ frames: [PlannedFrame]) -> String {
        let fastest = frames.map(\.interval).min() ?? frames[0].interval
        let pace =
            frames.count == 1
            ? "every \(fastest)" : "\(frames.count) advertisements, the most frequent every \(fastest)"
        return "A \(battery.name) lasts \(NumberFormat.significant(model.lifeDays)) days "
            + "(\(NumberFormat.significant(model.lifeDays / 365.25)) years) with \(chip.name) sending \(pace)."
    }

    /// The kind of beacon whose battery is empty first, with its life.
    private func hungriest() throws(AirtimeError) -> (kind: Int, model: EnergyModel) {
        var worst: (kind: Int, model: EnergyModel)?
        for (kind, boxes) in air.boxes.enumerated() {
            var models: [EnergyModel] = []
            for frame in boxes.frames.reversed() {
                models.append(
                    try EnergyModel(
                        chip: chip, battery: battery, interval: frame.interval,
                        payloadOctets: frame.payloadOctets,
                        companions: models.count == boxes.frames.count - 1 ? models : []))
            }
            guard let whole = models.last else { continue }
            if worst.map({ whole.lifeDays < $0.model.lifeDays }) ?? true { worst = (kind, whole) }
        }
        guard let worst else { throw .count(0) }
        return worst
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.commonInterval, .life, .energyPerReceived, .meanCurrent, .collisionFree]
}

extension PlanKey {
    fileprivate static let commonInterval = PlanKey(
        "intervalMs", "Advertising interval in ms; null if the beacon sends several advertisements.")
    fileprivate static let life = PlanKey(
        "lifeDays", "Days until the battery is empty; for a fleet, until the first battery is empty.",
        label: "battery life", unit: "days")
    fileprivate static let energyPerReceived = PlanKey(
        "microjoulePerReceived", "Energy for each packet that arrives, in µJ; null if none arrives.",
        label: "energy for each received", unit: "µJ")
    fileprivate static let meanCurrent = PlanKey(
        "meanCurrentMicroamperes", "Mean current in µA.", label: "mean current", unit: "µA")
}
