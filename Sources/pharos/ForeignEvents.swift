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
