internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import FleetStore
internal import Planner

/// The options for the beacons in range of one receiver: their number, and the advertisements that each of them sends.
struct PlanFleetOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range of one receiver, including the target beacon.", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var source: PlanSourceOptions

    func validate() throws { try source.validate(beacons: beacons) }

    /// Returns the beacons: those of the fleet's only site, or the given number of beacons with one advertisement each.
    func air(_ interval: PlanIntervalOption) throws -> PlannedAir {
        try source.air(interval, packet, beacons: beacons)
    }
}

/// The options for the packets that the beacons send.
struct PlanPacketOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Bytes of advertising data, 0...31, with --phy 0...1650 (default: 31).", valueName: "n"),
        transform: { try OptionValue.integer($0, in: 0...AdvertisingData.extendedLimit) })
    var payloadOctets: Int?

    @Option(
        help: ArgumentHelp(
            "Extended advertising on this PHY: \(OptionValue.phyNames.joined(separator: ", ")) (default: legacy PDUs; "
                + "coded is computed with S=8).", valueName: "phy"),
        completion: .list(OptionValue.phyNames), transform: OptionValue.phy)
    var phy: ExtendedPHY?

    func validate() throws {
        guard phy == nil, let payloadOctets, !PacketTiming.payloadRange.contains(payloadOctets) else { return }
        throw ValidationError(
            "--payload-octets \(payloadOctets) is out of range 0...31: a legacy packet holds no more; with --phy it is up to "
                + "\(AdvertisingData.extendedLimit).")
    }

    /// Returns one advertisement with the length of these options, sent at `interval`.
    func frame(_ interval: PlanIntervalOption) throws -> PlannedFrame {
        guard let requested = interval.requested else { throw Failure(.usage, PlanIntervalOption.missing) }
        return try PlannedFrame(interval: requested.interval, phy: phy, payloadOctets: payloadOctets ?? 31)
    }
}

/// The option for the advertising interval.
struct PlanIntervalOption: ParsableArguments {
    @Option(
        name: .customLong("interval-ms"), parsing: .unconditional,
        help: ArgumentHelp("Advertising interval, 20 ms...10.24 s: 100, 152.5, 100ms or 1.28s.", valueName: "ms"),
        transform: PlanValue.interval)
    var requested: RequestedInterval?

    static let missing = "Give an interval: --interval-ms, or --from-fleet."

    /// Throws an error if neither an interval nor a fleet is given.
    func validate(with source: PlanSourceOptions) throws {
        if requested == nil, source.fromFleet == nil { throw ValidationError(Self.missing) }
    }
}

/// The options for the load by other devices on the channels.
struct PlanBackgroundOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Share of the channel that other devices occupy, such as 0.25 or 25% (default: 0).", valueName: "share"),
        transform: PlanValue.load)
    var backgroundLoad: Double?

    @Option(
        help: ArgumentHelp(
            "Wi-Fi channels and the share of the time in which each of them sends, such as wifi-1-6-11:0.3 (default: 0.25). "
                + "Or the load of each Bluetooth channel, such as 37:0,38:0.1,39:0.05,data:0.2; data is all secondary channels.",
            discussion:
                "A Wi-Fi channel disturbs the Bluetooth channels inside its 16.6 MHz (IEEE 802.11, OFDM). The Wi-Fi channels "
                + "1, 6 and 11 leave the Bluetooth channels 37, 38 and 39 free. The Wi-Fi channels 3, 4 and 5 disturb 38, "
                + "and 13 disturbs 39. The share of 0.25 is an assumption: measure yours with `iw dev wlan0 survey dump`.",
            valueName: "loads"),
        completion: .list(["wifi-1-6-11", "wifi-1-5-9-13", "wifi-1", "wifi-6", "wifi-11"]),
        transform: PlanValue.channelLoads)
    var background: ChannelLoads?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Bytes of advertising data in other devices' packets (default: as many as in the beacons' packets).",
            valueName: "n"),
        transform: PlanValue.payload)
    var backgroundPayloadOctets: Int?

    func validate() throws {
        if backgroundLoad != nil, background != nil {
            throw ValidationError("Give --background-load or --background, not both.")
        }
    }

    var load: BackgroundLoad {
        get throws {
            try PlanError.asking { () throws(AirtimeError) -> BackgroundLoad in
                let loads = if let background { background } else { try ChannelLoads(backgroundLoad ?? 0) }
                return try BackgroundLoad(loads, payloadOctets: backgroundPayloadOctets)
            }
        }
    }
}

/// The options for the receivers (scanners).
struct PlanScannerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A known scanner: \(ScannerPreset.all.map(\.name).joined(separator: ", ")). Without one, most questions assume "
                + "continuous, which never pauses. See pharos plan scanners.",
            valueName: "name"), completion: .list(ScannerPreset.all.map(\.name)))
    var scanner: String?

    @Option(
        help: ArgumentHelp(
            "The visitors' scanners with weights on any scale, such as android-low-power:6,continuous:1, or with percentages.",
            valueName: "name:weight,..."), completion: .list(ScannerPreset.all.map(\.name)))
    var scanners: String?

    @Option(
        help: ArgumentHelp("File with scanners of your own, for --scanner and --scanners.", valueName: "file"),
        completion: .file())
    var scannerFile: String?

    @Option(
        help: ArgumentHelp(
            "PHY on which the scanner receives extended advertising: 1M or coded (default: none, so it receives only legacy "
                + "PDUs, as apps on phones do by default; the scanner continuous receives all PDUs).", valueName: "phy"),
        completion: .list(ScannerPHY.allCases.map(\.rawValue)), transform: PlanValue.scannerPHY)
    var scannerPhy: ScannerPHY?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Scan window of a scanner that `pharos plan scanners` does not list.", valueName: "ms"),
        transform: PlanValue.scanTime)
    var scanWindowMs: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Scan interval of a scanner that `pharos plan scanners` does not list.", valueName: "ms"),
        transform: PlanValue.scanTime)
    var scanIntervalMs: Int?

    func validate() throws {
        let hasScanTimes = scanWindowMs != nil || scanIntervalMs != nil
        guard [scanner != nil, scanners != nil, hasScanTimes].count(where: \.self) < 2 else {
            throw ValidationError("Give one of --scanner, --scanners, and --scan-window-ms with --scan-interval-ms.")
        }
        if scannerFile != nil, scanner == nil, scanners == nil {
            throw ValidationError("--scanner-file needs --scanner or --scanners.")
        }
        // Check the names of predefined scanners before anything is computed.
        if scannerFile == nil, scanner != nil || scanners != nil { _ = try mix }
        guard (scanWindowMs == nil) == (scanIntervalMs == nil) else {
            throw ValidationError("--scan-window-ms and --scan-interval-ms belong together.")
        }
        if let window = scanWindowMs, let interval = scanIntervalMs, window > interval {
            throw ValidationError(
                "--scan-window-ms: \(DecimalText.thousandths(window)) ms is longer than the scan interval of "
                    + "\(DecimalText.thousandths(interval)) ms.")
        }
    }

    /// True if the options name a scanner.
    var isGiven: Bool { scanner != nil || scanners != nil || scanWindowMs != nil }

    /// The given scanner or mix of scanners; if none is given, a scanner that never pauses.
    var mix: ScannerMix {
        get throws {
            if let window = scanWindowMs, let interval = scanIntervalMs {
                return try PlanError.asking { () throws(AirtimeError) in
                    ScannerMix(try ScannerPreset(windowMicroseconds: window, intervalMicroseconds: interval))
                }
            }
            let ownScanners = try scannerFile.map { try ScannerFileReader.scanners(in: $0) } ?? []
            do {
                if let scanners { return try ScannerText.mix(scanners, own: ownScanners) }
                if let scanner, scanner.contains(":"), !ownScanners.contains(where: { $0.name == scanner }) {
                    throw Mistake("weights are for --scanners, such as --scanners android-low-power:6,continuous:1")
                }
                return ScannerMix(try scanner.map { try ScannerText.scanner($0, own: ownScanners) } ?? .continuous)
            } catch let mistake as Mistake {
                let option = scanners.map { "--scanners \($0)" } ?? "--scanner \(scanner ?? "")"
                throw ValidationError("\(option): \(mistake)")
            }
        }
    }
}

/// The options for a fleet, which can be given instead of the number of beacons and their intervals.
struct PlanSourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take beacons, intervals and lengths from a fleet: its file, the directory that `fleet generate` wrote, or its "
                + "manifest.json. --interval-ms and --payload-octets replace the values of all advertisements.",
            valueName: "fleet"), completion: .file())
    var fromFleet: String?

    @Option(help: ArgumentHelp("Site of the fleet (needed if it has several).", valueName: "name"))
    var site: String?

    func validate() throws {
        if site != nil, fromFleet == nil { throw ValidationError("--site needs --from-fleet.") }
    }

    /// Throws an error if both a number of beacons and a fleet are given. Also throws an error if neither is given,
    /// except if `isOptional` is true.
    func validate(beacons: Int?, isOptional: Bool = false) throws {
        if beacons != nil, fromFleet != nil {
            throw ValidationError("Give --beacons or --from-fleet, not both: a fleet says how many beacons it has.")
        }
        if beacons == nil, fromFleet == nil, !isOptional {
            throw ValidationError("Give the number of beacons: --beacons, or --from-fleet.")
        }
    }

    /// Returns the named site of the fleet, or all sites if none is named; empty without a fleet.
    ///
    /// - Parameters:
    ///   - interval: The interval of every advertisement, if it is not `nil`.
    ///   - payloadOctets: The number of data bytes of every advertisement, if it is not `nil`.
    ///   - phy: The PHY of every advertisement, if it is not `nil`.
    func sites(interval: AdvertisingInterval?, payloadOctets: Int?, phy: ExtendedPHY?) throws -> [PlannedAir] {
        guard let fromFleet else { return [] }
        let (name, traffic) = try NamedFleet(path: fromFleet).traffic()
        return try PlannedAir.sites(
            of: traffic, fleet: name, file: fromFleet, site: site, interval: interval, payloadOctets: payloadOctets,
            phy: phy)
    }

    /// Returns the only site; `nil` without a fleet. Throws an error if there are several sites.
    func site(
        interval: AdvertisingInterval?, payloadOctets: Int?, phy: ExtendedPHY? = nil
    ) throws -> PlannedAir? {
        try PlannedAir.only(of: sites(interval: interval, payloadOctets: payloadOctets, phy: phy))
    }

    /// Returns the beacons of the fleet's only site. Without a fleet, returns the given number of beacons with one
    /// advertisement each.
    func air(_ interval: PlanIntervalOption, _ packet: PlanPacketOptions, beacons: Int? = nil) throws -> PlannedAir {
        var air =
            try site(
                interval: interval.requested?.interval, payloadOctets: packet.payloadOctets, phy: packet.phy)
            ?? PlannedAir(beacons: beacons ?? 1, frames: [packet.frame(interval)])
        air.requestedMicroseconds = interval.requested?.microseconds
        return air
    }
}

/// The options for the values that determine the range of a beacon.
struct PlanRadioOptions: ParsableArguments {
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Radiated power of the beacon (default: 0).", valueName: "dBm"),
        transform: { try PlanValue.number($0, in: -127...20, "dBm") })
    var radioPowerDbm: Double?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Sensitivity of the receiver (default: -90).", valueName: "dBm"),
        transform: { try PlanValue.number($0, in: -150...0, "dBm") })
    var receiverSensitivityDbm: Double?

    @Option(
        help: ArgumentHelp(
            "Path loss: log-distance[:LOSS_AT_1M,EXPONENT], itu[:COEFFICIENT,FLOORS_DB], heydon or thesis.",
            valueName: "model"),
        transform: NamedPathLoss.init)
    var pathLoss: NamedPathLoss?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How much walls and bodies change the level of a link (shadowing): the standard deviation (default: 4).",
            valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...20, "dB") })
    var shadowingDb: Double?

    /// The names of the options that were given.
    var givenOptions: [String] {
        let options = [
            ("--radio-power-dbm", radioPowerDbm != nil), ("--path-loss", pathLoss != nil),
            ("--receiver-sensitivity-dbm", receiverSensitivityDbm != nil), ("--shadowing-db", shadowingDb != nil),
        ]
        return options.filter(\.1).map(\.0)
    }

    /// The radiated power in dBm, or its default.
    var radioPower: Double { radioPowerDbm ?? 0 }
    /// The sensitivity of the receiver in dBm, or its default.
    var sensitivity: Double { receiverSensitivityDbm ?? -90 }
    /// The path loss model, or its default.
    var model: NamedPathLoss { pathLoss ?? .usual }
    /// The standard deviation of the shadowing in dB, or its default.
    var shadowing: Double { shadowingDb ?? 4 }

    /// The distance at which half of the beacons are received. Throws an error if the model has no finite range.
    var range: PlannedRange {
        get throws {
            try PlannedRange(radioPower: radioPower, sensitivity: sensitivity, pathLoss: model, shadowing: shadowing)
        }
    }
}
