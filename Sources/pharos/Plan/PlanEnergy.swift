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
        transform: PlanValue.chip)
    var chip: BeaconChip

    @Option(
        help: ArgumentHelp("Battery: \(BeaconBattery.all.map(\.name).joined(separator: ", ")).", valueName: "name"),
        transform: PlanValue.battery)
    var battery: BeaconBattery

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range of one receiver, whose collisions count (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int = 1

    @OptionGroup var output: PlanOutput

    func run() throws {
        let octets = packet.payloadOctets ?? 31
        let (model, clear, each) = try PlanValue.answer { () throws(AirtimeError) in
            let period = Double(interval.intervalMs.microseconds)
            let model = try EnergyModel(
                chip: chip, battery: battery, intervalMicroseconds: period, payloadOctets: octets)
            let clear = try CollisionModel(
                beacons: beacons, intervalMicroseconds: period,
                airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: octets)
            ).collisionFreeProbability
            return (model, clear, clear > 0 ? try model.microjoulesPerReceived(probability: min(1, clear)) : nil)
        }
        var answer = PlanAnswer(
            title: "Battery life every \(interval.intervalMs)",
            answer:
                "A \(battery.name) lasts \(PlanNumber.text(model.lifeDays)) days (\(PlanNumber.text(model.lifeDays / 365.25)) "
                + "years) with \(chip.name) sending every \(interval.intervalMs).")
        answer.member("intervalMs", Double(interval.intervalMs.microseconds) / 1000)
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
        answer.figure("charge of an event", PlanNumber.text(model.eventMicrocoulombs), unit: "µC", remark: chip.source)
        answer.figure(
            "capacity", PlanNumber.text(battery.capacityMilliampereHours), unit: "mAh",
            remark: "of which \(PlanNumber.percent(battery.efficiency)) are usable; \(battery.source)")
        answer.noteRounding(of: interval.requested)
        answer.note("Sensors, lights and connections come on top; a life of decades outlasts the battery's shelf life.")
        try answer.show(output)
    }
}
