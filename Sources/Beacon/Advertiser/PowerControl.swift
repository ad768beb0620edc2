public import BluetoothTypes
internal import HCI

/// The command that sets a controller's transmit power.
///
/// There is no standard command that sets the power of legacy advertising, and vendors use the same opcodes for
/// different commands. So a vendor command is sent only to a controller of that vendor.
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
            return try hasZephyrPowerCommands(host) ? .zephyr : .none
        default:
            return .none
        }
    }

    /// Returns true if this build of Zephyr has the power commands, according to its list of commands.
    private static func hasZephyrPowerCommands(_ host: HCIHost) throws(HCICommandError) -> Bool {
        guard try host.executeOptional(ZephyrReadVersionInformation()) != nil else { return false }
        return try host.executeOptional(ZephyrReadSupportedCommands())?.setsTxPower ?? false
    }

    /// The message for ``none``: the reason, and what the user can do.
    static let noneExplanation =
        "this controller has no extended advertising and no known vendor command; "
        + "use a controller with extended advertising, or a Zephyr board as --adapter serial:PATH"
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

/// Sets the transmit power of legacy advertising with a vendor command. If the controller refuses, the result contains
/// the reason, and the beacon continues.
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
                return .unverified(requested: power, reported: nil)
            case .extendedAdvertising, .none:
                return .notSettable(reason: PowerControl.noneExplanation, reported: nil)
            }
        } catch HCICommandError.refused(_, _, let status) {
            return .notSettable(reason: "\(power) was refused: \(status)", reported: nil)
        } catch HCICommandError.noAnswer {
            return .notSettable(reason: "the controller did not answer the vendor command", reported: nil)
        } catch let error as HCICommandError where error.isRefusal {
            return .notSettable(reason: "\(error)", reported: nil)
        }
    }

    /// Restores the controller's own power if this is possible. Broadcom's command has no value for this, so the power
    /// stays until the next reset.
    func restoreDefault(_ host: HCIHost) throws {
        if control == .zephyr { _ = try host.execute(ZephyrWriteTxPowerLevel(power: .noPreference)) }
    }
}

/// The radio power in use, and how it was determined.
public enum RadioPowerGrant: Hashable, Sendable {
    /// The controller selected this power and reported it (LE Set Extended Advertising Parameters, Zephyr's command).
    case granted(RadioPower)
    /// No power was requested; the controller reported the power that it uses.
    case reported(RadioPower)
    /// A vendor command was accepted, but afterwards the controller reports another power, or none.
    case unverified(requested: RadioPower, reported: RadioPower?)
    /// The power cannot be set; `reason` says why. `reported` is the controller's own power; `nil` if it reports none.
    case notSettable(reason: String, reported: RadioPower?)
    /// No power was requested, and the controller reported none.
    case unknown

    /// The power that is used with a calibration; `nil` if unknown.
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
        case .unverified(let requested, nil): "\(requested) accepted, cannot be read back: unverified"
        case .unverified(let requested, let reported?): "\(requested) accepted, but \(reported) read back: unverified"
        case .notSettable(let reason, nil): "cannot be set: \(reason)"
        case .notSettable(let reason, let reported?): "\(reported), cannot be set: \(reason)"
        case .unknown: "unknown: the controller does not report it"
        }
    }
}
