internal import Advertiser
internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity
internal import LinuxHost

struct Encode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Builds a payload and prints its octets.",
        subcommands: [
            EncodeFrame<IBeaconOptions>.self, EncodeFrame<AltBeaconOptions>.self, EncodeFrame<UIDOptions>.self,
            EncodeFrame<URLOptions>.self, EncodeFrame<TLMOptions>.self, EncodeFrame<EIDOptions>.self,
            EncodeFrame<RawOptions>.self,
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
        do {
            return try source.payload(elapsed: 0, events: 0, radioPower: nil, salt: live.salt ?? 0)
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }
}

extension PayloadSource {
    /// From what the command line says about key, clock and counters.
    init(_ advertisement: Advertisement, live: LiveOptions) {
        self.init(
            advertisement, identityKey: live.identityKey.map { IdentityKey($0) },
            eidTimeAtStart: live.eidTime ?? IdentityKey.firstCounter,
            countersAtStart: TelemetryCounters(
                advertisements: live.advertisements, uptimeDeciseconds: live.uptimeDeciseconds),
            firstSalt: live.salt)
    }
}

extension AdvertisingInterval {
    /// 100 ms, Apple's interval for iBeacons and the shortest that every controller takes.
    static let defaultForCommandLine = AdvertisingInterval(rawValue: 160)
}
