import BluetoothTypes
import HCI

/// The data commands of advertising sets (Core Specification 5.4, Vol 4 Part E 7.8.54, 7.8.55).
extension VirtualController {
    func setExtendedData(_ command: LESetExtendedAdvertisingData) throws(HCIStatus) {
        let set = try existingSet(command.handle)
        try HCIStatus.require(
            command.data.isEmpty || AdvertisingSet.takesData(set.properties), else: .invalidParameters)
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
        // A scannable extended advertiser that is on the air must have something to answer.
        if set.isEnabled, !set.isLegacyPDU, set.properties.contains(.scannable) {
            try HCIStatus.require(!content.octets.isEmpty, else: .commandDisallowed)
        }
        state.sets[set.id]?.scanResponse = content
    }

    /// The rules that both commands share.
    ///
    /// - Parameter discard: Called where too much data loses all that there was before.
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
        let startsAnew = operation == .complete || operation == .firstFragment
        let octets = startsAnew ? data : old.octets + data
        guard octets.count <= model.maximumDataLength else {
            discard()
            throw HCIStatus.memoryCapacityExceeded
        }
        return AdvertisingContent(
            octets: octets, isPartial: operation == .firstFragment || operation == .intermediateFragment)
    }

    /// What one advertisement of a set can carry: a connectable extended one has a single AUX_ADV_IND of 255 octets, of
    /// which the extended header takes its share (Vol 6 Part B 2.3.4).
    static func dataLimit(of set: AdvertisingSet) -> Int {
        guard !set.isLegacyPDU, set.properties.contains(.connectable) else { return AdvertisingData.extendedLimit }
        let flagsAndAddressAndDataInfo = 1 + 1 + 6 + 2
        let target = set.properties.contains(.directed) ? 6 : 0
        let power = set.properties.contains(.includeTxPower) ? 1 : 0
        return 255 - flagsAndAddressAndDataInfo - target - power
    }
}
