internal import Advertiser
internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import EddystoneSecurity
internal import LinuxHost
internal import Listener

struct Encode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode", abstract: "Build a payload and print its bytes.",
        subcommands: [
            EncodeFrame<IBeaconOptions>.self, EncodeFrame<AltBeaconOptions>.self, EncodeFrame<UIDOptions>.self,
            EncodeFrame<URLOptions>.self, EncodeFrame<TLMOptions>.self, EncodeFrame<EIDOptions>.self,
            EncodeFrame<BTHomeOptions>.self, EncodeFrame<RawOptions>.self,
        ])
}

struct EncodeFrame<Frame: FrameOptions>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Frame.frameName, abstract: "Encode \(Frame.title).", aliases: Frame.otherNames)
    }

    @OptionGroup var frame: Frame

    @Option(
        help: ArgumentHelp(
            "Output format: hex, json, hcitool, c or swift.",
            discussion: "The commands of hcitool send from the public address."))
    var format: PayloadFormat = .hex

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Advertising interval in the commands of hcitool, 20 ms...10.24 s (default: 100). Controllers before Bluetooth 5 "
                + "refuse less than 100 ms.", valueName: "ms"),
        transform: { try OptionValue.interval($0, in: AdvertisingInterval.legacyRange, called: "20 ms...10.24 s") })
    var intervalMs: RequestedInterval?

    @Option(
        help: ArgumentHelp(
            "Encode for extended PDUs on this PHY, which hold up to 1650 bytes (default: legacy PDUs, 31 bytes): "
                + "\(OptionValue.phyNames.joined(separator: ", ")).", valueName: "phy"),
        completion: .list(OptionValue.phyNames), transform: OptionValue.phy)
    var phy: ExtendedPHY?

    @Flag(help: "Explain each byte.")
    var explain = false

    func validate() throws {
        try frame.validateForEncoding()
        if phy == nil, case .raw(let data) = try frame.content() { try AdvertisingData.checkLegacy(data.octets.count) }
        if explain && format != .hex {
            throw ValidationError("--explain prints a table for people: use it with --format hex.")
        }
        if phy != nil, format == .hcitool {
            throw ValidationError(
                "--phy: --format hcitool prints commands for legacy PDUs; `pharos advertise --dry-run` "
                    + "prints commands for extended PDUs.")
        }
        if intervalMs != nil, format != .hcitool {
            throw ValidationError("--interval-ms needs --format hcitool: a payload does not contain its interval.")
        }
    }

    func run() throws {
        let data = try frame.payload()
        let text: String
        do {
            text = try format.text(data, interval: intervalMs?.interval ?? .nonconnectableMinimumBefore5)
        } catch {
            throw Failure(.usage, "\(error)")
        }
        frame.reportTypicalPower()
        Terminal.write(text + "\n")
        if explain { Terminal.show("\n" + PayloadDescription.table(of: data)) }
    }
}

extension FrameOptions {
    /// Returns the payload that the options describe. The options also contain the time and the counters of the
    /// payload.
    func payload() throws -> AdvertisingData {
        let live = try liveOptions()
        let advertisement = Advertisement(
            content: try content(), interval: AdvertisingInterval(rawValue: 160),
            measuredPower: try measuredPowerRule(),
            address: live.deviceAddress.map { .staticRandom($0) } ?? .public)
        let moment = PayloadSource.Moment(
            counters: live.counters, eidTime: live.eidTime ?? IdentityKey.firstCounter, salt: live.salt ?? 0,
            packet: live.counter ?? 0)
        do {
            return try PayloadSource(advertisement, live: live).payload(moment)
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }
}
