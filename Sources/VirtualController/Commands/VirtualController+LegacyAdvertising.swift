import BluetoothTypes
import HCI

/// The legacy advertising commands (Core Specification 5.4, Vol 4 Part E 7.8.5...7.8.9).
extension VirtualController {
    func setAdvertisingParameters(_ command: LESetAdvertisingParameters) throws(HCIStatus) {
        guard var set = state.sets[.legacy] else { throw HCIStatus.hardwareFailure }
        try HCIStatus.require(!set.isEnabled, else: .commandDisallowed)
        guard let properties = Self.properties(of: command.type) else { throw HCIStatus.invalidParameters }
        try HCIStatus.require(
            command.ownAddressType.rawValue <= 3 && command.peerAddressType.rawValue <= 1
                && command.filterPolicy.rawValue <= 3 && command.channels.rawValue & 7 != 0,
            else: .invalidParameters)
        // Directed advertising of high duty cycle has no interval.
        if command.type != .directedHighDuty {
            let isNonconnectable = command.type == .scannable || command.type == .nonconnectable
            let shortest =
                isNonconnectable ? model.shortestNonconnectableInterval : AdvertisingInterval.legacyRange.lowerBound
            try HCIStatus.require(command.intervalMinimum <= command.intervalMaximum, else: .invalidParameters)
            try HCIStatus.require(
                command.intervalMinimum >= shortest
                    && command.intervalMaximum <= AdvertisingInterval.legacyRange.upperBound,
                else: .unsupportedFeatureOrParameterValue)
        }
        set.properties = properties
        set.interval = command.intervalMinimum
        set.channels = command.channels
        set.ownAddressType = command.ownAddressType
        set.peer = DeviceIdentity(command.peerAddressType, command.peerAddress)
        set.filterPolicy = command.filterPolicy
        state.sets[.legacy] = set
    }

    /// The same thing in the terms of the extended family; `nil` for reserved types.
    private static func properties(of type: LegacyAdvertisingType) -> AdvertisingEventProperties? {
        switch type {
        case .connectable: .legacyConnectable
        case .directedHighDuty: [.legacyPDU, .connectable, .directed, .highDutyDirected]
        case .scannable: .legacyScannable
        case .nonconnectable: .legacyNonconnectable
        case .directedLowDuty: [.legacyPDU, .connectable, .directed]
        default: nil
        }
    }

    func readAdvertisingPower(
        _: LEReadAdvertisingPhysicalChannelTxPower
    ) throws(HCIStatus) -> LEReadAdvertisingPhysicalChannelTxPower.ReturnParameters {
        LEReadAdvertisingPhysicalChannelTxPower.ReturnParameters(state.sets[.legacy]?.power ?? model.defaultPower)
    }

    func setAdvertisingData(_ command: LESetAdvertisingData) throws(HCIStatus) {
        try HCIStatus.require(Int(command.parameter.length) <= AdvertisingData.legacyLimit, else: .invalidParameters)
        state.sets[.legacy]?.data.octets = command.data
    }

    func setScanResponseData(_ command: LESetScanResponseData) throws(HCIStatus) {
        try HCIStatus.require(Int(command.parameter.length) <= AdvertisingData.legacyLimit, else: .invalidParameters)
        state.sets[.legacy]?.scanResponse.octets = command.data
    }

    func setAdvertisingEnable(_ command: LESetAdvertisingEnable) throws(HCIStatus) {
        guard let set = state.sets[.legacy] else { throw HCIStatus.hardwareFailure }
        try HCIStatus.require(command.enable <= 1, else: .invalidParameters)
        if command.enable == 0 {
            try HCIStatus.require(set.isEnabled || !model.refusesDisablingTwice, else: .commandDisallowed)
            return stopAdvertising(.legacy)
        }
        let identity = try identity(set.ownAddressType, random: state.randomAddress)
        // Directed advertising of high duty cycle ends by itself after 1.28 s (Vol 6 Part B 4.4.2.4.3).
        startAdvertising(.legacy, as: identity, durationMicroseconds: set.isHighDuty ? 1_280_000 : 0)
    }
}
