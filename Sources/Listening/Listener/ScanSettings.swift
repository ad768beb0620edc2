public import BluetoothTypes
public import HCI

/// How is listened: asking for scan responses or not, how often the channel changes, and how long is listened after
/// each change. Every advertisement is reported, duplicates too: a filter would hide intervals, losses and silences.
public struct ScanSettings: Hashable, Sendable {
    /// Whether each scannable advertiser is asked for its scan response: names are heard, batteries pay, and this box
    /// shows an address of its own.
    public let isActive: Bool
    /// How often the channel changes: 2.5 ms...10.24 s, which both families of commands take.
    public let interval: ScanInterval
    /// How long is listened after each change: 2.5 ms to the interval.
    public let window: ScanInterval
    /// Whether the controller is to leave duplicates out: only to find out what it does then.
    public var filtersDuplicates = false

    /// Passive, 60 ms of every 60 ms.
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

    /// What LE Set Scan Parameters is sent with (Core Specification 5.4, Vol 4 Part E 7.8.10).
    func legacyParameters() throws(HCIParameterError) -> LESetScanParameters {
        try LESetScanParameters(type: type, interval: interval, window: window)
    }

    /// What LE Set Extended Scan Parameters is sent with (Core Specification 5.4, Vol 4 Part E 7.8.64).
    func extendedParameters() throws(HCIParameterError) -> LESetExtendedScanParameters {
        try LESetExtendedScanParameters(le1M: .init(type: type, interval: interval, window: window))
    }
}

extension ScanSettings: CustomStringConvertible {
    /// Such as `passive, 60 ms of every 60 ms`.
    public var description: String {
        "\(isActive ? "active" : "passive"), \(window) of every \(interval)"
    }
}
