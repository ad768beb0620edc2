public import HCI

/// Does what a ``Supervisor`` decides, with a session on an adapter.
///
/// For one thread: it sends commands and waits for their answers. Between the calls nothing runs.
public final class BeaconKeeper<Surroundings: BeaconSurroundings> {
    public private(set) var supervisor: Supervisor
    /// What is on the air, or was last.
    public private(set) var session: Surroundings.Session?
    /// How it ended: `true` as wanted, `false` when nothing could be done. `nil` before.
    public private(set) var ended: Bool?

    /// Counts what the supervisor was told, and what it decided: while it stays the same, so does all that it says.
    public private(set) var changes = 0

    private let surroundings: Surroundings

    /// What turning off may take, in microseconds: 0.8 s. A service manager, and whoever waits for it, wants an end.
    public static var farewell: Int { 800_000 }

    /// Does nothing yet: the first ``wake()`` does.
    public init(_ supervisor: Supervisor, in surroundings: Surroundings) {
        self.supervisor = supervisor
        self.surroundings = surroundings
    }

    /// When ``wake()`` wants to be called at the latest; `nil` when there is nothing to wait for.
    public var nextWakeUp: HCIInstant? {
        guard let due = supervisor.nextWakeUp else { return nil }
        guard supervisor.isOnAir, let renewal = session?.nextWakeUp else { return due }
        return min(due, renewal)
    }

    /// Time has come: for the supervisor, for the session, or for both.
    public func wake() {
        perform(supervisor.wake(at: surroundings.now))
        attempt { session, now throws(AdvertisingError) in try session.wake(now) }
    }

    /// Takes what the controller has said by itself.
    public func receive() {
        attempt { session, _ throws(AdvertisingError) in try session.receive() }
    }

    /// Tells the supervisor something, and does what it decides.
    public func handle(_ input: Supervisor.Input) {
        changes += 1
        perform(supervisor.handle(input, at: surroundings.now))
    }

    private func attempt(_ body: (Surroundings.Session, HCIInstant) throws(AdvertisingError) -> Void) {
        guard supervisor.isOpen, let session else { return }
        do throws(AdvertisingError) {
            try body(session, surroundings.now)
        } catch {
            handle(input(error))
            obey()
        }
    }

    /// The wish to stop may have come in the middle of anything, and whoever heard it first may have been busy with
    /// something else that failed.
    private func obey() {
        if surroundings.isStopWanted { perform(supervisor.handle(.stop, at: surroundings.now)) }
    }

    private func perform(_ actions: [Supervisor.Action]) {
        if !actions.isEmpty { changes += 1 }
        var queue = actions
        var next = 0
        while next < queue.count {
            if let answer = perform(queue[next]) { queue += supervisor.handle(answer, at: surroundings.now) }
            next += 1
            // What was decided before is dropped, but for what is said.
            if supervisor.state != .off, surroundings.isStopWanted {
                queue = queue[next...].filter(\.isWord) + supervisor.handle(.stop, at: surroundings.now)
                next = 0
            }
        }
        // Also while the adapter stays open and the next attempt has to wait: nothing is counted meanwhile.
        if !supervisor.isOnAir { session?.silence(since: surroundings.now) }
    }

    /// Does one thing, and returns what came of it, if that is of interest.
    private func perform(_ action: Supervisor.Action) -> Supervisor.Input? {
        switch action {
        case .open: return open()
        case .start: return start()
        case .verify: return verify()
        case .rearm: return rearm()
        case .close:
            session?.silence(since: surroundings.now)
            surroundings.close()
        case .turnOff: try? session?.stop(by: surroundings.now.advanced(byMicroseconds: Self.farewell))
        case .readProfile: return surroundings.readProfile()
        case .adoptForNextStart: surroundings.adoptProfile()
        case .adopt: return adopt()
        case .log(let priority, let text): surroundings.log(priority, text)
        case .notify(let notice): surroundings.notify(notice)
        case .finish(let asWanted): ended = asWanted
        }
        return nil
    }

    private func open() -> Supervisor.Input {
        do throws(BeaconFault) {
            try surroundings.open()
            return .opened
        } catch {
            return error.input
        }
    }

    private func start() -> Supervisor.Input {
        result { () throws(AdvertisingError) in
            let started = try surroundings.start(session)
            session = started
            return .started(started.summary)
        }
    }

    private func verify() -> Supervisor.Input {
        guard let session else { return .failed(.silent, "nothing is on the air") }
        return result { () throws(AdvertisingError) in
            try session.verify()
                ? .verified : .failed(.silent, "advertising was off, and no program was seen turning it off")
        }
    }

    private func rearm() -> Supervisor.Input {
        guard let session else { return .failed(.adapterGone, "nothing was on the air") }
        return result { () throws(AdvertisingError) in
            try session.rearm()
            return .rearmed
        }
    }

    private func adopt() -> Supervisor.Input {
        guard let session else { return .failed(.adapterGone, "nothing is on the air") }
        do throws(AdvertisingError) {
            let changed = try surroundings.changeOver(session)
            self.session = changed
            surroundings.adoptProfile()
            return .adopted(changed.summary)
        } catch {
            // What this controller refuses is no reason to leave the air.
            return error.isRefusal && session.isOnAir ? .reloadBad("\(error)") : input(error)
        }
    }

    private func result(_ body: () throws(AdvertisingError) -> Supervisor.Input) -> Supervisor.Input {
        do throws(AdvertisingError) {
            return try body()
        } catch {
            // An attempt that ends like this has failed, whatever the adapter is like.
            if case .failed(.silent, let text) = input(error) { return .failed(.refused, text) }
            return input(error)
        }
    }

    /// What an error of a session means for the supervisor.
    private func input(_ error: AdvertisingError) -> Supervisor.Input {
        switch error {
        case .impossible(let reason), .payload(let reason): .impossible(reason)
        case .ended(let cause, let reason): .failed(cause, reason)
        case .hardwareError: .failed(.hardwareError, "\(error)")
        case .command(let command, _):
            switch command {
            // The controller does not take these parameters, and never will.
            case .refused(_, _, .unsupportedFeatureOrParameterValue), .refused(_, _, .invalidParameters):
                .impossible("\(error)")
            case .refused, .malformedReturn: .failed(.refused, "\(error)")
            case .noAnswer, .notAccepted: .failed(.noAnswer, "\(error)")
            // Somebody wants us to end.
            case .channel(.interrupted): .stop
            case .channel(let channel): surroundings.explain(channel).input
            }
        case .management(let management): input(management)
        }
    }
}

extension BeaconKeeper {
    private func input(_ error: ManagementError) -> Supervisor.Input {
        switch error {
        case .refused(_, _, .rfkilled): .failed(.rfkill, "\(error)")
        case .refused(_, _, .notPowered): .failed(.poweredDown, "\(error)")
        case .refused(_, _, .invalidIndex): .failed(.adapterMissing, "\(error)")
        case .refused(_, _, .permissionDenied): .impossible("\(error)")
        case .refused(_, _, .busy): .failed(.adapterBusy, "\(error)")
        case .refused, .malformedReturn: .failed(.refused, "\(error)")
        case .noAnswer: .failed(.noAnswer, "\(error)")
        case .channel(.interrupted): .stop
        case .channel(let channel): surroundings.explain(channel).input
        }
    }
}

extension Supervisor.Action {
    /// Whether it only tells somebody something.
    fileprivate var isWord: Bool {
        switch self {
        case .log, .notify: true
        default: false
        }
    }
}

extension AdvertisingError {
    /// The controller lives, and does not do what was asked.
    fileprivate var isRefusal: Bool {
        switch self {
        case .impossible, .payload: true
        case .command(let error, _): error.isRefusal
        case .management(let error): error.status != nil
        case .ended, .hardwareError: false
        }
    }
}
