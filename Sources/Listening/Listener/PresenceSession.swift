internal import BeaconFrames
internal import BluetoothTypes
public import HCI
internal import Sightings

/// What the kernel hears while it looks for beacons itself, beside other programs: an advertisement monitor.
///
/// It tells that a beacon is there and how strong, and nothing of how often: the kernel drops repeats and puts scan
/// responses behind the data. For the thread that owns the host.
public final class PresenceSession {
    /// How often the monitor was made again, because somebody else had removed it.
    public private(set) var restarts = 0
    /// Whether the machine is going to sleep: the kernel stops looking until it wakes up.
    public private(set) var isAsleep = false

    /// The way to the kernel, to ask it something else between two events.
    public let host: ManagementHost
    private let index: UInt16
    private var monitor: UInt16?

    /// Of hci`index`, which is powered.
    public init(host: ManagementHost, index: UInt16) {
        self.host = host
        self.index = index
    }

    /// What beacons are told by: controllers that filter themselves tell of nothing else.
    static func patterns() throws(HCIParameterError) -> AddAdvertisementPatternsMonitor {
        try AddAdvertisementPatternsMonitor([
            .init(.manufacturerData, at: 0, [0x4C, 0x00, 0x02, 0x15]),
            .init(.manufacturerData, at: 2, [0xBE, 0xAC]),
            .init(.serviceData16, at: 0, [0xAA, 0xFE]),
        ])
    }

    /// Has the kernel look for beacons; to be called anew once the adapter is back.
    ///
    /// The kernel keeps a monitor over the loss of power, until the adapter is unplugged, and 32 of them at most.
    public func start() throws(ManagementError) {
        guard let patterns = try? Self.patterns() else { return }
        while let event = try host.nextEvent(until: host.now) {
            if event.index == index, case .indexRemoved = event.content { monitor = nil }
        }
        isAsleep = false
        if monitor != nil { try? stop() }
        monitor = try host.execute(patterns, index: index).monitor
    }

    /// Takes the monitor back, which would be there for ever otherwise.
    public func stop(by deadline: HCIInstant = .distantFuture) throws(ManagementError) {
        host.latestAnswer = deadline
        guard let monitor, let command = try? RemoveAdvertisementMonitor(monitor: monitor) else { return }
        self.monitor = nil
        try host.execute(command, index: index)
    }

    /// Takes what the kernel has told, or tells first until `deadline`.
    ///
    /// - Throws: `ManagementError/channel(_:)` with `gone` where the adapter was unplugged or powered down.
    public func receive(
        until deadline: HCIInstant, _ each: (HeardReport, [UInt8]) -> Void
    ) throws(ManagementError) {
        var next = try host.nextEvent(until: deadline)
        while let event = next {
            try take(event, each)
            next = try host.nextEvent(until: host.now)
        }
    }

    private func take(_ event: ManagementEvent, _ each: (HeardReport, [UInt8]) -> Void) throws(ManagementError) {
        guard event.index == index else { return }
        switch event.content {
        case .deviceFound(let device), .monitoredDeviceFound(_, let device):
            guard device.isLE else { return }
            let isRandom = device.addressType == 2
            let sighting = Sighting(
                at: HeardInstant(nanoseconds: host.now.nanoseconds), from: Sender(device.address, isRandom: isRandom),
                rssi: device.rssi)
            // Advertising_Type 0 ADV_IND, 3 ADV_NONCONN_IND: the kernel tells no more than that.
            each(
                HeardReport(
                    sighting: sighting, type: .legacy(device.isConnectable ? 0 : 3),
                    addressType: isRandom ? .random : .publicDevice, primaryPHY: .le1M), device.data)
        case .monitorRemoved(let number) where number == monitor:
            monitor = nil
            restarts += 1
            try start()
        case .indexRemoved:
            monitor = nil
            throw .channel(.gone("hci\(index): the adapter was unplugged"))
        case .newSettings(let settings) where !settings.isSuperset(of: [.powered, .lowEnergy]):
            let what = settings.contains(.powered) ? "LE was turned off" : "the adapter was powered down"
            throw .channel(.gone("hci\(index): \(what)"))
        case .controllerSuspend(let state): isAsleep = state != 0
        case .controllerResume: isAsleep = false
        default: return
        }
    }
}
