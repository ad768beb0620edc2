internal import Advertiser
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Sightings
internal import VirtualController

/// Receives packets from an adapter until the feed is stopped. After the first success, the feed recovers from every
/// loss of the adapter.
final class LiveFeed: SightingFeed, AdapterEnvironment {
    /// The longest wait in microseconds. The program must check regularly whether the adapter was powered down.
    private static let longestWait = 250_000

    private let options: SightingSource.Options
    private let signals: SignalDescriptor
    private let recording: PacketRecording?
    private let finder = AdapterFinder()
    private var clock = SessionClock()
    private var source: SightingSource?
    private var consumer: (any SightingConsumer)?
    private var opened: OpenAdapter?
    /// The connection. The session keeps a reference to it even after the adapter is closed.
    private var channel: ClosableChannel?
    private var claim: AdapterClaim?
    private var air: VirtualAirServer?
    /// The reason why the first attempt failed, which ends the run.
    private var refusal: (any Error)?
    private var scan: ScanSession?
    /// The error of the latest attempt to start a scan.
    private var startError: SessionError?
    private var hasListened = false
    private var hasReportedForeignScan = false
    /// The number of packets that the kernel dropped on earlier connections to the adapter; `nil` if not known.
    private var lostOnEarlierConnections: Int?
    /// The next time to read the number of packets that the kernel dropped.
    private var nextLossCheck = HCIInstant.distantPast
    /// The arrival time of the last packet that was taken in this pass of the loop; `nil` if there was none.
    private var lastPacket: HCIInstant?

    init(_ options: SightingSource.Options) throws(ListenerServiceError) {
        self.options = options
        hasListened = options.waitsForAdapter
        // The recording is opened before the adapter is powered up, so that a failure leaves the adapter as it was.
        if let path = options.recording { recording = try PacketRecording(path) } else { recording = nil }
        do throws(SystemError) {
            signals = if let given = options.signals { given } else { try SignalDescriptor() }
        } catch {
            throw ListenerServiceError(error)
        }
    }

    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError) {
        (self.source, self.consumer) = (source, consumer)
        defer { (self.source, self.consumer) = (nil, nil) }
        let runner = AdapterRunner(
            Supervisor(adapter: options.adapter?.description ?? "the adapter", sessionKind: .listening, at: now),
            in: self)
        let end = options.durationMicroseconds.map { now.advanced(byMicroseconds: $0) } ?? .distantFuture
        runner.wake()
        // A failure before the first success is an error, but a signal during the start is a normal end.
        if !runner.isRunning, !isStopWanted, !options.waitsForAdapter {
            runner.handle(.stop)
            takePackets()
            throw startFailure
        }
        if runner.isRunning { consumer.begin(at: heardInstant(now)) }
        while runner.ended == nil, !consumer.isSatisfied {
            // The loop runs once for each report, so it compares the deadlines without building a list of them.
            lastPacket = nil
            var deadline = min(end, now.advanced(byMicroseconds: Self.longestWait))
            if let due = runner.nextWakeUp { deadline = min(deadline, due) }
            if let due = consumer.nextWakeUp { deadline = min(deadline, clock.session(due)) }
            if runner.isRunning { runner.receive(until: deadline) } else { try wait(until: deadline, runner) }
            clock.update()
            // Another source of this process may have taken the signal.
            if isStopWanted, runner.ended == nil { runner.handle(.stop) }
            takePackets()
            // A short interruption is reported even if the runner repairs it in the same iteration.
            if state(runner) != source.state { source.change(state(runner), at: heardInstant(now)) }
            runner.wake()
            takePackets()
            source.counts.restarts = scan?.restarts ?? source.counts.restarts
            source.counts.foreignRestarts = scan?.foreignRestarts ?? source.counts.foreignRestarts
            if state(runner) == .foreign { reportForeignScan() }
            // While packets wait, the current time is the time at which the last taken packet arrived. Otherwise a busy
            // consumer would count its own delay as a silence.
            let current = lastPacket ?? self.now
            source.change(state(runner), at: heardInstant(current))
            if current >= nextLossCheck {
                nextLossCheck = current.advanced(byMicroseconds: Self.longestWait)
                source.counts.lostInKernel = droppedByKernel
            }
            source.advance(to: heardInstant(current))
            consumer.handleIdle(at: heardInstant(current))
            if self.now >= end { runner.handle(.stop) }
        }
        if runner.ended == nil { runner.handle(.stop) }
        takePackets()
        source.counts.lostInKernel = droppedByKernel
        consumer.finish(at: heardInstant(now))
        if let lost = source.counts.lostInKernel, lost > 0 {
            consumer.say(
                "\(source.adapter?.description ?? "the adapter"): \(lost) reports were lost in the kernel, because they arrived faster "
                    + "than they were read", isWarning: true)
        }
        // The runner has logged why it cannot continue, unless it failed before the first success.
        if runner.ended == false, let refusal { throw ListenerServiceError(refusal) }
        if runner.ended == false { throw .service(.refused(.unavailable, [])) }
    }

    /// Records the packets of the scan, and passes those of the controller to the source.
    private func takePackets() {
        scan?.takeEvents { event in
            guard case .packet(let packet, let isFromController, let time) = event else { return }
            if let failure = recording?.append(
                packet, isFromController: isFromController, at: time, drops: source?.counts.lostInKernel ?? 0)
            {
                consumer?.say(failure, isWarning: true)
            }
            guard isFromController else { return }
            lastPacket = time
            source?.take(packet, at: heardInstant(time))
        }
    }

    /// Reports once which other program scans, if the kernel shows it.
    private func reportForeignScan() {
        guard !hasReportedForeignScan, case .raw(let index)? = source?.adapter else { return }
        hasReportedForeignScan = true
        let ownName = String((Files.firstLine("/proc/self/comm") ?? "pharos").prefix(15))
        let sockets = MonitorSocket.openSockets
        let names = Set(sockets.programs(on: index) + sockets.managers).subtracting([ownName]).sorted()
        consumer?.say(
            "hci\(index): \(names.isEmpty ? "another program" : names.joined(separator: " or ")) scans, too. "
                + "Until its scan ends, Pharos uses the reports of that scan, from which repeated reports may be missing",
            isWarning: true)
    }

    /// The reason why receiving could not begin.
    private var startFailure: ListenerServiceError {
        if let refusal { return ListenerServiceError(refusal) }
        switch startError {
        case .command(let error, _): return ListenerServiceError(error)
        case let error?: return .refused(.unavailable, "\(error)")
        case nil: return .refused(.unavailable, "no adapter can receive here")
        }
    }

    private func state(_ runner: AdapterRunner) -> ListeningState {
        ListeningState(runner.supervisor.state, scan?.state)
    }

    /// Waits for a signal or the deadline.
    private func wait(until deadline: HCIInstant, _ runner: AdapterRunner) throws(ListenerServiceError) {
        let ready: [Bool]
        do throws(SystemError) {
            ready = try Poller.wait([.init(signals.descriptor, .read)], until: deadline.nanoseconds)
        } catch {
            throw ListenerServiceError(error)
        }
        if ready.contains(true) { _ = signals.take() }
        if isStopWanted { runner.handle(.stop) }
    }

    private func heardInstant(_ instant: HCIInstant) -> HeardInstant { clock.heard(instant) }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }
    var isStopWanted: Bool { signals.takenAt != nil }

    func open() throws(AdapterFault) {
        do {
            let name = try finder.find(options.adapter)
            if name.isVirtual, air == nil {
                let path = name == .virtualTour ? VirtualPath.tour : .still
                air = try options.virtualBeacons.air(options.settings.isCoded ? .zephyr : .raspberryPi, path)
            }
            // If the kernel has no Bluetooth, permissions are not checked: the message about the missing adapter is
            // more useful.
            if BlueZAdapter.kernelHasBluetooth, let missing = Self.missingPermission(for: name, Privileges.effective) {
                throw missing
            }
            source?.adapter = name
            let opened = try claimAndOpen(name)
            self.opened = opened
            channel = ClosableChannel(opened.channel)
        } catch {
            throw fault(error)
        }
    }

    private func claimAndOpen(_ name: AdapterName) throws -> OpenAdapter {
        claim = nil
        let claim = try AdapterClaim(name, .listen, for: options.purpose, in: options.runtimeDirectory)
        let opened: OpenAdapter
        do throws(TransportError) {
            opened = try OpenAdapter(name, isListening: true, interruption: signals, air: air)
        } catch {
            // If the adapter is busy, the other program uses its user channel, which cannot be shared.
            if error.reason == .busy, let holder = claim.shared { throw holder }
            throw error
        }
        try claim.add(opened)
        self.claim = claim
        return opened
    }

    /// Returns an error if the right to use a raw socket is missing. Without this right, the kernel would drop all
    /// reports and return no error.
    static func missingPermission(for name: AdapterName, _ held: Set<Privileges.Capability>) -> BeaconServiceError? {
        guard case .raw = name, !held.contains(.netRaw) else { return nil }
        return .refused(
            .notPermitted,
            "\(name): receiving needs CAP_NET_RAW; without it the kernel drops all reports without an error (use sudo)"
        )
    }

    /// Returns the fault for an error. Before the first success, an error is permanent; later the feed tries again.
    private func fault(_ error: any Error) -> AdapterFault {
        let fault = AdapterFinder.fault(error)
        guard !hasListened || Self.isPermanent(error) else { return fault }
        refusal = error
        if let error = error as? TransportError, error.reason == .notPermitted(.netRaw), let name = source?.adapter {
            refusal = Self.missingPermission(for: name, []) ?? error
        }
        return AdapterFault(fault.cause, fault.text, isPermanent: true)
    }

    /// Returns whether retrying is pointless, because this user has no permission.
    private static func isPermanent(_ error: any Error) -> Bool {
        if case .refused(.notPermitted, _)? = error as? BeaconServiceError { return true }
        if let error = error as? TransportError, case .notPermitted = error.reason { return true }
        return false
    }

    func close() {
        lostOnEarlierConnections = droppedByKernel ?? lostOnEarlierConnections
        channel?.close()
        // Powers the adapter down if this feed powered it up, unless a beacon uses it meanwhile. Powering a failed
        // radio down and up also resets it.
        if let address = opened?.raisedAddress,
            AdapterLock.holder(of: LockedAdapter(address), in: options.runtimeDirectory) == nil
        {
            try? opened?.close()
        }
        (opened, channel) = (nil, nil)
    }

    /// The number of packets that the kernel dropped so far; `nil` if it is not known.
    private var droppedByKernel: Int? {
        opened?.lostPackets.map { $0 + (lostOnEarlierConnections ?? 0) } ?? lostOnEarlierConnections
    }

    var session: (any AdapterSession)? { scan }

    func startSession() throws(SessionError) -> any AdapterSession {
        startError = nil
        do throws(SessionError) {
            let started = try makeSession(after: scan)
            scan = started
            try started.start()
            if options.waitsForAdapter { try confirm(started) }
            return started
        } catch {
            startError = error
            throw error
        }
    }

    /// Asks the controller whether it really scans.
    private func confirm(_ session: ScanSession) throws(SessionError) {
        let restarts = session.restarts
        guard try session.verify(), session.restarts == restarts else {
            let name = options.adapter?.description ?? "the adapter"
            throw .ended(.refused, "\(name) confirmed the start of the scan, but does not scan")
        }
    }

    private func makeSession(after previous: ScanSession?) throws(SessionError) -> ScanSession {
        guard let opened, let channel else { throw .command(.channel(.gone("the adapter is closed")), remedy: nil) }
        let host = HCIHost(channel: channel)
        let capabilities: ControllerCapabilities
        do throws(HCICommandError) {
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        } catch {
            if !hasListened { refusal = error }
            throw .command(error, remedy: nil)
        }
        // The session that starts now stores its own packets, so those of the previous session are taken first.
        takePackets()
        return ScanSession(
            host: host, capabilities, options.settings, isExclusive: opened.isExclusive,
            isAmongListeners: claim?.shared != nil, hasLeftover: options.hasLeftover && previous == nil, after: previous
        )
    }

    func explain(_ error: HCIChannelError) -> AdapterFault {
        let fault = finder.explain(error)
        if !hasListened { refusal = refusal ?? HCICommandError.channel(error) }
        return fault
    }

    func log(_ priority: Supervisor.LogPriority, _ text: String) {
        // A signal during the start is a normal end.
        if !hasListened, priority != .notice { return }
        consumer?.say(text, isWarning: priority != .notice)
    }

    func notify(_ notice: Supervisor.Notice) {
        if notice == .ready { hasListened = true }
    }
}
