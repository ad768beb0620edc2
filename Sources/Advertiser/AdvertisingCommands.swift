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

extension HCICommandError {
    /// The controller lives, and does not do what was asked: a beacon can go on without.
    var isRefusal: Bool {
        switch self {
        case .refused, .malformedReturn: true
        case .noAnswer, .notAccepted, .channel: false
        }
    }

    /// The same for vendors' commands, to which some controllers do not answer at all.
    var isVendorsRefusal: Bool {
        if case .noAnswer = self { return true }
        return isRefusal
    }
}

extension HCIHost {
    /// Executes a command that a beacon can do without: `nil` where the controller does not do it.
    func executeOptional<C: HCICommand>(_ command: C) throws(HCICommandError) -> C.ReturnParameters? {
        do throws(HCICommandError) {
            return try execute(command)
        } catch {
            guard C.opcode.isVendorSpecific ? error.isVendorsRefusal : error.isRefusal else { throw error }
            return nil
        }
    }

    /// Executes `command`, taking a refusal with one of `statuses` for success.
    func execute(_ command: some HCICommand, tolerating statuses: HCIStatus...) throws(HCICommandError) {
        do throws(HCICommandError) {
            _ = try execute(command)
        } catch {
            guard let status = error.status, statuses.contains(status) else { throw error }
        }
    }
}
