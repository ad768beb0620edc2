internal import Advertiser
internal import HCI
internal import HCITransports
internal import LinuxHost

/// The loop of `run`: one thread waits for the adapter, for signals, for what the kernel tells, and for the time of the
/// next thing to do.
final class Service {
    private let box: ServiceBox
    private let keeper: BeaconKeeper<ServiceBox>
    private let signals: ServiceSignals

    /// Signs of life for each period of the watchdog: one may come late, and not bring the service down.
    private static let watchdogDivisor: UInt64 = 3

    init(_ box: ServiceBox, notifier: ServiceNotifier, signals: ServiceSignals) {
        self.box = box
        self.signals = signals
        var pacing = SupervisorPacing()
        if let period = notifier.watchdogMicroseconds {
            pacing.verification = Int(clamping: max(1, period / Self.watchdogDivisor))
        }
        box.listen(&pacing)
        keeper = BeaconKeeper(Supervisor(adapter: box.job.adapterText, pacing: pacing, at: box.now), in: box)
    }

    /// Runs until it is told to end.
    ///
    /// - Throws: why the beacon could never go on the air, whatever happens.
    func run() throws {
        keeper.wake()
        box.report(keeper)
        while keeper.ended == nil {
            try turn()
            box.report(keeper)
        }
        box.finish()
        guard keeper.ended == false else { return }
        throw box.permanentFailure ?? Failure(.configuration, keeper.supervisor.lastError ?? "")
    }

    private func turn() throws {
        let channel = box.channelDescriptor
        let interests =
            [signals.stop.descriptor, signals.reload.descriptor].map { Poller.Interest($0, .read) }
            + (channel.map { [Poller.Interest($0, .read)] } ?? [])
            + box.sources.map { Poller.Interest($0.descriptor, .read) }
        let deadline = min(keeper.nextWakeUp ?? .distantFuture, box.nextWakeUp)
        box.tellAgain()
        var ready = try Poller.wait(interests, until: deadline.nanoseconds)[...]
        if ready.removeFirst(), box.isStopWanted { keeper.handle(.stop) }
        if ready.removeFirst(), signals.reload.take() != nil { keeper.handle(.reloadRequested) }
        let channelIsReady = channel != nil && ready.removeFirst()
        for (source, isReady) in zip(box.sources, ready)
        where isReady || source.nextWakeUp.map({ $0 <= box.now }) == true {
            for input in source.take() { keeper.handle(input) }
        }
        // Unless it has been closed because of what the kernel told.
        if channelIsReady, box.channelDescriptor === channel { keeper.receive() }
        if let due = keeper.nextWakeUp, due <= box.now { keeper.wake() }
    }
}
