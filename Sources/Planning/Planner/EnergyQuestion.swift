public import Airtime
internal import BluetoothTypes

/// How long a battery lasts, and what one received advertisement costs.
public struct EnergyQuestion: Sendable {
    public let air: PlannedAir
    public let chip: BeaconChip
    public let battery: BeaconBattery

    /// `air` says the interval, the payload and, for the cost of a received packet, how many beacons collide.
    ///
    /// - Parameters:
    ///   - eventMicrocoulombs: The charge of one event in place of the chip's own, in µC.
    ///   - capacityMilliampereHours: In place of the battery's own, in mAh.
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

    /// The life in days, the mean current in µA and the energy in µJ that one received packet costs. Throws what the models
    /// refuse.
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
        answer.state("intervalMs", .milliseconds(frames.count == 1 ? frames[0].milliseconds : nil))
        answer.state("lifeDays", .number(model.lifeDays, unit: "days"), as: "battery life")
        answer.show("mean current", .number(model.meanCurrentMicroamperes, unit: "µA"))
        answer.state(
            "microjoulePerReceived", .number(each, unit: "µJ"), as: "energy for each received",
            shown: isDrowned ? NumberText.none : nil,
            remark: isDrowned
                ? "practically no packet is free of collisions"
                : "\(NumberText.percent(clear)) of the packets are free of collisions")
        answer.state("meanCurrentMicroamperes", .number(model.meanCurrentMicroamperes, unit: "µA"))
        answer.state("collisionFreeProbability", .share(clear))
        if frames.count == 1 {
            answer.show("charge of an event", .number(model.eventMicrocoulombs, unit: "µC"), remark: chip.source)
        }
        answer.show(
            "capacity", .number(battery.capacityMilliampereHours, unit: "mAh"),
            remark: "of which \(NumberText.percent(battery.efficiency)) are usable; \(battery.source)")
        if air.origin != nil {
            answer.note(
                "The beacon of the site whose battery is empty first; energy for an average one of its packets.")
        }
        if let only = air.onlyFrame {
            answer.pictures.battery = .init(
                beacons: air.beacons, intervalMs: only.milliseconds, payloadOctets: only.payloadOctets, chip: chip,
                battery: battery)
        }
        answer.noteRounding(of: air)
        answer.note("Sensors, lights and connections come on top; a life of decades outlasts the battery's shelf life.")
        return answer
    }

    private func sentence(_ model: EnergyModel, _ frames: [PlannedFrame]) -> String {
        let fastest = frames.map(\.interval).min() ?? frames[0].interval
        let pace =
            frames.count == 1
            ? "every \(fastest)" : "\(frames.count) advertisements, the most frequent every \(fastest)"
        return "A \(battery.name) lasts \(NumberText.significant(model.lifeDays)) days "
            + "(\(NumberText.significant(model.lifeDays / 365.25)) years) with \(chip.name) sending \(pace)."
    }

    /// The kind of box whose battery is empty first, with its life.
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
}
