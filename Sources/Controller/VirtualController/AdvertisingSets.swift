import BluetoothTypes
import HCI

/// The commands that create, change and remove advertising sets (Core Specification 5.4, Vol 4 Part E 7.8.52, 7.8.53,
/// 7.8.57...7.8.60).
extension VirtualController {
    func setSetRandomAddress(_ command: LESetAdvertisingSetRandomAddress) throws(HCIStatus) {
        let set = try existingSet(command.handle)
        try HCIStatus.require(
            !(set.isEnabled && set.properties.contains(.connectable)), else: .commandDisallowed)
        // If the set is enabled, it uses the new address only after it was enabled again.
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
        set.apply(command, power: model.level(for: command.power))
        state.sets[id] = set
        return LESetExtendedAdvertisingParameters.ReturnParameters(selectedPower: set.power)
    }

    func setExtendedParametersV2(
        _ command: LESetExtendedAdvertisingParametersV2
    ) throws(HCIStatus) -> LESetExtendedAdvertisingParameters.ReturnParameters {
        try HCIStatus.require(
            command.primaryOptions.rawValue <= 4 && command.secondaryOptions.rawValue <= 4, else: .invalidParameters)
        let result = try setExtendedParameters(command.common)
        let id = AdvertisingSetID(handle: command.common.handle)
        state.sets[id]?.primaryOptions = command.primaryOptions
        state.sets[id]?.secondaryOptions = command.secondaryOptions
        return result
    }

    /// Throws an error for reserved values, and for physical layers that this controller does not support.
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
                primary.contains(command.primaryPHY) && supports(command.primaryPHY) && supports(command.secondaryPHY),
                else: .unsupportedFeatureOrParameterValue)
        }
    }

    private func supports(_ phy: AdvertisingPHY) -> Bool {
        switch phy {
        case .le1M: true
        case .le2M: model.features.contains(.le2MPHY)
        case .leCoded: model.features.contains(.leCodedPHY)
        default: false
        }
    }

    /// Throws an error for combinations of properties that no PDU has.
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

    /// Throws an error if the data that the set already contains does not fit the new parameters.
    private func checkData(
        of set: AdvertisingSet, for command: LESetExtendedAdvertisingParameters
    ) throws(HCIStatus) {
        let properties = command.properties
        try HCIStatus.require(
            set.data.octets.isEmpty || AdvertisingSet.allowsData(properties), else: .invalidParameters)
        try HCIStatus.require(
            set.scanResponse.octets.isEmpty || properties.contains(.scannable), else: .invalidParameters)
        let largestSize = max(set.data.octets.count, set.scanResponse.octets.count)
        if properties.contains(.legacyPDU) {
            try HCIStatus.require(largestSize <= AdvertisingData.legacyLimit, else: .invalidParameters)
        } else {
            try HCIStatus.require(
                Self.fits(largestSize, on: command.secondaryPHY, command.intervalMinimum), else: .packetTooLong)
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

    /// - Throws: Unknown Advertising Identifier if the host has created no set with this handle.
    private func existingSet(_ handle: UInt8) throws(HCIStatus) -> AdvertisingSet {
        guard let set = state.sets[AdvertisingSetID(handle: handle)] else {
            throw HCIStatus.unknownAdvertisingIdentifier
        }
        return set
    }
}

extension AdvertisingSet {
    /// Applies parameters that have been checked.
    fileprivate mutating func apply(_ command: LESetExtendedAdvertisingParameters, power: RadioPower) {
        properties = command.properties
        interval = command.intervalMinimum
        channels = command.channels
        ownAddressType = command.ownAddressType
        peer = DeviceIdentity(command.peerAddressType, command.peerAddress)
        filterPolicy = command.filterPolicy
        self.power = power
        primaryPHY = command.primaryPHY
        secondaryPHY = command.secondaryPHY
        primaryOptions = .noPreference
        secondaryOptions = .noPreference
        setIdentifier = command.setIdentifier
        notifiesScanRequests = command.scanRequestNotification == 1
    }
}

/// The data commands of advertising sets (Core Specification 5.4, Vol 4 Part E 7.8.54, 7.8.55).
extension VirtualController {
    func setExtendedData(_ command: LESetExtendedAdvertisingData) throws(HCIStatus) {
        let set = try existingSet(command.handle)
        try HCIStatus.require(
            command.data.isEmpty || AdvertisingSet.allowsData(set.properties), else: .invalidParameters)
        if command.operation == .unchanged {
            try HCIStatus.require(
                set.isEnabled && !set.isLegacyPDU && !set.data.octets.isEmpty && command.data.isEmpty,
                else: .invalidParameters)
            state.sets[set.id]?.dataID &+= 1
            return
        }
        let content = try content(of: set, set.data, after: command.operation, command.data) {
            state.sets[set.id]?.data = AdvertisingContent()
        }
        if set.isEnabled {
            try HCIStatus.require(content.octets.count <= Self.dataLimit(of: set), else: .packetTooLong)
        }
        state.sets[set.id]?.data = content
        state.sets[set.id]?.dataID &+= 1
    }

    func setExtendedScanResponse(_ command: LESetExtendedScanResponseData) throws(HCIStatus) {
        let set = try existingSet(command.handle)
        try HCIStatus.require(
            command.data.isEmpty || set.properties.contains(.scannable), else: .invalidParameters)
        try HCIStatus.require(command.operation != .unchanged, else: .invalidParameters)
        let content = try content(of: set, set.scanResponse, after: command.operation, command.data) {
            state.sets[set.id]?.scanResponse = AdvertisingContent()
        }
        // An enabled scannable extended advertiser must have scan response data.
        if set.isEnabled, !set.isLegacyPDU, set.properties.contains(.scannable) {
            try HCIStatus.require(!content.octets.isEmpty, else: .commandDisallowed)
        }
        state.sets[set.id]?.scanResponse = content
    }

    /// Checks the rules that apply to both data commands, and returns the new data.
    ///
    /// - Parameter discard: Deletes all earlier data. It is called if the new data is too long.
    private func content(
        of set: AdvertisingSet, _ old: AdvertisingContent, after operation: AdvertisingDataOperation, _ data: [UInt8],
        discard: () -> Void
    ) throws(HCIStatus) -> AdvertisingContent {
        try HCIStatus.require(operation.rawValue <= 3, else: .invalidParameters)
        if set.isLegacyPDU {
            try HCIStatus.require(
                operation == .complete && data.count <= AdvertisingData.legacyLimit, else: .invalidParameters)
        }
        try HCIStatus.require(operation == .complete || !data.isEmpty, else: .invalidParameters)
        try HCIStatus.require(operation == .complete || !set.isEnabled, else: .commandDisallowed)
        let replacesOldData = operation == .complete || operation == .firstFragment
        let octets = replacesOldData ? data : old.octets + data
        guard octets.count <= model.maximumDataLength else {
            discard()
            throw HCIStatus.memoryCapacityExceeded
        }
        return AdvertisingContent(
            octets: octets, isPartial: operation == .firstFragment || operation == .intermediateFragment)
    }

    /// Returns the largest number of data bytes of a set. The data of a connectable extended advertisement must fit
    /// into a single AUX_ADV_IND of 255 bytes, which also contains the extended header (Vol 6 Part B 2.3.4).
    private static func dataLimit(of set: AdvertisingSet) -> Int {
        guard !set.isLegacyPDU, set.properties.contains(.connectable) else { return AdvertisingData.extendedLimit }
        // Header length, flags, address and data info.
        let fixedOctets = 1 + 1 + 6 + 2
        let targetOctets = set.properties.contains(.directed) ? 6 : 0
        let powerOctets = set.properties.contains(.includeTxPower) ? 1 : 0
        return 255 - fixedOctets - targetOctets - powerOctets
    }
}

/// LE Set Extended Advertising Enable (Core Specification 5.4, Vol 4 Part E 7.8.56).
extension VirtualController {
    func setExtendedEnable(_ command: LESetExtendedAdvertisingEnable) throws(HCIStatus) {
        try HCIStatus.require(
            command.enable <= 1 && command.sets.count <= 0x3F, else: .invalidParameters)
        var handles: Set<UInt8> = []
        for entry in command.sets {
            try HCIStatus.require(handles.insert(entry.handle).inserted, else: .invalidParameters)
        }
        for entry in command.sets { _ = try existingSet(entry.handle) }
        if command.enable == 0 {
            for id in state.sets.keys where id.handle.map({ handles.isEmpty || handles.contains($0) }) ?? false {
                stopAdvertising(id)
            }
            return
        }
        try HCIStatus.require(!command.sets.isEmpty, else: .invalidParameters)
        // Every set is checked before the first set starts, so either all sets start or none of them.
        var identities: [DeviceIdentity] = []
        for entry in command.sets {
            let set = try existingSet(entry.handle)
            try check(set, entry)
            identities.append(try identity(set.ownAddressType, random: set.randomAddress))
        }
        for (entry, identity) in zip(command.sets, identities) {
            startAdvertising(
                AdvertisingSetID(handle: entry.handle), as: identity,
                durationMicroseconds: Int(entry.duration) * 10_000, maximumEvents: Int(entry.maximumEvents))
        }
    }

    private func check(_ set: AdvertisingSet, _ entry: LESetExtendedAdvertisingEnable.Entry) throws(HCIStatus) {
        try HCIStatus.require(!set.data.isPartial && !set.scanResponse.isPartial, else: .commandDisallowed)
        if set.isHighDuty {
            // Directed advertising with a high duty cycle must have a duration, of at most 1.28 s. The unit is 10 ms.
            try HCIStatus.require((1...128).contains(entry.duration), else: .invalidParameters)
        }
        guard !set.isLegacyPDU else { return }
        if set.properties.contains(.scannable) {
            try HCIStatus.require(!set.scanResponse.octets.isEmpty, else: .commandDisallowed)
        }
        try HCIStatus.require(set.data.octets.count <= Self.dataLimit(of: set), else: .invalidParameters)
        let largestSize = max(set.data.octets.count, set.scanResponse.octets.count)
        try HCIStatus.require(Self.fits(largestSize, on: set.secondaryPHY, set.interval), else: .packetTooLong)
    }

    /// Returns true if the auxiliary packets with `octets` bytes of data end before the next advertising event begins.
    /// A byte takes 8 µs on LE 1M, 4 µs on LE 2M, and 64 µs on LE Coded with S=8. Each packet has about 20 bytes in
    /// addition to the data, and there are 300 µs between two packets (Vol 6 Part B 2.1, 2.2, 4.1.2).
    private static func fits(_ octets: Int, on phy: AdvertisingPHY, _ interval: AdvertisingInterval) -> Bool {
        let perOctet = phy == .leCoded ? 64 : phy == .le2M ? 4 : 8
        let packets = octets / 245 + 1
        return (octets + packets * 20) * perOctet + (packets - 1) * 300 <= interval.microseconds
    }
}
