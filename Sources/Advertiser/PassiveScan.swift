internal import BluetoothTypes
public import HCI

/// Listening without asking: every advertisement is reported, duplicates too, on a window as long as its interval.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65.
public struct PassiveScan: Sendable {
    private let isExtended: Bool

    /// The family that goes with the controller: the legacy commands are banned where the extended ones are in use.
    public init(_ capabilities: ControllerCapabilities) {
        isExtended = capabilities.hasExtendedAdvertising
    }

    /// 60 ms.
    private static let window = ScanInterval(rawValue: 96)

    /// Sets the scan up and enables it; reports come as events of `host`.
    public func start(_ host: HCIHost) throws(AdvertisingError) {
        try advertising {
            if isExtended {
                _ = try host.execute(
                    LESetExtendedScanParameters(
                        le1M: .init(type: .passive, interval: Self.window, window: Self.window)))
                _ = try host.execute(LESetExtendedScanEnable(true))
            } else {
                _ = try host.execute(
                    LESetScanParameters(type: .passive, interval: Self.window, window: Self.window))
                _ = try host.execute(LESetScanEnable(true))
            }
        }
    }
}
