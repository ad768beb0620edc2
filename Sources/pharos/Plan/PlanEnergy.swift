internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import PlanReport
internal import Profiles

struct PlanEnergy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "energy",
        abstract: "How long a battery lasts, and what one received advertisement costs.",
        discussion: "Example: pharos plan energy --interval-ms 500 --chip nrf52832 --battery cr2477 --beacons 50")

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions

    @Option(
        help: ArgumentHelp("Chip: \(BeaconChip.all.map(\.name).joined(separator: ", ")).", valueName: "name"),
        completion: .list(BeaconChip.all.map(\.name)), transform: PlanValue.chip)
    var chip: BeaconChip

    @Option(
        help: ArgumentHelp("Battery: \(BeaconBattery.all.map(\.name).joined(separator: ", ")).", valueName: "name"),
        completion: .list(BeaconBattery.all.map(\.name)), transform: PlanValue.battery)
    var battery: BeaconBattery

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range of one receiver, whose collisions count (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try source.validate(beacons: beacons, isOptional: true)
        try interval.validate(with: source)
    }

    func run() throws {
        let air =
            try source.site(interval: interval.requested?.interval, payloadOctets: packet.payloadOctets)
            ?? PlannedAir(beacons: beacons ?? 1, frames: [packet.frame(interval)])
        let (kind, model, clear, each) = try PlanValue.answer { () throws(AirtimeError) in
            let collisions = try BoxCollisionModel(boxes: air.kinds())
            let (kind, model) = try hungriest(air)
            let clear = collisions.collisionFreeProbability(ofBox: kind)
            return (
                kind, model, clear, clear > 0 ? try model.microjoulesPerReceived(probability: min(1, clear)) : nil
            )
        }
        let frames = air.boxes[kind].frames
        let pace =
            frames.count == 1
            ? "every \(frames[0].interval)"
            : "\(frames.count) advertisements, the most frequent every \(frames.map(\.interval).min() ?? frames[0].interval)"
        var answer = PlanAnswer(
            title: air.origin.map { "Battery life at \($0.name)" } ?? "Battery life every \(frames[0].interval)",
            answer:
                "A \(battery.name) lasts \(PlanNumber.text(model.lifeDays)) days (\(PlanNumber.text(model.lifeDays / 365.25)) "
                + "years) with \(chip.name) sending \(pace).")
        answer.origin(of: air)
        answer.member("intervalMs", frames.count == 1 ? frames[0].milliseconds : nil)
        answer.member("lifeDays", model.lifeDays)
        answer.member("microjoulePerReceived", each)
        answer.member("meanCurrentMicroamperes", model.meanCurrentMicroamperes)
        answer.member("collisionFreeProbability", clear)
        answer.figure("battery life", PlanNumber.text(model.lifeDays), unit: "days")
        answer.figure("mean current", PlanNumber.text(model.meanCurrentMicroamperes), unit: "µA")
        let isDrowned = clear < 1e-9
        answer.figure(
            "energy for each received", each.map { isDrowned ? "–" : PlanNumber.text($0) } ?? "–", unit: "µJ",
            remark: isDrowned
                ? "practically no packet is free of collisions"
                : "\(PlanNumber.percent(clear)) of the packets are free of collisions")
        if frames.count == 1 {
            answer.figure(
                "charge of an event", PlanNumber.text(model.eventMicrocoulombs), unit: "µC", remark: chip.source)
        }
        answer.figure(
            "capacity", PlanNumber.text(battery.capacityMilliampereHours), unit: "mAh",
            remark: "of which \(PlanNumber.percent(battery.efficiency)) are usable; \(battery.source)")
        if air.origin != nil {
            answer.note(
                "The beacon of the site whose battery is empty first; energy for an average one of its packets.")
        }
        answer.noteRounding(of: interval.requested)
        answer.note("Sensors, lights and connections come on top; a life of decades outlasts the battery's shelf life.")
        try answer.show(output)
    }

    /// The kind of box whose battery is empty first, with its life.
    private func hungriest(_ air: PlannedAir) throws(AirtimeError) -> (kind: Int, model: EnergyModel) {
        var worst: (kind: Int, model: EnergyModel)?
        for (kind, boxes) in air.boxes.enumerated() {
            var models: [EnergyModel] = []
            for frame in boxes.frames.reversed() {
                models.append(
                    try EnergyModel(
                        chip: chip, battery: battery, intervalMicroseconds: Double(frame.interval.microseconds),
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
