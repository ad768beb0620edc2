public import BluetoothTypes
internal import HCI

/// The way by which a controller's transmit power can be set, if there is one.
///
/// There is no standard command for legacy advertising, and vendors' opcodes collide, so a vendor command is only
/// ever sent to a controller whose manufacturer is known to understand it.
public enum PowerControl: Hashable, Sendable {
    /// The Advertising_TX_Power parameter of LE Set Extended Advertising Parameters.
    case extendedAdvertising
    /// Zephyr's vendor commands 0xFC0E and 0xFC0F (zephyr/include/zephyr/bluetooth/hci_vs.h).
    case zephyr
    /// Broadcom's and Cypress' vendor command 0xFC26.
    case broadcom
    case none

    static func find(
        for capabilities: ControllerCapabilities, host: HCIHost
    ) throws(HCICommandError) -> PowerControl {
        if capabilities.hasExtendedAdvertising { return .extendedAdvertising }
        switch capabilities.manufacturer {
        case .broadcom, .cypress:
            return .broadcom
        case .nordic, .linuxFoundation:
            return try answersZephyr(host) ? .zephyr : .none
        default:
            return .none
        }
    }

    /// Zephyr's own version and command list say whether this build has the power commands.
    private static func answersZephyr(_ host: HCIHost) throws(HCICommandError) -> Bool {
        guard try host.executeOptional(ZephyrReadVersionInformation()) != nil else { return false }
        return try host.executeOptional(ZephyrReadSupportedCommands())?.setsTxPower ?? false
    }

    /// Why nothing can be done, with what could be, for ``none``.
    static let noWay =
        "this controller has no extended advertising and no known vendor command; "
        + "a controller with extended advertising, or a Zephyr board over serial:, can"
}

extension PowerControl: CustomStringConvertible {
    public var description: String {
        switch self {
        case .extendedAdvertising: "extended advertising"
        case .zephyr: "vendor command (Zephyr)"
        case .broadcom: "vendor command (Broadcom), unverified"
        case .none: "none"
        }
    }
}

/// Transmit power by a vendor's command, for legacy advertising. A refusal never stops the beacon: it is reported.
struct VendorPower {
    private let control: PowerControl

    init(_ control: PowerControl) {
        self.control = control
    }

    func set(_ power: RadioPower, _ host: HCIHost) throws -> RadioPowerGrant {
        do {
            switch control {
            case .zephyr:
                return .granted(try host.execute(ZephyrWriteTxPowerLevel(power: power)).power)
            case .broadcom:
                _ = try host.execute(BroadcomSetTransmitPower(power: power))
                return .unverified(asked: power, reported: nil)
            case .extendedAdvertising, .none:
                return .notSettable(reason: PowerControl.noWay, reported: nil)
            }
        } catch HCICommandError.refused(_, _, let status) {
            return .notSettable(reason: "\(power) was refused: \(status)", reported: nil)
        } catch HCICommandError.noAnswer {
            return .notSettable(reason: "the controller did not answer the vendor command", reported: nil)
        } catch let error as HCICommandError where error.isRefusal {
            return .notSettable(reason: "\(error)", reported: nil)
        }
    }

    /// Back to the controller's own choice, where there is a value for that. Broadcom's command has none: its level
    /// stays until the next reset.
    func giveBack(_ host: HCIHost) throws {
        if control == .zephyr { _ = try host.execute(ZephyrWriteTxPowerLevel(power: .noPreference)) }
    }
}

/// What is known of the power that the radio really sends with.
public enum RadioPowerGrant: Hashable, Sendable {
    /// The controller selected this level and says so (LE Set Extended Advertising Parameters, Zephyr's vendor command).
    case granted(RadioPower)
    /// Nothing was asked for; the controller reports this level of its own.
    case reported(RadioPower)
    /// A vendor command was accepted, but what can be read back does not follow it.
    case unverified(asked: RadioPower, reported: RadioPower?)
    /// This controller's power cannot be set: why, and how it could be. With what it reports, if it does.
    case notSettable(reason: String, reported: RadioPower?)
    /// Nothing was asked for, and the controller tells nothing.
    case unknown

    /// The level to look a calibration up with; `nil` where none is known.
    public var power: RadioPower? {
        switch self {
        case .granted(let power), .reported(let power): power
        case .unverified(_, let reported): reported
        case .notSettable(_, let reported): reported
        case .unknown: nil
        }
    }
}

extension RadioPowerGrant: CustomStringConvertible {
    public var description: String {
        switch self {
        case .granted(let power): "\(power) granted"
        case .reported(let power): "\(power), the controller's own choice"
        case .unverified(let asked, nil): "\(asked) accepted, cannot be read back: unverified"
        case .unverified(let asked, let reported?): "\(asked) accepted, but \(reported) read back: unverified"
        case .notSettable(let reason, nil): "cannot be set: \(reason)"
        case .notSettable(let reason, let reported?): "\(reported), cannot be set: \(reason)"
        case .unknown: "unknown: the controller does not tell"
        }
    }
}
