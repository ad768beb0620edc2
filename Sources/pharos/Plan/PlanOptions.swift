internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Planner

/// How many beacons are in range of one receiver, and what each sends.
struct PlanFleetOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range of one receiver, the asked one included.", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var source: PlanSourceOptions

    func validate() throws { try source.validate(beacons: beacons) }

    /// The boxes with one advertisement of that interval each, or those of the fleet's one site.
    func air(_ interval: PlanIntervalOption) throws -> PlannedAir {
        try source.air(interval, packet, beacons: beacons)
    }
}

/// What is sent.
struct PlanPacketOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Octets of advertising data, 0...31 (default: 31).", valueName: "n"),
        transform: PlanValue.payload)
    var payloadOctets: Int?

    /// One advertisement of that length, sent at that interval.
    func frame(_ interval: PlanIntervalOption) throws -> PlannedFrame {
        guard let requested = interval.requested else { throw Failure(.usage, PlanIntervalOption.missing) }
        return try PlannedFrame(interval: requested.interval, payloadOctets: payloadOctets ?? 31)
    }
}

/// The advertising interval that is asked about.
struct PlanIntervalOption: ParsableArguments {
    @Option(
        name: .customLong("interval-ms"), parsing: .unconditional,
        help: ArgumentHelp("Advertising interval, 20 ms...10.24 s: 100, 152.5, 100ms or 1.28s.", valueName: "ms"),
        transform: PlanValue.interval)
    var requested: RequestedInterval?

    static let missing = "Say how often: --interval-ms, or --from-fleet."

    /// Refuses neither an interval nor a fleet that has it.
    func validate(with source: PlanSourceOptions) throws {
        if requested == nil, source.fromFleet == nil { throw ValidationError(Self.missing) }
    }
}

/// Strangers on the channel.
struct PlanBackgroundOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Share of the channel that strangers keep busy, 0...1 (default: 0).", valueName: "share"),
        transform: PlanValue.load)
    var backgroundLoad: Double = 0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Octets of advertising data in strangers' packets (default: as ours).", valueName: "n"),
        transform: PlanValue.payload)
    var backgroundPayloadOctets: Int?

    var load: BackgroundLoad {
        get throws {
            try PlanError.asking { () throws(AirtimeError) in
                let airtime = try backgroundPayloadOctets.map { octets throws(AirtimeError) in
                    try PacketTiming.airtimeMicroseconds(payloadOctets: octets)
                }
                return try BackgroundLoad(share: backgroundLoad, airtimeMicroseconds: airtime)
            }
        }
    }
}

/// The receiver.
struct PlanScannerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A known scanner: \(ScannerPreset.all.map(\.name).joined(separator: ", ")).", valueName: "name"),
        completion: .list(ScannerPreset.all.map(\.name)), transform: PlanValue.scanner)
    var scanner: ScannerPreset?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Scan window of another scanner.", valueName: "ms"),
        transform: PlanValue.scanTime)
    var scanWindowMs: Int?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Scan interval of another scanner.", valueName: "ms"),
        transform: PlanValue.scanTime)
    var scanIntervalMs: Int?

    func validate() throws {
        if scanner != nil, scanWindowMs != nil || scanIntervalMs != nil {
            throw ValidationError("Give --scanner, or --scan-window-ms and --scan-interval-ms, not both.")
        }
        guard (scanWindowMs == nil) == (scanIntervalMs == nil) else {
            throw ValidationError("--scan-window-ms and --scan-interval-ms belong together.")
        }
        if let window = scanWindowMs, let interval = scanIntervalMs, window > interval {
            throw ValidationError(
                "--scan-window-ms: \(DecimalText.thousandths(window)) ms is longer than the scan interval of "
                    + "\(DecimalText.thousandths(interval)) ms.")
        }
    }

    /// The scanner that is meant; one that never pauses where none was named.
    var presetOrContinuous: ScannerPreset {
        get throws { try preset ?? ScannerPreset(name: "continuous", pattern: .continuous) }
    }

    /// The scanner that is meant; `nil` where none was named.
    var preset: ScannerPreset? {
        get throws {
            guard let window = scanWindowMs, let interval = scanIntervalMs else { return scanner }
            return try PlanError.asking { () throws(AirtimeError) in
                let pattern = try ScanPattern(windowMicroseconds: window, intervalMicroseconds: interval)
                let name = "\(DecimalText.thousandths(window))/\(DecimalText.thousandths(interval)) ms"
                return ScannerPreset(name: name, pattern: pattern)
            }
        }
    }
}
