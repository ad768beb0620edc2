internal import BluetoothTypes
internal import HCI

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
