internal import Airtime
internal import ArgumentParser
internal import LinuxHost
internal import Planner

struct PlanLatency: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "How long until one given beacon is first received by a scanner.",
        discussion: """
            Example: pharos plan latency --beacons 100 --interval-ms 760 --scanner android-low-power \
            --undiscovered-after-s 10 60
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Tell the share that is not yet received after so many seconds.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: fleet.source)
        guard receiver.scanner != nil || receiver.scanWindowMs != nil else {
            throw ValidationError("Name the receiver: --scanner, or --scan-window-ms and --scan-interval-ms.")
        }
    }

    func run() throws {
        let question = LatencyQuestion(
            air: try fleet.air(interval), scanner: try receiver.presetOrContinuous, background: try background.load,
            undiscoveredAfter: undiscoveredAfterS)
        try output.show(question.answer())
    }
}

struct PlanWalk: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walk",
        abstract: "Whether a beacon is seen by somebody who walks past.",
        discussion: """
            Example: pharos plan walk --speed-mps 1.4 --distance-m 3 --range-m 10 --interval-ms 760 \
            --scanner android-low-power
            """)

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How fast (people: 1.4).", valueName: "m/s"),
        transform: { try PlanValue.number($0, in: 0.001...1000, "m/s") })
    var speedMps: Double

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How near the way comes to the beacon.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...1_000_000, "m") })
    var distanceM: Double

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How far the beacon is heard; left out, from power and path loss.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0.001...1_000_000, "m") })
    var rangeM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range, the asked one included (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try source.validate(beacons: beacons, isOptional: true)
        try interval.validate(with: source)
    }

    func run() throws {
        let range = try rangeM.map { PlannedRange(meters: $0) } ?? radio.range
        let question = WalkQuestion(
            air: try source.air(interval, packet, beacons: beacons), scanner: try receiver.presetOrContinuous,
            speed: speedMps, distance: distanceM, range: range)
        try output.show(question.answer())
    }
}

struct PlanDensity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "density",
        abstract: "How many beacons a place bears, and how far apart that is.",
        discussion: """
            Example: pharos plan density --interval-ms 500 --detect-within-s 10 --probability 0.95 \
            --scanner android-low-power
            """)

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var source: PlanSourceOptions

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How long detection may take.", valueName: "s"),
        transform: PlanValue.seconds)
    var detectWithinS: Double

    @Option(
        parsing: .unconditional, help: ArgumentHelp("In which share of cases, such as 0.95.", valueName: "p"),
        transform: PlanValue.share)
    var probability: Double

    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: source)
        guard probability > 0, probability < 1 else {
            throw ValidationError("--probability: write a share between 0 and 1, without the ends.")
        }
    }

    func run() throws {
        ThisProgram.keepFreedMemory()
        let question = DensityQuestion(
            air: try source.air(interval, packet), scanner: try receiver.presetOrContinuous,
            target: DetectionTarget(withinSeconds: detectWithinS, probability: probability), range: try radio.range,
            drawsCurve: output.html != nil)
        try output.show(question.answer())
    }
}

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
        let question = try EnergyQuestion(
            air: air, chip: chip, battery: battery, eventMicrocoulombs: chargeUc, capacityMilliampereHours: capacityMah)
        try output.show(question.answer())
    }
}

struct PlanThesis: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thesis",
        abstract: "The estimate of a much-read thesis, and what is true instead.",
        discussion: "Its 250 beacons give 7.6 and 3.8 advertisements a second, its 130 give 14.6 and 7.3.")

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Beacons in range of one receiver.", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var output: PlanOutput

    func validate() throws { try source.validate(beacons: beacons) }

    func run() throws {
        let site = try source.site(interval: nil, payloadOctets: nil)
        let question = site.map { ThesisQuestion(air: $0) } ?? ThesisQuestion(beacons: beacons ?? 1)
        try output.show(question.answer())
    }
}
