public import BluetoothTypes
public import HCI

/// The properties of the real controller that a virtual controller imitates.
///
/// Only LE is simulated. The BR/EDR functions of a dual-mode chip are missing.
public struct VirtualControllerModel: Hashable, Sendable {
    /// The vendor whose commands the controller supports.
    public enum Vendor: Hashable, Sendable {
        case none
        /// 0xFC26 sets the power of LE advertising.
        case broadcom
        /// 0xFC01 and 0xFC02 identify the controller, 0xFC0E and 0xFC0F set and read the power.
        case zephyr
    }

    /// The name of the model, as the option `--like` accepts it.
    public var name: String
    public var version: HCIVersion
    public var company: CompanyIdentifier
    public var revision: UInt16 = 0
    public var features: LEFeatures
    /// The number of advertising sets that the host can create with extended commands.
    public var advertisingSets = 0
    /// The maximum number of data bytes in an advertising set.
    public var maximumDataLength = 1650
    /// The transmit powers of the radio, in ascending order.
    public var powerLevels: [RadioPower]
    /// The default transmit power.
    public var defaultPower: RadioPower
    public var knowsReadTransmitPower = false
    public var vendor = Vendor.none
    /// `true` if the controller refuses to disable legacy advertising that is not enabled (status 0x0C), although the
    /// specification allows it.
    public var refusesDisablingTwice = false
    /// `true` if the controller supports Write LE Host Supported, as dual-mode chips do.
    public var isDualMode = false

    /// A controller with these properties. Each parameter sets the property of the same name.
    public init(
        name: String, version: HCIVersion, company: CompanyIdentifier, features: LEFeatures, powerLevels: [Int8],
        defaultPower: Int8
    ) {
        self.name = name
        self.version = version
        self.company = company
        self.features = features
        self.powerLevels = powerLevels.sorted().map { RadioPower(octet: UInt8(bitPattern: $0)) }
        self.defaultPower = RadioPower(octet: UInt8(bitPattern: defaultPower))
    }

    public var hasExtendedAdvertising: Bool { features.contains(.extendedAdvertising) }

    /// The shortest interval of a non-connectable or scannable legacy advertiser: 100 ms before Core 5.0.
    public var shortestNonconnectableInterval: AdvertisingInterval {
        version < .core50 ? .nonconnectableMinimumBefore5 : AdvertisingInterval.legacyRange.lowerBound
    }

    /// Returns the highest power level that is not above `wanted`; the lowest level if all levels are above it.
    func level(for wanted: RadioPower) -> RadioPower {
        if wanted == .noPreference { return defaultPower }
        return powerLevels.last { $0 <= wanted } ?? powerLevels.first ?? defaultPower
    }
}

extension VirtualControllerModel {
    /// The Broadcom chip of a Raspberry Pi 4: Core 5.0, but with only one legacy advertiser.
    public static let raspberryPi: Self = {
        var model = Self(
            name: "raspberry-pi", version: .core50, company: .broadcom, features: LEFeatures(rawValue: 0x0800_003F),
            powerLevels: [-16, -12, -8, -4, 0, 4, 8, 12], defaultPower: 12)
        model.vendor = .broadcom
        model.refusesDisablingTwice = true
        model.isDualMode = true
        return model
    }()

    /// The controller of the Zephyr project on a Nordic chip.
    public static let zephyr: Self = {
        var model = Self(
            name: "zephyr", version: .core54, company: .linuxFoundation,
            features: [
                .extendedAdvertising, .le2MPHY, .leCodedPHY, .dataPacketLengthExtension, .channelSelectionAlgorithm2,
                .advertisingCodingSelection,
            ],
            powerLevels: [-40, -20, -16, -12, -8, -4, 0, 2, 3, 4, 5, 6, 7, 8], defaultPower: 0)
        model.advertisingSets = 4
        model.knowsReadTransmitPower = true
        model.vendor = .zephyr
        return model
    }()

    /// The Intel AX2xx chip of a laptop.
    public static let intel: Self = {
        var model = Self(
            name: "intel", version: .core53, company: .intel,
            features: [
                .extendedAdvertising, .le2MPHY, .leCodedPHY, .dataPacketLengthExtension, .channelSelectionAlgorithm2,
            ],
            powerLevels: Array(-34...7), defaultPower: 7)
        model.advertisingSets = 12
        model.knowsReadTransmitPower = true
        model.isDualMode = true
        return model
    }()

    /// A USB adapter from the time before Core 5.0. Its intervals for non-connectable advertising are at least 100 ms,
    /// and its power cannot be set.
    public static let core4: Self = {
        var model = Self(
            name: "core-4", version: .core42, company: .cambridgeSiliconRadio, features: [], powerLevels: [0],
            defaultPower: 0)
        model.isDualMode = true
        return model
    }()

    public static let all = [raspberryPi, zephyr, intel, core4]

    /// The model with this name, as for the option `--like`; `nil` for other names.
    public init?(named name: String) {
        guard let model = Self.all.first(where: { $0.name == name }) else { return nil }
        self = model
    }
}
