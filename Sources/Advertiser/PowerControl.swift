internal import BluetoothTypes
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
