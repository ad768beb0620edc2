public import HCI

/// Keeps a session (a beacon or a scan) running on an adapter. It carries out the decisions of a ``Supervisor`` and
/// reports the results to it.
///
/// Use it from one thread. Each call sends commands and waits for their answers; between the calls nothing happens.
public final class AdapterRunner {
    public private(set) var supervisor: Supervisor
    /// `nil` until the supervisor has ended; then `true` if the end was requested, and `false` if a fault was the
    /// reason.
    public private(set) var ended: Bool?

    /// Increases with each input and each decision of the supervisor. As long as it stays the same, the supervisor's
    /// state stays the same too.
    public private(set) var changes = 0

    /// The last error of the session, or the last fault that the caller passed to ``handle(_:)``.
    public private(set) var failure: SessionError?
    /// The reason why advertising may still be on after the session was stopped; `nil` if the controller confirmed that
    /// it is off.
    public private(set) var shutdownFailure: SessionError?

    private let environment: any AdapterEnvironment

    /// The maximum time for turning advertising off after a fault: 0.5 s, in microseconds. It is short because the user
    /// must wait for the error message until then.
    private static let faultShutdownTimeout = 500_000

    /// Creates a runner. It does nothing before the first ``wake()``.
    public init(_ supervisor: Supervisor, in environment: any AdapterEnvironment) {
        self.supervisor = supervisor
        self.environment = environment
    }

    /// The time by which ``wake()`` must be called next; `nil` if nothing is due in the future.
    public var nextWakeUp: HCIInstant? {
        guard let due = supervisor.nextWakeUp else { return nil }
        guard supervisor.isOnAir, let renewal = environment.session?.nextWakeUp else { return due }
        return min(due, renewal)
    }

    /// Does the work that is due, for the supervisor and for the session.
    public func wake() {
        perform(supervisor.wake(at: environment.now))
        attempt { session, now throws(SessionError) in try session.wake(now) }
    }

    /// Handles the events that have arrived. If there are none, waits for an event until `deadline`.
    public func receive(until deadline: HCIInstant = .distantPast) {
        attempt { session, _ throws(SessionError) in try session.receive(until: deadline) }
    }

    /// `true` if the session is sending or scanning, according to the supervisor.
    public var isRunning: Bool { supervisor.isOnAir }

    /// Passes an input to the supervisor and carries out its decisions.
    public func handle(_ input: Supervisor.Input) {
        if case .failed(let cause, let text) = input { failure = .ended(cause, text) }
        pass(input)
    }

    private func pass(_ input: Supervisor.Input) {
        changes += 1
        perform(supervisor.handle(input, at: environment.now))
    }

    private func attempt(_ body: (any AdapterSession, HCIInstant) throws(SessionError) -> Void) {
        guard supervisor.isOpen, let session = environment.session else { return }
        let wasRestarting = session.isRestarting
        do throws(SessionError) {
            try body(session, environment.now)
            logRestart(session, wasRestarting: wasRestarting)
        } catch {
            pass(input(error))
            stopIfRequested()
        }
    }

    private func logRestart(_ session: any AdapterSession, wasRestarting: Bool) {
        switch (wasRestarting, session.isRestarting) {
        case (false, true):
            environment.log(.warning, "\(supervisor.adapter): the controller was reset and is being set up again")
        case (true, false): environment.log(.notice, "\(supervisor.sessionKind.verb) again on \(supervisor.adapter)")
        default: break
        }
    }

    /// Stops if a stop was requested. A stop signal can interrupt any command, and the interrupted command may have
    /// reported a different error.
    private func stopIfRequested() {
        if environment.isStopWanted { perform(supervisor.handle(.stop, at: environment.now)) }
    }

    private func perform(_ actions: [Supervisor.Action]) {
        if !actions.isEmpty { changes += 1 }
        var queue = actions
        var index = 0
        while index < queue.count {
            if let result = perform(queue[index]) { queue += supervisor.handle(result, at: environment.now) }
            index += 1
            // A requested stop drops all decisions that have not been carried out yet, except for messages.
            if supervisor.state != .off, environment.isStopWanted {
                queue = queue[index...].filter(\.isMessage) + supervisor.handle(.stop, at: environment.now)
                index = 0
            }
        }
        // Events are not counted while nothing is on the air, even if the adapter stays open until the next attempt.
        if !supervisor.isOnAir { environment.session?.silence(since: environment.now) }
    }

    /// Carries out one action. Returns its result if the supervisor needs it.
    private func perform(_ action: Supervisor.Action) -> Supervisor.Input? {
        switch action {
        case .open: return open()
        case .start: return start()
        case .verify: return verify()
        case .rearm: return rearm()
        case .close:
            environment.session?.silence(since: environment.now)
            environment.close()
        case .turnOff: turnOff()
        case .readProfile: return environment.readProfile()
        case .adoptForNextStart: environment.adoptProfile()
        case .adopt: return adopt()
        case .log(let priority, let text): environment.log(priority, text)
        case .notify(let notice): environment.notify(notice)
        case .finish(let asWanted): ended = asWanted
        }
        return nil
    }

    private func turnOff() {
        let timeout = supervisor.hasGivenUp ? Self.faultShutdownTimeout : supervisor.pacing.shutdown
        do throws(SessionError) {
            try environment.session?.stop(by: environment.now.advanced(byMicroseconds: timeout))
        } catch {
            shutdownFailure = error
        }
    }

    private func open() -> Supervisor.Input {
        do throws(AdapterFault) {
            try environment.open()
            return .opened
        } catch {
            return supervisor.persistence == .untilFault ? .impossible(error.text) : error.input
        }
    }

    private func start() -> Supervisor.Input {
        result { () throws(SessionError) in
            let session = try environment.startSession()
            try environment.confirmOnAir()
            return .started(session.summary)
        }
    }

    private func verify() -> Supervisor.Input {
        guard let session = environment.session else { return .failed(.silent, "nothing is on the air") }
        return result { () throws(SessionError) in
            guard try session.verify() else {
                return .failed(.silent, "advertising was off, but no program was observed to turn it off")
            }
            try environment.confirmOnAir()
            return .verified
        }
    }

    private func rearm() -> Supervisor.Input {
        guard let session = environment.session else { return .failed(.adapterGone, "nothing was on the air") }
        let fault = failure
        let input = result { () throws(SessionError) in
            try session.rearm()
            try environment.confirmOnAir()
            return .rearmed
        }
        // If the settings cannot be restored, the fault that changed them is reported, because it explains more than
        // the refused command.
        guard supervisor.persistence == .untilFault, case .impossible = input, let fault else { return input }
        failure = fault
        return .impossible("\(fault)")
    }

    private func adopt() -> Supervisor.Input {
        guard let session = environment.session else { return .failed(.adapterGone, "nothing is on the air") }
        do throws(SessionError) {
            let newSession = try environment.changeOver()
            environment.adoptProfile()
            return .adopted(newSession.summary)
        } catch {
            // If the controller refuses the new profile, the old one stays on the air.
            return error.isRefusal && session.isOnAir ? .reloadBad("\(error)") : input(error)
        }
    }

    private func result(_ body: () throws(SessionError) -> Supervisor.Input) -> Supervisor.Input {
        do throws(SessionError) {
            return try body()
        } catch {
            // A start after which nothing is on the air is treated like a start that the controller refused.
            if case .failed(.silent, let text) = input(error) { return .failed(.refused, text) }
            return input(error)
        }
    }

    /// Returns the input with which an error of the session is reported to the supervisor.
    private func input(_ error: SessionError) -> Supervisor.Input {
        failure = error
        // This error is never `impossible`: another program turns advertising off again and again, but the adapter
        // itself works.
        if case .ended(.foreignDisabled, let reason) = error { return .failed(.foreignDisabled, reason) }
        if supervisor.persistence == .untilFault { return error.isInterruption ? .stop : .impossible("\(error)") }
        return switch error {
        case .impossible(let reason), .payload(let reason): .impossible(reason)
        case .ended(let cause, let reason): .failed(cause, reason)
        case .hardwareError: .failed(.hardwareError, "\(error)")
        case .command(let commandError, _):
            switch commandError {
            // The controller will never accept these parameters.
            case .refused(_, _, .unsupportedFeatureOrParameterValue), .refused(_, _, .invalidParameters):
                .impossible("\(error)")
            case .refused, .malformedReturn: .failed(.refused, "\(error)")
            case .noAnswer, .notAccepted: .failed(.noAnswer, "\(error)")
            case .channel(let channel): input(channel)
            }
        case .management(let managementError):
            switch managementError {
            case .refused(_, _, .rfkilled): .failed(.rfkill, "\(error)")
            case .refused(_, _, .notPowered): .failed(.poweredDown, "\(error)")
            case .refused(_, _, .invalidIndex): .failed(.adapterMissing, "\(error)")
            case .refused(_, _, .permissionDenied): .impossible("\(error)")
            case .refused(_, _, .busy): .failed(.adapterBusy, "\(error)")
            case .refused, .malformedReturn: .failed(.refused, "\(error)")
            case .noAnswer: .failed(.noAnswer, "\(error)")
            case .channel(let channel): input(channel)
            }
        }
    }

    private func input(_ error: HCIChannelError) -> Supervisor.Input {
        // A signal has requested the end of the program.
        if error == .interrupted { return .stop }
        environment.session?.markLost()
        return environment.explain(error).input
    }
}

extension Supervisor.Action {
    /// `true` if the action only informs the user or the service manager.
    fileprivate var isMessage: Bool {
        switch self {
        case .log, .notify: true
        default: false
        }
    }
}

extension SessionError {
    /// The controller works but refuses the request.
    fileprivate var isRefusal: Bool {
        switch self {
        case .impossible, .payload: true
        case .command(let error, _): error.isRefusal
        case .management(let error): error.status != nil
        case .ended, .hardwareError: false
        }
    }
}
