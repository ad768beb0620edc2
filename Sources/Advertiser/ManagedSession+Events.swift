internal import BluetoothTypes
public import HCI

/// What the kernel says of the adapter and of our instances.
extension ManagedSession {
    /// Takes what the kernel has said by itself.
    ///
    /// - Throws: `ended` when it says that ours are off the air.
    public func handle(_ event: ManagementEvent) throws(AdvertisingError) {
        guard event.index == plan.index else { return }
        switch event.content {
        case .indexRemoved:
            throw lost(.adapterGone, "the adapter was unplugged, or a program took its user channel")
        case .newSettings(let settings) where !settings.contains(.powered):
            throw lost(.poweredDown, "the adapter was powered down")
        case .newSettings(let settings) where !settings.contains(.lowEnergy):
            throw lost(.foreignDisabled, "LE was turned off")
        case .newSettings(let settings) where settings.contains(.advertising):
            throw lost(
                .foreignDisabled, "a program turned the adapter's own advertising on, which keeps ours off the air")
        case .advertisingRemoved(let instance) where added.contains { $0.number == instance }:
            added.removeAll { $0.number == instance }
            throw lost(
                .foreignDisabled,
                "advertising instance \(instance) was removed, by another program or with the adapter's power")
        case .advertisingAdded(let instance) where added.contains { $0.number == instance }:
            // It is theirs now, and must not be removed.
            added.removeAll { $0.number == instance }
            throw lost(.foreignChanged, "another program took advertising instance \(instance)")
        case .controllerError(let code):
            throw lost(
                .hardwareError, "the controller reports a hardware error (\(Hexadecimal.number(code, width: 2)))")
        default:
            return
        }
    }

    private func lost(_ cause: SupervisorCause, _ text: String) -> AdvertisingError {
        .ended(cause, "hci\(plan.index):mgmt: \(text)")
    }
}
