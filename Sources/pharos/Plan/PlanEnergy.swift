internal import Airtime
internal import ArgumentParser
internal import Planner

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
        help: ArgumentHelp("Charge of one advertising event, in place of the chip's own.", valueName: "µC"),
        transform: { try PlanValue.number($0, in: 0.01...10_000, "µC") })
    var chargeUc: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Capacity, in place of the battery's own.", valueName: "mAh"),
        transform: { try PlanValue.number($0, in: 0.1...1_000_000, "mAh") })
    var capacityMah: Double?

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
        let air = try source.air(interval, packet, beacons: beacons)
        let chosen = try PlanError.asking { () throws(AirtimeError) in
            (
                chip: try chargeUc.map { charge throws(AirtimeError) in
                    try BeaconChip(
                        name: chip.name, emptyEventMicrocoulombs: charge, fullEventMicrocoulombs: charge,
                        sleepMicroamperes: chip.sleepMicroamperes, source: "as given")
                } ?? chip,
                battery: try capacityMah.map { capacity throws(AirtimeError) in
                    try BeaconBattery(
                        name: battery.name, capacityMilliampereHours: capacity, nominalVolts: battery.nominalVolts,
                        efficiency: battery.efficiency, source: "as given")
                } ?? battery
            )
        }
        try output.show(EnergyQuestion(air: air, chip: chosen.chip, battery: chosen.battery).answer())
    }
}
