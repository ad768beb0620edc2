internal import Advertiser
internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity
internal import LinuxHost

struct Encode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode", abstract: "Build a payload and print its octets.", subcommands: frames.types)

    private static let frames = Subcommands(
        below: "encode",
        entries: [
            ("ibeacon", { EncodeFrame<IBeaconOptions>.self }), ("altbeacon", { EncodeFrame<AltBeaconOptions>.self }),
            ("uid", { EncodeFrame<UIDOptions>.self }), ("url", { EncodeFrame<URLOptions>.self }),
            ("tlm", { EncodeFrame<TLMOptions>.self }), ("eid", { EncodeFrame<EIDOptions>.self }),
            ("raw", { EncodeFrame<RawOptions>.self }),
        ])
}

struct EncodeFrame<Frame: FrameOptions>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Frame.frameName, abstract: Frame.abstract)
    }

    @OptionGroup var frame: Frame

    @Option(help: "How to write it: hex, json, hcitool, c or swift.")
    var format: PayloadFormat = .hex

    @Flag(help: "Tell what each octet means.")
    var explain = false

    func validate() throws {
        try frame.validateForEncoding()
        if explain && format != .hex {
            throw ValidationError("--explain goes with --format hex only: its table would spoil what a program reads.")
        }
    }

    func run() throws {
        let data = try frame.payload()
        Terminal.write(format.text(data) + "\n" + (explain ? "\n" + Explanation.table(data) : ""))
    }
}

extension FrameOptions {
    /// The octets that the options describe.
    func payload() throws -> AdvertisingData {
        let advertisement = Advertisement(
            content: try content(), interval: .defaultForCommandLine, measuredPower: try measuredPowerRule(),
            address: .public)
        let live = try liveOptions()
        let source = PayloadSource(advertisement, live: live)
        let moment = PayloadSource.Moment(
            counters: live.counters, eidTime: live.eidTime ?? IdentityKey.firstCounter, salt: live.salt ?? 0)
        do {
            return try source.payload(moment)
        } catch {
            throw Failure(.usage, "\(error)")
        }
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

extension AdvertisingInterval {
    /// 100 ms, Apple's interval for iBeacons and the shortest that every controller takes.
    static let defaultForCommandLine = AdvertisingInterval(rawValue: 160)
}
