import BluetoothTypes
import HCI

/// The scan parameters. By default, the scan is passive, on LE 1M, and without pauses (10 ms in every 10 ms).
struct ScanParameters {
    /// The scan parameters of one physical layer.
    struct PHYParameters {
        let phy: AdvertisingPHY
        let isActive: Bool
        let intervalMicroseconds: Int
        let windowMicroseconds: Int
    }

    var ownAddressType = OwnAddressType.publicDevice
    var filterPolicy = ScanFilterPolicy.all
    var phyParameters = [
        PHYParameters(phy: .le1M, isActive: false, intervalMicroseconds: 10_000, windowMicroseconds: 10_000)
    ]
}

/// A scan in progress.
struct Scanner {
    /// The number of the scan: see `VirtualController.newRun()`.
    let run: UInt64
    let parameters: ScanParameters
    /// The address that the scanner sends in its scan requests.
    let identity: DeviceIdentity
    /// `true` if the host has started the scan with the extended commands. Such a scan also receives extended PDUs, and
    /// its results are extended reports.
    let isExtended: Bool
    let durationMicroseconds: Int
    let periodMicroseconds: Int
    /// The time at which the first scan interval started. The scan listens on channel 37 in this interval.
    var start: HCIInstant
    /// `true` while the scan is listening; `false` in the pause before the next scan period.
    var isListening = true
    let resetsFilterEachPeriod: Bool
    /// The duplicate filter; `nil` without a filter.
    var duplicates: DuplicateMemory?

    /// Returns true if the scan receives a packet. The packet must be completely inside a scan window, on the channel
    /// of that scan interval, and of a kind that this scan reports.
    func receives(_ pdu: AirPDU) -> Bool {
        guard isListening, pdu.start >= start, isExtended || pdu.isLegacy, let phy = phyParameters(for: pdu) else {
            return false
        }
        let elapsed = Int(clamping: (pdu.start.nanoseconds - start.nanoseconds) / 1000)
        let channel = 37 + elapsed / phy.intervalMicroseconds % 3
        let offset = elapsed % phy.intervalMicroseconds
        return channel == pdu.channel && offset + pdu.airtimeMicroseconds <= phy.windowMicroseconds
    }

    /// Returns true if the scanner sends a scan request after it has received this packet.
    func asksForScanResponse(to pdu: AirPDU) -> Bool {
        pdu.properties.contains(.scannable) && phyParameters(for: pdu)?.isActive ?? false
    }

    private func phyParameters(for pdu: AirPDU) -> ScanParameters.PHYParameters? {
        parameters.phyParameters.first { $0.phy == pdu.primaryPHY && $0.intervalMicroseconds > 0 }
    }
}

/// The memory of a duplicate filter: the reports that the host has already received. The host receives one report of an
/// advertisement and one of a scan response for each device. With extended PDUs, the host receives both reports for
/// each advertising set and each change of the set's data.
///
/// As in real controllers, the memory is limited, and the oldest entry is removed first. A legacy report is a duplicate
/// even if its data has changed (Core Specification 5.4, Vol 6 Part B 4.4.3.5).
struct DuplicateMemory {
    private struct Key: Hashable {
        let device: DeviceIdentity
        let isScanResponse: Bool
        let setID: UInt8?
        let dataID: UInt16
    }

    /// The largest number of remembered reports.
    private static let capacity = 1024

    private var rememberedKeys: Set<Key> = []
    /// The remembered keys as a ring buffer. The oldest key is at the index ``oldestIndex``.
    private var ring: [Key] = []
    private var oldestIndex = 0

    /// Returns `true` if this packet is not a duplicate, and stores it. Returns `false` if it is a duplicate.
    mutating func isFirst(_ pdu: AirPDU) -> Bool {
        let key = Key(
            device: DeviceIdentity(pdu.addressType, pdu.address), isScanResponse: pdu.isScanResponse,
            setID: pdu.setID, dataID: pdu.dataID)
        guard rememberedKeys.insert(key).inserted else { return false }
        if ring.count < Self.capacity {
            ring.append(key)
        } else {
            rememberedKeys.remove(ring[oldestIndex])
            ring[oldestIndex] = key
            oldestIndex = (oldestIndex + 1) % Self.capacity
        }
        return true
    }
}

/// Simulates the scanner of a controller.
extension VirtualController {
    /// Starts or restarts a scan.
    private func startScanning(
        as identity: DeviceIdentity, extended: Bool, filter: DuplicateFilter, durationMicroseconds: Int = 0,
        periodMicroseconds: Int = 0
    ) {
        guard let air else { return }
        let run = newRun()
        state.scanner = Scanner(
            run: run, parameters: state.scanParameters, identity: identity, isExtended: extended,
            durationMicroseconds: durationMicroseconds, periodMicroseconds: periodMicroseconds, start: air.now,
            resetsFilterEachPeriod: filter == .perPeriod, duplicates: filter == .off ? nil : DuplicateMemory())
        air.setScanning(self, true)
        if durationMicroseconds > 0 { air.plan(.scanPhaseOver(id, run: run), inMicroseconds: durationMicroseconds) }
    }

    private func stopScanning() {
        state.scanner = nil
        air?.setScanning(self, false)
    }

    /// Ends a scan whose duration is over. A scan with a period is not ended: it pauses, or continues after the pause.
    func scanPhaseIsOver(_ run: UInt64) {
        guard let air, var scanner = state.scanner, scanner.run == run else { return }
        guard scanner.periodMicroseconds > 0 else {
            stopScanning()
            return sendMeta(ControllerEvents.scanTimeout, .scanTimeout)
        }
        scanner.isListening.toggle()
        if scanner.isListening {
            scanner.start = air.now
            if scanner.resetsFilterEachPeriod { scanner.duplicates = DuplicateMemory() }
        }
        state.scanner = scanner
        let pause = scanner.periodMicroseconds - scanner.durationMicroseconds
        air.plan(
            .scanPhaseOver(id, run: run), inMicroseconds: scanner.isListening ? scanner.durationMicroseconds : pause)
    }

    /// Returns true if the scanner receives a packet whose transmission has just ended.
    func receives(_ pdu: AirPDU) -> Bool {
        guard let scanner = state.scanner, scanner.receives(pdu) else { return false }
        if scanner.parameters.filterPolicy.rawValue & 1 != 0 {
            guard state.acceptList.contains(DeviceIdentity(pdu.addressType, pdu.address)) else { return false }
        }
        // A PDU that is directed to another device is not reported.
        guard let target = pdu.target else { return true }
        return target == scanner.identity
    }

    func asksForScanResponse(to pdu: AirPDU) -> Bool { state.scanner?.asksForScanResponse(to: pdu) ?? false }

    /// Reports a packet to the host if the event masks and the duplicate filter allow it.
    func report(_ pdu: AirPDU) {
        guard let air, let scanner = state.scanner else { return }
        let bit: LEEventMask = scanner.isExtended ? .extendedAdvertisingReport : .advertisingReport
        guard state.eventMask.contains(.leMeta), state.leEventMask.contains(bit) else { return }
        var loss = air.parameters.pathLoss
        if let pathLoss = air.pathLoss {
            guard let pairLoss = pathLoss(pdu, id) else { return }
            loss = pairLoss
        }
        if state.scanner?.duplicates?.isFirst(pdu) == false { return }
        // Reports contain an RSSI of -127...20 (7.7.65.2), so the level is limited to this range.
        let (level, overflow) = Int(pdu.power.dBm).subtractingReportingOverflow(loss)
        let rssi = overflow ? -127 : Int8(max(-127, min(20, level)))
        guard scanner.isExtended else { return sendMeta(pdu.legacyReport(rssi: rssi), bit) }
        for event in pdu.extendedReports(rssi: rssi, withCoding: state.reportsCoding) { sendMeta(event, bit) }
    }
}

/// Legacy and extended scanning (Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65).
extension VirtualController {
    func setScanParameters(_ command: LESetScanParameters) throws(HCIStatus) {
        try HCIStatus.require(state.scanner == nil, else: .commandDisallowed)
        try checkScan(command.ownAddressType, command.filterPolicy)
        state.scanParameters = ScanParameters(
            ownAddressType: command.ownAddressType, filterPolicy: command.filterPolicy,
            phyParameters: [
                try phyParameters(.le1M, command.type, command.interval, command.window, in: ScanInterval.legacyRange)
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
        var supportedPHYs: ScanningPHYs = .le1M
        if model.features.contains(.leCodedPHY) { supportedPHYs.insert(.leCoded) }
        try HCIStatus.require(command.phys.isSubset(of: supportedPHYs), else: .unsupportedFeatureOrParameterValue)
        var phys: [AdvertisingPHY] = []
        if command.phys.contains(.le1M) { phys.append(.le1M) }
        if command.phys.contains(.leCoded) { phys.append(.leCoded) }
        var entries: [ScanParameters.PHYParameters] = []
        for (phy, entry) in zip(phys, command.entries) {
            entries.append(
                try phyParameters(phy, entry.type, entry.interval, entry.window, in: ScanInterval.extendedRange))
        }
        state.scanParameters = ScanParameters(
            ownAddressType: command.ownAddressType, filterPolicy: command.filterPolicy, phyParameters: entries)
    }

    func setExtendedScanEnable(_ command: LESetExtendedScanEnable) throws(HCIStatus) {
        try HCIStatus.require(
            command.enable <= 1 && command.filterDuplicates.rawValue <= 2, else: .invalidParameters)
        guard command.enable == 1 else { return stopScanning() }
        let duration = Int(command.duration) * 10_000
        // Without a duration, the period is ignored.
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

    private func phyParameters(
        _ phy: AdvertisingPHY, _ type: ScanType, _ interval: ScanInterval, _ window: ScanInterval,
        in range: ClosedRange<ScanInterval>
    ) throws(HCIStatus) -> ScanParameters.PHYParameters {
        try HCIStatus.require(type.rawValue <= 1 && window <= interval, else: .invalidParameters)
        let isInRange = window >= range.lowerBound && interval <= range.upperBound
        try HCIStatus.require(isInRange, else: .unsupportedFeatureOrParameterValue)
        return ScanParameters.PHYParameters(
            phy: phy, isActive: type == .active, intervalMicroseconds: interval.microseconds,
            windowMicroseconds: window.microseconds)
    }
}
