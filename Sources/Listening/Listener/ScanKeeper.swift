public import Advertiser
public import HCI

/// What a ``ScanKeeper`` needs of the world.
public protocol ScanSurroundings: AnyObject {
    /// Now, on the clock of the adapters.
    var now: HCIInstant { get }
    /// Whether somebody wants to stop listening. Once it is true it stays so.
    var isStopWanted: Bool { get }
    /// Finds the adapter, raises it where it is down, and opens it.
    func open() throws(BeaconFault)
    /// Lets go of the adapter.
    func close()
    /// Asks the controller what it can do, and makes a session on it, which is not started yet.
    ///
    /// - Parameter previous: The session before it.
    func makeSession(after previous: ScanSession?) throws(ScanError) -> ScanSession
    /// What lies behind the end of a channel, as far as it can be seen.
    func explain(_ error: HCIChannelError) -> BeaconFault
    /// One sentence for the log.
    func log(_ priority: Supervisor.LogPriority, _ text: String)
    /// What the service manager is told.
    func notify(_ notice: Supervisor.Notice)
}

/// Keeps a scan going: does what an `Advertiser/Supervisor` decides, which brings it back after everything that brings
/// a beacon back.
///
/// For one thread: it sends commands and waits for their answers. Between the calls nothing runs.
public final class ScanKeeper {
    /// How listening is, seen from outside.
    public enum State: String, Hashable, Sendable {
        case starting
        case listening
        /// Another program scans with parameters of its own: its reports are heard, perhaps without duplicates.
        case foreign
        case paused
        case deaf
        case recovering
        case off

        /// Whether silence says something: every report comes. Another program's scan may have its repeats left out.
        public var isHearing: Bool { self == .listening }
    }

    public private(set) var supervisor: Supervisor
    public private(set) var session: ScanSession?
    /// How it ended: `true` as wanted, `false` when nothing could be done. `nil` before.
    public private(set) var ended: Bool?
    /// What kept a session from starting or going on, most recently.
    public private(set) var lastError: ScanError?

    private let surroundings: any ScanSurroundings
    private let adapter: String
    private let isProven: Bool

    /// - Parameters:
    ///   - adapter: How it is called in sentences.
    ///   - isProven: Whether a scan that was just turned on is asked for, before it is believed.
    public init(
        adapter: String, pacing: SupervisorPacing = SupervisorPacing(), isProven: Bool = false,
        in surroundings: any ScanSurroundings
    ) {
        self.adapter = adapter
        self.isProven = isProven
        self.surroundings = surroundings
        supervisor = Supervisor(adapter: adapter, pacing: pacing, at: surroundings.now)
    }

    public var state: State {
        switch supervisor.state {
        case .starting: return .starting
        case .off: return .off
        case .recovering: return session?.state == .deaf ? .deaf : .recovering
        case .onAir:
            switch session?.state {
            case .foreign: return .foreign
            case .paused: return .paused
            case .deaf: return .deaf
            case .reset: return .recovering
            case .listening, .off, nil: return .listening
            }
        }
    }

    /// When ``wake()`` wants to be called at the latest; `nil` when there is nothing to wait for.
    public var nextWakeUp: HCIInstant? {
        let due = supervisor.state == .onAir ? session?.nextWakeUp : nil
        guard let due else { return supervisor.nextWakeUp }
        return min(supervisor.nextWakeUp ?? due, due)
    }

    /// Time has come: for the supervisor, for the session, or for both.
    public func wake() {
        perform(supervisor.wake(at: surroundings.now))
        attempt { session throws(ScanError) in
            let now = surroundings.now
            if let due = session.nextWakeUp, due <= now { try session.wake(now) }
        }
    }

    /// Takes what the controller has said by itself, or says first until `deadline`.
    public func receive(until deadline: HCIInstant = .distantPast) {
        attempt { session throws(ScanError) in try session.receive(until: deadline) }
    }

    /// Whether ``receive(until:)`` waits: there is a controller to wait for.
    public var isListening: Bool { supervisor.state == .onAir }

    /// Tells the supervisor something, and does what it decides.
    public func handle(_ input: Supervisor.Input) { perform(supervisor.handle(input, at: surroundings.now)) }

    private func attempt(_ body: (ScanSession) throws(ScanError) -> Void) {
        guard case .onAir = supervisor.state, let session else { return }
        let before = session.state
        do throws(ScanError) {
            try body(session)
            if before != .reset, session.state == .reset {
                surroundings.log(.warning, "\(adapter): the controller was reset; it is set up again")
            } else if before == .reset, session.state != .reset {
                surroundings.log(.notice, "listening again on \(adapter)")
            }
        } catch {
            handle(input(error))
        }
        if surroundings.isStopWanted { handle(.stop) }
    }

    private func perform(_ actions: [Supervisor.Action]) {
        var queue = actions
        var next = 0
        while next < queue.count {
            if let answer = perform(queue[next]) { queue += supervisor.handle(answer, at: surroundings.now) }
            next += 1
            if supervisor.state != .off, surroundings.isStopWanted {
                queue = supervisor.handle(.stop, at: surroundings.now)
                next = 0
            }
        }
    }

    /// Does one thing, and returns what came of it, if that is of interest.
    private func perform(_ action: Supervisor.Action) -> Supervisor.Input? {
        switch action {
        case .open: return open()
        case .start: return start()
        case .verify, .rearm:
            return result { () throws(ScanError) in
                guard let session, try session.verify() else { return .failed(.adapterGone, "nothing was heard by") }
                return action == .verify ? .verified : .rearmed
            }
        case .close: surroundings.close()
        case .turnOff:
            try? session?.stop(by: surroundings.now.advanced(byMicroseconds: 800_000))
        // What the supervisor says of success is said of beacons.
        case .log(.notice, _): break
        case .log(let priority, let text): surroundings.log(priority, text)
        case .notify(.status): break
        case .notify(let notice): surroundings.notify(notice)
        case .finish(let asWanted): ended = asWanted
        case .readProfile, .adopt, .adoptForNextStart: break
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
        let wasListening = supervisor.hasBeenOnAir
        return result { () throws(ScanError) in
            let session = try surroundings.makeSession(after: self.session)
            self.session = session
            try session.start()
            if isProven {
                let restarts = session.restarts
                guard try session.verify(), session.restarts == restarts else {
                    return .failed(.refused, "\(adapter) acknowledged a scan, and does not scan")
                }
            }
            surroundings.log(.notice, "listening \(wasListening ? "again " : "")on \(adapter)")
            return .started("listening on \(adapter)")
        }
    }

    private func result(_ body: () throws(ScanError) -> Supervisor.Input) -> Supervisor.Input {
        do throws(ScanError) {
            return try body()
        } catch {
            return input(error)
        }
    }

    /// What an error of a session means for the supervisor.
    private func input(_ error: ScanError) -> Supervisor.Input {
        lastError = error
        switch error {
        case .impossible(let reason): return .impossible(reason)
        case .hardwareError: return .failed(.hardwareError, "\(error)")
        // The controller answers; only a new start of the scan, or of the radio, can help.
        case .deaf: return .failed(.noAnswer, "\(error)")
        case .command(let command):
            switch command {
            case .refused, .malformedReturn: return .failed(.refused, "\(error)")
            case .noAnswer, .notAccepted: return .failed(.noAnswer, "\(error)")
            case .channel(.interrupted): return .stop
            case .channel(let channel):
                session?.lose()
                return surroundings.explain(channel).input
            }
        }
    }
}
