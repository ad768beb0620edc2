internal import BluetoothTypes
internal import HCI

/// The steps that both command families know, in the order in which a beacon takes them: configure, data, enable.
///
/// Data stands before enabling, so that no stale payload is ever on the air.
protocol AdvertisingCommands {
    /// Sets address, parameters and radio power. Advertising is off afterwards, whatever it was before.
    func configure(_ plan: AdvertisingPlan, _ host: HCIHost) throws(AdvertisingError) -> RadioPowerGrant
    /// Replaces the data in place; used from the next advertising event on.
    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(AdvertisingError)
    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(AdvertisingError)
    func enable(_ host: HCIHost) throws(AdvertisingError)
    /// No error when it was off already: controllers disagree on what to answer then.
    func disable(_ host: HCIHost) throws(AdvertisingError)
    /// After ``disable(_:)``: gives back what the controller kept for us.
    func release(_ plan: AdvertisingPlan, _ host: HCIHost) throws(AdvertisingError)
}

extension HCIHost {
    /// Executes `command`, taking a refusal with one of `statuses` for success.
    func execute(_ command: some HCICommand, tolerating statuses: HCIStatus...) throws(HCICommandError) {
        do throws(HCICommandError) {
            _ = try execute(command)
        } catch {
            guard let status = error.status, statuses.contains(status) else { throw error }
        }
    }
}
