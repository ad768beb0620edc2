internal import Advertiser
internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import EddystoneSecurity
internal import LinuxHost
internal import Profiles

/// The options for one kind of frame. `encode` and `advertise` have the same frame options.
protocol FrameOptions: ParsableArguments {
    /// The subcommand's name, such as `ibeacon`.
    static var frameName: String { get }
    /// The frame in words, for the abstracts of the commands.
    static var title: String { get }

    /// The content to send.
    func content() throws -> Advertisement.Content
    func measuredPowerRule() throws -> MeasuredPowerRule
    /// True if the frame has a measured power that the options do not give, so that a typical value is used.
    var hasTypicalPower: Bool { get }
    /// Returns the key, the clock and the counters, which only payloads that depend on time need. The default
    /// implementation returns none of them.
    func liveOptions() throws -> LiveOptions
    /// Throws an error if the options lack a value that only `encode` needs, such as the time: `encode` makes the
    /// payload of one moment, whereas `advertise` uses its own clock and counters.
    func validateForEncoding() throws
}

/// The key, the clock and the counters for payloads that depend on time.
struct LiveOptions {
    var identityKey: IdentityKey?
    var eidTime: UInt32?
    var salt: UInt16?
    var advertisements: UInt32 = 0
    var uptimeDeciseconds: UInt32 = 0
    /// The counter of the first packet, for encrypted BTHome.
    var counter: UInt32?
    /// The address of the sender, for encrypted BTHome.
    var deviceAddress: DeviceAddress?
}

extension MeasuredPowerRule {
    /// The typical measured power, for a beacon that is not calibrated.
    static let typical = MeasuredPowerRule.atOneMeter(BeaconProfile.typicalMeasuredPower)
}

extension FrameOptions {
    var hasTypicalPower: Bool { false }

    /// The aliases of the subcommand: the frame's name in profiles, such as `eddystone-uid`, if it differs from the
    /// subcommand's name.
    static var otherNames: [String] {
        FrameKind.allCases.map(\.rawValue).filter { $0 == "eddystone-" + frameName }
    }

    /// Warns on standard error if the measured power is a typical value and not a measurement.
    func reportTypicalPower() {
        guard hasTypicalPower else { return }
        Terminal.writeMessage(
            "the measured power is typical (\(BeaconProfile.typicalMeasuredPower)), not measured, so distances are "
                + "rough; `pharos calibrate` measures it")
    }

    func liveOptions() throws -> LiveOptions { LiveOptions() }
    func validateForEncoding() throws {}
}

extension MeasuredPowerAtOneMeter {
    // The help of the option for iBeacon and AltBeacon.
    fileprivate static let help = ArgumentHelp(
        "Level at 1 m, -127...0 dBm, from which receivers estimate the distance (default: -59, a typical value).",
        valueName: "dBm")
}

/// The options for the measured power of Eddystone frames: at 0 m, or at 1 m, to which 41 dB are added.
struct ZeroMeterPowerOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Level at 0 m, -100...20 dBm, which is sent as a byte (default: -18, a typical value).", valueName: "dBm"),
        transform: OptionValue.powerAtZeroMeters)
    var measuredPowerDbm: MeasuredPowerAtZeroMeters?

    @Option(
        name: .customLong("measured-power-1m-dbm"), parsing: .unconditional,
        help: ArgumentHelp("Level at 1 m instead of 0 m; the byte in the packet is 41 dB higher.", valueName: "dBm"),
        transform: OptionValue.powerAtOneMeter)
    var measuredPowerAtOneMeter: MeasuredPowerAtOneMeter?

    func validate() throws {
        switch (measuredPowerDbm, measuredPowerAtOneMeter) {
        case (_?, _?):
            throw ValidationError("Give --measured-power-dbm or --measured-power-1m-dbm, not both.")
        case (nil, let power?):
            do { _ = try power.atZeroMeters() } catch { throw ValidationError("\(error)") }
        default: break
        }
    }

    var rule: MeasuredPowerRule {
        if let measuredPowerDbm { return .atZeroMeters(measuredPowerDbm) }
        return measuredPowerAtOneMeter.map { .atOneMeter($0) } ?? .typical
    }

    var isTypical: Bool { measuredPowerDbm == nil && measuredPowerAtOneMeter == nil }
}

extension PayloadSource {
    /// The source of a payload, with the key and the counters of the command line.
    init(_ advertisement: Advertisement, live: LiveOptions) {
        self.init(
            advertisement, identityKey: live.identityKey, firstSalt: live.salt,
            firstPacket: live.counter ?? LoadedProfile.firstPacket)
    }
}

extension LiveOptions {
    /// The values with which the telemetry counters start.
    var counters: TelemetryCounters {
        TelemetryCounters(advertisements: advertisements, uptimeDeciseconds: uptimeDeciseconds)
    }
}

struct IBeaconOptions: FrameOptions {
    static let frameName = "ibeacon"
    static let title = "an iBeacon"

    @Option(
        help: ArgumentHelp("Proximity UUID, with or without dashes.", valueName: "uuid"), transform: OptionValue.uuid)
    var uuid: FixedOctets<16>

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Major, 0...65535.", valueName: "number"),
        transform: OptionValue.uint16)
    var major: UInt16

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Minor, 0...65535.", valueName: "number"),
        transform: OptionValue.uint16)
    var minor: UInt16

    @Option(parsing: .unconditional, help: MeasuredPowerAtOneMeter.help, transform: OptionValue.powerAtOneMeter)
    var measuredPowerDbm: MeasuredPowerAtOneMeter?

    @Option(
        help: ArgumentHelp(
            "Flags byte, or none (default: 0x06; other beacons also send 0x1a or 0x04).", valueName: "byte"),
        completion: .list(["none", "0x06", "0x1a", "0x04"]), transform: OptionValue.flags)
    var flags: OptionValue.Flags = .octet(.beacon)

    func content() -> Advertisement.Content {
        .iBeacon(uuid: uuid, major: major, minor: minor, flags: flags.value)
    }

    func measuredPowerRule() -> MeasuredPowerRule { measuredPowerDbm.map { .atOneMeter($0) } ?? .typical }

    var hasTypicalPower: Bool { measuredPowerDbm == nil }
}

struct AltBeaconOptions: FrameOptions {
    static let frameName = "altbeacon"
    static let title = "an AltBeacon"

    @Option(
        help: ArgumentHelp("Company identifier, such as 0x0118.", valueName: "number"), transform: OptionValue.uint16)
    var companyId: UInt16

    @Option(help: ArgumentHelp("Beacon id, 40 hexadecimal digits.", valueName: "hex"), transform: OptionValue.beaconID)
    var id: FixedOctets<20>

    @Option(parsing: .unconditional, help: MeasuredPowerAtOneMeter.help, transform: OptionValue.powerAtOneMeter)
    var measuredPowerDbm: MeasuredPowerAtOneMeter?

    @Option(
        help: ArgumentHelp("Byte reserved for the manufacturer.", valueName: "byte"),
        transform: OptionValue.uint8)
    var reserved: UInt8 = 0

    @Option(
        help: ArgumentHelp("Flags byte (default: 0x06), or none.", valueName: "byte"),
        completion: .list(["none", "0x06"]), transform: OptionValue.flags)
    var flags: OptionValue.Flags = .octet(.beacon)

    func content() -> Advertisement.Content {
        .altBeacon(companyID: companyId, beaconID: id, reserved: reserved, flags: flags.value)
    }

    func measuredPowerRule() -> MeasuredPowerRule { measuredPowerDbm.map { .atOneMeter($0) } ?? .typical }

    var hasTypicalPower: Bool { measuredPowerDbm == nil }
}

struct RawOptions: FrameOptions {
    static let frameName = "raw"
    static let title = "any AD structures"

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "AD structures: type and data, such as 0x09:4e64654d31 ff:4c000215. May be repeated.",
            valueName: "type:hex"),
        transform: RawOptions.parse)
    var structure: [ADStructure] = []

    private static func parse(_ text: String) throws -> ADStructure {
        guard let colon = text.firstIndex(of: ":") else {
            throw Mistake("write TYPE:HEX, the type in hexadecimal, such as 09:4e64654d31")
        }
        let digits = text[..<colon]
        let type = digits.hasPrefix("0x") || digits.hasPrefix("0X") ? digits.dropFirst(2) : digits
        guard !type.isEmpty, type.allSatisfy(\.isHexDigit), let number = UInt8(type, radix: 16) else {
            throw Mistake("the type before the colon has one or two hexadecimal digits")
        }
        return ADStructure(ADType(rawValue: number), try OptionValue.octets(String(text[text.index(after: colon)...])))
    }

    func validate() throws {
        if structure.isEmpty { throw ValidationError("Give at least one --structure TYPE:HEX.") }
        _ = try content()
    }

    func content() throws -> Advertisement.Content {
        // This only checks the limit of extended advertising. The radio options check that the chosen PDU has room for
        // the data.
        do {
            return .raw(try AdvertisingData(structure, limit: AdvertisingData.extendedLimit))
        } catch {
            throw ValidationError("\(error).")
        }
    }

    func measuredPowerRule() -> MeasuredPowerRule { .none }
}
