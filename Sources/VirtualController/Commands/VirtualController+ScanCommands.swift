import BluetoothTypes
import HCI

/// Legacy and extended scanning (Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65).
extension VirtualController {
    func setScanParameters(_ command: LESetScanParameters) throws(HCIStatus) {
        try HCIStatus.require(state.scanner == nil, else: .commandDisallowed)
        try checkScan(command.ownAddressType, command.filterPolicy)
        state.scanParameters = ScanParameters(
            ownAddressType: command.ownAddressType, filterPolicy: command.filterPolicy,
            listening: [
                try listening(.le1M, command.type, command.interval, command.window, longest: 0x4000)
            ])
    }

    func setScanEnable(_ command: LESetScanEnable) throws(HCIStatus) {
        try HCIStatus.require(
            command.enable <= 1 && command.filterDuplicates.rawValue <= 1, else: .invalidParameters)
        guard command.enable == 1 else { return stopScanning() }
        let identity = try identity(state.scanParameters.ownAddressType, random: state.randomAddress)
        startScanning(as: identity, extended: false, filter: command.filterDuplicates)
    }

    func setExtendedScanParameters(_ command: LESetExtendedScanParameters) throws(HCIStatus) {
        try HCIStatus.require(state.scanner == nil, else: .commandDisallowed)
        try checkScan(command.ownAddressType, command.filterPolicy)
        try HCIStatus.require(!command.phys.isEmpty, else: .invalidParameters)
        var known: ScanningPHYs = .le1M
        if model.features.contains(.leCodedPHY) { known.insert(.leCoded) }
        try HCIStatus.require(command.phys.isSubset(of: known), else: .unsupportedFeatureOrParameterValue)
        var phys: [AdvertisingPHY] = []
        if command.phys.contains(.le1M) { phys.append(.le1M) }
        if command.phys.contains(.leCoded) { phys.append(.leCoded) }
        var ways: [ScanParameters.Listening] = []
        for (phy, entry) in zip(phys, command.entries) {
            ways.append(try listening(phy, entry.type, entry.interval, entry.window, longest: 0xFFFF))
        }
        state.scanParameters = ScanParameters(
            ownAddressType: command.ownAddressType, filterPolicy: command.filterPolicy, listening: ways)
    }

    func setExtendedScanEnable(_ command: LESetExtendedScanEnable) throws(HCIStatus) {
        try HCIStatus.require(
            command.enable <= 1 && command.filterDuplicates.rawValue <= 2, else: .invalidParameters)
        guard command.enable == 1 else { return stopScanning() }
        let duration = Int(command.duration) * 10_000
        // Without duration the period means nothing.
        let period = duration == 0 ? 0 : Int(command.period) * 1_280_000
        try HCIStatus.require(period == 0 || duration < period, else: .invalidParameters)
        try HCIStatus.require(command.filterDuplicates != .perPeriod || period > 0, else: .invalidParameters)
        let identity = try identity(state.scanParameters.ownAddressType, random: state.randomAddress)
        startScanning(
            as: identity, extended: true, filter: command.filterDuplicates, durationMicroseconds: duration,
            periodMicroseconds: period)
    }

    private func checkScan(_ own: OwnAddressType, _ policy: ScanFilterPolicy) throws(HCIStatus) {
        try HCIStatus.require(own.rawValue <= 3 && policy.rawValue <= 3, else: .invalidParameters)
    }

    private func listening(
        _ phy: AdvertisingPHY, _ type: ScanType, _ interval: UInt16, _ window: UInt16, longest: UInt16
    ) throws(HCIStatus) -> ScanParameters.Listening {
        try HCIStatus.require(type.rawValue <= 1 && window <= interval, else: .invalidParameters)
        try HCIStatus.require(window >= 4 && interval <= longest, else: .unsupportedFeatureOrParameterValue)
        return ScanParameters.Listening(
            phy: phy, isActive: type == .active, intervalMicroseconds: Int(interval) * 625,
            windowMicroseconds: Int(window) * 625)
    }
}
