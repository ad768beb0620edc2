internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import LinuxHost
internal import Planner

struct PlanLatency: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Show how long a scanner takes to find a given beacon.",
        discussion: """
            Example: pharos plan latency --beacons 100 --interval-ms 760 --scanner android-low-power \
            --undiscovered-after-s 10 60
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var pattern: PlanPatternOption
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Show the share that is not found after this time; repeatable.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([fleet.source.fromFleet, receiver.scannerFile])
        try pattern.validate(interval, with: fleet.source)
        guard receiver.isGiven else {
            throw ValidationError("Give a scanner: --scanner, --scanners, or --scan-window-ms and --scan-interval-ms.")
        }
    }

    func run() throws {
        let air = try pattern.air(fleet.packet, beacons: fleet.beacons) ?? fleet.air(interval)
        let scanners = try receiver.mix
        try air.check(scanners, receiving: receiver.scannerPhy)
        let question = LatencyQuestion(
            air: air, scanners: scanners, background: try background.load,
            undiscoveredAfter: undiscoveredAfterS, comparesScanners: output.html != nil)
        try output.show(question.answer())
    }
}

struct PlanWalk: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walk",
        abstract: "Show the probability that a scanner that is carried past a beacon finds it.",
        discussion: """
            Example: pharos plan walk --speed-mps 1.4 --distance-m 3 --range-m 10 --interval-ms 760 \
            --scanner android-low-power
            """)

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Walking speed (people: 1.4).", valueName: "m/s"),
        transform: { try PlanValue.number($0, in: 0.001...1000, "m/s") })
    var speedMps: Double

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Shortest distance between the path and the beacon.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...1_000_000, "m") })
    var distanceM: Double

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Range of the beacon (default: computed from power and path loss).", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0.001...1_000_000, "m") })
    var rangeM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Beacons in range of the receiver, including the target beacon (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([source.fromFleet, receiver.scannerFile])
        try source.validate(beacons: beacons, isOptional: true)
        try interval.validate(with: source)
        if rangeM != nil, let option = radio.givenOptions.first {
            throw ValidationError("Give --range-m or \(option), not both: with --range-m the range is not computed.")
        }
    }

    func run() throws {
        let range = try rangeM.map { PlannedRange(meters: $0) } ?? radio.range
        let air = try source.air(interval, packet, beacons: beacons)
        let scanners = try receiver.mix
        try air.check(scanners, receiving: receiver.scannerPhy)
        let question = WalkQuestion(
            air: air, scanners: scanners,
            speed: speedMps, distance: distanceM, range: range)
        try output.show(question.answer())
    }
}

struct PlanDensity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "density",
        abstract: "Show how many beacons fit in range of one receiver, and their spacing.",
        discussion: """
            Example: pharos plan density --interval-ms 500 --detect-within-s 10 --probability 0.95 \
            --scanner android-low-power
            """)

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var source: PlanSourceOptions

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Longest time until a beacon is found.", valueName: "s"),
        transform: PlanValue.seconds)
    var detectWithinS: Double

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Share of cases in which a beacon is found in time, such as 0.95 or 95%.", valueName: "p"),
        transform: PlanValue.probability)
    var probability: Double

    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([source.fromFleet, receiver.scannerFile])
        try interval.validate(with: source)
    }

    func run() throws {
        let air = try source.air(interval, packet)
        let scanners = try receiver.mix
        try air.check(scanners, receiving: receiver.scannerPhy)
        let question = DensityQuestion(
            air: air, scanners: scanners,
            target: DetectionTarget(withinSeconds: detectWithinS, probability: probability), range: try radio.range,
            drawsCurve: output.html != nil)
        try output.show(question.answer())
    }
}

struct PlanEnergy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "energy",
        abstract: "Show battery life, and the energy of one received advertisement.",
        discussion: """
            pharos plan energy --interval-ms 500 --chip nrf52832 --battery cr2477 --beacons 50
            pharos plan energy --interval-ms 500 --charge-uc 8 --sleep-ua 1.5 --capacity-mah 220

            If your chip or battery is not in the lists, give your own measurements of it.
            """)

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var pattern: PlanPatternOption
    @OptionGroup var packet: PlanPacketOptions

    @Option(
        help: ArgumentHelp(
            "Chip: \(BeaconChip.all.map(\.name).joined(separator: ", ")); not needed with --charge-uc.",
            valueName: "name"),
        completion: .list(BeaconChip.all.map(\.name)), transform: PlanValue.chip)
    var chip: BeaconChip?

    @Option(
        help: ArgumentHelp(
            "Battery: \(BeaconBattery.all.map(\.name).joined(separator: ", ")); not needed with --capacity-mah.",
            valueName: "name"),
        completion: .list(BeaconBattery.all.map(\.name)), transform: PlanValue.battery)
    var battery: BeaconBattery?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Charge of one advertising event (default: that of the chip).", valueName: "microcoulombs"),
        transform: { try PlanValue.number($0, in: 0.01...10_000, "µC") })
    var chargeUc: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Current between events (default: that of the chip; \(NumberFormat.significant(BeaconChip.usualSleepMicroamperes)) for "
                + "a chip that is not in the list).", valueName: "microamperes"),
        transform: { try PlanValue.number($0, in: 0...100_000, "µA") })
    var sleepUa: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Battery capacity, of which 85 % are usable (default: that of the battery).", valueName: "mAh"),
        transform: { try PlanValue.number($0, in: 0.1...1_000_000, "mAh") })
    var capacityMah: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Beacons in range of one receiver, including the target beacon (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([source.fromFleet])
        try source.validate(beacons: beacons, isOptional: true)
        try pattern.validate(interval, with: source)
        guard chip != nil || chargeUc != nil else {
            throw ValidationError("Give a chip, --chip, or the charge of its advertising event, --charge-uc.")
        }
        guard battery != nil || capacityMah != nil else {
            throw ValidationError("Give a battery, --battery, or its capacity, --capacity-mah.")
        }
    }

    func run() throws {
        let air =
            try pattern.air(packet, beacons: beacons) ?? source.air(interval, packet, beacons: beacons)
        let question = try EnergyQuestion(
            air: air, chip: chip, battery: battery, eventMicrocoulombs: chargeUc, sleepMicroamperes: sleepUa,
            capacityMilliampereHours: capacityMah)
        try output.show(question.answer())
    }
}

struct PlanThesis: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thesis",
        abstract: "Compare the estimates of a widely read thesis with the correct values.",
        discussion: """
            The thesis estimates that each of 250 beacons sends 7.6 advertisements a second, of which 3.8 arrive. For \
            130 beacons, it estimates 14.6 and 7.3.
            """)

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Beacons in range of one receiver.", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([source.fromFleet])
        try source.validate(beacons: beacons)
    }

    func run() throws {
        let site = try source.site(interval: nil, payloadOctets: nil)
        let question = site.map { ThesisQuestion(air: $0) } ?? ThesisQuestion(beacons: beacons ?? 1)
        try output.show(question.answer())
    }
}
