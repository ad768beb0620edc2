internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes

struct IBeaconOptions: FrameOptions {
    static let frameName = "ibeacon"
    static let title = "an iBeacon"

    @Option(
        help: ArgumentHelp("Proximity UUID, with or without dashes.", valueName: "uuid"), transform: OptionValue.uuid)
    var uuid: FixedOctets<16>

    @Option(
        parsing: .unconditional, help: ArgumentHelp("0...65535.", valueName: "number"), transform: OptionValue.uint16)
    var major: UInt16

    @Option(
        parsing: .unconditional, help: ArgumentHelp("0...65535.", valueName: "number"), transform: OptionValue.uint16)
    var minor: UInt16

    @OptionGroup var power: OneMeterPowerOption

    @Option(
        help: ArgumentHelp(
            "Flags octet (default: 0x06; 0x1a and 0x04 are also in use), or none.", valueName: "octet"),
        transform: OptionValue.flags)
    var flags: OptionValue.Flags = .octet(.beacon)

    func content() -> Advertisement.Content {
        .iBeacon(uuid: uuid, major: major, minor: minor, flags: flags.value)
    }

    func measuredPowerRule() -> MeasuredPowerRule { power.rule }
}

struct AltBeaconOptions: FrameOptions {
    static let frameName = "altbeacon"
    static let title = "an AltBeacon"

    @Option(
        help: ArgumentHelp("Company identifier, such as 0x0118.", valueName: "number"), transform: OptionValue.uint16)
    var companyId: UInt16

    @Option(help: ArgumentHelp("Beacon id, 40 hexadecimal digits.", valueName: "hex"), transform: OptionValue.beaconID)
    var id: FixedOctets<20>

    @OptionGroup var power: OneMeterPowerOption

    @Option(
        help: ArgumentHelp("Octet reserved for the manufacturer.", valueName: "octet"),
        transform: OptionValue.uint8)
    var reserved: UInt8 = 0

    @Option(
        help: ArgumentHelp("Flags octet (default: 0x06), or none.", valueName: "octet"),
        transform: OptionValue.flags)
    var flags: OptionValue.Flags = .octet(.beacon)

    func content() -> Advertisement.Content {
        .altBeacon(companyID: companyId, beaconID: id, reserved: reserved, flags: flags.value)
    }

    func measuredPowerRule() -> MeasuredPowerRule { power.rule }
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
        do { return .raw(try AdvertisingData(structure)) } catch { throw ValidationError("\(error).") }
    }

    func measuredPowerRule() -> MeasuredPowerRule { .none }
}
