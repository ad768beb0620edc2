internal import BluetoothTypes
public import HCI
internal import Sightings

/// An advertisement monitor: the kernel scans for beacons and shares the radio with other programs.
///
/// The monitor reports that a beacon is present and how strong it is, but not how often it sends, because the kernel
/// drops repeated advertisements and appends scan responses to the data. Use a session only on the thread that owns the
/// host.
public final class PresenceSession {
    /// The number of times that the monitor was added again because another program had removed it.
    public private(set) var restarts = 0
    /// True if the machine is about to suspend. The kernel does not scan until the machine resumes.
    public private(set) var isAsleep = false

    /// The connection to the kernel, which can be used for other commands between two events.
    public let host: ManagementHost
    /// The N of hciN.
    private let adapterIndex: UInt16
    /// The kernel's handle of the advertisement monitor; `nil` if none was added.
    private var monitor: UInt16?

    /// - Parameter index: The N of hciN, which must be powered up.
    public init(host: ManagementHost, index: UInt16) {
        self.host = host
        adapterIndex = index
    }

    /// Returns patterns that match iBeacon, AltBeacon and Eddystone. A controller that filters advertisements itself
    /// reports nothing else.
    static func patterns() throws(HCIParameterError) -> AddAdvertisementPatternsMonitor {
        try AddAdvertisementPatternsMonitor([
            .init(.manufacturerData, at: 0, [0x4C, 0x00, 0x02, 0x15]),
            .init(.manufacturerData, at: 2, [0xBE, 0xAC]),
            .init(.serviceData16, at: 0, [0xAA, 0xFE]),
        ])
    }

    /// Adds the monitor to the kernel. Must be called again when the adapter returns.
    ///
    /// The kernel keeps a monitor when the adapter is powered down, but not when it is unplugged. It keeps at most 32
    /// monitors.
    public func start() throws(ManagementError) {
        guard let patterns = try? Self.patterns() else { return }
        while let event = try host.nextEvent(until: host.now) {
            if event.index == adapterIndex, case .indexRemoved = event.content { monitor = nil }
        }
        isAsleep = false
        if monitor != nil { try? stop() }
        monitor = try host.execute(patterns, index: adapterIndex).monitor
    }

    /// Removes the monitor, which would otherwise stay in the kernel.
    public func stop(by deadline: HCIInstant = .distantFuture) throws(ManagementError) {
        host.answerDeadline = deadline
        guard let monitor, let command = try? RemoveAdvertisementMonitor(monitor: monitor) else { return }
        self.monitor = nil
        try host.execute(command, index: adapterIndex)
    }

    /// Takes the events that have arrived, or waits until `deadline` for the first one.
    ///
    /// - Parameter each: Called with each report and its data.
    /// - Throws: `ManagementError/channel(_:)` with `gone` if the adapter was unplugged or powered down.
    public func receive(
        until deadline: HCIInstant, _ each: (HeardReport, [UInt8]) -> Void
    ) throws(ManagementError) {
        var nextEvent = try host.nextEvent(until: deadline)
        while let event = nextEvent {
            try take(event, each)
            nextEvent = try host.nextEvent(until: host.now)
        }
    }

    private func take(_ event: ManagementEvent, _ each: (HeardReport, [UInt8]) -> Void) throws(ManagementError) {
        guard event.index == adapterIndex else { return }
        switch event.content {
        case .deviceFound(let device), .monitoredDeviceFound(_, let device):
            guard device.isLE else { return }
            let isRandom = device.addressType == 2
            let sighting = Sighting(
                at: HeardInstant(nanoseconds: host.now.nanoseconds), from: Sender(device.address, isRandom: isRandom),
                rssi: device.rssi)
            // Advertising_Type 0 ADV_IND, 3 ADV_NONCONN_IND: the kernel distinguishes only these.
            each(
                HeardReport(
                    sighting: sighting, type: .legacy(device.isConnectable ? 0 : 3),
                    addressType: isRandom ? .random : .publicDevice, primaryPHY: .le1M), device.data)
        case .monitorRemoved(let handle) where handle == monitor:
            monitor = nil
            restarts += 1
            try start()
        case .indexRemoved:
            monitor = nil
            throw .channel(.gone("hci\(adapterIndex): the adapter was unplugged"))
        case .newSettings(let settings) where !settings.isSuperset(of: [.powered, .lowEnergy]):
            let cause = settings.contains(.powered) ? "LE was turned off" : "the adapter was powered down"
            throw .channel(.gone("hci\(adapterIndex): \(cause)"))
        case .controllerSuspend(let state): isAsleep = state != 0
        case .controllerResume: isAsleep = false
        default: return
        }
    }
}
