internal import Advertiser
internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity

/// The options that describe one kind of frame: the same for `encode` and for `advertise`.
protocol FrameOptions: ParsableArguments {
    /// The subcommand's name, such as `ibeacon`.
    static var frameName: String { get }
    /// The frame with its article and content, as part of the commands' abstracts.
    static var title: String { get }

    /// What is to be sent, before a controller is known.
    func content() throws -> Advertisement.Content
    func measuredPowerRule() throws -> MeasuredPowerRule
    /// What a payload that changes while it is on the air is made from; the defaults are those of fixed payloads.
    func liveOptions() throws -> LiveOptions
    /// Whether the options give all that ``LiveOptions`` needs to make the payload of one moment.
    func validateForEncoding() throws
}

/// Key, clock and counters that the payload is made from.
struct LiveOptions {
    var identityKey: IdentityKey?
    var eidTime: UInt32?
    var salt: UInt16?
    var advertisements: UInt32 = 0
    var uptimeDeciseconds: UInt32 = 0
}

extension FrameOptions {
    func liveOptions() throws -> LiveOptions { LiveOptions() }
    func validateForEncoding() throws {}
}

/// Measured power at 1 m: iBeacon and AltBeacon.
struct OneMeterPowerOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Signal strength at 1 m, -127...0 dBm: receivers estimate distances from it.", valueName: "dBm"),
        transform: OptionValue.powerAtOneMeter)
    var measuredPowerDbm: MeasuredPowerAtOneMeter

    var rule: MeasuredPowerRule { .atOneMeter(measuredPowerDbm) }
}

/// Measured power of Eddystone frames: at 0 m, or at 1 m with 41 dB added.
struct ZeroMeterPowerOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Signal strength at 0 m, -100...20 dBm: the octet that is sent.", valueName: "dBm"),
        transform: OptionValue.powerAtZeroMeters)
    var measuredPowerDbm: MeasuredPowerAtZeroMeters?

    @Option(
        name: .customLong("measured-power-1m-dbm"), parsing: .unconditional,
        help: ArgumentHelp("Signal strength at 1 m instead; 41 dB more is sent.", valueName: "dBm"),
        transform: OptionValue.powerAtOneMeter)
    var measuredPowerAtOneMeter: MeasuredPowerAtOneMeter?

    func validate() throws {
        switch (measuredPowerDbm, measuredPowerAtOneMeter) {
        case (nil, nil):
            throw ValidationError(
                "Give the measured power: --measured-power-dbm (at 0 m) or --measured-power-1m-dbm (at 1 m).")
        case (_?, _?):
            throw ValidationError("Give --measured-power-dbm or --measured-power-1m-dbm, not both.")
        case (nil, let power?):
            do { _ = try power.atZeroMeters() } catch { throw ValidationError("\(error)") }
        default: break
        }
    }

    var rule: MeasuredPowerRule {
        if let measuredPowerDbm { return .atZeroMeters(measuredPowerDbm) }
        return measuredPowerAtOneMeter.map { .atOneMeter($0) } ?? .none
    }
}

extension PayloadSource {
    /// From what the command line says about the key.
    init(_ advertisement: Advertisement, live: LiveOptions) {
        self.init(advertisement, identityKey: live.identityKey, firstSalt: live.salt)
    }
}

extension LiveOptions {
    /// What telemetry starts to count from.
    var counters: TelemetryCounters {
        TelemetryCounters(advertisements: advertisements, uptimeDeciseconds: uptimeDeciseconds)
    }
}
