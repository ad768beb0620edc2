import BluetoothTypes
import HCI

/// The commands that make, change and remove advertising sets (Core Specification 5.4, Vol 4 Part E 7.8.52, 7.8.53,
/// 7.8.57...7.8.60).
extension VirtualController {
    func setSetRandomAddress(_ command: LESetAdvertisingSetRandomAddress) throws(HCIStatus) {
        let set = try existingSet(command.handle)
        try HCIStatus.require(
            !(set.isEnabled && set.properties.contains(.connectable)), else: .commandDisallowed)
        // An enabled set takes it up when it is enabled anew.
        state.sets[set.id]?.randomAddress = command.address
    }

    func setExtendedParameters(
        _ command: LESetExtendedAdvertisingParameters
    ) throws(HCIStatus) -> LESetExtendedAdvertisingParameters.ReturnParameters {
        try HCIStatus.require(Int(command.handle) <= AdvertisingHandle.range.upperBound, else: .invalidParameters)
        let id = AdvertisingSetID(handle: command.handle)
        if let set = state.sets[id] {
            try HCIStatus.require(!set.isEnabled, else: .commandDisallowed)
        } else {
            try HCIStatus.require(state.extendedSetCount < model.advertisingSets, else: .memoryCapacityExceeded)
        }
        try checkValues(command)
        try checkProperties(command)
        try HCIStatus.require(command.intervalMinimum <= command.intervalMaximum, else: .invalidParameters)
        try HCIStatus.require(
            command.intervalMinimum >= AdvertisingInterval.extendedRange.lowerBound,
            else: .unsupportedFeatureOrParameterValue)
        var set = state.sets[id] ?? AdvertisingSet(id, power: model.defaultPower)
        try checkData(of: set, for: command)
        set.take(command, power: model.level(for: command.power))
        state.sets[id] = set
        return LESetExtendedAdvertisingParameters.ReturnParameters(selectedPower: set.power)
    }

    /// Values that the specification reserves, and physical layers that this controller lacks.
    private func checkValues(_ command: LESetExtendedAdvertisingParameters) throws(HCIStatus) {
        let isPowerAllowed =
            command.power == .noPreference || RadioPower.range.contains(Int(command.power.dBm))
        try HCIStatus.require(
            command.channels.rawValue & 7 != 0 && command.ownAddressType.rawValue <= 3
                && command.peerAddressType.rawValue <= 1 && command.filterPolicy.rawValue <= 3 && isPowerAllowed
                && command.setIdentifier <= 15 && command.scanRequestNotification <= 1,
            else: .invalidParameters)
        if command.properties.contains(.legacyPDU) {
            try HCIStatus.require(command.primaryPHY == .le1M, else: .invalidParameters)
        } else {
            let primary: [AdvertisingPHY] = [.le1M, .leCoded]
            try HCIStatus.require(
                primary.contains(command.primaryPHY) && has(command.primaryPHY) && has(command.secondaryPHY),
                else: .unsupportedFeatureOrParameterValue)
        }
    }

    private func has(_ phy: AdvertisingPHY) -> Bool {
        switch phy {
        case .le1M: true
        case .le2M: model.features.contains(.le2MPHY)
        case .leCoded: model.features.contains(.leCodedPHY)
        default: false
        }
    }

    /// Combinations that no PDU has.
    private func checkProperties(_ command: LESetExtendedAdvertisingParameters) throws(HCIStatus) {
        let properties = command.properties
        try HCIStatus.require(properties.rawValue <= 0x7F, else: .invalidParameters)
        if properties.contains(.legacyPDU) {
            let allowed: [UInt16] = [0x10, 0x12, 0x13, 0x15, 0x1D]
            try HCIStatus.require(allowed.contains(properties.rawValue), else: .invalidParameters)
        } else {
            let isAnonymous = properties.contains(.anonymous)
            try HCIStatus.require(
                !properties.isSuperset(of: [.connectable, .scannable]) && !properties.contains(.highDutyDirected)
                    && !(isAnonymous && !properties.isDisjoint(with: [.connectable, .scannable])),
                else: .invalidParameters)
        }
    }

    /// A set may hold data already, from when it had other properties.
    private func checkData(
        of set: AdvertisingSet, for command: LESetExtendedAdvertisingParameters
    ) throws(HCIStatus) {
        let properties = command.properties
        try HCIStatus.require(
            set.data.octets.isEmpty || AdvertisingSet.takesData(properties), else: .invalidParameters)
        try HCIStatus.require(
            set.scanResponse.octets.isEmpty || properties.contains(.scannable), else: .invalidParameters)
        let longest = max(set.data.octets.count, set.scanResponse.octets.count)
        if properties.contains(.legacyPDU) {
            try HCIStatus.require(longest <= AdvertisingData.legacyLimit, else: .invalidParameters)
        } else {
            try HCIStatus.require(
                Self.fits(longest, on: command.secondaryPHY, command.intervalMinimum), else: .packetTooLong)
        }
    }

    func readMaximumDataLength(
        _: LEReadMaximumAdvertisingDataLength
    ) throws(HCIStatus) -> LEReadMaximumAdvertisingDataLength.ReturnParameters {
        LEReadMaximumAdvertisingDataLength.ReturnParameters(maximumLength: UInt16(clamping: model.maximumDataLength))
    }

    func readSetCount(
        _: LEReadNumberOfSupportedAdvertisingSets
    ) throws(HCIStatus) -> LEReadNumberOfSupportedAdvertisingSets.ReturnParameters {
        LEReadNumberOfSupportedAdvertisingSets.ReturnParameters(count: UInt8(clamping: model.advertisingSets))
    }

    func removeSet(_ command: LERemoveAdvertisingSet) throws(HCIStatus) {
        let set = try existingSet(command.handle)
        try HCIStatus.require(!set.isEnabled, else: .commandDisallowed)
        state.sets[set.id] = nil
    }

    func clearSets(_: LEClearAdvertisingSets) throws(HCIStatus) {
        try HCIStatus.require(!state.sets.values.contains { $0.isEnabled }, else: .commandDisallowed)
        state.sets = state.sets.filter { $0.key == .legacy }
    }

    /// - Throws: Unknown Advertising Identifier where the host has made no such set.
    func existingSet(_ handle: UInt8) throws(HCIStatus) -> AdvertisingSet {
        guard let set = state.sets[AdvertisingSetID(handle: handle)] else {
            throw HCIStatus.unknownAdvertisingIdentifier
        }
        return set
    }
}

extension AdvertisingSet {
    /// Takes over parameters that have been found good.
    fileprivate mutating func take(_ command: LESetExtendedAdvertisingParameters, power: RadioPower) {
        properties = command.properties
        interval = command.intervalMinimum
        channels = command.channels
        ownAddressType = command.ownAddressType
        peer = DeviceIdentity(command.peerAddressType, command.peerAddress)
        filterPolicy = command.filterPolicy
        self.power = power
        primaryPHY = command.primaryPHY
        secondaryPHY = command.secondaryPHY
        setIdentifier = command.setIdentifier
        notifiesScanRequests = command.scanRequestNotification == 1
    }
}
