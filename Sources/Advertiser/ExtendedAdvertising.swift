internal import BluetoothTypes
internal import HCI

/// The extended family, sending legacy PDUs from one set, so that every phone hears them.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.52...7.8.59.
struct ExtendedAdvertising: AdvertisingCommands {
    let handle: UInt8

    func configure(_ plan: AdvertisingPlan, _ host: HCIHost) throws(AdvertisingError) -> RadioPowerGrant {
        // A set that an earlier run left behind would refuse new parameters while it is enabled.
        try disable(host)
        let stuck =
            "the controller still follows the legacy commands of an older kernel; use hciN:user, which resets it"
        let selected = try advertising(hints: plan.parameterHints.merging([.commandDisallowed: stuck]) { $1 }) {
            try host.execute(plan.extendedParameters(handle)).selectedPower
        }
        if let address = plan.randomAddress {
            try advertising {
                _ = try host.execute(LESetAdvertisingSetRandomAddress(handle: handle, address: address))
            }
        }
        // 0x7F is no level: some controllers echo the question.
        guard selected != .noPreference else { return .unknown }
        return plan.radioPower == nil ? .reported(selected) : .granted(selected)
    }

    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(AdvertisingError) {
        try advertising { _ = try host.execute(LESetExtendedAdvertisingData(handle: handle, data: data.octets)) }
    }

    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(AdvertisingError) {
        try advertising { _ = try host.execute(LESetExtendedScanResponseData(handle: handle, data: data.octets)) }
    }

    func enable(_ host: HCIHost) throws(AdvertisingError) {
        try advertising {
            _ = try host.execute(LESetExtendedAdvertisingEnable(true, [.init(handle: handle)]))
        }
    }

    func disable(_ host: HCIHost) throws(AdvertisingError) {
        try advertising {
            try host.execute(
                LESetExtendedAdvertisingEnable(false, [.init(handle: handle)]),
                tolerating: .unknownAdvertisingIdentifier, .commandDisallowed)
        }
    }

    func release(_ plan: AdvertisingPlan, _ host: HCIHost) throws(AdvertisingError) {
        try advertising {
            try host.execute(LERemoveAdvertisingSet(handle: handle), tolerating: .unknownAdvertisingIdentifier)
        }
    }
}

extension AdvertisingPlan {
    /// What is asked for with the extended commands.
    func extendedParameters(_ handle: UInt8) throws -> LESetExtendedAdvertisingParameters {
        try LESetExtendedAdvertisingParameters(
            handle: handle, properties: pdu.legacyProperties, intervalMinimum: interval, intervalMaximum: interval,
            channels: channels, ownAddressType: ownAddressType, power: radioPower ?? .noPreference)
    }
}

extension AdvertisingPDU {
    /// Advertising_Event_Properties of the legacy PDU.
    fileprivate var legacyProperties: AdvertisingEventProperties {
        switch self {
        case .nonconnectable: .legacyNonconnectable
        case .scannable: .legacyScannable
        case .connectable: .legacyConnectable
        }
    }
}
