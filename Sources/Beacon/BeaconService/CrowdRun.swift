public import Advertiser
public import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
public import VirtualController

/// Sends a crowd of identities from one adapter, for tests of receivers, until the duration is over, a signal arrives,
/// or a fault ends it.
///
/// At the end everything is off, and the adapter is in its former state.
public final class CrowdRun {
    public struct Options {
        /// The adapter; `nil` for the first hciN with LE.
        public var adapter: AdapterName?
        /// The identities to send, at least one.
        public var identities: [CrowdIdentity]
        /// The advertising interval; `nil` for the shortest one of the controller.
        public var interval: AdvertisingInterval?
        /// The time for which each identity stays on the air, in microseconds; `nil` for the shortest one.
        public var dwellMicroseconds: Int?
        /// The time on the air after which the run ends, in microseconds; `nil` to run until a signal arrives.
        public var durationMicroseconds: Int?
        /// The controller that the virtual adapter imitates.
        public var model = VirtualControllerModel.raspberryPi
        /// The directory of this machine's adapter locks.
        public var runtimeDirectory = AdapterClaim.defaultDirectory

        public init(adapter: AdapterName?, identities: [CrowdIdentity]) {
            self.adapter = adapter
            self.identities = identities
        }
    }

    /// The purpose of the adapter lock, by which other programs recognise a crowd.
    static let purpose = "pharos crowd"
    /// The longest wait, in microseconds. A signal or an event ends it earlier.
    private static let longestWait = 250_000
    /// The longest time for turning everything off, in microseconds.
    private static let shutdownTimeout = 5_000_000
    /// The longest time for turning everything off after a fault, in microseconds. It is short, because the error is
    /// printed only afterwards.
    private static let faultShutdownTimeout = 500_000
    /// The number of commands whose answers are timed before the start.
    private static let timedCommands = 4

    /// The properties of the crowd that are known before the first turn.
    public let facts: CrowdFacts
    private let options: Options
    private let signals: SignalDescriptor
    private let finder = AdapterFinder()
    private let opened: OpenAdapter
    private let claim: AdapterClaim
    private let session: CrowdSession
    /// The air of a virtual adapter, which ends with this object; `nil` for other adapters.
    private let air: VirtualAirServer?

    /// Opens the adapter, without sending yet.
    ///
    /// - Throws: An error if the adapter is missing, used by another program, or not permitted; if the controller
    ///   cannot send the identities as requested; and if the duration is too short for one round.
    public init(_ options: Options) throws(BeaconServiceError) {
        self.options = options
        do {
            if let adapter = options.adapter { try Self.check(adapter) }
            let name = try finder.find(options.adapter)
            signals = try SignalDescriptor(SignalDescriptor.termination)
            try Self.checkKernel(name)
            claim = try AdapterClaim(name, .send, for: Self.purpose, in: options.runtimeDirectory)
            air =
                name == .virtual ? try VirtualAirServer(VirtualAirConfiguration(model: options.model)) : nil
            opened = try OpenAdapter(name, interruption: signals, air: air)
            do {
                try claim.add(opened)
                let host = HCIHost(channel: opened.channel)
                let capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
                let timing = try CrowdTiming(
                    interval: options.interval, dwellMicroseconds: options.dwellMicroseconds, on: capabilities)
                session = try CrowdSession(
                    host: host, identities: options.identities, timing: timing, on: capabilities,
                    isExclusive: opened.isExclusive)
                facts = CrowdFacts(
                    adapter: name.description, session, commandMicroseconds: try Self.commandTime(host))
                if let duration = options.durationMicroseconds { try facts.check(duration) }
            } catch {
                try? opened.close()
                throw error
            }
        } catch {
            throw BeaconServiceError(error)
        }
    }

    /// Refuses a form of adapter that cannot send a crowd.
    private static func check(_ name: AdapterName) throws(BeaconServiceError) {
        switch name {
        case .managed(let index):
            throw .refused(
                .request,
                "\(name): here the kernel chooses the addresses, but a crowd must set an address for each of its "
                    + "beacons; use hci\(index)")
        case .virtualTour:
            throw .refused(.request, "\(name): only commands that receive can use this adapter; to send, use virtual")
        case .raw, .user, .tcp, .unix, .serial, .virtual: return
        }
    }

    /// Refuses an adapter on which the kernel sends advertisements. The adapter's lock does not show every beacon: a
    /// beacon with hciN:mgmt that runs in the foreground has no lock.
    private static func checkKernel(_ name: AdapterName) throws(BeaconServiceError) {
        guard case .raw(let index) = name, let socket = try? ManagementSocket(name.description),
            let features = try? ManagementHost(channel: socket).execute(ReadAdvertisingFeatures(), index: index),
            !features.instances.isEmpty
        else { return }
        let count = features.instances.count
        throw .refused(
            .unavailable,
            "\(name): the kernel sends \(NumberFormat.count(count, "advertisement")) there for bluetoothd or for a "
                + "beacon with hci\(index):mgmt; end \(count == 1 ? "it" : "them"), or name another adapter")
    }

    /// Refuses an adapter on which a crowd is sent. A program that takes no lock itself calls this.
    static func refuse(besideCrowdOn adapter: LockedAdapter, in directory: String) throws(AdapterLockError) {
        guard let holder = AdapterLock.holder(of: adapter, in: directory), holder.purpose == purpose else { return }
        throw .held(adapter, .send, by: holder)
    }

    /// Returns the mean time in which the controller answers a command, in microseconds.
    private static func commandTime(_ host: HCIHost) throws(HCICommandError) -> Int {
        let start = host.now
        for _ in 0..<timedCommands { _ = try host.execute(ReadBDADDR()) }
        return host.now.microseconds(since: start) / timedCommands
    }

    /// Sends the crowd. Call this only once.
    ///
    /// - Parameters:
    ///   - pause: The time between two calls of `progress`, in microseconds.
    ///   - progress: Receives the counts so far.
    /// - Returns: The counts at the end.
    /// - Throws: The fault that ended the run. Everything is off then, as far as the controller answers.
    public func run(
        every pause: Int, _ progress: (CrowdReport) -> Void
    ) throws(BeaconServiceError) -> CrowdReport {
        var timeout = Self.shutdownTimeout
        let result: Result<Void, any Error> = Result { try send(every: pause, progress) }
        var fault: BeaconServiceError?
        if case .failure(let error) = result, !isInterruption(error) {
            fault = explain(error)
            timeout = Self.faultShutdownTimeout
        }
        var shutdownFailure: SessionError?
        do throws(SessionError) {
            try session.stop(by: session.now.advanced(byMicroseconds: timeout))
        } catch {
            shutdownFailure = error.isInterruption ? nil : error
        }
        try? opened.close()
        if let fault { throw fault }
        if let shutdownFailure { throw explain(shutdownFailure) }
        withExtendedLifetime(claim) {}
        return CrowdReport(session)
    }

    private func send(every pause: Int, _ progress: (CrowdReport) -> Void) throws {
        let begin = session.now
        let end = options.durationMicroseconds.map { begin.advanced(byMicroseconds: $0) } ?? .distantFuture
        var nextReport = begin.advanced(byMicroseconds: pause)
        let poll = [signals.descriptor] + opened.descriptors
        while session.now < end {
            try session.wake()
            let now = session.now
            if nextReport <= now {
                progress(CrowdReport(session))
                nextReport = now.advanced(byMicroseconds: pause)
            }
            let deadline = min(
                end, nextReport, session.nextWakeUp ?? .distantFuture, now.advanced(byMicroseconds: Self.longestWait))
            let ready = try Poller.wait(poll.map { Poller.Interest($0, .read) }, until: deadline.nanoseconds)
            if ready[0] { _ = signals.take() }
            if signals.takenAt != nil { return }
            if ready.dropFirst().contains(true) { try session.receive() }
        }
    }

    private func isInterruption(_ error: any Error) -> Bool {
        signals.takenAt != nil || (error as? SessionError)?.isInterruption == true
    }

    /// Returns the error with its cause, if the kernel knows the cause.
    private func explain(_ error: any Error) -> BeaconServiceError {
        guard case .command(.channel(let channel), _)? = error as? SessionError, !channel.isNotPermitted else {
            return BeaconServiceError(error)
        }
        let fault = finder.explain(channel)
        return .advertising(.ended(fault.cause, fault.text))
    }
}
