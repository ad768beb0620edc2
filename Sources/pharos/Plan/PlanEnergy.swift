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
        try output.show(EnergyQuestion(air: air, chip: chip, battery: battery).answer())
    }
}
