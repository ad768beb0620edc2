public import BluetoothTypes
public import HCI

/// The parameters of a scan. The controller usually does not filter duplicates, because otherwise intervals, losses and
/// silences could not be measured.
public struct ScanSettings: Hashable, Sendable {
    /// True if scannable devices are asked for their scan response. This shows names, but costs other devices'
    /// batteries, and this machine transmits an address.
    public let isActive: Bool
    /// The time on each channel: 2.5 ms...10.24 s, the range that both legacy and extended commands support.
    public let interval: ScanInterval
    /// The listening time in each interval, from 2.5 ms to the whole interval.
    public let window: ScanInterval
    /// True to receive LE Coded as well. The radio listens to LE 1M and LE Coded in turn, so each interval is twice
    /// as long.
    public var isCoded = false
    /// True if the controller filters duplicates. Only a qualification uses this, to test the filter.
    public var filtersDuplicates = false

    /// A passive scan with a window of 60 ms in each interval of 60 ms.
    public static let standard = ScanSettings()

    private init() {
        isActive = false
        interval = ScanInterval(rawValue: 96)
        window = interval
    }

    /// - Throws: `HCIParameterError` outside 2.5 ms...10.24 s, and for a window above the interval.
    public init(isActive: Bool = false, interval: ScanInterval, window: ScanInterval) throws(HCIParameterError) {
        _ = try LESetScanParameters(type: .passive, interval: interval, window: window)
        self.isActive = isActive
        self.interval = interval
        self.window = window
    }

    private var type: ScanType { isActive ? .active : .passive }

    /// Returns the LE Set Scan Parameters command (Core Specification 5.4, Vol 4 Part E 7.8.10).
    func legacyParameters() throws(HCIParameterError) -> LESetScanParameters {
        try LESetScanParameters(type: type, interval: interval, window: window)
    }

    /// Returns the LE Set Extended Scan Parameters command (Core Specification 5.4, Vol 4 Part E 7.8.64).
    func extendedParameters() throws(HCIParameterError) -> LESetExtendedScanParameters {
        guard isCoded else {
            return try LESetExtendedScanParameters(le1M: .init(type: type, interval: interval, window: window))
        }
        let entry = LESetExtendedScanParameters.Entry(
            type: type, interval: ScanInterval(rawValue: 2 * interval.rawValue), window: window)
        return try LESetExtendedScanParameters(le1M: entry, leCoded: entry)
    }
}
