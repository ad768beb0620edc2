internal import Advertiser
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Sightings
internal import VirtualController

/// An adapter as a source of packets: listens until it is told to stop, and comes back after everything that takes the
/// adapter away once it has listened.
final class LiveFeed: SightingFeed, AdapterEnvironment {
    /// How long is waited at most, in microseconds: whether an adapter has been powered down shows only when it is asked.
    private static let longestWait = 250_000

    private let options: SightingSource.Options
    private let signals: SignalDescriptor
    private let recording: PacketRecording?
    private let finder = AdapterFinder()
    private var source: SightingSource?
    private var consumer: (any SightingConsumer)?
    private var opened: OpenAdapter?
    /// The adapter's, for the session, which outlives it.
    private var channel: ClosableChannel?
    private var claim: AdapterClaim?
    private var air: VirtualAirServer?
    private var sample: SampleBeacon?
    /// What kept the first attempt from listening: it ends the run.
    private var refusal: (any Error)?
    private var scan: ScanSession?
    /// The error of the latest attempt to start a scan.
    private var startError: SessionError?
    private var hasListened = false
    private var hasNamedOthers = false
    private var lostBefore: Int?
    /// When the kernel is asked again what it has thrown away.
    private var nextLook = HCIInstant.distantPast

    init(_ options: SightingSource.Options) throws(ListenerServiceError) {
        self.options = options
        hasListened = options.waitsForAdapter
        // Before an adapter is raised: a file that cannot be written must not leave it raised.
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
        recording?.onEnd = { consumer.say($0, isWarning: true) }
        let runner = AdapterRunner(
            Supervisor(adapter: options.adapter?.description ?? "the adapter", activity: .listening, at: now), in: self)
        let end = options.durationMicroseconds.map { now.advanced(byMicroseconds: $0) } ?? .distantFuture
        runner.wake()
        // What has never listened ends with its error, and a signal in the middle of a start is an ordinary end.
        if !runner.isOnAir, !isStopWanted, !options.waitsForAdapter {
            runner.handle(.stop)
            throw reason
        }
        if runner.isOnAir { consumer.begin(at: heard(now)) }
        while runner.ended == nil, !consumer.isSatisfied {
            // Once a report: no list is made of these.
            var deadline = min(end, now.advanced(byMicroseconds: Self.longestWait))
            if let due = runner.nextWakeUp { deadline = min(deadline, due) }
            if let due = sample?.nextWakeUp { deadline = min(deadline, due) }
            if let due = consumer.nextWakeUp { deadline = min(deadline, HCIInstant(nanoseconds: due.nanoseconds)) }
            if runner.isOnAir { runner.receive(until: deadline) } else { try wait(until: deadline, runner) }
            // Another feed of this process may have taken the signal.
            if isStopWanted, runner.ended == nil { runner.handle(.stop) }
            // On a busy machine what was noticed just now may be mended in the same turn: it is told all the same.
            if state(runner) != source.state { source.change(state(runner), at: heard(now)) }
            runner.wake()
            sample?.wake(at: now)
            source.counts.restarts = scan?.restarts ?? source.counts.restarts
            source.counts.foreignRestarts = scan?.foreignRestarts ?? source.counts.foreignRestarts
            if state(runner) == .foreign { nameOthers() }
            let current = self.now
            source.change(state(runner), at: heard(current))
            if current >= nextLook {
                nextLook = current.advanced(byMicroseconds: Self.longestWait)
                source.counts.lostInKernel = lost
            }
            source.advance(to: heard(current))
            consumer.rest(at: heard(current))
            if current >= end { runner.handle(.stop) }
        }
        if runner.ended == nil { runner.handle(.stop) }
        source.counts.lostInKernel = lost
        consumer.finish(at: heard(now))
        if let lost = source.counts.lostInKernel, lost > 0 {
            consumer.say(
                "\(source.adapter?.description ?? "the adapter"): \(lost) reports were lost in the kernel: they came faster "
                    + "than they were read", isWarning: true)
        }
        // Why it cannot go on has been said, but for what could never begin.
        if runner.ended == false, let refusal { throw ListenerServiceError(refusal) }
        if runner.ended == false { throw .service(.refused(.unavailable, [])) }
    }

    /// Says once who else scans, as far as the kernel tells.
    private func nameOthers() {
        guard !hasNamedOthers, case .raw(let index)? = source?.adapter else { return }
        hasNamedOthers = true
        let own = String((Files.firstLine("/proc/self/comm") ?? "pharos").prefix(15))
        let sockets = MonitorSocket.openSockets
        let names = Set(sockets.programs(on: index) + sockets.managers).subtracting([own]).sorted()
        consumer?.say(
            "hci\(index): \(names.isEmpty ? "another program" : names.joined(separator: " or ")) scans here, too: what it "
                + "hears is heard, perhaps without repeats, and this scan goes on afterwards", isWarning: true)
    }

    /// Why listening could never begin.
    private var reason: ListenerServiceError {
        if let refusal { return ListenerServiceError(refusal) }
        switch startError {
        case .command(let error, _): return ListenerServiceError(error)
        case let error?: return .refused(.unavailable, "\(error)")
        case nil: return .refused(.unavailable, "nothing can be received here")
        }
    }

    private func state(_ runner: AdapterRunner) -> ListeningState {
        ListeningState(runner.supervisor.state, scan?.state)
    }

    /// Nothing to wait for but time and a signal.
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

    private func heard(_ instant: HCIInstant) -> HeardInstant { HeardInstant(nanoseconds: instant.nanoseconds) }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }
    var isStopWanted: Bool { signals.takenAt != nil }

    func open() throws(AdapterFault) {
        do {
            let name = try finder.find(options.adapter)
            if name == .virtual, air == nil {
                air = try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
            }
            // The list of adapters is empty where the kernel has no Bluetooth, which is the better answer then.
            if BlueZAdapter.kernelHasBluetooth, let missing = Self.missingRight(for: name, Privileges.effective) {
                throw missing
            }
            source?.adapter = name
            let opened = try claimAndOpen(name)
            self.opened = opened
            channel = ClosableChannel(opened.channel)
            if let air, sample == nil { sample = try SampleBeacon(air, options.samples) }
        } catch {
            throw fault(error)
        }
    }

    private func claimAndOpen(_ name: AdapterName) throws -> OpenAdapter {
        claim = nil
        let claim = try AdapterClaim(name, .listen, for: options.purpose, in: options.runtimeDirectory)
        do throws(TransportError) {
            let opened = try OpenAdapter(name, isListening: true, interruption: signals, air: air)
            self.claim = claim
            return opened
        } catch {
            // Whoever keeps us out listens by the user channel, and so beside nobody.
            if error.reason == .busy, let holder = claim.shared { throw holder }
            throw error
        }
    }

    /// Without the right to a raw socket nothing would be heard, and nobody would say so.
    static func missingRight(for name: AdapterName, _ held: Set<Privileges.Capability>) -> BeaconServiceError? {
        guard case .raw = name, !held.contains(.netRaw) else { return nil }
        return .refused(
            .notPermitted,
            "\(name): listening needs CAP_NET_RAW: without it the kernel keeps all reports back, silently (run it with sudo)"
        )
    }

    /// What has never listened ends with its error; what has is waited for.
    private func fault(_ error: any Error) -> AdapterFault {
        let fault = AdapterFinder.fault(error)
        guard !hasListened || Self.isForGood(error) else { return fault }
        refusal = error
        if let error = error as? TransportError, error.reason == .notPermitted(.netRaw), let name = source?.adapter {
            refusal = Self.missingRight(for: name, []) ?? error
        }
        return AdapterFault(fault.cause, fault.text, isPermanent: true)
    }

    /// What no waiting helps against: this user may not listen.
    private static func isForGood(_ error: any Error) -> Bool {
        if case .refused(.notPermitted, _)? = error as? BeaconServiceError { return true }
        if let error = error as? TransportError, case .notPermitted = error.reason { return true }
        return false
    }

    func close() {
        lostBefore = lost ?? lostBefore
        channel?.close()
        // Where it was down it is put down again, unless a beacon is sent with it by now: a radio that has failed is started
        // anew by that, and at the end it is as it was.
        if let address = opened?.raisedAddress, AdapterLock.holder(of: address, in: options.runtimeDirectory) == nil {
            try? opened?.close()
        }
        (opened, channel) = (nil, nil)
    }

    /// What the kernel has thrown away of all that was opened so far; `nil` where it never told.
    private var lost: Int? { opened?.lostPackets.map { $0 + (lostBefore ?? 0) } ?? lostBefore }

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
            throw .ended(.refused, "\(name) confirmed the scan but does not scan")
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
        let session = ScanSession(
            host: host, capabilities, options.settings, isExclusive: opened.isExclusive,
            isAmongListeners: claim?.shared != nil, hasLeftover: options.hasLeftover && previous == nil, after: previous
        )
        let (source, recording) = (source, recording)
        session.onPacket = { packet, isFromController, time in
            recording?.append(packet, isFromController: isFromController)
            if isFromController { source?.take(packet, at: HeardInstant(nanoseconds: time.nanoseconds)) }
        }
        return session
    }

    func explain(_ error: HCIChannelError) -> AdapterFault {
        let fault = finder.explain(error)
        if !hasListened { refusal = refusal ?? HCICommandError.channel(error) }
        return fault
    }

    func log(_ priority: Supervisor.LogPriority, _ text: String) {
        // A signal in the middle of a start is an ordinary end.
        if !hasListened, priority != .notice { return }
        consumer?.say(text, isWarning: priority != .notice)
    }

    func notify(_ notice: Supervisor.Notice) {
        if notice == .ready { hasListened = true }
    }
}
