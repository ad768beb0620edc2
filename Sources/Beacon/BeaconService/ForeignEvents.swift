internal import Advertiser
internal import HCI
internal import HCITransports
internal import LinuxHost

/// What other programs, and the kernel, do to our advertisements, as the monitor channel tells it. Needs CAP_NET_RAW.
final class ForeignEvents: ServiceEventSource {
    let descriptor: Descriptor
    private let monitor: MonitorSocket
    private unowned let finder: AdapterFinder
    private var activity: ForeignActivity
    private static let messagesInATurn = 256

    init(_ finder: AdapterFinder) throws(TransportError) {
        monitor = try MonitorSocket()
        descriptor = monitor.descriptor
        self.finder = finder
        // Who has which socket open is told at once; what happens on an adapter is of interest once it is ours.
        activity = ForeignActivity(
            index: ManagementPacket.noController, watching: .legacy,
            ownProgram: Files.firstLine("/proc/self/comm") ?? "pharos")
    }

    /// Announces our own commands, for ``HCIHost/observer``.
    var observer: HCIHost.Observer {
        { [weak self] packet, isFromController, _ in
            if !isFromController { self?.activity.sent(packet) }
        }
    }

    /// The same for ``ManagementHost/observer``.
    var managementObserver: (ManagementPacket, Bool) -> Void {
        { [weak self] packet, isFromKernel in
            if !isFromKernel { self?.activity.sent(packet) }
        }
    }

    /// What is told of the hciN with that number is of interest, from before the first command to it.
    func follow(_ index: UInt16) { activity.follow(index) }

    /// What has been told until now is about the time before.
    func skip() { _ = take() }

    /// This is on the air now.
    func watch(_ watched: ForeignActivity.Watched) {
        isWatching = true
        activity.watch(watched)
    }

    /// Nothing is on the air: nobody can disturb it.
    func ignore() { isWatching = false }

    private var isWatching = false

    var nextWakeUp: HCIInstant? { isWatching ? activity.wakeTime : nil }

    func take() -> [Supervisor.Input] {
        var inputs: [Supervisor.Input] = []
        for _ in 0..<Self.messagesInATurn {
            guard let packet = try? monitor.receive(until: monitor.now) else { break }
            if let cause = activity.receive(packet, at: monitor.now), isWatching { inputs.append(input(cause)) }
        }
        if let cause = activity.expire(at: monitor.now), isWatching { inputs.append(input(cause)) }
        return inputs
    }

    private func input(_ cause: ForeignActivity.Cause) -> Supervisor.Input {
        let text = "\(finder.nameInUse): \(cause)"
        return switch cause.kind {
        case .advertisingDisabled, .advertisementRemoved: .failed(.foreignDisabled, text)
        case .dataChanged, .scanResponseChanged, .parametersChanged, .addressChanged: .failed(.foreignChanged, text)
        case .controllerReset: .failed(.controllerReset, text)
        case .poweredDown: .failed(.poweredDown, text)
        case .unplugged: .failed(.adapterGone, text)
        case .takenOver: .failed(.adapterBusy, text)
        }
    }
}

/// Listens on the monitor channel for others who undo what is on the air. Without CAP_NET_RAW it hears nothing.
final class ForeignWatch {
    private let monitor: MonitorSocket?
    private var activity: ForeignActivity

    init(index: UInt16, _ watched: ForeignActivity.Watched) {
        monitor = try? MonitorSocket()
        activity = ForeignActivity(
            index: index, watching: watched, ownProgram: Files.firstLine("/proc/self/comm") ?? "pharos")
    }

    /// Announces a message of ours, before it is sent.
    func sent(_ packet: ManagementPacket) {
        if monitor != nil { activity.sent(packet) }
    }

    /// Waits until one of `others` or the monitor channel has something to read, or until `deadline`.
    func wait(_ others: [Descriptor], until deadline: HCIInstant) throws(SystemError) {
        let descriptors = others + [monitor?.descriptor].compactMap { $0 }
        let wake = min(deadline, activity.wakeTime ?? deadline)
        _ = try Poller.wait(descriptors.map { Poller.Interest($0, .read) }, until: wake.nanoseconds)
    }

    /// What has happened since the last call. Returns at once.
    func causes() throws(HCIChannelError) -> [ForeignActivity.Cause] {
        guard let monitor else { return [] }
        var causes: [ForeignActivity.Cause] = []
        while let packet = try monitor.receive(until: monitor.now) {
            if let cause = activity.receive(packet, at: monitor.now) { causes.append(cause) }
        }
        if let cause = activity.expire(at: monitor.now) { causes.append(cause) }
        return causes
    }
}
